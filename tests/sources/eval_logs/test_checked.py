from pathlib import Path

import pytest

from cg_pipeline.sources.eval_logs.checked import placed, titled


@pytest.mark.parametrize(
    ("fault", "words"),
    [(RecursionError(), "is nested too deep"), (OverflowError(), "holds too large a number")],
)
def test_what_only_depth_or_size_can_cause_has_its_place(fault, words):
    with pytest.raises(ValueError, match=r"^a:1") as caught, placed("a:1"):
        raise fault
    assert str(caught.value) == f"a:1 {words} to be read; expected what the tool writes."


@pytest.mark.parametrize(
    ("paths", "titles"),
    [
        (["x/a", "y/b"], ["a", "b"]),
        (["x/a", "y/a"], ["x/a", "y/a"]),
        (["x/a", "x/b/a", "x/c"], ["a", "b/a", "c"]),
        (["x/a", "x/a"], ["a"]),
    ],
)
def test_files_are_told_apart_in_as_few_words_as_will_do(paths, titles):
    assert list(titled([Path(path) for path in paths]).values()) == titles
