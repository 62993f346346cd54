from dataclasses import replace

import pytest

from cg_pipeline.answers.details import details_of
from tests.scoring.cases import example


def test_details_of():
    assert details_of(example()) == {}
    assert details_of(example(details={"a": [1]})) == {"a": [1]}


@pytest.mark.parametrize("text", ["[1]", "{", "null", '"x"'])
def test_details_that_are_no_object_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"details of example \w+ are .*; expected a JSON object"):
        details_of(replace(example(), details=text))
