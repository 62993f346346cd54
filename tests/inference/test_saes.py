"""SAEs that do not fit are refused with a reason."""

import json
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from sae_lens import SAE
from sae_lens.loading.pretrained_saes_directory import PretrainedSAELookup, get_pretrained_saes_directory
from safetensors.torch import load_file, save_file
from torch.utils._python_dispatch import TorchDispatchMode

from cg_pipeline.inference.sae_fit import model_name_in_metadata
from cg_pipeline.inference.saes import load_sae
from cg_pipeline.specs import HubWeights, Sae, SaeDirectory, SaeRelease
from tests.fakes import tiny_loaded_model, write_tiny_sae

READER = tiny_loaded_model()
SPEC = Sae(
    name="tiny_sae",
    title="Tiny",
    model=READER.spec,
    hookpoint="blocks.1.hook_resid_post",
    weights=SaeDirectory(path="saes/tiny"),
    d_sae=48,
    licence="MIT",
)


def test_the_sae_on_disk_is_the_sae_in_memory(tmp_path: Path) -> None:
    written = write_tiny_sae(tmp_path / "saes/tiny")

    loaded = load_sae(SPEC, READER, data_dir=tmp_path)

    assert loaded.W_enc.equal(written.W_enc)
    assert not loaded.W_enc.requires_grad


@pytest.mark.parametrize(
    ("settings", "spec", "sentence"),
    [
        (
            {"hook_name": "blocks.0.hook_resid_post"},
            SPEC,
            r"was trained at 'blocks\.0\.hook_resid_post'; its spec says 'blocks\.1\.hook_resid_post'",
        ),
        ({"model_name": "gpt2"}, SPEC, "was trained on model 'gpt2'; its spec's model is 'tiny'"),
        ({"model_name": None}, SPEC, "was trained on model None; its spec's model is 'tiny'"),
        ({"d_sae": 64}, SPEC, "has 64 latents; its spec says 48. Correct the spec's d_sae"),
        ({"d_in": 8}, SPEC, "reads vectors of width 8; model 'tiny' has width 16"),
        ({}, replace(SPEC, hookpoint="blocks.7.hook_resid_post"), "but the model has blocks 0 to 2"),
    ],
)
def test_an_sae_of_another_place_model_or_width_is_refused(
    tmp_path: Path, settings: dict[str, object], spec: Sae, sentence: str
) -> None:
    """F24, F25: each of these would load, and read nonsense."""
    write_tiny_sae(tmp_path / "saes/tiny", **settings)  # type: ignore[arg-type]

    with pytest.raises(ValueError, match=sentence):
        load_sae(spec, READER, data_dir=tmp_path)


@pytest.mark.filterwarnings("ignore:\\nThis SAE has non-empty:UserWarning")
def test_an_sae_of_processed_weights_is_refused(tmp_path: Path) -> None:
    """F24."""
    write_tiny_sae(tmp_path / "saes/tiny", model_from_pretrained_kwargs={"center_writing_weights": True})

    with pytest.raises(ValueError, match="trained on weights centred by TransformerLens"):
        load_sae(SPEC, READER, data_dir=tmp_path)


def test_an_unfolded_input_scale_is_refused(tmp_path: Path) -> None:
    """F26."""
    write_tiny_sae(tmp_path / "saes/tiny")
    config = tmp_path / "saes/tiny/cfg.json"
    changed = {**json.loads(config.read_text()), "normalize_activations": "expected_average_only_in"}
    config.write_text(json.dumps(changed))

    with pytest.raises(ValueError, match="scaled by a factor that is not in its files"):
        load_sae(SPEC, READER, data_dir=tmp_path)


@pytest.mark.parametrize("name", ["W_enc", "W_dec", "b_dec"])
def test_weights_that_are_no_numbers_are_refused(tmp_path: Path, name: str) -> None:
    write_tiny_sae(tmp_path / "saes/tiny")
    path = tmp_path / "saes/tiny/sae_weights.safetensors"
    weights = load_file(path)
    weights[name].flatten()[0] = float("nan")
    save_file(weights, path)

    with pytest.raises(ValueError, match=f"SAE 'tiny_sae': {name} holds values that are not finite"):
        load_sae(SPEC, READER, data_dir=tmp_path)


def test_a_missing_directory_says_how_to_train(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"has no cfg\.json.* Train it with: cg train-sae tiny_sae"):
        load_sae(SPEC, READER, data_dir=tmp_path)


