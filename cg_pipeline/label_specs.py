"""Where an SAE's labels come from, and which of several is shown: `Sae.labels`.

Automatic labels are always there; a file put into `data/labels/<sae>/` is read without being
named here. What is named here is published by others and pinned: to a commit of the hub, or, for
Neuronpedia's bucket, which changes under the same name, to the day as of which it was fetched.

Why precedence goes by source and never by score: scores of different tests do not compare, and
a label nobody has tested may be the better one. A low score is shown with the label instead.
"""

from dataclasses import dataclass
from typing import Literal, get_args

LabelKind = Literal["own", "llm", "neuronpedia", "hub", "automatic"]

KINDS: tuple[LabelKind, ...] = get_args(LabelKind)
"""Kinds of sources, in the order of precedence that holds where a spec names none."""


@dataclass(frozen=True, kw_only=True)
class LabelColumns:
    """What the columns of a label file are called; empty for one of the usual names."""

    concept: str = ""
    """Index of the latent."""
    label: str = ""
    explainer: str = ""
    """Who or what wrote the label."""
    made: str = ""
    """Date of the label."""
    score: str = ""
    n: str = ""
    """How many judgements the score is made of."""


@dataclass(frozen=True, kw_only=True)
class HubLabels:
    """Label files of a repository on the Hugging Face hub: JSON, JSON lines, CSV or Parquet."""

    repo: str
    revision: str
    """Full commit hash."""
    files: tuple[str, ...]
    repo_type: Literal["dataset", "model"] = "dataset"
    gated: str = ""
    """What the page of a gated repository asks a reader to accept. Empty for an open one."""
    columns: LabelColumns = LabelColumns()

    def __post_init__(self) -> None:
        if not self.files:
            raise ValueError(f"Labels of {self.repo!r} name no file; expected one or more. Name them.")

    @property
    def source(self) -> str:
        """What its labels are recorded under."""
        return f"hub:{self.repo}"


@dataclass(frozen=True, kw_only=True)
class NeuronpediaExport:
    """Explanations of one source of Neuronpedia, as its public bucket has them."""

    model_id: str
    """For example `gemma-2-2b`."""
    source_id: str
    """For example `20-gemmascope-res-16k`; the rows call it `layer`."""
    as_of: str
    """Day of the copy that is wanted, YYYY-MM-DD: another one fetches anew, as the bucket has no versions."""
    folder: str = "explanations"
    """Some sources have one for each explainer, for example `explanations-gpt-4o-mini`."""

    @property
    def source(self) -> str:
        """What its labels are recorded under."""
        place = "" if self.folder == "explanations" else f"/{self.folder}"
        return f"neuronpedia:{self.model_id}/{self.source_id}{place}"


@dataclass(frozen=True, kw_only=True)
class Labelling:
    """Where an SAE's labels come from, and which one is shown."""

    sources: tuple[HubLabels | NeuronpediaExport, ...] = ()
    """Published labels, besides the user's files, those of an LLM and the automatic ones."""
    precedence: tuple[str, ...] = KINDS
    """Whose label is shown: sources (`own:mine.csv`, `llm:my-model`) or kinds of them, the first one first.

    What is not named follows in the order of `KINDS`, sources of a kind by their names. Of several
    labels of one source the highest scored is shown, then the latest.
    """
    low_score: float = 0.6
    """A label that scored less than this in any of its tests is marked; 0.5 is chance.

    Tests are detection and fuzzing, and a `score` of the user's own files; exports' other scores are on
    scales of their own.
    """

    def __post_init__(self) -> None:
        names = [each.source for each in self.sources]
        if len(set(names)) < len(names):
            raise ValueError(f"Label sources are {names}; expected each once. Remove what is repeated.")
        if strange := [each for each in self.precedence if each.partition(":")[0] not in KINDS]:
            raise ValueError(
                f"Precedence of labels names {strange[0]!r}; expected a kind ({', '.join(KINDS)}) or a "
                "source such as own:mine.csv. Correct it."
            )


UNPUBLISHED = Labelling()
"""Of an SAE for which nobody has published labels."""
