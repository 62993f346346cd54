"""What `settings.toml` sets, and what is said of one that cannot be used."""

from pathlib import Path

import pytest

from cg_pipeline.definitions import assemble
from cg_pipeline.defs.resources import Gpu, Servers, Store
from cg_pipeline.defs.settings import configured


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(data_dir=str(tmp_path))


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
        '[gpus]\n[gpu]\nengin = "vllm"\nbatch_tokens = "many"\nstore = "x"\n[servers]\nprices = { m = 1 }\n',
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
        "servers.prices.m is 1; expected a valid list. Correct it.",
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
