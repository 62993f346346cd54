import dataclasses
import re

import pytest

from cg_pipeline.gaps.terminal import headline_lines
from tests.gaps.small_study import RULES, SmallStudy, concept

HOSTILE = "<script> \u202eevil\u202c \x1b[31m | " + "words without end " * 20


def text_of(study: SmallStudy) -> str:
    return "\n".join(headline_lines(study.build()))


def test_accuracies_with_interval_and_what_was_not_scored():
    shown = text_of(SmallStudy())
    assert "Benchmarks    accuracy  interval   scored" in shown
    assert re.search(r"  north           0\.\d\d  0\.\d\d–0\.\d\d  \d+ of 30; \d unparsed", shown)


def test_gaps_stand_below_the_heads_of_their_columns():
    shown = text_of(SmallStudy())
    assert (
        "Missing concepts of the suite: 2, highest firing rate first (1 left out)\n"
        "      firing rate  concept\n" in shown
    )
    assert "   1         5.0%  “opera” #11\n" in shown
    assert re.search(
        r"Model gaps of the suite: 1, lowest performance first \(1 left out\)\n"
        r"      performance    lift   n_eff  concept\n"
        r"   1         0\.\d\d   −0\.\d\d +\d+  “\w+” #\d+\n",
        shown,
    )


def test_every_head_is_explained_once():
    shown = text_of(SmallStudy())
    legend = shown[shown.index("What the columns say") :]
    heads = [
        name for line in re.findall(r"^ {6}(.*)  concept$", shown, re.MULTILINE) for name in line.split("  ")
    ]
    for head in {"accuracy", *(head.strip() for head in heads if head.strip())}:
        assert len(re.findall(rf"^  {head} ", legend, re.MULTILINE)) == 1, head


def test_a_long_list_says_that_it_is_cut():
    rules = dataclasses.replace(RULES, under_share=0.5)
    concepts = [concept(number) for number in range(40)]
    shown = text_of(SmallStudy(n_concepts=40, concepts=concepts, rules=rules))
    assert (
        "Under-represented concepts of the suite: 19, lowest coverage first (10 shown, 0 left out)\n" in shown
    )


def test_without_scores_there_are_dashes():
    shown = text_of(SmallStudy(unscored=1.0))
    assert re.search(r"  north  +– +0 of 30; 30 unparsed", shown)
    assert "Model gaps of the suite: none" in shown


@pytest.mark.parametrize("benchmarks", [("north",), ("n" * 60, "south")], ids=["one", "long name"])
def test_lines_fit_and_hold_no_control_character(benchmarks: tuple[str, ...]):
    concepts = [concept(number, f"{number} {HOSTILE}") for number in range(12)]
    lines = headline_lines(SmallStudy(benchmarks=benchmarks, concepts=concepts).build())
    assert max(map(len, lines)) <= 100
    assert not re.search("[\x00-\x1f\u202a-\u202e\u2066-\u2069]", "".join(lines))
    assert any(re.search(r"…”? #\d+$", line) for line in lines)
