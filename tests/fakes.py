"""Stand-ins for the world: tiny models with random weights, a tiny tokenizer, all built in memory.

torch is imported inside the builders, so that tests of the pure method never wait for it.
"""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from sae_lens import TopKSAE
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cg_pipeline.inference.models import LoadedModel

Architecture = Literal["llama", "gpt2", "gpt_neox"]

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{% if loop.first and message['role'] != 'system' %}"
    "<|im_start|>system\nYou are tiny.<|im_end|>\n{% endif %}"
    "<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""Like SmolLM2's: ChatML that writes a system message of its own when the chat has none."""

_CORPUS = (
    "The cat sat on the mat and the dog ran to the park.",
    "What is two plus three? The answer is five. What is the answer?",
    "user system assistant tiny You are a model that reads and writes short text.",
    "Paris is the capital of France, and Tokyo is the capital of Japan: 1 2 3 4 5 6 7 8 9 0.",
)


def tiny_tokenizer(
    *, adds_bos: bool = False, chat_template: str | None = CHAT_TEMPLATE
) -> "PreTrainedTokenizerBase":
    """A byte-level BPE tokenizer of 340 tokens; BOS is `<s>`, end of turn `<|im_end|>`, as is padding."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=340,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(_CORPUS, trainer)
    if adds_bos:
        backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 3)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token="<s>",
        eos_token="<|im_end|>",
        pad_token="<|im_end|>",
        unk_token="<|endoftext|>",
    )
    tokenizer.chat_template = chat_template
    return tokenizer


def tiny_model(
    architecture: Architecture = "llama",
    *,
    vocab_size: int = 340,
    n_layers: int = 3,
    d_model: int = 16,
    seed: int = 0,
) -> "PreTrainedModel":
    """A causal language model with large random weights, so that its choices differ from text to text."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    shared = {"vocab_size": vocab_size, "bos_token_id": 3, "eos_token_id": 2, "initializer_range": 0.4}
    width = {"hidden_size": d_model, "intermediate_size": 2 * d_model, "num_hidden_layers": n_layers}
    sizes = {
        "llama": {
            **width,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "max_position_embeddings": 512,
        },
        "gpt2": {"n_embd": d_model, "n_layer": n_layers, "n_head": 4, "n_positions": 512},
        "gpt_neox": {**width, "num_attention_heads": 4, "max_position_embeddings": 512},
    }
    config = AutoConfig.for_model(architecture, **shared, **sizes[architecture])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return AutoModelForCausalLM.from_config(config).eval().requires_grad_(False)


def tiny_loaded_model(
    architecture: Architecture = "llama",
    *,
    chat: bool = True,
    adds_bos: bool = False,
    max_tokens: int = 512,
    seed: int = 0,
    n_layers: int = 3,
) -> "LoadedModel":
    """A tiny model with its tokenizer, as `load_model` would give it."""
    import torch

    from cg_pipeline.inference.models import LoadedModel
    from cg_pipeline.specs import LocalWeights, Model

    spec = Model(
        name="tiny",
        title="Tiny random model",
        weights=LocalWeights(path="models/tiny"),
        licence="Apache-2.0",
        chat=chat,
        max_tokens=max_tokens,
        reader="tiny_sae",
    )
    return LoadedModel(
        spec=spec,
        module=tiny_model(architecture, seed=seed, n_layers=n_layers),
        tokenizer=tiny_tokenizer(adds_bos=adds_bos),
        device=torch.device("cpu"),
    )


def write_tiny_sae(
    directory: "Path", *, d_in: int = 16, d_sae: int = 48, k: int = 4, seed: int = 0, **metadata: object
) -> "TopKSAE":
    """A TopK SAE with random weights, written to the directory by sae-lens; returned in memory too."""
    import torch
    from sae_lens import TopKSAE, TopKSAEConfig
    from sae_lens.saes.sae import SAEMetadata

    named = {"model_name": "tiny", "hook_name": "blocks.1.hook_resid_post", **metadata}
    sae = TopKSAE(TopKSAEConfig(d_in=d_in, d_sae=d_sae, k=k, metadata=SAEMetadata(**named)))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in sae.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.3)
    sae.save_model(directory)
    return sae
