"""A tiny case in which an SAE really fits: a model that knows a few words, an SAE trained on its states."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import torch
from sae_lens import TopKSAE, TopKSAEConfig
from sae_lens.saes.sae import SAEMetadata
from torch import nn

from cg_pipeline.health_specs import PublishedFigures, ReaderGate
from cg_pipeline.inference.hooks import read_hidden_states
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.prompts import render_prompt
from cg_pipeline.specs import Sae, SaeDirectory
from tests.fakes import tiny_loaded_model, tiny_model

HOOKPOINT = "blocks.1.hook_resid_post"
D_MODEL, D_SAE, K = 64, 128, 6

_WORDS = (
    "the", "cat", "sat", "on", "mat", "dog", "ran", "to", "park", "what", "is", "two", "plus", "three",
    "five", "Paris", "capital", "of", "France",
)  # fmt: skip


def sentences(n: int = 48, seed: int = 0) -> list[str]:
    """Words in an order in which each foretells the next a little."""
    draw = random.Random(seed)
    found = []
    for _ in range(n):
        place, words = draw.randrange(len(_WORDS)), []
        for _ in range(draw.randint(8, 14)):
            words.append(_WORDS[place % len(_WORDS)])
            place += draw.choice((1, 1, 1, 2, 5))
        found.append(" ".join(words))
    return found


TEXTS = sentences()


@contextmanager
def on_one_thread() -> Iterator[None]:
    """For fixtures of a module, which are made before those of a test say so: see `conftest`."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def taught_model(*, chat: bool = True, adds_bos: bool = False, seed: int = 0) -> LoadedModel:
    """A tiny model of random weights whose head is fitted to foretell the next token of the texts.

    Without that, taking its states away would cost nothing: it knows nothing to lose.
    """
    loaded = tiny_loaded_model(chat=chat, adds_bos=adds_bos)
    module = tiny_model(d_model=D_MODEL, n_layers=4, seed=seed)
    loaded = replace(loaded, module=module)
    states, following = [], []
    for text in TEXTS:
        ids = torch.from_numpy(render_prompt(loaded.tokenizer, loaded.spec, text).input_ids)
        states.append(module.base_model(ids[None]).last_hidden_state[0, :-1])
        following.append(ids[1:])
    wanted = 8.0 * nn.functional.one_hot(torch.cat(following), module.config.vocab_size).float()
    inputs = torch.cat(states)
    ridge = inputs.T @ inputs + torch.eye(D_MODEL)
    head = torch.linalg.solve(ridge, inputs.T @ wanted).T.contiguous()
    module.get_output_embeddings().weight = nn.Parameter(head, requires_grad=False)
    return loaded


def content_states(reader: LoadedModel, hookpoint: str) -> torch.Tensor:
    """States of the texts' own tokens, each text read by itself."""
    found = []
    for text in TEXTS:
        prompt = render_prompt(reader.tokenizer, reader.spec, text)
        ids = torch.from_numpy(prompt.input_ids)[None]
        states = read_hidden_states(reader.module, hookpoint, ids, torch.ones_like(ids))
        found.append(states[0][torch.from_numpy(prompt.content_mask)])
    return torch.cat(found)


def fitted_sae(
    directory: Path,
    reader: LoadedModel,
    *,
    trained_at: str = HOOKPOINT,
    scale: float = 1.0,
    **metadata: object,
) -> TopKSAE:
    """A TopK SAE of the reader's states, written to the directory by sae-lens.

    Args:
        directory: where.
        reader: whose states.
        trained_at: where they are read.
        scale: what they are multiplied by first.
        metadata: what the SAE says of itself, instead of the truth.
    """
    states = content_states(reader, trained_at) * scale
    named = {"model_name": "tiny", "hook_name": HOOKPOINT, **metadata}
    sae = TopKSAE(TopKSAEConfig(d_in=D_MODEL, d_sae=D_SAE, k=K, metadata=SAEMetadata(**named)))
    around, spread = states - states.mean(0), states.std()
    drawn = torch.randperm(len(states), generator=torch.Generator().manual_seed(0))[:D_SAE]
    with torch.no_grad():
        sae.b_dec.copy_(states.mean(0))
        sae.W_dec.copy_(nn.functional.normalize(around[drawn], dim=1))
        sae.W_enc.copy_(sae.W_dec.T)
    optimiser = torch.optim.Adam(sae.parameters(), lr=1e-3 * float(spread))
    for _ in range(150):
        optimiser.zero_grad()
        ((sae.decode(sae.encode(states)) - states) / spread).square().mean().backward()
        optimiser.step()
    sae.save_model(directory)
    return sae


def fitted_spec(reader: LoadedModel, **changed: object) -> Sae:
    """The spec of an SAE in the directory `sae`, with the figures that its author would publish."""
    plain = {
        "name": "tiny_sae",
        "title": "Tiny",
        "model": reader.spec,
        "hookpoint": HOOKPOINT,
        "weights": SaeDirectory(path="sae"),
        "d_sae": D_SAE,
        "licence": "MIT",
        "gate": ReaderGate(min_loss_recovered=0.6),
        "published": PublishedFigures(explained_variance=0.8, l0=float(K), source="its author"),
    }
    return Sae(**(plain | changed))
