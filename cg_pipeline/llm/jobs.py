"""A question on its way: where its answer is to be kept, and who waits for it."""

from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cg_pipeline.llm.attempts import Attempt
from cg_pipeline.llm.questions import Question
from cg_pipeline.llm.replies import AnswerText


@dataclass(frozen=True)
class Asked:
    """A question, and the place of its answer on disk."""

    question: Question
    request: dict[str, Any]
    """What the answer is kept under."""
    path: Path


@dataclass
class Job:
    """A question that is to be asked."""

    asked: Asked
    attempt: Attempt = field(default_factory=Attempt)
    n_answered: int = 0
    """Questions that the server had answered when it last turned this one away."""
    answer: Future[AnswerText] = field(default_factory=Future[AnswerText])
