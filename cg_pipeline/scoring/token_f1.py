"""How many words a short answer shares with the best fitting target.

F1 = 2·P·R / (P + R) over bags of normalised words, P and R being the shares of the answer's and
of the target's words that are common to both; the largest over the targets.

Source: SQuAD, arXiv 1606.05250. From DROP, arXiv 1903.00161: numbers count by value, and a
target with a number scores 0 unless the answer holds one of its numbers. Prose far longer than every
target is unscored, where their scripts give it a low score (`answers.short_answer`).
"""

from collections import Counter

from cg_pipeline.answers.grading import grade, unanswered
from cg_pipeline.answers.normal import is_number, normal_words
from cg_pipeline.answers.short_answer import read_short_answer
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy


def score(example: Example, completion: Completion) -> Score:
    """F1 of the answer and the best fitting target."""
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    found, cut = read_short_answer(completion.text, example.targets, partly=True), completion.stop == "length"
    if found is None or (cut and not found.settled):
        return grade(completion, None, reason="truncated" if cut else "unparsed")
    said = Counter(normal_words(found.text))
    value = max(overlap(said, Counter(normal_words(target))) for target in example.targets)
    return grade(completion, value, answer=found.text)


def overlap(said: Counter[str], target: Counter[str]) -> float:
    """F1 of two bags of words."""
    common = said & target
    numbers = {word for word in target if is_number(word)}
    if not common or (numbers and not numbers & common.keys()):
        return 0.0
    return 2 * common.total() / (said.total() + target.total())  # 2PR / (P + R), exactly 1 for equal bags


POLICY = ScoringPolicy(name="token_f1", score=score)
