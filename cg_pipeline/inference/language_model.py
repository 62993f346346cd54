"""A language model that answers examples: text, or the likelihood of each choice.

Nothing is cut unless the model's spec says `overlong="truncate"`: an example that does not
fit into its `max_tokens` is otherwise not put to it at all, and its completion says
`overflow`.

Results do not depend on how examples are batched or ordered, up to floating-point noise: in
float32 a log-likelihood moves by less than 1e-4 nats per choice, and a generated token changes only
where two were that close.
"""

from collections.abc import Sequence

from cg_pipeline.inference.answers import chosen, generated, overflown
from cg_pipeline.inference.batching import map_in_batches
from cg_pipeline.inference.example_inputs import (
    ExampleInput,
    as_asked,
    choice_input,
    neutral_text,
    open_input,
)
from cg_pipeline.inference.example_likelihood import example_logprobs
from cg_pipeline.inference.generation import Answer, Draft, generate_answers
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.packing import Continued
from cg_pipeline.inference.room import memory_of
from cg_pipeline.inference.sampling import drawn_numbers
from cg_pipeline.progress import Advance, unwatched
from cg_pipeline.protocols import Generation
from cg_pipeline.records import Completion, Example

_MOST_KEPT = 8
_KEPT_BYTES = 2**31
"""Tokens of prompts and answers that a CPU keeps for one that it may read at once, and their bytes, at most.

*Why so many:* rows written side by side are cheaper. Two cores took 15 ms for the next token of each of 16
rows of SmolLM2, 7.5 ms of 32, 5 ms of 64.
"""


