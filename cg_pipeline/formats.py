"""Prompt formats that benchmarks share: pure functions from an item to a prompt.

A benchmark whose format is its own writes it in its own file.
"""

from cg_pipeline.items import LETTERS, Item, Prompt


def plain(item: Item) -> Prompt:
    """The question as it stands; choices are compared as they are written."""
    return Prompt(text=item.question)


def in_context(item: Item) -> Prompt:
    """The context, a space, the question."""
    return Prompt(text=f"{item.context} {item.question}")


def question_answer(item: Item) -> Prompt:
    """`Question: … Answer:` on two lines; choices are compared as they are written."""
    return Prompt(text=f"Question: {item.question}\nAnswer:")


def lettered(item: Item) -> Prompt:
    """The question, one lettered choice per line, `Answer:`; the letters are compared."""
    head = f"{item.context}\n{item.question}" if item.context else item.question
    return Prompt(
        text=f"{head}\n{lettered_lines(item.choices)}\nAnswer:", continuations=letters_for(item.choices)
    )


def letter_asked(item: Item) -> Prompt:
    """The same, asking for a letter: for a model that says its choice in words of its own."""
    shown = lettered(item)
    text = shown.text.removesuffix("Answer:") + "Give the letter of the right choice.\nAnswer:"
    return Prompt(text=text, continuations=shown.continuations)


def lettered_lines(choices: tuple[str, ...]) -> str:
    """`A. first`, `B. second` …, one per line."""
    return "\n".join(
        f"{letter}. {choice}" for letter, choice in zip(letters_for(choices), choices, strict=True)
    )


def letters_for(choices: tuple[str, ...]) -> tuple[str, ...]:
    """As many letters, from A, as there are choices.

    Raises:
        ValueError: there are more choices than letters.
    """
    if len(choices) > len(LETTERS):
        raise ValueError(f"there are {len(choices)} choices; expected at most {len(LETTERS)}. Remove some.")
    return tuple(LETTERS[: len(choices)])


def around_blank(item: Item) -> Prompt:
    """A sentence with one `_`: what follows the blank is compared after each choice is filled in.

    The sentence with its blank is for the reader; a model is given the filled ones.

    Source: the partial evaluation of WinoGrande, Trinh and Le (2018), arXiv 1806.02847.

    Raises:
        ValueError: there is not exactly one blank, or nothing follows it.
    """
    if item.question.count("_") != 1:
        raise ValueError(
            f"question has {item.question.count('_')} blanks '_'; expected exactly one. Correct it."
        )
    before, after = item.question.split("_")
    if not after.strip():
        raise ValueError("nothing follows the blank '_'; expected words to compare. Move the blank.")
    return Prompt(
        text=item.question,
        stems=tuple(before + choice for choice in item.choices),
        continuations=(after.strip(),) * len(item.choices),
    )
