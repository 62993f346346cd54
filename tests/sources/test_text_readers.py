"""Readers keep wording, drop markup, and prose is told from the rest."""

import gzip
import zlib
from pathlib import Path

import pytest

from cg_pipeline.sources import text_readers as readers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat sat on the mat and looked at the rain.", True),
        ("Too short.", False),
        ("int main(void) { return x == 0 ? a->b : c[d] | e; } and so on and on", False),
        ("ALL OF THIS IS SHOUTED AT THE TOP OF THE VOICE", False),
        ("The file was damaged here \ufffd and nobody could read the rest of it.", False),
    ],
)
def test_prose_is_told_from_the_rest(text: str, expected: bool) -> None:
    assert readers.is_prose(text) is expected


def test_paragraphs_lie_between_blank_lines() -> None:
    assert list(readers.read_plain("one\n two\n\n\nthree\r\n")) == ["one two", "three"]


def test_fortunes_are_divided_by_percent_lines() -> None:
    assert list(readers.read_fortunes("A penny saved.\n%\nAn apple\na day.\n")) == [
        "A penny saved.",
        "An apple a day.",
    ]


def test_dictionary_entries_lose_pronunciation_sources_and_links() -> None:
    entry = (
        'Coagulate \\Co*ag"u*late\\, v. i.\n   To undergo {coagulation}. --Boyle.\n   [1913 Webster]\n\n'
        "Next, n.\n   One."
    )
    assert list(readers.read_dictionary(entry)) == [
        "Coagulate , v. i. To undergo coagulation. --Boyle.",
        "Next, n. One.",
    ]


def test_glosses_open_with_their_word() -> None:
    line = '00205 30 v 02 turn_around 0 pick_up 0 001 @ 0020 v 0000 | improve; "Her marks picked up"  \n'
    assert list(readers.read_glosses("  1 licence | text\n" + line)) == [
        'turn around: improve; "Her marks picked up"'
    ]


def test_quoted_strings_of_any_length_keep_in_step() -> None:
    text = 'id="a" text="He said \\"run\\" and\\nran." joined="one "\n   "two"'
    assert list(readers.read_quoted(text)) == ["a", 'He said "run" and ran.', "one two"]


def test_translatable_strings_are_marked_by_an_underscore() -> None:
    text = 'name="x" message= _ "team^Halt, ""friend""!" other=_"Go <b>on</b>."'
    assert list(readers.read_translatable(text)) == ['Halt, "friend"!', "Go on."]


def test_conversations_lie_between_back_ticks() -> None:
    assert list(readers.read_backticked("say `Good morning, Captain <last>, welcome back.`")) == [
        "Good morning, Captain Smith, welcome back."
    ]


def test_markup_gives_paragraphs_without_code() -> None:
    page = (
        "<html><style>p {}</style><p>One <em>word</em>.</p><pre>x = 1</pre><ul><li>Item</li></ul>tail</html>"
    )
    assert list(readers.read_markup(page)) == ["One word.", "Item", "tail"]


def test_gzipped_files_are_opened(tmp_path: Path) -> None:
    path = tmp_path / "words.dict.dz"
    path.write_bytes(gzip.compress("héllo".encode()))
    assert readers.decode_file(path) == "héllo"


def test_strings_of_an_r_database_become_lines(tmp_path: Path) -> None:
    strings = b"".join(b"\x00\x04\x00\x09" + len(s).to_bytes(4, "big") + s for s in (b"Call me", b"Emma."))
    block = (len(strings)).to_bytes(4, "big") + zlib.compress(strings)
    path = tmp_path / "Rdata.rdb"
    path.write_bytes(block + block)
    assert readers.decode_file(path) == "Call me\nEmma.\nCall me\nEmma."
