"""Labels of concepts by a language model: what it is asked, and what counts as a label or a verdict.

One question shows excerpts with the words marked on which the concept fires, and asks for a label; others
show a label and a few excerpts, and ask of each whether it fits. Excerpts are other people's text: they
stand between tags that they cannot close, and whatever they talk the model into, only one short plain
line or one yes or no per excerpt gets out.

Source: arXiv 2410.13928, explanations from marked excerpts, detection and fuzzing [given]; wording ours.
"""

import functools
from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

import pydantic

from cg_pipeline.answers.quoting import NOTE, quoted
from cg_pipeline.fingerprints import fingerprint
from cg_pipeline.ink import is_blank
from cg_pipeline.llm.chat import ANSWER_TOKENS, MAX_CORRECTIONS, TEMPERATURE, ChatModel
from cg_pipeline.llm.naming import plain
from cg_pipeline.protocols import LabellingFailed, LabelTest, NamingFailed
from cg_pipeline.records import content_id

MAX_LABEL_CHARACTERS = 120

EXPLAIN = """\
A feature of a language model is active on some words and silent on all others. Below are {n} excerpts in \
which it is active; the words on which it is are between ⟦ and ⟧ (⏎ is a line break). {note}

{excerpts}

What sets the marked words apart? It may be the words themselves, their meaning or form, what stands before \
them, or what the text is about. Give
- pattern: what you see, in at most three sentences;
- label: one line of at most {most} characters that says when the feature is active, so exactly that \
somebody who knows nothing else could find its words in new text. Do not write "words" or "text" where \
you can say which; if the excerpts share nothing, say "no common pattern".\
"""

DETECTION = """\
A feature of a language model is said to be active on this:

{label}

Below are {n} excerpts (⏎ is a line break). {note}

{excerpts}

Of each excerpt say whether the feature, as described, is active on some word of it. Some excerpts come \
close and do not fit: go by the description. Any number of them may fit, none and all among them.\
"""

FUZZING = """\
A feature of a language model is said to be active on this:

{label}

Below are {n} excerpts in each of which some words are marked, between ⟦ and ⟧ (⏎ is a line break). {note}

{excerpts}

Of each excerpt say whether the marked words are those on which the feature, as described, is active. The \
marks of some excerpts are in the wrong place, or on what only comes close. Any number of them may be right, \
none and all among them.\
"""

_TESTS: dict[LabelTest, str] = {"detection": DETECTION, "fuzzing": FUZZING}
_T = TypeVar("_T", bound=pydantic.BaseModel)


def _check_label(text: str) -> str:
    label = plain(text)
    if is_blank(label) or not any(character.isalnum() for character in label):
        raise ValueError(f"is {label!r}; expected words")
    if len(label) > MAX_LABEL_CHARACTERS:
        raise ValueError(f"has {len(label)} characters; expected at most {MAX_LABEL_CHARACTERS}")
    return label


class Explanation(pydantic.BaseModel):
    """What the explainer is asked for; the pattern comes first, so that the label follows from it."""

    pattern: str
    label: Annotated[str, pydantic.AfterValidator(_check_label)]


class LlmExplainer:
    """A `protocols.ConceptExplainer` that asks a language model."""

    def __init__(self, chat: ChatModel) -> None:
        self.chat = chat

    @property
    def source(self) -> str:
        """What is recorded as the source of its labels."""
        return self.chat.endpoint.source

    @property
    def way(self) -> str:
        """Fingerprint of how it is asked."""
        return content_id(EXPLAIN, fingerprint(Explanation), NOTE, _parameters())

    def explain(self, excerpts: Sequence[str]) -> str:
        """A label for what is active on the marked words.

        Raises:
            LabellingFailed: there is nothing to explain by, or the model gave no usable answer.
        """
        if not excerpts:
            raise LabellingFailed("There is no excerpt to explain the concept by.", lasting=True)
        return _ask(self.chat, explain_prompt(excerpts), Explanation).label


class LlmTester:
    """A `protocols.LabelTester` that asks a language model."""

    def __init__(self, chat: ChatModel) -> None:
        self.chat = chat

    @property
    def source(self) -> str:
        """What is recorded as the source of its verdicts."""
        return self.chat.endpoint.source

    @property
    def way(self) -> str:
        """Fingerprint of how it is asked."""
        return content_id(_TESTS, fingerprint(verdicts_schema), NOTE, _parameters())

    def judge(self, test: LabelTest, label: str, excerpts: Sequence[str]) -> list[bool]:
        """For each excerpt whether the label fits it, or its marks.

        Raises:
            LabellingFailed: the model gave no usable answer.
        """
        answer = _ask(self.chat, trial_prompt(test, label, excerpts), verdicts_schema(len(excerpts)))
        return [getattr(answer, _field(number)) for number in range(1, len(excerpts) + 1)]


def explain_prompt(excerpts: Sequence[str]) -> str:
    """The question for a label, in one user message: some chat templates know no system role."""
    shown = _quoted(excerpts)
    return EXPLAIN.format(n=len(excerpts), note=NOTE, excerpts=shown, most=MAX_LABEL_CHARACTERS)


def trial_prompt(test: LabelTest, label: str, excerpts: Sequence[str]) -> str:
    """The question whether a label fits excerpts, or the words marked in them."""
    return _TESTS[test].format(
        label=quoted("description", label), n=len(excerpts), note=NOTE, excerpts=_quoted(excerpts)
    )


@functools.cache
def verdicts_schema(n: int) -> type[pydantic.BaseModel]:
    """The form of an answer: yes or no for each of n excerpts, by its number; none may be left out."""
    fields: dict[str, Any] = {_field(number): (bool, ...) for number in range(1, n + 1)}
    return pydantic.create_model("Verdicts", **fields)


def _field(number: int) -> str:
    return f"excerpt_{number}"


def _quoted(excerpts: Sequence[str]) -> str:
    return "\n".join(quoted(_field(number), text) for number, text in enumerate(excerpts, start=1))


def _parameters() -> str:
    return content_id(TEMPERATURE, ANSWER_TOKENS, MAX_CORRECTIONS)


def _ask(chat: ChatModel, prompt: str, schema: type[_T]) -> _T:
    sendable = prompt.encode("utf-8", "replace").decode()
    try:
        return chat.ask([{"role": "user", "content": sendable}], schema).value
    except NamingFailed as failure:
        raise LabellingFailed(str(failure), lasting=failure.lasting) from failure