def test_a_hub_model_goes_by_its_repository(tmp_path: Path) -> None:
    """F24: owner, case and TransformerLens's aliases are no differences: `gpt2-small` is `…/GPT2`."""
    weights = HubWeights(repo="openai-community/GPT2", revision="0" * 40)
    spec = replace(SPEC, model=replace(READER.spec, weights=weights))
    write_tiny_sae(tmp_path / "saes/tiny", model_name="gpt2-small")

    assert model_name_in_metadata(spec.model) == "openai-community/GPT2"
    assert model_name_in_metadata(READER.spec) == "tiny"
    assert load_sae(spec, READER, data_dir=tmp_path).cfg.d_sae == 48


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_weights_are_in_the_specs_dtype(tmp_path: Path, dtype: str) -> None:
    """F27: whatever precision the file has."""
    written = write_tiny_sae(tmp_path / "saes/tiny")

    loaded = load_sae(replace(SPEC, dtype=dtype), READER, data_dir=tmp_path)

    assert {parameter.dtype for parameter in loaded.parameters()} == {getattr(torch, dtype)}
    assert loaded.dtype == getattr(torch, dtype)
    torch.testing.assert_close(loaded.W_enc.float(), written.W_enc, rtol=1e-2, atol=1e-2)


def test_half_precision_files_make_no_single_precision_copy(tmp_path: Path) -> None:
    """F27: not one tensor of the weights' size is float32 on the way."""
    write_tiny_sae(tmp_path / "float32")
    SAE.load_from_disk(tmp_path / "float32", dtype="bfloat16").save_model(tmp_path / "saes/tiny")

    with Watch() as watch:
        load_sae(replace(SPEC, dtype="bfloat16"), READER, data_dir=tmp_path)

    assert watch.most_at_once == 0


def test_single_precision_files_are_cast_tensor_by_tensor(tmp_path: Path) -> None:
    """F27: of encoder and decoder, never both in the file's precision at once."""
    write_tiny_sae(tmp_path / "saes/tiny")

    with Watch() as watch:
        load_sae(replace(SPEC, dtype="bfloat16"), READER, data_dir=tmp_path)

    assert watch.most_at_once == 1


class Watch(TorchDispatchMode):
    """Counts float32 tensors of at least a weight matrix's size that are alive at once."""

    def __init__(self) -> None:
        super().__init__()
        self.most_at_once = 0
        self._seen: list[weakref.ref[torch.Tensor]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        for each in (*args, found):
            if isinstance(each, torch.Tensor) and not each.is_meta and _is_large(each):
                self._seen.append(weakref.ref(each))
        alive = {each.data_ptr() for ref in self._seen if (each := ref()) is not None}
        self.most_at_once = max(self.most_at_once, len(alive))
        return found


def _is_large(tensor: torch.Tensor) -> bool:
    return tensor.dtype == torch.float32 and tensor.numel() >= 16 * 48


def test_weights_of_another_shape_than_the_settings_are_refused(tmp_path: Path) -> None:
    """F25."""
    write_tiny_sae(tmp_path / "saes/tiny")
    path = tmp_path / "saes/tiny/sae_weights.safetensors"
    save_file({**load_file(path), "W_enc": torch.zeros(16, 40)}, path)

    with pytest.raises(ValueError, match="its weights are not those that its settings describe"):
        load_sae(SPEC, READER, data_dir=tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("sae_weights.safetensors", ""),
        ("sae_weights.safetensors", "no tensors at all"),
        ("cfg.json", ""),
        ("cfg.json", "[]"),
        ("cfg.json", "{}"),
        ("cfg.json", '{"architecture": "nonsense"}'),
    ],
)
def test_files_that_are_damaged_are_named(tmp_path: Path, name: str, content: str) -> None:
    write_tiny_sae(tmp_path / "saes/tiny")
    (tmp_path / "saes/tiny" / name).write_text(content)
    with pytest.raises(ValueError, match=r"SAE 'tiny_sae': .*saes/tiny cannot be read \(\w+: .*Restore its"):
        load_sae(SPEC, READER, data_dir=tmp_path)


@pytest.mark.parametrize("k", [0, -1, 1000, None])
def test_a_number_of_latents_kept_that_cannot_be_is_refused(tmp_path: Path, k: object) -> None:
    write_tiny_sae(tmp_path / "saes/tiny")
    path = tmp_path / "saes/tiny/cfg.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"k": k}))
    with pytest.raises(ValueError, match=r"SAE 'tiny_sae' keeps k=.* latents; expected a number from 1 to"):
        load_sae(SPEC, READER, data_dir=tmp_path)


PICKLED_SAE = SaeRelease(release="tiny-pickled", sae_id="l1", file="tiny/pickles/l1/ae.pt")
PLAIN_SAE = SaeRelease(release="tiny-plain", sae_id="l1", file="tiny/plain/l1/sae_weights.safetensors")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hub's cache with two tiny releases, one of them pickled, both in the registry; no network."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for name in ("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "CG_TRUST_PICKLED"):
        monkeypatch.delenv(name, raising=False)
    for name, loader in (("pickled", "dictionary_learning_1"), ("plain", None)):
        repo = f"tiny/{'pickles' if loader else 'plain'}"
        entry = PretrainedSAELookup(f"tiny-{name}", repo, "tiny", loader, {"l1": "l1"}, {}, {}, {}, {}, None)
        monkeypatch.setitem(get_pretrained_saes_directory(), entry.release, entry)
    write_tiny_sae(snapshot(tmp_path, "tiny--plain") / "l1")
    return tmp_path


