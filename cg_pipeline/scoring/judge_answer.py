"""One answer graded from 1 to 10 by a language model, with a reference answer where there is one.

The reference is the example's first target, else the details' `reference`. The grade maps to
[0, 1] by (grade − 1) / 9.

An answer cut at its limit is unscored (truncated): a judge would grade what the limit took away.

Source: Zheng et al. 2023, arXiv 2306.05685, single-answer grading; first turns only.
"""

from cg_pipeline.answers.details import details_of
from cg_pipeline.answers.grading import grade, unanswered
from cg_pipeline.answers.own_part import without_reasoning
from cg_pipeline.answers.quoting import NOTE, quoted
from cg_pipeline.protocols import Judge, JudgeFailed
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy

GRADES = tuple(map(str, range(1, 11)))

PROMPT = """\
Below are a user's question and an assistant's answer{with_reference}. {note}

{texts}

How good is the answer? Consider helpfulness, relevance, accuracy, depth and level of detail; \
length alone is no merit.{by_reference} Be as objective as possible.
Verdict: a grade from 1 (useless) to 10 (could not be better).\
"""


def score(example: Example, completion: Completion, judge: Judge | None = None) -> Score:
    """(grade − 1) / 9; unscored when the answer was cut at its limit."""
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    if judge is None:
        return grade(completion, None, reason="no_judge")
    if completion.stop == "length":
        return grade(completion, None, reason="truncated")
    answer = without_reasoning(completion.text)
    if not answer:
        return grade(completion, None, reason="unparsed")
    try:
        verdict = judge.decide(build_prompt(example, answer), GRADES)
    except JudgeFailed as failure:
        return grade(completion, None, reason=failure.reason)
    return grade(completion, GRADES.index(verdict) / 9, answer=verdict)


def build_prompt(example: Example, answer: str) -> str:
    """The question to the judge."""
    reference = _reference(example)
    texts = [quoted("question", example.prompt), quoted("answer", answer)]
    if reference:
        texts.insert(1, quoted("reference", reference))
    return PROMPT.format(
        note=NOTE,
        texts="\n\n".join(texts),
        with_reference=", with a reference answer" if reference else "",
        by_reference=" Compare it with the reference, which is right." if reference else "",
    )


def _reference(example: Example) -> str:
    if example.targets:
        return example.targets[0]
    given: str | list[str] = details_of(example).get("reference") or ""
    return given if isinstance(given, str) else "\n".join(given)


POLICY = ScoringPolicy(name="judge_answer", score=score, judged=True, needs_targets=False)
