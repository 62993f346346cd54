"""A pickled file is opened on the user's word for that file, and then only by torch's restricted reader."""

import pytest

from cg_pipeline.inference.pickled_files import VARIABLE, check_pickled, pickled_file
from cg_pipeline.saes import SAES

SAE = SAES["qwen3_8b_l21"]
FILE = "Qwen/SAE-Res-Qwen3-8B-Base-W64K-L0_50/layer21.sae.pt"
PICKLED = {"llama_3_1_8b_l19", "qwen3_8b_l21", "deepseek_r1_8b_l19"}


@pytest.fixture(autouse=True)
def restricted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", raising=False)


@pytest.mark.parametrize("value", ["", "*", FILE.upper(), FILE.replace("21", "20"), FILE.rpartition("/")[0]])
def test_it_is_refused_unless_it_is_named(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(PermissionError) as error:
        check_pickled(SAE)
    assert str(error.value) == (
        f"SAE 'qwen3_8b_l21' has its weights in {FILE}, a pickled file, which can run code when it is "
        f"opened; expected safetensors, or your word. If you trust its authors, set {VARIABLE}={FILE}"
    )


@pytest.mark.parametrize("value", [FILE, f" {FILE} , a/b/c.pt,", f"a/b/c.pt,{FILE}"])
def test_named_it_passes(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(VARIABLE, value)
    check_pickled(SAE)


def test_unrestricted_pickles_are_never_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, FILE)
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(PermissionError, match="lifts torch's restrictions on pickled files such as Qwen/"):
        check_pickled(SAE)


@pytest.mark.parametrize("name", SAES)
def test_what_is_no_pickle_needs_no_word(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert bool(pickled_file(SAES[name])) == (name in PICKLED)
    if name not in PICKLED:
        check_pickled(SAES[name])
