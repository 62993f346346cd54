"""A small complete study built in memory: three benchmarks, a dozen concepts, made-up answers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy import sparse

from cg_pipeline import pipeline
from cg_pipeline.evidence.assembling import wanted_of
from cg_pipeline.evidence_records import ConceptEvidence
from cg_pipeline.gaps.inputs import ReportInputs
from cg_pipeline.health_records import ConceptHealth
from cg_pipeline.label_records import TokenFirings
from cg_pipeline.metrics import METRICS
from cg_pipeline.records import Completion, Concept, ConceptActivations, Example, Score
from cg_pipeline.specs import GapRules, LocalWeights, Model, Sae, SaeDirectory, Study

MODEL = Model(
    name="tiny",
    title="Tiny model",
    weights=LocalWeights(path="models/tiny"),
    licence="Apache-2.0",
    chat=False,
    max_tokens=64,
    reader="tiny_sae",
)
WORDS = (
    "river",
    "bread",
    "comet",
    "violin",
    "tax",
    "glacier",
    "rugby",
    "saffron",
    "loom",
    "quartz",
    "heron",
    "opera",
)

RULES = GapRules(min_n_eff=3.0)


def concept(concept_id: int, label: str = "", status: str = "alive", rate: float = 0.01, **text) -> Concept:
    word = WORDS[concept_id % len(WORDS)]
    written = {
        "top_tokens": (f" {word}", f" {word}s"),
        "contexts": (f"a ⟦{word}⟧ here",),
        "promoted_tokens": (word,),
    }
    return Concept(
        sae="tiny_sae",
        concept_id=concept_id,
        label=label or f"“{word}”",
        label_source="automatic",
        firing_rate=rate,
        status=status,
        **(written | text),
    )


def health_of(concept: Concept, **changed) -> ConceptHealth:
    """A verdict that agrees with the concept's status."""
    quarantined = concept.status != "alive"
    plain = {
        "model": "tiny",
        "concept_id": concept.concept_id,
        "verdict": "quarantined" if quarantined else "fine",
        "reasons": (concept.status,) if quarantined else (),
        "broad_rate": concept.firing_rate,
        "token_rate": concept.firing_rate,
        "example_rate": 0.5,
        "mean_saliency": 1.0,
        "max_saliency": 2.0,
        "n_firings": 20,
        "bos_share": 0.0,
        "template_share": 0.25,
        "first_share": 0.05,
        "nearest_concept_id": 0,
        "cosine": 0.1,
        "label_score": None,
    }
    return ConceptHealth(**(plain | changed))


def activations_of(saliency: np.ndarray, example_ids: Sequence[str]) -> ConceptActivations:
    rows = sparse.csr_array(saliency)
    return ConceptActivations(
        example_ids=tuple(example_ids),
        n_concepts=saliency.shape[1],
        indptr=rows.indptr.astype(np.int64),
        concept_ids=rows.indices.astype(np.int64),
        saliency=rows.data.astype(np.float32),
        n_tokens=np.full(len(example_ids), 8),
    )


class WordReader:
    """Fires every wanted concept on the first two words of a text, twice as strongly on the second."""

    def __init__(self, read: ConceptActivations) -> None:
        self._saliency = {
            (name, int(concept)): float(value)
            for row, name in enumerate(read.example_ids)
            for concept, value in zip(
                read.concept_ids[read.indptr[row] : read.indptr[row + 1]],
                read.saliency[read.indptr[row] : read.indptr[row + 1]],
                strict=True,
            )
        }
        self.names: list[str] = []

    def fire_each(self, texts: Sequence[str], concept_ids: Sequence[Sequence[int]]) -> TokenFirings:
        chosen = sorted({concept for ids in concept_ids for concept in ids})
        places, rows = [], []
        for number, text in enumerate(texts):
            words = [match.span() for match in re.finditer(r"\S+", text)][:2]
            words += [(0, 0)] * (8 - len(words))
            for place, span in enumerate(words):
                places.append((number, *span))
                weight = {0: 8 / 3, 1: 16 / 3}.get(place, 0.0)
                found = [weight * self._saliency.get((self.names[number], c), 0.0) for c in chosen]
                rows.append(
                    [v if c in concept_ids[number] else 0.0 for v, c in zip(found, chosen, strict=True)]
                )
        text_of, starts, ends = np.array(places, np.int64).reshape(-1, 3).T
        dense = np.array(rows, np.float32).reshape(len(places), len(chosen))
        return TokenFirings(
            text_of=text_of,
            starts=starts,
            ends=ends,
            concept_ids=tuple(chosen),
            activations=sparse.csc_array(dense),
        )


