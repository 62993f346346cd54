"""Which language a text is in."""

from functools import lru_cache

_LOOKED_AT = 5000


def response_language(response: str, language: str) -> bool:
    """The response is in the language, an ISO 639-1 code; one without words passes for any."""
    return _is_wordless(response) or _language(response) == language.partition("-")[0]


def is_english(text: str) -> bool:
    """Whether a text is in English; one without words passes for any language."""
    return _is_wordless(text) or _language(text) == "en"


def _is_wordless(text: str) -> bool:
    return not any(character.isalpha() for character in text)


@lru_cache(maxsize=64)
def _language(text: str) -> str:
    import py3langid  # pyright: ignore[reportMissingTypeStubs] - loads a table of megabytes, which few runs need

    ranked: tuple[str, float] = py3langid.classify(text[:_LOOKED_AT].lower())  # pyright: ignore
    return ranked[0]
