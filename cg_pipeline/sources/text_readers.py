"""Plain paragraphs out of the file formats that hold English prose in Debian packages.

A reader takes the text of one file and yields paragraphs in order; it drops markup and
keeps wording. What is too short, too technical or not prose is sorted out afterwards, by
`is_prose`, with one rule for all formats.
"""

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

Reader = Callable[[str], Iterator[str]]

_BLOCKS = frozenset(
    (
        *("p", "div", "li", "td", "th", "dt", "dd", "h1", "h2", "h3", "h4", "title", "pre", "blockquote"),
        *("tr", "ul", "ol", "table", "item", "section", "note"),
    )
)
_SILENT = frozenset(("script", "style", "info", "credit", "code", "head", "pre", "screen", "programlisting"))
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_TRANSLATABLE = re.compile(r'_\s*"((?:[^"]|"")*)"')
_BACKTICKED = re.compile(r"`([^`]{25,})`")
_SPACES = re.compile(r"\s+")
_LETTER_WORDS = re.compile(r"\b[a-zA-Z']+\b")
_NOT_PROSE = re.compile(r"[{}<>\\|=_^~@#$]|https?:|\.\w+/|%[sd]")


def is_prose(paragraph: str) -> bool:
    """Whether a paragraph reads as English prose: words, few signs, mostly lower case."""
    words = len(_LETTER_WORDS.findall(paragraph))
    if len(paragraph) < 30 or words < 6:
        return False
    lower = sum(map(str.islower, paragraph))
    signs = len(_NOT_PROSE.findall(paragraph))
    readable = paragraph.isprintable() and "\ufffd" not in paragraph
    return readable and lower / len(paragraph) > 0.65 and signs <= words / 25


def join_lines(text: str) -> str:
    """A paragraph on one line, with single spaces."""
    return _SPACES.sub(" ", text).strip()


def decode_file(path: Path) -> str:
    """Text of a file that may be gzipped, or an R database; undecodable bytes become U+FFFD."""
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    return decode_r_strings(content) if path.suffix == ".rdb" else content.decode("utf-8", "replace")


def read_plain(text: str) -> Iterator[str]:
    """Paragraphs between blank lines."""
    for block in re.split(r"\n[ \t]*\n", text.replace("\r", "")):
        yield join_lines(block)


def read_rows(text: str) -> Iterator[str]:
    """One paragraph per line."""
    yield from map(join_lines, text.splitlines())


def read_fortunes(text: str) -> Iterator[str]:
    """Fortune cookies, which `%` lines divide."""
    for cookie in re.split(r"^%+$", text, flags=re.MULTILINE):
        yield join_lines(cookie)


def read_dictionary(text: str) -> Iterator[str]:
    """Entries of a dict server's file, headword and senses in one paragraph, without sources and links."""
    for entry in re.split(r"\n(?=\S)", text):
        words = re.sub(r"\[[^\]]*\]|\\[^\\\n]*\\|[{}]|\(\d{4}-\d\d-\d\d\)|<[^>]*>", "", entry)
        yield join_lines(words)


def read_glosses(text: str) -> Iterator[str]:
    """WordNet's glosses: each word of a synset with its meaning and examples."""
    for line in text.splitlines():
        fields, bar, gloss = line.partition(" | ")
        if bar and not line.startswith("  "):
            word = fields.split()[4].split("(")[0].replace("_", " ")
            yield join_lines(f"{word}: {gloss}")


def read_quoted(text: str) -> Iterator[str]:
    """Sentences between double quotes, as game data and translation templates hold dialogue."""
    joined = re.sub(r'"\s*\n\s*"', "", text)
    for match in _QUOTED.finditer(joined):
        plain = match[1].replace("\\n", " ").replace('\\"', '"').replace("\\\n", " ").replace("\\", "")
        yield join_lines(re.sub(r"<[^>]*>|^\w+\^", "", plain))


def read_translatable(text: str) -> Iterator[str]:
    """Strings marked for translation by a leading underscore, as Wesnoth holds its stories."""
    for match in _TRANSLATABLE.finditer(text):
        plain = match[1].replace('""', '"')
        yield join_lines(re.sub(r"<[^>]*>|^[\w ]+\^", "", plain))


def read_backticked(text: str) -> Iterator[str]:
    """Paragraphs between back-ticks, as Endless Sky holds conversations."""
    for match in _BACKTICKED.finditer(text):
        yield join_lines(match[1].replace("<last>", "Smith").replace("<first>", "Alex"))


def read_markup(text: str) -> Iterator[str]:
    """Paragraphs of HTML, DocBook or Mallard."""
    parser = _ParagraphParser()
    parser.feed(text)
    parser.close()
    parser.end_paragraph()
    yield from parser.paragraphs


def decode_r_strings(content: bytes) -> str:
    """Lines of the character vectors in an R lazy-load database: zlib blocks, each after its length."""
    lines: list[str] = []
    while len(content) > 4:
        block = zlib.decompressobj()
        lines += _r_strings(block.decompress(content[4:]))
        content = block.unused_data
    return "\n".join(lines)


def _r_strings(block: bytes) -> Iterator[str]:
    """Strings of R's XDR serialisation: type 9 with its flags, a length, the bytes."""
    position = 0
    while (position := block.find(b"\x00\x04\x00\x09", position)) >= 0:
        length = int.from_bytes(block[position + 4 : position + 8], "big")
        yield block[position + 8 : position + 8 + length].decode("utf-8", "replace")
        position += 8 + length


class _ParagraphParser(HTMLParser):
    """Collects the text between block tags, skipping code and metadata."""

    def __init__(self) -> None:
        super().__init__()
        self.paragraphs: list[str] = []
        self._words: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent += 1
        if tag in _BLOCKS:
            self.end_paragraph()

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        if tag in _BLOCKS:
            self.end_paragraph()

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._words.append(data)

    def end_paragraph(self) -> None:
        """Close the paragraph being read."""
        paragraph = join_lines("".join(self._words))
        self._words.clear()
        if paragraph:
            self.paragraphs.append(paragraph)