class LanguageModel:
    """`protocols.TextGenerator` for a model in memory."""

    def __init__(
        self, loaded: LoadedModel, *, batch_tokens: int = 8192, advance: Advance = unwatched
    ) -> None:
        """Wrap a loaded model.

        Args:
            loaded: the model.
            batch_tokens: most tokens in memory at once, padding and answers included; on a GPU those of
                the first batch, and later ones are as large as its memory allows.
            advance: told of examples finished and of tokens read or written.

        Raises:
            ValueError: the spec's `max_tokens` is more than the model has positions for.
        """
        _check_context(loaded)
        self._model = loaded
        self._batch_tokens = batch_tokens
        self._advance = advance

    def reporting_to(self, advance: Advance) -> "LanguageModel":
        """The same model, telling somebody how it gets on."""
        return LanguageModel(self._model, batch_tokens=self._batch_tokens, advance=advance)

    def generate(self, examples: Sequence[Example], how: Generation) -> list[Completion]:
        """Answers in the order of the examples, samples of one example side by side.

        Every answer begins with `how.opening`, which is given to the model and part of the text. At
        temperature 0 there is one answer to an example, however many are asked for.

        Raises:
            ValueError: a stop text is empty.
        """
        _check_stop(how)
        asked = [open_input(self._model, each, how.opening, how.max_new_tokens) for each in examples]
        n_samples = how.n_samples if how.temperature else 1
        wanted = [(i, sample) for i, each in enumerate(asked) if each.fits for sample in range(n_samples)]
        answers = dict(zip(wanted, self._answers(examples, asked, wanted, how), strict=True))
        self._advance(sum(not each.fits for each in asked), 0)
        return [
            generated(self._model, example, asked[i], sample, how, answers[i, sample])
            if asked[i].fits
            else overflown(self._model, example, asked[i], sample)
            for i, example in enumerate(examples)
            for sample in range(n_samples)
        ]

    def choose(self, examples: Sequence[Example], unconditional: str = "") -> list[Completion]:
        """Log-likelihood of every choice, in the order of the examples; ties go to the first choice.

        Source: arXiv 2512.20638 does not say how choices are scored; this is the usual sum of
        log-probabilities over a choice's tokens [inferred].

        Raises:
            ValueError: an example has no choices, or a continuation without a token.
        """
        _check_window(self._model)
        asked = [choice_input(self._model, example) for example in examples]
        fitting = [index for index, each in enumerate(asked) if each.fits]
        logprobs = self._logprobs([asked[index].texts for index in fitting], self._advance)
        scores = dict(zip(fitting, logprobs, strict=True))
        self._advance(len(examples) - len(fitting), 0)
        neutral = self._neutral([examples[index] for index in fitting], unconditional)
        return [
            chosen(self._model, example, asked[i], scores[i], neutral)
            if i in scores
            else overflown(self._model, example, asked[i])
            for i, example in enumerate(examples)
        ]

    def _answers(
        self,
        examples: Sequence[Example],
        asked: Sequence[ExampleInput],
        wanted: Sequence[tuple[int, int]],
        how: Generation,
    ) -> list[Answer]:
        """One answer for each pair of an example's index and a sample's."""

        def run(batch: list[int]) -> list[Answer]:
            pairs = [wanted[place] for place in batch]
            drafts = [
                Draft(asked[i].prompt, drawn_numbers(examples[i].example_id, sample, how), [])
                for i, sample in pairs
            ]
            answers = generate_answers(self._model, drafts, how, lambda n: self._advance(0, n))
            self._advance(sum(sample == 0 for _, sample in pairs), sum(len(draft.prompt) for draft in drafts))
            return answers

        memory = memory_of(self._model.device)
        share = 1 if memory else self._kept_for_one_read()  # what a GPU has room for is measured
        prompts = [len(asked[i].prompt) for i, _ in wanted]
        lengths = [max(n, (n + how.max_new_tokens) // share) for n in prompts]
        return map_in_batches(run, lengths, self._batch_tokens, memory=memory)

    def _kept_for_one_read(self) -> int:
        """Tokens whose keys and values may be kept for each of `batch_tokens`."""
        config = self._model.module.config.get_text_config()
        n_heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        bytes_each = 2 * config.num_hidden_layers * n_heads * width * self._model.module.dtype.itemsize
        return max(1, min(_MOST_KEPT, _KEPT_BYTES // (bytes_each * self._batch_tokens)))

    def _neutral(self, examples: Sequence[Example], prompt: str) -> dict[tuple[str, bool], float]:
        """Log-likelihood after the neutral prompt of every text that is scored, each once.

        Where it follows a stem and where it does not are two: the one is raw text for a chat model, too.
        """
        if not prompt:
            return {}
        texts = {
            (text, bool(each.stems)): as_asked(self._model, each)
            for each in examples
            for text in each.continuations or each.choices
        }
        scored = [(neutral_text(model, prompt, text),) for (text, _), model in texts.items()]
        found = self._logprobs(scored, lambda _n_examples, n_tokens: self._advance(0, n_tokens))
        return dict(zip(texts, (logprob for [logprob] in found), strict=True))

    def _logprobs(self, texts: Sequence[Sequence[Continued]], advance: Advance) -> list[tuple[float, ...]]:
        return example_logprobs(self._model, texts, self._batch_tokens, advance)


def _check_context(loaded: LoadedModel) -> None:
    positions = getattr(loaded.module.config.get_text_config(), "max_position_embeddings", None)
    if positions is not None and loaded.spec.max_tokens > positions:
        raise ValueError(
            f"Model {loaded.spec.name!r}: max_tokens is {loaded.spec.max_tokens}, but the model has "
            f"{positions} positions; expected at most that."
        )


def _check_window(loaded: LoadedModel) -> None:
    """Packed choices are masked by hand, without the sliding window of models that have one."""
    window = getattr(loaded.module.config.get_text_config(), "sliding_window", None)
    if window is not None and loaded.spec.max_tokens > window:
        raise ValueError(
            f"Model {loaded.spec.name!r}: max_tokens is {loaded.spec.max_tokens}, but its attention slides "
            f"over a window of {window} tokens; expected at most that for likelihoods. Lower max_tokens."
        )


def _check_stop(how: Generation) -> None:
    if not all(how.stop):
        raise ValueError(f"stop texts are {how.stop!r}, one of them empty; expected text. Remove it.")
