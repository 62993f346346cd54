"""Whether a summary says nothing but what its passage says, decided by a language model.

The passage is the details' `passage`, else the prompt. A summary cut at its limit is judged as
far as it goes, unlike an answer that a judge grades: each of its statements is supported or not.

Source: the task of Vectara's hallucination leaderboard; a judge of the user's own stands where
that has a trained classifier, so the rates are not comparable with its.
"""

from cg_pipeline.answers.details import details_of
from cg_pipeline.answers.grading import grade, unanswered
from cg_pipeline.answers.own_part import without_reasoning
from cg_pipeline.answers.quoting import NOTE, quoted
from cg_pipeline.protocols import Judge, JudgeFailed
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy

PROMPT = """\
Below are a passage and a summary of it. {note}

{passage}

{summary}

Is the summary consistent with the passage: does the passage support every statement of it? \
What is true but not in the passage is not supported. Leaving things out is no fault.
Verdict: yes if every statement is supported, no if any is not, \
or if the text is no summary of the passage at all.\
"""


def score(example: Example, completion: Completion, judge: Judge | None = None) -> Score:
    """1 when the judge finds every statement supported."""
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    if judge is None:
        return grade(completion, None, reason="no_judge")
    summary = without_reasoning(completion.text)
    if not summary:
        return grade(completion, None, reason="unparsed")
    try:
        verdict = judge.decide(build_prompt(example, summary), ("yes", "no"))
    except JudgeFailed as failure:
        return grade(completion, None, reason=failure.reason)
    return grade(completion, float(verdict == "yes"), answer=verdict)


def build_prompt(example: Example, summary: str) -> str:
    """The question to the judge."""
    passage = details_of(example).get("passage") or example.prompt
    return PROMPT.format(note=NOTE, passage=quoted("passage", passage), summary=quoted("summary", summary))


POLICY = ScoringPolicy(name="judge_consistency", score=score, judged=True, needs_targets=False)
