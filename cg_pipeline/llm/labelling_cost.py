"""What labelling will cost, told before it is done, and what it has cost.

Tokens are estimated as a quarter of the text's bytes, which is about right for English and too
little for scripts with several bytes a letter; the bill afterwards has the server's own counts.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cg_pipeline.llm.chat import ChatModel
from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.llm.labelling import MAX_LABEL_CHARACTERS, explain_prompt, trial_prompt
from cg_pipeline.protocols import LabelTest

BYTES_PER_TOKEN = 4
_EXPLANATION_TOKENS = 120
_VERDICT_TOKENS = 8
_LABEL = "x" * (MAX_LABEL_CHARACTERS // 2)

Questions = tuple[Sequence[str], Sequence[Sequence[str]], Sequence[Sequence[str]]]
"""Of one concept: excerpts to explain by, and those of each detection and fuzzing question."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What asking about some concepts is expected to take."""

    n_concepts: int
    n_questions: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    """In the currency of the prices; None when these are unknown."""

    @property
    def sentence(self) -> str:
        """For people."""
        price = "price unknown" if self.cost is None else f"about {self.cost:.2f} at the prices set"
        return (
            f"{self.n_questions:,} questions about {self.n_concepts:,} concepts, about "
            f"{self.input_tokens:,} tokens to read and {self.output_tokens:,} to write: {price}; "
            "answers that are kept from earlier cost nothing"
        )


def estimate(concepts: Sequence[Questions], explainer: Endpoint, tester: Endpoint) -> Estimate:
    """Tokens and price of labelling and testing, as if nothing had been asked before."""
    explained = [explain_prompt(shown) for shown, _, _ in concepts if shown]
    tested = [
        (trial_prompt(test, _LABEL, excerpts), _VERDICT_TOKENS * len(excerpts))
        for concept in concepts
        for test, excerpts in _trials(concept)
    ]
    read = [_tokens(explained), _tokens(prompt for prompt, _ in tested)]
    written = [_EXPLANATION_TOKENS * len(explained), sum(n for _, n in tested)]
    costs = [end.cost(*each) for end, *each in zip((explainer, tester), read, written, strict=True)]
    return Estimate(
        n_concepts=len(concepts),
        n_questions=len(explained) + len(tested),
        input_tokens=sum(read),
        output_tokens=sum(written),
        cost=None if None in costs else sum(cost or 0.0 for cost in costs),
    )


def spent(chats: Iterable[ChatModel]) -> dict[str, int | float]:
    """What some models have taken so far: calls, how they ended, tokens, and cost if prices are known."""
    totals = [chat.bill.totals("llm") for chat in {id(chat): chat for chat in chats}.values()]
    known = [name for name in totals[0] if all(name in each for each in totals)]
    return {name: sum(each[name] for each in totals) for name in known}


def _trials(concept: Questions) -> Iterator[tuple[LabelTest, Sequence[str]]]:
    for excerpts in concept[1]:
        yield "detection", excerpts
    for excerpts in concept[2]:
        yield "fuzzing", excerpts


def _tokens(texts: Iterable[str]) -> int:
    return sum(math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN) for text in texts)
