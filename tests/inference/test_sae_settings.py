"""What a spec says reaches sae-lens."""

from dataclasses import replace
from typing import Any

import pytest

from cg_pipeline.inference.sae_settings import n_steps, new_sae, trainer_settings
from tests.inference.test_training import TRAINING, tiny_sae_spec


@pytest.mark.parametrize(
    ("more", "settings"),
    [
        ({}, {"k": 8, "aux_loss_coefficient": 0.5}),
        ({"architecture": "batchtopk"}, {"k": 8, "aux_loss_coefficient": 0.5}),
        (
            {"architecture": "matryoshka_batchtopk", "inner_widths": (4, 16)},
            {"k": 8, "matryoshka_widths": [4, 16, 32]},
        ),
        (
            {"architecture": "jumprelu", "sparsity_coefficient": 2.0},
            {
                "target_l0": 8.0,
                "l0_coefficient": 2.0,
                "l0_warm_up_steps": 23,
                "jumprelu_sparsity_loss_mode": "quadratic",
            },
        ),
        (
            {"architecture": "standard", "k": 0, "sparsity_coefficient": 3.0, "sparsity_warm_up_share": 0.5},
            {"l1_coefficient": 3.0, "l1_warm_up_steps": 117},
        ),
        (
            {"architecture": "gated", "k": 0, "sparsity_warm_up_share": 0.0},
            {"l1_coefficient": 1.0, "l1_warm_up_steps": 0},
        ),
    ],
)
def test_each_architecture_is_told_what_it_needs(more: dict[str, Any], settings: dict[str, Any]) -> None:
    training = replace(TRAINING, aux_coefficient=0.5, **more)
    config = new_sae(tiny_sae_spec(training), training, 16, "cpu").cfg
    assert {name: getattr(config, name) for name in settings} == settings
    assert (config.architecture(), config.d_in, config.d_sae) == (training.architecture, 16, 32)
    assert config.metadata.hook_name == tiny_sae_spec().hookpoint
    assert config.metadata.context_size == 32


def test_nested_dictionaries_are_smaller_than_the_whole_one() -> None:
    training = replace(TRAINING, architecture="matryoshka_batchtopk", inner_widths=(8, 32))
    with pytest.raises(ValueError, match=r"inner_widths \(8, 32\); expected all below its d_sae, 32"):
        new_sae(tiny_sae_spec(training), training, 16, "cpu")


def test_shares_become_steps() -> None:
    settings = trainer_settings(TRAINING, "cpu")
    assert n_steps(TRAINING) == 234
    assert (settings.lr_warm_up_steps, settings.lr_decay_steps) == (5, 94)
    assert settings.dead_feature_window == 4
    assert settings.n_checkpoints == 0
