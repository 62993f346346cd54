"""The last place where a pattern stands in a text."""

import re
from collections import deque


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The last match that does not overlap an earlier one, found from the left; None without one."""
    found = deque(pattern.finditer(text), maxlen=1)
    return found[0] if found else None
