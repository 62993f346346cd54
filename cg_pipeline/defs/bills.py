"""What the answers of a served model cost: noted with them, told at the terminal and in the report."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cg_pipeline.store.materialisations import Materialisation

if TYPE_CHECKING:
    from cg_pipeline.llm.attempts import Usage
    from cg_pipeline.llm.bill import Bill

_NOTE = "paid"


@dataclass(frozen=True)
class Paid:
    """Tokens, and their price."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
    """In the currency of the prices; None when they are unknown."""
    n_unreported: int = 0
    """Responses whose tokens the server did not tell."""

    def __add__(self, other: "Paid") -> "Paid":
        return Paid(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            None if self.cost is None or other.cost is None else self.cost + other.cost,
            self.n_unreported + other.n_unreported,
        )

    def __str__(self) -> str:
        """In words."""
        least = "at least " if self.n_unreported else ""
        cost = "cost unknown, as no price is set" if self.cost is None else f"cost {self.cost:.6g}"
        return f"{least}{self.input_tokens:,} tokens sent and {self.output_tokens:,} answered, {cost}"


def paid_now(bill: "Bill") -> Paid:
    """What this run has paid."""
    return _paid(bill, bill.usage)


def paid_in_all(bill: "Bill") -> Paid:
    """The same, and what answers on disk had cost before."""
    return _paid(bill, bill.usage_in_all)


def _paid(bill: "Bill", usage: "Usage") -> Paid:
    return Paid(usage.input_tokens, usage.output_tokens, bill.price(usage), usage.n_unreported)


def noted(bill: "Bill") -> dict[str, str]:
    """What is kept of a bill with the completions."""
    return {_NOTE: json.dumps({"now": vars(paid_now(bill)), "in all": vars(paid_in_all(bill))})}


def bills_of(notes: Iterable[Materialisation], model: str) -> dict[str, str]:
    """What a model's answers cost in all, in words, by benchmark and together; empty if nothing was paid."""
    found = _read(notes, model)
    each = {str(note.benchmark): Paid(**kept["in all"]) for note, kept in found}
    return {**{name: str(paid) for name, paid in each.items()}, "together": str(_sum(each))} if each else {}


def bill_lines(notes: Sequence[Materialisation], models: Iterable[str], since: datetime) -> list[str]:
    """A line for each model that is paid for: what its answers cost in all, and what since then."""
    lines: list[str] = []
    for model in models:
        if found := _read(notes, model):
            whole = _sum({note.identity: Paid(**kept["in all"]) for note, kept in found})
            new = [(note, kept) for note, kept in found if note.materialised_at >= since]
            now = _sum({note.identity: Paid(**kept["now"]) for note, kept in new})
            lines.append(f"Paid for answers of {model}, all runs: {whole}; in this run: {now}")
    return lines


def _read(notes: Iterable[Materialisation], model: str) -> list[tuple[Materialisation, Any]]:
    answers = (note for note in notes if (note.asset, note.model) == ("completions", model))
    told = [(note, json.loads(note.versions)) for note in answers]
    return [(note, json.loads(kept[_NOTE])) for note, kept in told if _NOTE in kept]


def _sum(parts: Mapping[Any, Paid]) -> Paid:
    return sum(parts.values(), Paid())
