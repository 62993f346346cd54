"""A question on its way to an answer: what was tried, what may still help, what it cost in the end."""

import time
from dataclasses import dataclass, field

from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.llm.wire import Fault, wait_s


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens the server says it used."""

    input_tokens: int = 0
    output_tokens: int = 0
    n_unreported: int = 0
    """Responses that did not say; when above 0, the other two are lower bounds."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            n_unreported=self.n_unreported + other.n_unreported,
        )


@dataclass(frozen=True, kw_only=True)
class Call:
    """One line of the bill."""

    usage: Usage
    """Tokens of all tries together; none for a cached answer."""
    cost: float | None
    """Price of those tokens; None when the prices are unknown."""
    cached: bool
    answered: bool
    """False for a call that failed; what it used up is counted all the same."""
    latency_s: float
    n_retries: int


@dataclass(kw_only=True)
class Attempt:
    """What has been tried for one question so far."""

    omitted: frozenset[str] = frozenset()
    """Parameters that the server has refused, and that are left out."""
    started: float = field(default_factory=time.monotonic)
    usage: Usage = field(default_factory=Usage)
    n_tries: int = 0
    n_waits: int = 0

    @property
    def tries(self) -> str:
        """How many there were, in words."""
        return "1 try" if self.n_tries == 1 else f"{self.n_tries} tries"

    def cure(self, fault: Fault, endpoint: Endpoint) -> float | None:
        """Seconds to wait before the next try, without what was refused; None where none may help."""
        if fault.remedy == "omit" and fault.parameter not in self.omitted:
            self.omitted |= {fault.parameter}
            return 0.0
        if fault.remedy == "wait" and self.n_waits < endpoint.max_retries:
            self.n_waits += 1
            return wait_s(fault, self.n_waits - 1, endpoint)
        return None

    def call(self, endpoint: Endpoint, *, cached: bool, answered: bool) -> Call:
        """The line of the bill, now that it has ended."""
        return Call(
            usage=self.usage,
            cost=endpoint.cost(self.usage.input_tokens, self.usage.output_tokens),
            cached=cached,
            answered=answered,
            latency_s=time.monotonic() - self.started,
            n_retries=max(0, self.n_tries - 1),
        )
