"""Chatbot Arena: what visitors asked two anonymous chat models.

Zheng et al. (2023), Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, arXiv 2306.05685.
Prompts CC-BY-4.0, gated. 33,000 conversations of April to June 2023.

A raw row:
    {"question_id": "q1", "language": "English", "turn": 1,
     "conversation_a": [{"role": "user", "content": "Name three rivers of Wales."},
                        {"role": "assistant", "content": "Severn, Wye and Dee."}]}

Quirks: the models' answers, votes and moderation tags are not read, and of a conversation only
its first turn is asked. Prompts are of 96 languages, which are the categories; some are
offensive, and some are asked twice.

Arena ratings come from people's votes. Here a judge grades each answer from 1 to 10, so the
scores are no ratings.
"""

from typing_extensions import TypedDict

from cg_pipeline.formats import plain
from cg_pipeline.items import Item
from cg_pipeline.specs import Benchmark, HubRows


class Message(TypedDict):
    """One turn of one side."""

    role: str
    content: str


class Row(TypedDict):
    """Columns of the hub's Parquet file that are read."""

    question_id: str
    language: str
    turn: int
    conversation_a: list[Message]


def to_item(row: Row) -> Item:
    """The user's first message; both models were given the same."""
    first = row["conversation_a"][0] if row["conversation_a"] else {"role": "nobody", "content": ""}
    if first["role"] != "user":
        raise ValueError(
            f"conversation_a opens with {first['role']!r}; expected a message of 'user'. Correct it."
        )
    return Item(category=row["language"], question=first["content"])


BENCHMARK = Benchmark(
    name="chatbot_arena",
    title="Chatbot Arena prompts",
    scope="Helpful answers to whatever people ask a chat model first.",
    licence="CC-BY-4.0 (prompts), gated",
    source=HubRows(
        repo="lmsys/chatbot_arena_conversations",
        split="train",
        revision="1b6335d42a1d2c7e34870c905d03ab964f7f2bd8",
        gated="terms of use: conversations may offend, nobody may be identified, "
        "and contact details are shared with the authors",
    ),
    row=Row,
    to_item=to_item,
    prompt=plain,
    response="generation",
    scoring="judge_answer",
    max_new_tokens=1024,
)
