"""How often yes-or-no answers are right, whatever the share of each."""

from collections.abc import Sequence


def balanced_accuracy(truths: Sequence[bool], verdicts: Sequence[bool]) -> float | None:
    """(share of the true that is called true + share of the false that is called false) / 2.

    In [0, 1]; 0.5 for answers that do not depend on the truth. None when there is none of either kind.
    """
    hits = [verdict for truth, verdict in zip(truths, verdicts, strict=True) if truth]
    rejections = [not verdict for truth, verdict in zip(truths, verdicts, strict=True) if not truth]
    if not hits or not rejections:
        return None
    return (sum(hits) / len(hits) + sum(rejections) / len(rejections)) / 2
