"""How many are enough: the two relations that instructions use."""


def holds(count: int, relation: str, bound: int) -> bool:
    """Whether a count is "at least" or "less than" a bound.

    Raises:
        ValueError: the relation is another one.
    """
    if relation not in ("at least", "less than"):
        raise ValueError(f"relation is {relation!r}; expected 'at least' or 'less than'. Correct it.")
    return count >= bound if relation == "at least" else count < bound
