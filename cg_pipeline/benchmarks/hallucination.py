"""Vectara's hallucination leaderboard: does a summary say only what its passage says?

Hughes and Bae (2023), Vectara Hallucination Leaderboard, github.com/vectara/
hallucination-leaderboard. No licence stated for the data; the passages are from news and
other collections, CNN/Daily Mail among them. About 1,000 passages; the leaderboard counts the 831
that every one of its first models summarised.

A raw row:
    {"source": "The bridge at Aln was closed on Monday. Engineers found a crack in its deck."}

Quirks: the data set is the table of all models' summaries, so every passage stands there once a
model; the summaries are not read, and repeated passages are dropped. It is CSV. The commit is
the first one, a third as large as later ones with the same passages.

The prompt is the leaderboard's. It judges with its own trained classifier (HHEM); here a judge
of the user's choice does, so rates are not comparable with its table. The leaderboard asks for
a summary at temperature 0.
"""

from typing_extensions import TypedDict

from cg_pipeline.items import Item, Prompt
from cg_pipeline.specs import Benchmark, HubRows


class Row(TypedDict):
    """The column of the hub's table that is read."""

    source: str


def to_item(row: Row) -> Item:
    """The judge is given the passage alone."""
    passage = row["source"].strip()
    return Item(question=passage, details={"passage": passage})


def prompt(item: Item) -> Prompt:
    """The leaderboard's request, with the passage at its end."""
    return Prompt(
        text="You are a chat bot answering questions using data. You must stick to the answers provided "
        "solely by the text in the passage provided. You are asked the question 'Provide a concise summary "
        "of the following passage, covering the core pieces of information described.' "
        f"{item.question}"
    )


# The name of its column is from memory, not verified against the hub.
BENCHMARK = Benchmark(
    name="hallucination",
    title="Hallucination (summaries)",
    scope="Whether summaries of short passages add anything that the passage does not say.",
    licence="none stated",
    source=HubRows(
        repo="vectara/leaderboard_results",
        split="train",
        revision="6fe49c245b98df709d6cad0ef8a60546144cc455",
    ),
    row=Row,
    to_item=to_item,
    prompt=prompt,
    response="generation",
    scoring="judge_consistency",
    max_new_tokens=256,
)
