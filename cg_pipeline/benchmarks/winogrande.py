"""WinoGrande: which of two names fits into the blank, by common sense.

Sakaguchi et al. (2019), WinoGrande: An Adversarial Winograd Schema Challenge at Scale, arXiv
1907.10641. CC-BY. 1,267 validation sentences; the test answers are not public.

A raw row:
    {"sentence": "The mug did not fit into the bag because the _ was too small.",
     "option1": "mug", "option2": "bag", "answer": "2"}

Quirks: sentences were written in twins that differ in a word or two and have opposite answers;
filtering broke up many pairs, and the hub keeps no key of them. Twins are told by their two
options and their first three words, which finds 277 of the 284 pairs that look alike.

Partial evaluation as in lm-evaluation-harness (`winogrande`): what follows the blank is
compared after each option, as raw text. A chat model, too, is given the filled sentences without its
chat template, and never the one with the blank, which says what follows it. The harness shows that
one neither, and by default no template; told to apply it, it makes the part up to the option a
user's message.
"""

from collections.abc import Mapping
from typing import Any, Literal

from typing_extensions import TypedDict

from cg_pipeline.formats import around_blank
from cg_pipeline.items import Item, letter_index, pick
from cg_pipeline.records import content_id
from cg_pipeline.specs import Benchmark, HubRows

_FIRST_WORDS = 3


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    sentence: str
    option1: str
    option2: str
    answer: Literal["1", "2"]


def to_item(row: Row) -> Item:
    """The two options are the choices."""
    return _item(row["sentence"], [row["option1"], row["option2"]], int(row["answer"]) - 1)


def from_normalised(fields: Mapping[str, Any]) -> Item:
    """The question is the sentence with its blank."""
    return _item(fields["question"], fields["choices"], letter_index(fields["answer"]))


def twin_key(sentence: str, options: list[str]) -> str:
    """Equal for the two sentences of a pair, whichever option comes first."""
    return content_id(sorted(map(str.lower, options)), sentence.lower().split()[:_FIRST_WORDS])


def _item(sentence: str, options: list[str], answer: int) -> Item:
    return Item(
        question=sentence,
        choices=tuple(options),
        answers=(pick(options, answer),),
        cluster=twin_key(sentence, options),
    )


BENCHMARK = Benchmark(
    name="winogrande",
    title="WinoGrande",
    scope="Whom or what a blank in a sentence stands for, decided by common sense.",
    licence="CC-BY",
    source=HubRows(
        repo="allenai/winogrande",
        configs=("winogrande_xl",),
        split="validation",
        revision="01e74176c63542e6b0bcb004dcdea22d94fb67b5",
    ),
    row=Row,
    to_item=to_item,
    prompt=around_blank,
    from_normalised=from_normalised,
    response="choice",
    scoring="likelihood",
)
