from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from cg_pipeline.waiting import seconds_asked


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("2", 2.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("-inf", 0.0),
        ("inf", float("inf")),
        ("1e400", float("inf")),
        ("nan", None),
        ("", None),
        ("soon", None),
        ("Wed, 99 Foo 99999 00:00:00 GMT", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2015 07:28:00", None),
    ],
)
def test_a_number_or_a_date(header, seconds):
    assert seconds_asked(header) == seconds


def test_a_date_to_come():
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert seconds_asked(date) == pytest.approx(30, abs=2)
