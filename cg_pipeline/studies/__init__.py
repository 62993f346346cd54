"""Studies of the catalogue: one file each, holding one `STUDY`; an experiment is code."""

from collections.abc import Mapping

from cg_pipeline.catalog import collect, lookup
from cg_pipeline.models import MODELS
from cg_pipeline.saes import SAES
from cg_pipeline.scoring import POLICIES
from cg_pipeline.specs import Benchmark, Study

STUDIES = collect(__name__, __path__, "STUDY", Study)


def check_names(study: Study, benchmarks: Mapping[str, Benchmark]) -> None:
    """Refuse a study of models, readers, benchmarks or ways of scoring that there are not.

    `benchmarks` are those that there are, declared ones among them.

    Raises:
        ValueError: it names an unknown one; the message suggests the closest known.
    """
    try:
        for model in study.models:
            lookup("SAE", lookup("model", model, MODELS).reader, SAES)
        for benchmark in study.benchmarks:
            lookup("scoring policy", lookup("benchmark", benchmark, benchmarks).scoring, POLICIES)
    except KeyError as error:
        raise ValueError(f"Study {study.name!r} (studies/{study.name}.py): {error.args[0]}") from None
