"""Hidden states at hookpoints, against what transformers itself reports."""

import copy
from pathlib import Path

import pytest
import torch
from torch import nn
from transformer_lens.model_bridge import TransformerBridge
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from cg_pipeline.inference.hooks import check_hookpoint, model_blocks, read_hidden_states
from tests.fakes import Architecture, tiny_model, tiny_tokenizer

ARCHITECTURES: tuple[Architecture, ...] = ("llama", "gpt2", "gpt_neox")
IDS = torch.tensor([[5, 9, 120, 33, 7, 80, 14], [60, 61, 62, 63, 64, 65, 66]])
ALL = torch.ones_like(IDS)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("layer", [0, 1])
def test_resid_post_is_the_next_entry_of_hidden_states(architecture: Architecture, layer: int) -> None:
    """F23: `hidden_states[i]` is what enters block i, so block i's output is entry i + 1."""
    module = tiny_model(architecture)
    states = module(IDS, output_hidden_states=True).hidden_states

    post = read_hidden_states(module, f"blocks.{layer}.hook_resid_post", IDS, ALL)
    pre = read_hidden_states(module, f"blocks.{layer}.hook_resid_pre", IDS, ALL)

    torch.testing.assert_close(post, states[layer + 1], rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(pre, states[layer], rtol=1e-6, atol=1e-6)
    assert not torch.allclose(post, pre, atol=1e-2)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_last_block_is_read_before_the_final_norm(architecture: Architecture) -> None:
    """F23: the last entry of `hidden_states` is normed; the hook's value becomes it under that norm."""
    module = tiny_model(architecture)
    base = module.base_model
    norm = next(getattr(base, name) for name in ("norm", "ln_f", "final_layer_norm") if hasattr(base, name))

    last = read_hidden_states(module, "blocks.2.hook_resid_post", IDS, ALL)

    normed = module(IDS, output_hidden_states=True).hidden_states[-1]
    torch.testing.assert_close(norm(last), normed, rtol=1e-5, atol=1e-5)
    assert not torch.allclose(last, normed, atol=1e-2)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_attention_and_mlp_outputs_add_up_to_the_block(architecture: Architecture) -> None:
    module = tiny_model(architecture)
    parts = {
        name: read_hidden_states(module, f"blocks.1.hook_{name}", IDS, ALL)
        for name in ("resid_pre", "attn_out", "mlp_out", "resid_post")
    }

    total = parts["resid_pre"] + parts["attn_out"] + parts["mlp_out"]

    torch.testing.assert_close(total, parts["resid_post"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("architecture", ["llama", "gpt2"])
def test_resid_mid_is_what_attention_leaves(architecture: Architecture) -> None:
    module = tiny_model(architecture)
    parts = {
        name: read_hidden_states(module, f"blocks.1.hook_{name}", IDS, ALL)
        for name in ("resid_pre", "attn_out", "resid_mid")
    }

    torch.testing.assert_close(
        parts["resid_mid"], parts["resid_pre"] + parts["attn_out"], rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("place", ["resid_pre", "resid_post", "attn_out", "mlp_out"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_blocks_after_the_hookpoint_never_run(architecture: Architecture, place: str) -> None:
    module = tiny_model(architecture)
    ran: list[int] = []
    for index, block in enumerate(model_blocks(module)):
        block.register_forward_pre_hook(lambda *_, index=index: ran.append(index))

    read_hidden_states(module, f"blocks.1.hook_{place}", IDS, ALL)

    assert ran == [0, 1]


SIZES = {
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 3,
    "vocab_size": 340,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
GROUPED = {**SIZES, "num_key_value_heads": 2, "head_dim": 4}
WINDOWED = {**GROUPED, "query_pre_attn_scalar": 4, "sliding_window": 4}
FAMILIES: dict[str, dict[str, int]] = {
    "llama": GROUPED,
    "mistral": GROUPED,
    "qwen2": {**SIZES, "num_key_value_heads": 2},
    "qwen3": GROUPED,
    "gemma": GROUPED,
    "gemma2": WINDOWED,
    "gemma3_text": WINDOWED,
    "gpt2": {"n_embd": 16, "n_layer": 3, "n_head": 4, "vocab_size": 340, "n_positions": 64},
    "gpt_neox": SIZES,
}
PLACES = ("resid_pre", "attn_out", "resid_mid", "mlp_out", "resid_post")
PARALLEL = ("gpt_neox",)


def family_model(family: str) -> PreTrainedModel:
    """A random model of a family, all of whose parameters matter, norms and biases too."""
    config = AutoConfig.for_model(family, **FAMILIES[family])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module = AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.normal_(std=0.3)
    module.config.architectures = [type(module).__name__]
    return module.requires_grad_(False)


def places_of(family: str) -> list[str]:
    return [place for place in PLACES if family not in PARALLEL or place != "resid_mid"]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_families_of_the_paper_and_their_kin_are_laid_out_alike(family: str) -> None:
    """F23; and for Gemma the outputs are those after its extra norms, which is what the stream receives."""
    module = family_model(family)
    parts = {
        name: read_hidden_states(module, f"blocks.1.hook_{name}", IDS, ALL) for name in places_of(family)
    }
    sums = {"resid_post": parts["resid_pre"] + parts["attn_out"] + parts["mlp_out"]}
    if "resid_mid" in parts:
        sums["resid_mid"] = parts["resid_pre"] + parts["attn_out"]

    states = module(IDS, output_hidden_states=True).hidden_states

    torch.testing.assert_close(parts["resid_pre"], states[1], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(parts["resid_post"], states[2], rtol=1e-5, atol=1e-5)
    for name, total in sums.items():
        torch.testing.assert_close(parts[name], total, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_hookpoint_is_what_transformer_lens_calls_so(family: str, tmp_path: Path) -> None:
    """F22: the names are TransformerLens's, and so is what they mean, on the same weights unprocessed."""
    module, tokenizer = family_model(family), tiny_tokenizer()
    tokenizer.save_pretrained(tmp_path)
    tokenizer.init_kwargs["name_or_path"] = str(tmp_path)
    bridge = TransformerBridge.boot_transformers(
        str(tmp_path), hf_model=copy.deepcopy(module), tokenizer=tokenizer, device="cpu"
    )

    with torch.no_grad():
        _, cache = bridge.run_with_cache(IDS, prepend_bos=False)

    for name in (f"blocks.{layer}.hook_{place}" for layer in range(3) for place in places_of(family)):
        found = read_hidden_states(module, name, IDS, ALL)
        torch.testing.assert_close(found, cache[name], rtol=1e-5, atol=1e-5, msg=name)


def test_the_model_is_left_as_it_was() -> None:
    module = tiny_model()
    before = module(IDS).logits

    read_hidden_states(module, "blocks.1.hook_mlp_out", IDS, ALL)

    torch.testing.assert_close(module(IDS).logits, before, rtol=0, atol=0)
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in module.modules())


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_padding_on_either_side_changes_nothing(architecture: Architecture, side: str) -> None:
    """F6: positions count real tokens, so a padded row reads as it does alone."""
    module = tiny_model(architecture)
    alone = read_hidden_states(module, "blocks.1.hook_resid_post", IDS[:1, :4], ALL[:1, :4])
    kept = slice(3, 7) if side == "left" else slice(0, 4)
    ids, mask = torch.full_like(IDS, 2), torch.zeros_like(ALL)
    ids[0, kept], mask[0, kept] = IDS[0, :4], 1
    ids[1], mask[1] = IDS[1], 1

    batched = read_hidden_states(module, "blocks.1.hook_resid_post", ids, mask)

    torch.testing.assert_close(batched[:1, kept], alone, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("hookpoint", "sentence"),
    [
        (
            "model.layers.1",
            r"Hookpoint is 'model\.layers\.1'; expected blocks\.N\.hook_X with X one of resid_pre",
        ),
        ("blocks.1.hook_z", r"expected blocks\.N\.hook_X"),
        ("blocks.3.hook_resid_post", r"'blocks\.3\.hook_resid_post', but the model has blocks 0 to 2"),
    ],
)
def test_a_wrong_hookpoint_is_named(hookpoint: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        check_hookpoint(tiny_model(), hookpoint)


def test_parallel_blocks_have_no_middle() -> None:
    with pytest.raises(ValueError, match="attention and MLP run side by side"):
        check_hookpoint(tiny_model("gpt_neox"), "blocks.0.hook_resid_mid")


def test_an_unknown_layout_is_refused() -> None:
    with pytest.raises(
        ValueError, match="Linear has no list of blocks called layers or h; expected a decoder"
    ):
        model_blocks(nn.Linear(2, 2))
