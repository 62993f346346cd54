"""Specs refuse names and settings that cannot work; a row's answer is picked."""

import dataclasses

import pytest

from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.items import pick
from cg_pipeline.models import MODELS
from cg_pipeline.saes import SAES
from cg_pipeline.specs import check_name
from cg_pipeline.studies import STUDIES, check_names


@pytest.mark.parametrize("name", ["gsm8k", "Llama-3.1-8B", "a", "7b", "a_b.c-d"])
def test_good_names(name):
    check_name("Model", name)


@pytest.mark.parametrize(
    "name", ["", " ", "a b", "a/b", "a,b", "a|b", "../up", ".hidden", "_x", "é", "a\n", "a\x00"]
)
def test_names_that_are_no_partition_key(name):
    """Fault F32: a comma in a partition key cannot be backfilled."""
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole sentence is compared
        check_name("Model", name)
    assert str(error.value) == (
        f"Model name is {name!r}; expected letters, digits, '.', '_' or '-', "
        "starting with a letter or digit. Rename it."
    )


@pytest.mark.parametrize(
    "catalogue", [BENCHMARKS, MODELS, SAES, STUDIES], ids=["Benchmark", "Model", "Sae", "Study"]
)
def test_every_spec_checks_its_name(catalogue):
    spec = next(iter(catalogue.values()))
    with pytest.raises(ValueError, match=f"{type(spec).__name__} name is 'a b'; expected letters"):
        dataclasses.replace(spec, name="a b")


@pytest.mark.parametrize(("response", "limit"), [("choice", 8), ("generation", 0), ("generation", -1)])
def test_token_limit_fits_the_response(response, limit):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole sentence is compared
        dataclasses.replace(BENCHMARKS["logic"], response=response, max_new_tokens=limit)
    assert str(error.value) == (
        f"Benchmark 'logic': max_new_tokens is {limit} for response {response!r}; "
        "expected a positive limit for 'generation' and 0 for 'choice'. Correct one of them."
    )


def test_pick():
    assert [pick(["a", "b"], index) for index in (0, 1)] == ["a", "b"]


@pytest.mark.parametrize("index", [-1, 2, 10])
def test_pick_refuses_other_indices(index):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole sentence is compared
        pick(["a", "b"], index)
    assert str(error.value) == f"answer is {index}; expected an index from 0 to 1. Correct it."


def test_pick_from_nothing():
    with pytest.raises(ValueError, match=r"choices are \[\]; expected two or more texts\. Add them\."):
        pick([], 0)


@pytest.mark.parametrize("field", ["models", "benchmarks"])
@pytest.mark.parametrize("names", [(), ("facts", "facts")])
def test_a_study_names_each_thing_once(field, names):
    with pytest.raises(ValueError, match=rf"Study 'embedded': {field} are .*; expected one or more names"):
        dataclasses.replace(STUDIES["embedded"], **{field: names})


def test_a_study_of_unknown_names_is_refused():
    study = dataclasses.replace(STUDIES["embedded"], benchmarks=("fact",))
    with pytest.raises(
        ValueError, match=r"Study 'embedded' \(studies/embedded\.py\): Unknown benchmark 'fact'"
    ):
        check_names(study, BENCHMARKS)
    orphan = dataclasses.replace(MODELS["smollm2_135m"], reader="nobody")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(MODELS, "smollm2_135m", orphan)
        with pytest.raises(ValueError, match="Unknown SAE 'nobody'"):
            check_names(study, BENCHMARKS)
    typo = {"fact": dataclasses.replace(BENCHMARKS["facts"], scoring="numerik")}
    with pytest.raises(ValueError, match=r"Unknown scoring policy 'numerik'\. Did you mean 'numeric'\?"):
        check_names(study, typo)
    with pytest.raises(ValueError, match="Unknown model 'gpt'"):
        check_names(dataclasses.replace(study, models=("gpt",)), BENCHMARKS)
