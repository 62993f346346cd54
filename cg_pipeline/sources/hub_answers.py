"""A look at every answer of the hub, before a library makes something of it.

Two kinds end the fetch at once: a web page in place of data, which a proxy or a login page in
between sends and a CSV reader takes for rows; and a pause that is asked for and too long, which
`huggingface_hub` would sleep through.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from cg_pipeline.waiting import seconds_asked

BUSY = (429, 500, 502, 503, 504)
"""Statuses of a server that may answer later."""

WEB_PAGE = "answered with a web page, not data"


@contextmanager
def looked_at(longest_wait_s: float) -> Iterator[None]:
    """While it lasts, answers to `huggingface_hub` in this process are looked at."""
    from huggingface_hub import get_session

    session = get_session()
    before = session.event_hooks
    session.event_hooks = {**before, "response": [*before["response"], _look(longest_wait_s)]}
    try:
        yield
    finally:
        session.event_hooks = before


def is_web_page(answer: Any) -> bool:
    """Whether HTML came where the hub sends none: data, or its own refusals, which carry a code."""
    html = answer.headers.get("Content-Type", "").lower().startswith(("text/html", "application/xhtml"))
    own = "X-Error-Code" in answer.headers
    return html and not own and (answer.is_success or answer.status_code in (401, 403, 404, 407, 511))


def _look(longest_wait_s: float) -> Callable[[Any], None]:
    def look(answer: Any) -> None:
        if is_web_page(answer):
            raise ConnectionError(f"{answer.url.host} {WEB_PAGE} (HTTP {answer.status_code})")
        if answer.status_code in BUSY:
            asked = seconds_asked(answer.headers.get("Retry-After", ""))
            if asked is not None and asked > longest_wait_s:
                answer.raise_for_status()

    return look
