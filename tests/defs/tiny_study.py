"""Three truncated benchmarks of the real catalogue, a fake model and reader: the whole graph in seconds."""

import hashlib
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import dagster as dg
import numpy as np
from scipy import sparse

from cg_pipeline.definitions import assemble
from cg_pipeline.defs.catalogue import StudyChoice
from cg_pipeline.defs.resources import Gpu, Store
from cg_pipeline.environment import CHECKOUT
from cg_pipeline.health_records import PLACES, FitArrays, ReaderFit
from cg_pipeline.label_records import TokenFirings
from cg_pipeline.protocols import Generation
from cg_pipeline.records import Completion, Concept, ConceptActivations, Example
from cg_pipeline.saes import SAES
from cg_pipeline.sources.sae_files import SETTINGS, WEIGHTS
from cg_pipeline.specs import SaeDirectory, Study
from cg_pipeline.studies import STUDIES

N_CONCEPTS = 512
N_ROWS = 12
STUDY = replace(STUDIES["embedded"], benchmarks=("arithmetic", "facts", "requests"))
READER = {name: replace(sae, d_sae=N_CONCEPTS) for name, sae in SAES.items()}
"""The catalogue's reader with fewer concepts: to be put into `SAES` while the study runs."""


def _number(*parts: object) -> int:
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=8).digest())


def concept_of(word: str) -> int:
    """The concept that fires on a word."""
    return _number(word) % N_CONCEPTS


def _strength(word: str) -> float:
    """How strongly it fires."""
    return 0.5 + _number(word, 1) % 100 / 100


class FakeLanguageModel:
    """Answers at random, but always the same; tells how far it is."""

    def __init__(self, advance: Callable[[int, int], None]) -> None:
        self._advance = advance

    def choose(self, examples: Sequence[Example], unconditional: str = "") -> list[Completion]:
        return [self._completion(example, choice=True) for example in examples]

    def generate(self, examples: Sequence[Example], how: Generation) -> list[Completion]:
        return [self._completion(example, choice=False) for example in examples]

    def _completion(self, example: Example, *, choice: bool) -> Completion:
        self._advance(1, 14)
        logprobs = tuple(-1.0 - _number(example.example_id, text) % 1000 / 100 for text in example.choices)
        return Completion(
            model="smollm2_135m",
            benchmark=example.benchmark,
            example_id=example.example_id,
            text=f"I think the answer is {_number(example.example_id) % 20}.",
            choice_logprobs=logprobs if choice else (),
            choice_tokens=tuple(1 for _ in logprobs) if choice else (),
            stop="choice" if choice else "end",
            n_prompt_tokens=10,
            n_completion_tokens=4,
        )


