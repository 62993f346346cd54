"""What `settings.toml` sets, and what is said of one that cannot be used."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from cg_pipeline.definitions import assemble
from cg_pipeline.defs.resources import Gpu, Servers, Store
from cg_pipeline.defs.settings import configured
from cg_pipeline.models import MODELS
from cg_pipeline.specs import ServedModel


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(data_dir=str(tmp_path))


@pytest.fixture(autouse=True)
def my_model(monkeypatch) -> None:
    """A model behind a server."""
    weights = ServedModel(base_url="http://127.0.0.1:1/v1", model="m")
    spec = replace(MODELS["smollm2_135m"], name="my_model", weights=weights)
    monkeypatch.setitem(MODELS, "my_model", spec)


def write(store: Store, text: str) -> None:
    (store.layout.data_dir / "settings.toml").write_text(text, encoding="utf-8")


def complaints(store: Store, text: str) -> list[str]:
    write(store, text)
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole sentences are compared
        configured(store)
    path = store.layout.data_dir / "settings.toml"
    lines = str(error.value).splitlines()
    assert all(line.startswith(f"{path}: ") for line in lines)
    return [line.removeprefix(f"{path}: ") for line in lines]


def test_without_the_file_all_is_as_shipped(store: Store):
    assert configured(store)["gpu"] == Gpu(store=store)
    assert set(configured(store)) == {"gpu", "servers", "judging", "code_sandbox", "labeller"}


def test_what_is_set_holds_wherever_the_project_is_loaded(store: Store):
    write(
        store,
        '[gpu]\nengine = "vllm"\nbatch_tokens = 512\n'
        "[servers]\nconcurrency = 3\nprices = { my_model = [0.5, 2] }\n",
    )
    found = configured(store)
    assert found["gpu"] == Gpu(store=store, engine="vllm", batch_tokens=512)
    assert found["servers"] == Servers(store=store, concurrency=3, prices={"my_model": [0.5, 2.0]})
    resources = assemble(store.data_dir).resources or {}
    assert (resources["gpu"].engine, resources["servers"].concurrency) == ("vllm", 3)


def test_every_fault_is_a_sentence(store: Store):
    found = complaints(
        store,
        '[gpus]\n[gpu]\nengin = "vllm"\nbatch_tokens = "many"\nstore = "x"\n'
        "[servers]\nprices = { my_model = 1 }\n",
    )
    assert found == [
        "Unknown table 'gpus'. Did you mean 'gpu'? Known: code_sandbox, gpu, judging, labeller, servers. "
        "Remove it, or correct its name.",
        "Unknown setting gpu 'engin'. Did you mean 'engine'? Known: batch_tokens, device, engine, "
        "vllm_memory_share. Remove it, or correct its name.",
        "Unknown setting gpu 'store'. Known: batch_tokens, device, engine, vllm_memory_share. "
        "Remove it, or correct its name.",
        "gpu.batch_tokens is 'many'; expected a valid integer, unable to parse string as an integer. "
        "Correct it.",
        "servers.prices.my_model is 1; expected a valid list. Correct it.",
    ]


@pytest.mark.parametrize(
    ("table", "key", "value", "wanted"),
    [
        ("gpu", "batch_tokens", "0", "greater than or equal to 1"),
        ("servers", "concurrency", "0", "greater than or equal to 1"),
        ("servers", "timeout_s", "0.0", "greater than 0"),
        ("servers", "timeout_s", "inf", "a finite number"),
        ("servers", "timeout_s", "nan", "a finite number"),
        ("servers", "max_retries", "-1", "greater than or equal to 0"),
        ("servers", "max_wait_s", "-1.0", "greater than or equal to 0"),
        ("servers", "max_wait_s", "inf", "a finite number"),
        ("gpu", "vllm_memory_share", "1.5", "less than or equal to 1"),
        ("judging", "at_once", "0", "greater than or equal to 1"),
        ("code_sandbox", "at_once", "0", "greater than or equal to 1"),
    ],
)
def test_a_number_out_of_range_is_a_sentence(store: Store, table: str, key: str, value: str, wanted: str):
    [found] = complaints(store, f"[{table}]\n{key} = {value}\n")
    assert found == f"{table}.{key} is {value}; expected {wanted}. Correct it."


@pytest.mark.parametrize("text", ["gpu = 3", "[gpu", "\ufeff[gpu]", "engine = 1"])
def test_a_file_that_is_no_table_of_tables(store: Store, text: str):
    [found] = complaints(store, text)
    assert found.endswith((". Correct it.", "or correct its name."))


def test_what_is_not_text(store: Store):
    (store.layout.data_dir / "settings.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"settings\.toml: .*; expected TOML, such as \[gpu\]"):
        configured(store)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[gpu]\ndevice = { a = { b = 1 } }", "gpu.device is {'a': {'b': 1}}; expected a valid string."),
        (
            "[gpu.batch_tokens.many]\na = 1",
            "gpu.batch_tokens is {'many': {'a': 1}}; expected a valid integer.",
        ),
        ("[[gpu]]\ndevice = 'cpu'", "gpu is [{'device': 'cpu'}]; expected a table [gpu]."),
        (
            "[servers.prices.my_model]\nread = 1",
            "servers.prices.my_model is {'read': 1}; expected a valid list.",
        ),
        ("[judging]\nat_once = true", "judging.at_once is True; expected a number, a text or a table."),
    ],
)
def test_a_table_or_truth_value_out_of_place(store: Store, text: str, sentence: str):
    [found] = complaints(store, text)
    assert found == f"{sentence} Correct it."


@pytest.mark.parametrize("device", ["auto", "cuda", "cuda:1", "mps", "cpu"])
def test_every_device_there_may_be(store: Store, device: str):
    write(store, f'[gpu]\ndevice = "{device}"')
    assert configured(store)["gpu"].device == device


@pytest.mark.parametrize("device", ["gpu", "CUDA", "cuda:", "cuda1", "cpu ", "cuda:0\\n"])
def test_a_device_that_there_is_none(store: Store, device: str):
    [found] = complaints(store, f'[gpu]\ndevice = "{device}"')
    assert found.endswith("; expected auto, cuda, cuda:N, mps or cpu. Correct it.")


def test_an_engine_that_there_is_none(store: Store):
    assert complaints(store, '[gpu]\nengine = "vlm"') == [
        "gpu.engine is 'vlm'; expected 'transformers' or 'vllm'. Correct it."
    ]


@pytest.mark.parametrize(
    ("prices", "sentence"),
    [
        (
            "my_modle = [1, 2]",
            "Unknown model in servers.prices 'my_modle'. Did you mean 'my_model'? "
            f"Known: {', '.join(sorted([*MODELS, 'my_model']))}. Remove it, or correct its name.",
        ),
        (
            "smollm2_135m = [1, 2]",
            "servers.prices.smollm2_135m is [1.0, 2.0]; expected a model behind a server. Remove it.",
        ),
        *(
            (
                f"my_model = {given}",
                f"servers.prices.my_model is {shown}; expected two numbers of at least 0, per million tokens "
                "read and written. Correct it.",
            )
            for given, shown in (
                ("[1]", "[1.0]"),
                ("[1, 2, 3]", "[1.0, 2.0, 3.0]"),
                ("[1, -2]", "[1.0, -2.0]"),
                ("[1, inf]", "[1.0, inf]"),
                ("[nan, 1]", "[nan, 1.0]"),
            )
        ),
    ],
)
def test_prices_that_no_bill_would_show(store: Store, prices: str, sentence: str):
    assert complaints(store, f"[servers]\nprices = {{ {prices} }}") == [sentence]


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a = " + "{ b = " * 5000])
def test_what_is_nested_too_deep(store: Store, text: str):
    assert complaints(store, text) == ["nested too deep to read; expected tables of settings. Flatten it."]


def test_what_is_no_plain_file(store: Store):
    path = store.layout.data_dir / "settings.toml"
    os.mkfifo(path)
    with pytest.raises(OSError, match=r"settings\.toml is not a file but a pipe; expected TOML"):
        configured(store)
    path.unlink()
    path.symlink_to(path)
    with pytest.raises(
        OSError, match=r"settings\.toml is not a file \(Too many levels of symbolic links\); ex"
    ):
        configured(store)
