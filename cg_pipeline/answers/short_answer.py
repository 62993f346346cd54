"""The short answer in a generated text: what it announces, else its first line."""

from cg_pipeline.answers.markers import announced, first_line, first_sentence, goes_on_after_first_line
from cg_pipeline.answers.own_part import own_part

_LONGEST = 2000


def short_answer(text: str) -> str:
    """The sentence after the last "answer is", else the first line; empty when there is none.

    Of a longer one the first 2,000 characters.
    """
    return _whole(text)[:_LONGEST]


def _whole(text: str) -> str:
    said = own_part(text)
    after = announced(said)
    return first_line(said) if not after else first_sentence(after).strip().rstrip("*").strip()


def is_settled(text: str) -> bool:
    """Whether a text cut at its limit had finished its short answer: something follows it."""
    said = own_part(text)
    after = announced(said)
    if after is None:
        return goes_on_after_first_line(text.rpartition("</think>")[2])
    return len(first_sentence(after)) < len(after)
