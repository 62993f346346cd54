"""Where a language model is and what it costs: for the one that names and judges, set in the environment.

Why the environment: a key belongs to a person and a machine, never to a study. What is here
changes no result except through `model`, so no fingerprint of a spec contains an endpoint.
(A model that is evaluated is part of the study: its address is in its spec, its key is not.)

Why a wrong address is never quoted back: swapping two variables is an easy slip, and the
address would then be the key.
"""

import functools
import ipaddress
import math
import os
import re
from dataclasses import dataclass, fields
from urllib.parse import urlsplit

from pydantic import SecretStr

_SHORTEST_SECRET = 8


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a person sets to change an endpoint, as errors name it."""

    address: str = "CG_LLM_BASE_URL"
    model: str = "CG_LLM_MODEL"
    key: str = "CG_LLM_API_KEY"
    input_price: str = "CG_LLM_INPUT_PRICE"
    output_price: str = "CG_LLM_OUTPUT_PRICE"

    @classmethod
    def of(cls, prefix: str) -> "Settings":
        """Those of the environment variables that begin with `prefix`, as CG_LLM's do."""
        names = {field.name: str(field.default) for field in fields(cls)}
        return cls(**{name: default.replace("CG_LLM", prefix, 1) for name, default in names.items()})


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An OpenAI-compatible server and one of its models."""

    base_url: str
    """Address below which `/chat/completions` lies, for example `http://127.0.0.1:8080/v1`."""
    model: str
    """Name of the model at that server."""
    api_key: SecretStr | None = None
    """Bearer token; None for a server that wants none. Masked by pydantic wherever it is printed."""
    timeout_s: float = 120.0
    """Longest wait for one answer."""
    max_retries: int = 4
    """Tries after the first one, for faults that waiting may cure."""
    input_price: float | None = None
    """Per million prompt tokens, in the user's currency; None when unknown."""
    output_price: float | None = None
    """Per million completion tokens; None when unknown."""
    backoff_s: float = 1.0
    """Wait before the first retry; doubles with each further one."""
    max_wait_s: float = 60.0
    """Longest wait before a retry; a server that asks for more is given up."""
    settings: Settings = Settings()
    """Where the address, the model and the key come from."""

    def __post_init__(self) -> None:
        _check_address(self.base_url, self.settings)
        if not self.model.strip() or not self.model.isprintable():
            raise ValueError(
                f"{self.settings.model} is {self.model!a}; expected the model's name at the server, "
                "without control characters or broken bytes."
            )
        key = self.api_key.get_secret_value() if self.api_key else "unset"
        if not (key.isascii() and key.isprintable() and key and " " not in key):
            raise ValueError(
                f"{self.settings.key} holds blanks, line breaks or non-ASCII characters; expected a bearer "
                "token. Copy the key again."
            )
        if (self.input_price is None) != (self.output_price is None):
            raise ValueError(
                f"{self.settings.input_price} is {self.input_price} and {self.settings.output_price} is "
                f"{self.output_price}; expected both or neither. Set both, per million tokens."
            )

    @property
    def source(self) -> str:
        """What is recorded as the source of what this model writes: `llm:` and its name."""
        return f"llm:{self.model}"

    @classmethod
    def from_environment(cls, prefix: str = "CG_LLM") -> "Endpoint | None":
        """The endpoint that CG_LLM_MODEL and its like describe, or None if neither address nor model is set.

        Raises:
            ValueError: only one of the two is set, or a variable cannot be used; the message says which.
        """
        base_url, model = _text(f"{prefix}_BASE_URL"), _text(f"{prefix}_MODEL")
        if not base_url and not model:
            return None
        if not base_url or not model:
            given, missing = ("BASE_URL", "MODEL") if base_url else ("MODEL", "BASE_URL")
            raise ValueError(
                f"{prefix}_{given} is set but {prefix}_{missing} is not; expected both or neither. "
                f"Set {prefix}_{missing}, or unset {prefix}_{given} to go without an LLM."
            )
        key = _text(f"{prefix}_API_KEY")
        return cls(
            base_url=base_url.rstrip("/"),
            model=model,
            api_key=SecretStr(key) if key else None,
            timeout_s=_number(f"{prefix}_TIMEOUT_S", above=0.0) or cls.timeout_s,
            max_retries=_count(f"{prefix}_MAX_RETRIES", cls.max_retries),
            input_price=_number(f"{prefix}_INPUT_PRICE"),
            output_price=_number(f"{prefix}_OUTPUT_PRICE"),
            settings=Settings.of(prefix),
        )

    @property
    def is_loopback(self) -> bool:
        """Whether the server runs on this machine, where no proxy may come between."""
        host = urlsplit(self.base_url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        """Price of so many tokens, in the currency of the prices; None when these are unknown."""
        if self.input_price is None or self.output_price is None:
            return None
        return (input_tokens * self.input_price + output_tokens * self.output_price) / 1e6

    def redact(self, text: str) -> str:
        """The text without the key, should a server echo it, as it is or escaped as JSON allows.

        Keys under 8 characters are placeholders of local servers ("EMPTY", "none"), not secrets.
        """
        key = self.api_key.get_secret_value() if self.api_key else ""
        if len(key) < _SHORTEST_SECRET:
            return text
        text = text.replace(key, "[key]")
        return _escaped(key).sub("[key]", text) if "\\" in text else text


def judge_endpoint() -> Endpoint | None:
    """The endpoint of the CG_JUDGE_* variables, else of the CG_LLM_* ones; None without either.

    One set is taken whole: a key is never sent to the address of the other.
    """
    return Endpoint.from_environment("CG_JUDGE") or Endpoint.from_environment()


@functools.lru_cache(maxsize=8)
def _escaped(key: str) -> re.Pattern[str]:
    """The key with any of its characters escaped by a backslash or by its code, in JSON within JSON too."""
    forms = [rf"(?:{re.escape(c)}|\\{{1,8}}(?:{re.escape(c)}|u00(?i:{ord(c):02x})))" for c in key]
    return re.compile("".join(forms))


def _check_address(address: str, settings: Settings) -> None:
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port or an IPv6 address that cannot be read
        parts, usable = urlsplit(""), False
    if not usable or not address.isprintable() or " " in address:
        raise ValueError(
            f"{settings.address} is not an http or https address; "
            "expected one such as http://127.0.0.1:8080/v1."
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError(
            f"{settings.address} holds a user name, a password or a query; expected a plain address. "
            f"Put the key in {settings.key}."
        )


def _text(variable: str) -> str:
    return os.environ.get(variable, "").strip()


def _number(variable: str, above: float | None = None) -> float | None:
    text = _text(variable)
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value) and value >= 0 and (above is None or value > above):
        return value
    bound = "a number of at least 0" if above is None else f"a number above {above:g}"
    raise ValueError(f"{variable} is {text!r}; expected {bound}.")


def _count(variable: str, default: int) -> int:
    text = _text(variable)
    if not text:
        return default
    if text.isascii() and text.isdigit() and int(text) <= 20:
        return int(text)
    raise ValueError(f"{variable} is {text!r}; expected a whole number from 0 to 20.")
