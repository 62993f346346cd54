"""Where a text announces its answer: "The answer is …", "Answer: …", "#### …"."""

import re

from cg_pipeline.answers.last import last_match

_MARKER = re.compile(
    r"""\banswers?[ \t]{0,3}(?:\((?:letter|option)\)|(?:to|for)(?:[ ][\w'’-]{1,20}){1,4})?\**[ \t]{0,3}
        (?:(?:is|are|was|were|(?:would|must|should|will|has[ ]to)[ ]be|equals|comes[ ](?:out[ ])?to)\b|:|=)
        (?:[ \t]{0,3}:)?
    | \b(?:correct|right|best)[ ](?:option|choice|one|statement)[ ](?:is\b|:)
    | \#\#\#\#""",
    re.IGNORECASE | re.VERBOSE,
)
_DECORATION = " \t\n*_:"
SENTENCE_END = re.compile(r"\n|(?<=[^\W\d_]{3})(?<!Mrs)(?<!etc)[.!?](?=\s)|(?<=[\d)\"'\]}$%])[.!?](?=\s)")
"""An abbreviation or decimal point ends no sentence."""


def announced(text: str) -> str | None:
    """All that follows the last announcement of an answer; None when there is none."""
    last = last_match(_MARKER, text)
    return None if last is None else text[last.end() :].lstrip(_DECORATION)


def first_sentence(text: str) -> str:
    """The text up to the end of its first sentence or line; an abbreviation or decimal point ends none."""
    end = SENTENCE_END.search(text)
    return text[: end.start()] if end else text


def first_line(text: str) -> str:
    """The first line that is not blank, without blanks around it."""
    return text.strip().partition("\n")[0].rstrip()


def goes_on_after_first_line(text: str) -> bool:
    """Whether the text had finished its first line before it ended."""
    return "\n" in text.lstrip()