class FakeEncoder:
    """Fires each word's own concepts: a bag of words in disguise."""

    n_concepts = N_CONCEPTS

    def read(self, example_ids: Sequence[str], texts: Sequence[str]) -> ConceptActivations:
        rows = [self._row(text) for text in texts]
        return ConceptActivations(
            example_ids=tuple(example_ids),
            n_concepts=N_CONCEPTS,
            indptr=np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64),
            concept_ids=np.array([c for row in rows for c in sorted(row)], dtype=np.int64),
            saliency=np.array([row[c] for row in rows for c in sorted(row)], dtype=np.float32),
            n_tokens=np.array([len(text.split()) for text in texts], dtype=np.int64),
        )

    def read_answers(self, answer_ids: Sequence[str], turns: Sequence[tuple[str, str]]) -> ConceptActivations:
        return self.read(answer_ids, [answer for _, answer in turns])

    def _row(self, text: str) -> dict[int, float]:
        words, row = text.split(), dict[int, float]()
        for word in words:
            row[concept_of(word)] = row.get(concept_of(word), 0.0) + _strength(word) / len(words)
        return row

    def describe(self, texts: Sequence[str]) -> list[Concept]:
        return [
            Concept(
                sae="smollm2_l12",
                concept_id=i,
                label=f"word {i}",
                label_source="automatic",
                firing_rate=0.0 if i % 50 == 0 else 0.01,
                status="dead" if i % 50 == 0 else "alive",
                top_tokens=(f"word{i}",),
                contexts=(f"a ⟦word{i}⟧ here",),
                promoted_tokens=(f"word{i}",),
            )
            for i in range(N_CONCEPTS)
        ]

    def fire(self, texts: Sequence[str], concept_ids: Sequence[int]) -> TokenFirings:
        chosen = sorted(set(concept_ids))
        rows, places = [], []
        for number, text in enumerate(texts):
            for word in re.finditer(r"\S+", text):
                fires = concept_of(word[0])
                rows.append([_strength(word[0]) if concept == fires else 0.0 for concept in chosen])
                places.append((number, *word.span()))
        text_of, starts, ends = np.array(places).T
        return TokenFirings(
            text_of=text_of,
            starts=starts,
            ends=ends,
            concept_ids=tuple(chosen),
            activations=sparse.csc_array(np.array(rows, np.float32)),
        )

    def fire_each(self, texts: Sequence[str], concept_ids: Sequence[Sequence[int]]) -> TokenFirings:
        looked_at = sorted({concept for ids in concept_ids for concept in ids})
        found = self.fire(texts, looked_at)
        own = np.array([[concept in set(ids) for concept in looked_at] for ids in concept_ids])
        return replace(found, activations=found.activations.multiply(own[found.text_of]).tocsc())

    def fit(self, texts: Sequence[str]) -> tuple[ReaderFit, FitArrays]:
        """Fits well, and has counted what it fires on."""
        counts = np.zeros((len(PLACES), N_CONCEPTS), np.int64)
        words = [[concept_of(word) for word in text.split()] for text in texts]
        for found in words:
            np.add.at(counts[PLACES.index("content")], found[1:], 1)
            np.add.at(counts[PLACES.index("first")], found[:1], 1)
        n_tokens = np.array([sum(len(found) - 1 for found in words), len(words), 0, 0])
        arrays = FitArrays(
            firings=counts,
            n_tokens=n_tokens,
            counted_firings=counts,
            counted_tokens=n_tokens,
            nearest=np.roll(np.arange(N_CONCEPTS), 1),
            cosine=np.zeros(N_CONCEPTS, np.float32),
        )
        return fit_of("smollm2_l12", n_examples=len(texts), n_tokens=int(n_tokens.sum())), arrays

    def directions(self) -> np.ndarray:
        rows = np.random.default_rng(0).normal(size=(N_CONCEPTS, 16))
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def fit_of(sae: str, **changed) -> ReaderFit:
    """Figures of an SAE that fits."""
    hookpoint = SAES[sae].hookpoint
    plain = {
        "model": "",
        "sae": sae,
        "reader": SAES[sae].model.name,
        "identity": "",
        "hookpoint": hookpoint,
        "d_sae": N_CONCEPTS,
        "n_examples": 36,
        "n_tokens": 400,
        "n_not_finite": 0,
        "n_negative": 0,
        "n_bos": 1,
        "explained_variance": 0.82,
        "content_explained_variance": 0.82,
        "l0": 32.0,
        "n_predicted": 300,
        "loss": 3.0,
        "spliced_loss": 3.1,
        "mean_loss": 9.0,
        "zero_loss": 12.0,
        "loss_recovered": 5.9 / 6,
        "zero_loss_recovered": 8.9 / 9,
        "n_probed_tokens": 200,
        "hookpoints": ("blocks.11.hook_resid_post", hookpoint),
        "hookpoint_explained_variance": (0.76, 0.81),
        "scales": (0.5, 1.0, 2.0),
        "scale_explained_variance": (0.3, 0.81, 0.6),
        "has_bos": True,
        "other_bos_explained_variance": 0.8,
        "path": "",
    }
    return ReaderFit(**(plain | changed))


EXAMPLES_AT_ONCE = 256


class FakeGpu(Gpu):
    """Hands out the fakes, and counts how often a model was asked for."""

    def language_model(self, model, advance) -> FakeLanguageModel:
        LOADS.append(model.name)
        return FakeLanguageModel(advance)

    def examples_at_once(self, response) -> int:
        return EXAMPLES_AT_ONCE

    def encoder(self, sae) -> FakeEncoder:
        LOADS.append(sae.name)
        return FakeEncoder()


class TinyStudy(StudyChoice):
    """Three benchmarks are enough to see every kind of edge of the graph."""

    @property
    def study(self) -> Study:
        return STUDY


LOADS: list[str] = []


def tiny_data(directory: Path) -> Path:
    """A data directory with the first rows of every benchmark of the suite."""
    (directory / "suite").mkdir(parents=True)
    for path in (CHECKOUT / "data" / "suite").glob("*.jsonl"):
        rows = path.read_text(encoding="utf-8").splitlines(keepends=True)[:N_ROWS]
        (directory / "suite" / path.name).write_text("".join(rows), encoding="utf-8")
    shutil.copytree(CHECKOUT / "data" / "sample", directory / "sample")
    for sae in SAES.values():
        if isinstance(sae.weights, SaeDirectory):  # its bytes are hashed; the fake reads nothing else of it
            (directory / sae.weights.path).mkdir(parents=True)
            (directory / sae.weights.path / WEIGHTS).write_bytes(b"weights")
            (directory / sae.weights.path / SETTINGS).write_bytes(b"{}")
    return directory


def tiny_definitions(
    data_dir: Path, gpu: type[FakeGpu] = FakeGpu, study: type[TinyStudy] = TinyStudy
) -> dg.Definitions:
    """The project's definitions with a fake device and a small study."""
    return assemble(str(data_dir), gpu=gpu(store=Store(data_dir=str(data_dir))), study_choice=study())
