"""Where the language model is and what it costs: settings read from the environment only.

Why the environment: a key belongs to a person and a machine, never to a study. What is here
changes no result except through `model`, so no fingerprint of a spec contains an endpoint.

Why a wrong address is never quoted back: swapping two variables is an easy slip, and the
address would then be the key.
"""

import ipaddress
import math
import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import SecretStr

_SHORTEST_SECRET = 8


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

    def __post_init__(self) -> None:
        _check_address(self.base_url)
        if not self.model.strip() or not self.model.isprintable():
            raise ValueError(
                f"CG_LLM_MODEL is {self.model!a}; expected the model's name at the server, "
                "without control characters or broken bytes."
            )
        key = self.api_key.get_secret_value() if self.api_key else "unset"
        if not (key.isascii() and key.isprintable() and key and " " not in key):
            raise ValueError(
                "CG_LLM_API_KEY holds blanks, line breaks or non-ASCII characters; expected a bearer token. "
                "Copy the key again."
            )
        if (self.input_price is None) != (self.output_price is None):
            raise ValueError(
                f"CG_LLM_INPUT_PRICE is {self.input_price} and CG_LLM_OUTPUT_PRICE is {self.output_price}; "
                "expected both or neither. Set both, per million tokens."
            )

    @property
    def source(self) -> str:
        """What is recorded as the source of what this model writes: `llm:` and its name."""
        return f"llm:{self.model}"

    @classmethod
    def from_environment(cls) -> "Endpoint | None":
        """The endpoint the CG_LLM_* variables describe, or None when neither address nor model is set.

        Raises:
            ValueError: only one of the two is set, or a variable cannot be used; the message says which.
        """
        base_url, model, key = _text("CG_LLM_BASE_URL"), _text("CG_LLM_MODEL"), _text("CG_LLM_API_KEY")
        if not base_url and not model:
            return None
        if not base_url or not model:
            given, missing = ("BASE_URL", "MODEL") if base_url else ("MODEL", "BASE_URL")
            raise ValueError(
                f"CG_LLM_{given} is set but CG_LLM_{missing} is not; expected both or neither. "
                f"Set CG_LLM_{missing}, or unset CG_LLM_{given} to go without an LLM."
            )
        return cls(
            base_url=base_url.rstrip("/"),
            model=model,
            api_key=SecretStr(key) if key else None,
            timeout_s=_number("CG_LLM_TIMEOUT_S", above=0.0) or cls.timeout_s,
            max_retries=_count("CG_LLM_MAX_RETRIES", cls.max_retries),
            input_price=_number("CG_LLM_INPUT_PRICE"),
            output_price=_number("CG_LLM_OUTPUT_PRICE"),
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
        """The text without the key, should a server echo it.

        Keys under 8 characters are placeholders of local servers ("EMPTY", "none"), not secrets.
        """
        key = self.api_key.get_secret_value() if self.api_key else ""
        return text.replace(key, "[key]") if len(key) >= _SHORTEST_SECRET else text


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port or an IPv6 address that cannot be read
        parts, usable = urlsplit(""), False
    if not usable or not address.isprintable() or " " in address:
        raise ValueError(
            "CG_LLM_BASE_URL is not an http or https address; expected one such as http://127.0.0.1:8080/v1."
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError(
            "CG_LLM_BASE_URL holds a user name, a password or a query; expected a plain address. "
            "Put the key in CG_LLM_API_KEY."
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