def evidence_of(
    read: ConceptActivations, examples: Sequence[Example], scores: Sequence[Score], study: Study
) -> ConceptEvidence:
    """What speaks for each concept, read by a `WordReader`."""
    strongest = pipeline.choose_evidence(read, scores, study)
    wanted, reader = wanted_of(strongest, read), WordReader(read)
    asked = [example for example in examples if example.example_id in wanted]
    reader.names = [example.example_id for example in asked]
    firings = pipeline.read_evidence(asked, wanted, reader)
    return pipeline.assemble_evidence(strongest, read, scores, firings)


def score_of(completion: Completion, value: float | None, reason: str = "unparsed") -> Score:
    outcome = {None: "unscored", 0.0: "wrong", 1.0: "right"}.get(value, "partial")
    return Score(
        model=completion.model,
        benchmark=completion.benchmark,
        example_id=completion.example_id,
        outcome=outcome,
        value=value,
        reason=reason if value is None else "",
        answer="" if value is None else completion.text,
    )


@dataclass
class SmallStudy:
    """Builds the inputs of a report; every part can be replaced before."""

    benchmarks: tuple[str, ...] = ("north", "south", "west")
    n_examples: int = 30
    n_concepts: int = 12
    concepts: Sequence[Concept] = ()
    prompts: Mapping[int, str] = field(default_factory=dict)
    """Prompt of an example by its number in each benchmark, instead of the plain one."""
    answer: str = "yes"
    unscored: float = 0.1
    rules: GapRules = RULES
    seed: int = 0

    def build(self) -> ReportInputs:
        generator = np.random.default_rng(self.seed)
        concepts = list(self.concepts) or self._concepts()
        examples, completions, scores, evidence, tables = {}, {}, {}, {}, []
        study = Study(
            name="small",
            title="A small study",
            models=("tiny",),
            benchmarks=self.benchmarks,
            rules=self.rules,
        )
        for name in self.benchmarks:
            examples[name] = [self._example(name, number) for number in range(self.n_examples)]
            completions[name] = [self._completion(example) for example in examples[name]]
            scores[name] = [score_of(answer, self._value(generator)) for answer in completions[name]]
            saliency = generator.exponential(size=(self.n_examples, self.n_concepts))
            saliency[generator.random(saliency.shape) < 0.6] = 0
            saliency[:, -2:] = 0
            read = activations_of(saliency, [example.example_id for example in examples[name]])
            evidence[name] = evidence_of(read, examples[name], scores[name], study)
            tables.append(pipeline.measure_concepts("tiny", name, read, scores[name], METRICS, study))
        metrics = pd.concat(tables, ignore_index=True)
        suite = pipeline.summarise_suite(metrics)
        gaps = pipeline.find_gaps(suite, metrics, concepts, study)
        return ReportInputs(
            model=MODEL,
            study=study,
            sae=tiny_sae(self.n_concepts),
            examples=examples,
            completions=completions,
            scores=scores,
            evidence=evidence,
            concepts=concepts,
            health=[health_of(each) for each in concepts],
            concept_metrics=metrics,
            suite=suite,
            gaps=gaps,
            clusters=[],
            provenance={"versions": {"numpy": np.__version__}, "seed": 0},
        )

    def _concepts(self) -> list[Concept]:
        last = self.n_concepts - 1
        kept = [concept(number, rate=0.01 * (number + 1)) for number in range(last - 2)]
        return [
            *kept,
            concept(last - 2, status="dense", rate=0.4),
            concept(last - 1),
            concept(last, rate=0.05),
        ]

    def _example(self, benchmark: str, number: int) -> Example:
        prompt = self.prompts.get(number, f"{benchmark} question {number}?")
        return Example(benchmark=benchmark, category="any", cluster="", prompt=prompt, targets=(f"{number}",))

    def _completion(self, example: Example) -> Completion:
        return Completion(
            model="tiny",
            benchmark=example.benchmark,
            example_id=example.example_id,
            text=self.answer,
            stop="end",
            n_prompt_tokens=4,
            n_completion_tokens=1,
        )

    def _value(self, generator: np.random.Generator) -> float | None:
        return None if generator.random() < self.unscored else float(generator.random() < 0.6)


def tiny_sae(d_sae: int) -> Sae:
    return Sae(
        name="tiny_sae",
        title="Tiny SAE",
        model=MODEL,
        hookpoint="blocks.1.hook_resid_post",
        weights=SaeDirectory(path="saes/tiny"),
        d_sae=d_sae,
        licence="Apache-2.0",
    )
