"""Which language a text is in."""

from functools import lru_cache

_LOOKED_AT = 5000


def response_language(response: str, language: str) -> bool:
    """The whole response is in the language, an ISO 639-1 code."""
    return _language(response) == language.partition("-")[0]


def is_english(text: str) -> bool:
    """Whether a text is in English; one without words passes for any language."""
    return not any(character.isalpha() for character in text) or _language(text) == "en"


@lru_cache(maxsize=64)
def _language(text: str) -> str:
    import py3langid  # pyright: ignore[reportMissingTypeStubs] - loads a table of megabytes, which few runs need

    ranked: tuple[str, float] = py3langid.classify(text[:_LOOKED_AT].lower())  # pyright: ignore
    return ranked[0]
