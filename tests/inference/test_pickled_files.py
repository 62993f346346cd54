"""A pickled file is opened on the user's word for that file, and then only by torch's restricted reader."""

import pytest

from cg_pipeline.inference.pickled_files import VARIABLE, check_trusted, pickled_file
from cg_pipeline.saes import SAES

FILE = "owner/repository/sae.pt"


@pytest.fixture(autouse=True)
def restricted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", raising=False)


@pytest.mark.parametrize("trusted", [(), ("owner/repository/other.pt",), ("owner/repository",)])
def test_it_is_refused_unless_it_is_named(trusted: tuple[str, ...]) -> None:
    with pytest.raises(PermissionError) as error:
        check_trusted("SAE 'x'", FILE, trusted)
    assert str(error.value) == (
        f"SAE 'x' has its weights in {FILE}, a pickled file, which can run code when it is opened; "
        f"expected safetensors, or your word. If you trust its authors, set {VARIABLE}={FILE}"
    )


def test_named_it_passes_and_so_does_what_is_no_pickle() -> None:
    check_trusted("SAE 'x'", FILE, [FILE])
    check_trusted("SAE 'x'", "", [])


def test_unrestricted_pickles_are_never_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(PermissionError, match="lifts torch's restrictions on pickled files such as owner"):
        check_trusted("SAE 'x'", FILE, [FILE])


def test_which_readers_of_the_catalogue_are_pickled() -> None:
    assert {name for name, sae in SAES.items() if pickled_file(sae)} == {
        "llama_3_1_8b_l19",
        "qwen3_8b_l21",
        "deepseek_r1_8b_l19",
    }
