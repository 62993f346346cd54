"""What a response says or must not say, where it begins and how it ends."""

import re

_BRACKET = re.compile(r"\[[^\]\n]*\]?")
_POSTSCRIPTS = {"P.S.": r"p\.\s?s\.", "P.P.S": r"p\.\s?p\.\s?s"}
_SEPARATOR = "******"
_CONSTRAINED = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


def no_comma(response: str) -> bool:
    """Not one comma."""
    return "," not in response


def placeholders(response: str, num_placeholders: int) -> bool:
    """At least so many [placeholders in square brackets]; an empty one counts."""
    return sum(found.endswith("]") for found in _BRACKET.findall(response)) >= num_placeholders


def postscript(response: str, postscript_marker: str) -> bool:
    """The marker stands somewhere, in any case, with a blank between its letters or none."""
    marker = postscript_marker.strip()
    return re.search(_POSTSCRIPTS.get(marker, re.escape(marker.lower())), response.lower()) is not None


def constrained_response(response: str) -> bool:
    """One of the three answers that were allowed."""
    return any(allowed in response for allowed in _CONSTRAINED)


def repeat_prompt(response: str, prompt_to_repeat: str) -> bool:
    """The request is repeated, word for word, before anything else."""
    return response.strip().lower().startswith(prompt_to_repeat.strip().lower())


def two_responses(response: str) -> bool:
    """Two different answers with six asterisks between them."""
    parts = response.split(_SEPARATOR)
    if any(not part.strip() for part in parts[1:-1]):
        return False
    answers = [part.strip() for part in parts if part.strip()]
    return len(answers) == 2 and answers[0] != answers[1]


def end_phrase(response: str, end_phrase: str) -> bool:
    """The very last words are the phrase; a quotation mark may close after it."""
    return response.strip().strip('"').lower().endswith(end_phrase.strip().lower())


def quotation(response: str) -> bool:
    """The whole response stands between double quotation marks."""
    said = response.strip()
    return len(said) > 1 and said.startswith('"') and said.endswith('"')
