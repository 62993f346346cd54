"""How long a server asks to wait before the next try: its `Retry-After`, as a number or as a date."""

import email.utils
import math
from datetime import UTC, datetime


def seconds_asked(retry_after: str) -> float | None:
    """Seconds from now, at least 0 and perhaps without end; None where the header says nothing usable."""
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = (email.utils.parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError, OverflowError):  # TypeError: a date without a time zone
            return None
    return None if math.isnan(seconds) else max(0.0, seconds)
