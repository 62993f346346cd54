"""A training that makes no sense is refused when it is written down."""

from dataclasses import replace
from typing import Any

import pytest

from cg_pipeline.training_specs import SaeTraining, of_training_only

TRAINING = SaeTraining(
    k=8,
    n_tokens=1000,
    n_epochs=1,
    context_tokens=32,
    chat_share=0.5,
    learning_rate=1e-3,
    batch_tokens=256,
    seed=0,
)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"k": 0}, "k is 0 for a topk SAE; expected a positive k. Correct one of them."),
        ({"architecture": "gated"}, "k is 8 for a gated SAE; expected k = 0. Correct one of them."),
        (
            {"architecture": "matryoshka_batchtopk"},
            r"inner_widths are \(\) for a matryoshka_batchtopk SAE; expected one or more.",
        ),
        ({"inner_widths": (8,)}, r"inner_widths are \(8,\) for a topk SAE; expected none."),
        ({"kept_share": 1.0}, "kept_share is 1.0; expected 0 or more, below 1."),
        (
            {"buffer_tokens": 511},
            "buffer_tokens is 511, of which 50% are kept; expected room for a batch of 256 beside them.",
        ),
        ({"held_out_tokens": 0}, "held_out_tokens is 0; expected at least 2"),
        ({"measure_every_tokens": 100}, "measure_every_tokens is 100; expected at least batch_tokens, 256."),
    ],
)
def test_what_makes_no_sense_is_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(TRAINING, **more)


def test_the_gate_alone_makes_no_other_training() -> None:
    gated = replace(
        TRAINING, min_explained_variance=0.1, max_dead_share=0.2, min_loss_recovered=0.3, max_l0=9.0
    )
    assert of_training_only(gated) == of_training_only(TRAINING)
    assert of_training_only(replace(TRAINING, patience_tokens=5)) != of_training_only(TRAINING)
