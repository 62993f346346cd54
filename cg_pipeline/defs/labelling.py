"""Which concepts a language model labels, and which model that is: run configuration and resource."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import dagster as dg
from pydantic import Field

from cg_pipeline.defs.resources import Store
from cg_pipeline.label_records import ConceptContext
from cg_pipeline.labels.explaining import Labelled, by_concept, label_concepts, questions_of
from cg_pipeline.llm.endpoint import Endpoint, judge_endpoint

if TYPE_CHECKING:
    from cg_pipeline.llm.labelling import LlmExplainer, LlmTester
    from cg_pipeline.llm.labelling_cost import Estimate

NO_MODEL = (
    "No language model is set; expected one to write labels. Set CG_LLM_BASE_URL and CG_LLM_MODEL, and "
    "CG_JUDGE_BASE_URL and CG_JUDGE_MODEL to let another one test them."
)


class ConceptChoice(dg.Config):
    """Which concepts are to be labelled: those named, else the most firing ones that are alive."""

    concepts: list[int] = Field(default_factory=list[int])
    """Ids; empty for the most firing ones."""
    top: int = 100
    """How many of the most firing ones; 0 for all that are alive."""
    limit: int = 500
    """Most that may be chosen: more is an error."""


class LabelBudget(dg.Config):
    """Whether to ask, and what that may cost."""

    ask: bool = False
    """Asking costs, so that materialising everything asks nothing."""
    max_cost: float = 0.0
    """In the currency of the prices; a higher estimate is an error. 0 for no bound."""


@dataclass(frozen=True)
class Asking:
    """A model that labels and one that tests, ready to be asked."""

    explainer: "LlmExplainer"
    tester: "LlmTester"
    at_once: int

    def estimate(self, contexts: Sequence[ConceptContext]) -> "Estimate":
        """What labelling the concepts that these excerpts are about is expected to take."""
        from cg_pipeline.llm.labelling_cost import estimate

        questions = [questions_of(group) for group in by_concept(contexts).values()]
        texts = [
            (
                shown,
                [[trial.text for trial in each] for each in detection],
                [[trial.text for trial in each] for each in fuzzing],
            )
            for shown, detection, fuzzing in questions
        ]
        return estimate(texts, self.explainer.chat.endpoint, self.tester.chat.endpoint)

    def label(
        self, contexts: Sequence[ConceptContext], made: str, reader: str, report: Callable[[int, int], None]
    ) -> Labelled:
        """Labels of the concepts that these excerpts are about, tested; as `label_concepts` says."""
        return label_concepts(
            contexts,
            self.explainer,
            self.tester,
            made=made,
            reader=reader,
            at_once=self.at_once,
            report=report,
        )

    def spent(self) -> dict[str, int | float]:
        """What it has taken so far."""
        from cg_pipeline.llm.labelling_cost import spent

        return spent([self.explainer.chat, self.tester.chat])


class Labeller(dg.ConfigurableResource):
    """Who labels concepts: the model of CG_LLM_*; that of CG_JUDGE_*, where it is set, tests the labels."""

    at_once: int = 8
    """Concepts under way at a time; changes no label."""
    store: dg.ResourceDependency[Store]

    def load(self) -> Asking:
        """The models, ready to be asked.

        Raises:
            ValueError: no endpoint is set, or a variable cannot be used.
        """
        from cg_pipeline.llm.chat import ChatModel
        from cg_pipeline.llm.labelling import LlmExplainer, LlmTester

        explains, tests = Endpoint.from_environment(), judge_endpoint()
        if explains is None or tests is None:
            raise ValueError(NO_MODEL)
        cache = self.store.layout.cache / "llm"
        explaining = ChatModel(explains, cache)
        testing = explaining if tests == explains else ChatModel(tests, cache)
        return Asking(LlmExplainer(explaining), LlmTester(testing), self.at_once)
