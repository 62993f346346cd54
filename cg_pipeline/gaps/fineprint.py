"""The small print of a report: its settings and its limits."""

from collections import Counter
from collections.abc import Iterator, Sequence

from cg_pipeline.gaps.inputs import ReportInputs
from cg_pipeline.gaps.legible import exact_percent
from cg_pipeline.gaps.phrases import KIND_TITLES, rule
from cg_pipeline.health_specs import HealthRules
from cg_pipeline.records import Concept
from cg_pipeline.specs import Model, Sae

LIMITS = (
    "No test of significance is made. A low performance from few examples is not a proven gap: look at "
    "n_eff and read the examples before acting on one.",
    "Thousands of concepts are looked at, so some are extreme by chance alone; no correction for that "
    "is made.",
    "Model gaps and under-represented concepts are the low end of what was measured, whether or not "
    "that is low.",
    "Performance is weighted by an average over all tokens of an example, which dilutes it: most "
    "concepts lie near the benchmark's mean, and a real weakness can look small.",
    "A concept is a direction in one reader's hidden states. Its label is a guess from where it fires; "
    "the same benchmarks read by another model show other concepts.",
    "Longer and more numerous examples touch more concepts, so coverages of suites of different size do "
    "not compare.",
    "Intervals take the examples as independent; twins and shared passages make the truth less certain "
    "than they say.",
)
"""What a reader must know before acting, in plain words."""


def settings(inputs: ReportInputs) -> Iterator[tuple[str, str]]:
    """What was set for this study, as (name, value), in the order of the method."""
    study, rules, sae, model = inputs.study, inputs.study.rules, inputs.sae, inputs.model
    yield "Study", f"{study.title} ({study.name}, version {study.version})"
    yield "Model", _model(model)
    yield "Reader", _reader(sae)
    yield "Labels", _labels(inputs.concepts)
    yield "Tokens that count", _MASKS[sae.token_mask]
    yield from _scoring(inputs)
    yield "Coverage divided by", _NORMALISERS[study.normaliser]
    yield "Support", f"n_eff ≥ {rules.min_n_eff:g}"
    for kind, title in KIND_TITLES.items():
        if kind != "missing":
            yield title, rule(kind, rules)
    yield from _health(study.health, sae)
    yield "Groups", f"at most {study.max_clusters} per kind of gap, seed {study.seed}"


def _health(rules: HealthRules, sae: Sae) -> Iterator[tuple[str, str]]:
    """What a concept is left out for."""
    broad, own = exact_percent(sae.dense_threshold), exact_percent(rules.max_token_rate)
    yield "Dense", f"firing on more than {broad} of the broad sample's tokens, or {own} of the examples'"
    share = exact_percent(rules.max_place_share)
    yield "Positional", f"more than {share} of {rules.min_firings} or more firings on first or special tokens"
    yield "Duplicate", f"cosine above {rules.max_cosine:g} with a concept that fires more"
    if rules.min_label_score is not None:
        yield "Badly labelled", f"label score below {rules.min_label_score:g}"


def _scoring(inputs: ReportInputs) -> Iterator[tuple[str, str]]:
    """Each way of scoring with the benchmarks that are scored so."""
    titles: dict[str, list[str]] = {}
    for spec in (inputs.benchmarks[name] for name in inputs.scores if name in inputs.benchmarks):
        limit = f", at most {spec.max_new_tokens} tokens" if spec.max_new_tokens else ""
        titles.setdefault(f"{spec.scoring} of a {spec.response}{limit}", []).append(spec.title)
    for way, scored_so in titles.items():
        yield f"Scored by {way}", ", ".join(scored_so)


_MASKS = {
    "content": "those of the example's own text",
    "no_special": "all but special tokens",
    "all": "all but padding",
}
_NORMALISERS = {
    "grand_mean": "the average over all concepts and examples, zeros counted",
    "active_mean": "the average over the active concepts of each example",
    "none": "nothing",
}


def _labels(concepts: Sequence[Concept]) -> str:
    """Where the labels come from, the source of most first."""
    sources = Counter(concept.label_source for concept in concepts)
    return ", ".join(f"{n:,} {source}" for source, n in sources.most_common())


def _model(model: Model) -> str:
    form = "chat template" if model.chat else "plain text"
    system = f", system prompt “{model.system_prompt}”" if model.system_prompt else ""
    return f"{model.title} ({model.name}, version {model.version}), {model.dtype}, {form}{system}"


def _reader(sae: Sae) -> str:
    return f"{sae.title} ({sae.name}, version {sae.version}), {sae.d_sae:,} latents at {sae.hookpoint}"