def snapshot(directory: Path, repo: str) -> Path:
    here = directory / "hub" / f"models--{repo}"
    (here / "refs").mkdir(parents=True, exist_ok=True)
    (here / "refs" / "main").write_text("1" * 40)
    (here / "snapshots" / ("1" * 40) / "l1").mkdir(parents=True, exist_ok=True)
    return here / "snapshots" / ("1" * 40)


def write_pickled(directory: Path, weights: object) -> None:
    """A ReLU SAE as `dictionary_learning` saves it."""
    folder = snapshot(directory, "tiny--pickles") / "l1"
    trainer = {
        "activation_dim": 16,
        "dict_size": 48,
        "lm_name": "tiny",
        "layer": 1,
        "dict_class": "AutoEncoder",
        "submodule_name": "resid_post_layer_1",
    }
    (folder / "config.json").write_text(json.dumps({"trainer": trainer, "buffer": {"ctx_len": 128}}))
    torch.save(weights, folder / "ae.pt")


def state() -> dict[str, torch.Tensor]:
    return {
        "encoder.weight": torch.randn(48, 16),
        "encoder.bias": torch.zeros(48),
        "decoder.weight": torch.randn(16, 48),
        "bias": torch.zeros(16),
    }


def test_a_release_is_read_from_the_hubs_cache(hub: Path) -> None:
    written = SAE.load_from_disk(snapshot(hub, "tiny--plain") / "l1")

    loaded = load_sae(replace(SPEC, weights=PLAIN_SAE), READER, data_dir=hub)

    assert loaded.W_enc.equal(written.W_enc)


def test_a_release_is_cast_on_its_way(hub: Path) -> None:
    """F27: sae-lens would put the whole in the file's precision on the device first."""
    loaded = load_sae(replace(SPEC, weights=PLAIN_SAE, dtype="bfloat16"), READER, data_dir=hub)

    assert {parameter.dtype for parameter in loaded.parameters()} == {torch.bfloat16}


def test_a_pickled_release_is_read_on_the_users_word_only(hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = state()
    write_pickled(hub, weights)
    spec = replace(SPEC, weights=PICKLED_SAE, accepts=("bos", "context"))

    with pytest.raises(PermissionError, match=r"set CG_TRUST_PICKLED=tiny/pickles/l1/ae\.pt"):
        load_sae(spec, READER, data_dir=hub)
    monkeypatch.setenv("CG_TRUST_PICKLED", PICKLED_SAE.file)
    loaded = load_sae(spec, READER, data_dir=hub)

    torch.testing.assert_close(loaded.W_enc, weights["encoder.weight"].T, rtol=0, atol=0)


class Bomb:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (Path.touch, (Path("exploded"),))  # type: ignore[return-value]


def test_a_trusted_pickle_still_runs_no_code(hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hub)
    monkeypatch.setenv("CG_TRUST_PICKLED", PICKLED_SAE.file)
    write_pickled(hub, {**state(), "more": Bomb()})
    spec = replace(SPEC, weights=PICKLED_SAE, accepts=("bos", "context"))

    with pytest.raises(ValueError, match=r"tiny/pickles/l1/ae\.pt holds more than tensors"):
        load_sae(spec, READER, data_dir=hub)

    assert not (hub / "exploded").exists()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"release": "tiny-plane"},
            r"knows no release 'tiny-plane'; expected one of \d+, such as tiny-plain",
        ),
        (
            {"sae_id": "l2"},
            "knows no id of 'tiny-plain' 'l2'; expected one of 1, such as l1. Correct the spec",
        ),
        ({"file": "tiny/other/l1/sae_weights.safetensors"}, "is a file at 'tiny/plain/l1'; expected that"),
    ],
)
def test_an_entry_that_is_not_the_registrys_is_refused(
    hub: Path, changes: dict[str, str], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        load_sae(replace(SPEC, weights=replace(PLAIN_SAE, **changes)), READER, data_dir=hub)


def test_a_pickle_under_another_name_is_refused(hub: Path) -> None:
    """A spec cannot pass a pickled file off as another."""
    weights = replace(PICKLED_SAE, file="tiny/pickles/l1/ae.safetensors")

    with pytest.raises(ValueError, match="is a pickled file at 'tiny/pickles/l1'"):
        load_sae(replace(SPEC, weights=weights), READER, data_dir=hub)


def test_a_release_that_was_never_fetched_is_one_sentence(hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F15."""
    monkeypatch.setenv("CG_TRUST_PICKLED", PICKLED_SAE.file)

    with pytest.raises(
        FileNotFoundError, match="SAE 'tiny_sae': the hub cannot be reached for tiny/pickles at main"
    ):
        load_sae(replace(SPEC, weights=PICKLED_SAE), READER, data_dir=hub)
