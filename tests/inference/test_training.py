"""A whole training run on a tiny random model, and what must not be lost or published on the way."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sae_lens import SAE
from safetensors.torch import load_file, save_file

from cg_pipeline.inference import harvest as harvesting
from cg_pipeline.inference import training, training_input, transcripts
from cg_pipeline.inference.batch_sources import ShardBatches
from cg_pipeline.inference.harvest import harvest, load_shard
from cg_pipeline.inference.hooks import read_hidden_states
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.prompts import render_prompt, special_ids
from cg_pipeline.inference.publishing import publish
from cg_pipeline.inference.reading_plan import (
    TokenSequence,
    plan_passages,
    prompt_sequence,
    transcript_sequence,
)
from cg_pipeline.inference.transcripts import sample_transcripts
from cg_pipeline.specs import LocalWeights, Model, Sae, SaeDirectory, SaeTraining
from tests.fakes import tiny_loaded_model

HOOKPOINT = "blocks.1.hook_resid_post"
TRAINING = SaeTraining(
    k=8,
    n_tokens=3000,
    n_epochs=20,
    context_tokens=32,
    chat_share=0.5,
    learning_rate=3e-3,
    batch_tokens=256,
    seed=0,
    reading_dtype="float32",
    transcript_tokens=6,
    dead_after_tokens=1000,
    held_out_tokens=500,
    min_explained_variance=0.5,
    max_dead_share=0.6,
)
PROMPTS = ["What is two plus three?", "Is the cat on the mat?"]


def passages(n: int = 400) -> list[str]:
    rng = np.random.default_rng(0)
    words = ["the", "cat", "sat", "on", "a", "mat", "while", "dogs", "ran", "and", "Paris", "Tokyo", "reads"]
    return [" ".join(rng.choice(words, size=rng.integers(5, 20))) + "." for _ in range(n)]


def tiny_sae_spec(training: SaeTraining | None = TRAINING) -> Sae:
    model = Model(
        name="tiny",
        title="Tiny random model",
        weights=LocalWeights(path="models/tiny"),
        licence="Apache-2.0",
        chat=True,
        max_tokens=512,
        reader="tiny_sae",
    )
    return Sae(
        name="tiny_sae",
        title="Tiny",
        model=model,
        hookpoint=HOOKPOINT,
        weights=SaeDirectory(path="saes/tiny"),
        d_sae=32,
        licence="Apache-2.0",
        training=training,
    )


@pytest.fixture(scope="module")
def tiny() -> LoadedModel:
    return tiny_loaded_model()


@pytest.fixture(scope="module")
def no_weights_on_disk(tiny: LoadedModel) -> Iterator[None]:
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(training, "load_model", lambda model, **where: replace(tiny, spec=model))
    yield
    monkeypatch.undo()


@dataclass(frozen=True)
class Published:
    """One whole training, looked at by several tests: where it was, and what it told."""

    folder: Path
    trained: training.TrainedReader
    told: list[str]

    @property
    def figures(self) -> dict[str, dict[str, float]]:
        return self.trained.figures

    @property
    def sae(self) -> Path:
        return self.folder / "saes" / "tiny"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, no_weights_on_disk: None) -> Published:
    folder = tmp_path_factory.mktemp("training")
    out = folder / "saes" / "tiny"
    out.mkdir(parents=True)
    (out / "README.md").write_text("the card")
    (out / "stale.bin").write_text("old")
    told: list[str] = []
    return Published(folder, train(folder, tiny_sae_spec(), told.append), told)


def documents(start: int) -> Iterator[list[str]]:
    return ([passage] for passage in passages()[start:])


def train(
    folder: Path, spec: Sae, report: Callable[[str], None] = lambda _: None, **more: Any
) -> training.TrainedReader:
    return training.train_sae(
        spec,
        documents,
        PROMPTS,
        text_id="passages",
        report=report,
        **more,
        out_dir=folder / "saes" / "tiny",
        work_dir=folder / "work",
        cache_dir=folder,
        data_dir=folder,
        check_texts=["The dog ran to the park and the cat sat on the mat."],
    )


def test_text_in_published_sae_out(published: Published) -> None:
    out, figures = published.sae, published.figures
    assert sorted(path.name for path in out.iterdir()) == [
        "README.md",
        "cfg.json",
        "figures.json",
        "sae_weights.safetensors",
        "training_curve.json",
    ]
    assert (out / "figures.json").read_text() == json.dumps(figures, indent=2) + "\n"  # NaN equals none
    assert figures["held_out"]["explained_variance"] > 0.5
    assert figures["held_out"]["l0"] <= 8
    config = json.loads((out / "cfg.json").read_text())
    assert (config["normalize_activations"], config["dtype"]) == ("none", "float16")
    assert config["metadata"]["hook_name"] == HOOKPOINT
    assert {weight.dtype for weight in load_file(out / "sae_weights.safetensors").values()} == {torch.float16}


@pytest.mark.usefixtures("no_weights_on_disk")
def test_a_bad_sae_is_not_published_and_the_old_one_stays(tmp_path: Path) -> None:
    out = tmp_path / "saes" / "tiny"
    out.mkdir(parents=True)
    (out / "cfg.json").write_text("old")
    strict = replace(TRAINING, n_epochs=1, min_explained_variance=0.9999)
    with pytest.raises(
        ValueError,
        match=r"SAE 'tiny_sae on held_out' is not published: explained variance is 0\.\d+, expected",
    ):
        train(tmp_path, tiny_sae_spec(strict))
    assert [path.read_text() for path in out.iterdir()] == ["old"]


def test_an_sae_trained_elsewhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="SAE 'tiny_sae' has training=None; expected a SaeTraining"):
        train(tmp_path, tiny_sae_spec(None))


def test_normalisation_is_folded_into_the_weights(published: Published, tiny: LoadedModel) -> None:
    """The trained SAE takes raw states: scaled and shifted ones it would not rebuild."""
    module = SAE.load_from_disk(published.sae, dtype="float32")
    text = training_input.prepare_text(
        tiny_sae_spec(),
        TRAINING,
        tiny,
        documents,
        PROMPTS,
        text_id="passages",
        work_dir=published.folder / "work",
        report=lambda _: None,
    )
    states = text.held_out.states.float()
    error = (module(states) - states).square().sum() / (states - states.mean(0)).square().sum()
    assert module.cfg.normalize_activations == "none"
    assert error < 0.5


def test_shards_hold_the_states_of_counted_tokens(tmp_path: Path, tiny: LoadedModel) -> None:
    sequences = plan_passages(tiny, passages(), TRAINING)
    paths = harvest(tiny, HOOKPOINT, sequences, tmp_path, shard_tokens=800)
    found = torch.cat([load_shard(path) for path in paths]).float()
    assert len(found) == sum(sequence.n_counted for sequence in sequences)
    expected = torch.cat([_states_alone(tiny, sequence) for sequence in sequences])
    assert torch.allclose(_sorted_rows(found), _sorted_rows(expected.half().float()), atol=2e-2)


def _states_alone(loaded: LoadedModel, sequence: TokenSequence) -> torch.Tensor:
    ids = torch.from_numpy(sequence.input_ids)[None]
    return read_hidden_states(loaded.module, HOOKPOINT, ids, torch.ones_like(ids))[0][
        torch.from_numpy(sequence.counts)
    ]


def _sorted_rows(states: torch.Tensor) -> torch.Tensor:
    return states[states.sum(-1).argsort()].sum(-1)


def test_an_interrupted_harvest_goes_on_where_it_stopped(
    tmp_path: Path, tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    sequences = plan_passages(tiny, passages(), TRAINING)
    whole = harvest(tiny, HOOKPOINT, sequences, tmp_path / "whole", shard_tokens=500)
    calls: list[int] = []
    read = harvesting.read_states

    def read_twice(*given: object, **options: object) -> torch.Tensor:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return read(*given, **options)

    monkeypatch.setattr(harvesting, "read_states", read_twice)
    with pytest.raises(KeyboardInterrupt):
        harvest(tiny, HOOKPOINT, sequences, tmp_path / "broken", shard_tokens=500)
    again = harvest(tiny, HOOKPOINT, sequences, tmp_path / "broken", shard_tokens=500)
    assert len(calls) == 1 + len(whole)
    assert all(torch.equal(load_shard(a), load_shard(b)) for a, b in zip(whole, again, strict=True))


def test_a_corrupt_shard_is_refused_and_read_anew(tmp_path: Path, tiny: LoadedModel) -> None:
    sequences = plan_passages(tiny, passages(), TRAINING)
    path, *_ = harvest(tiny, HOOKPOINT, sequences, tmp_path, shard_tokens=500)
    good = load_shard(path)
    save_file({"states": torch.zeros_like(good)}, path)
    with pytest.raises(
        ValueError, match=r"shard_0000\.safetensors does not match its note shard_0000\.json; delete"
    ):
        load_shard(path)
    harvest(tiny, HOOKPOINT, sequences, tmp_path, shard_tokens=500)
    assert torch.equal(load_shard(path), good)


def test_another_hookpoint_takes_no_old_shard(tmp_path: Path, tiny: LoadedModel) -> None:
    sequences = plan_passages(tiny, passages(), TRAINING)
    (path, *_) = harvest(tiny, HOOKPOINT, sequences, tmp_path, shard_tokens=5000)
    first = load_shard(path)
    harvest(tiny, "blocks.0.hook_resid_post", sequences, tmp_path, shard_tokens=5000)
    assert not torch.equal(load_shard(path), first)


def test_states_beyond_half_precision_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    huge = torch.full((4, 16), 1e6).half()
    monkeypatch.setattr(harvesting, "read_states", lambda *given, **options: huge)
    sequences = [TokenSequence(np.ones(4, np.int64), np.ones(4, bool))]
    with pytest.raises(
        ValueError, match=r"shard_0000\.safetensors: a hidden state is not a finite float16 number"
    ):
        harvest(tiny_loaded_model(), HOOKPOINT, sequences, tmp_path)
    assert not list(tmp_path.iterdir())


def test_template_and_special_tokens_and_sinks_never_count(tiny: LoadedModel) -> None:
    sequences = plan_passages(tiny, passages(), TRAINING)
    special = list(special_ids(tiny.tokenizer))
    assert all(not np.isin(s.input_ids[s.counts], special).any() for s in sequences)
    packed = [
        s for s in sequences if len(s.input_ids) == 32 and s.input_ids[0] == tiny.tokenizer.bos_token_id
    ]
    assert packed
    assert all(not s.counts[:2].any() and s.counts[2:].all() for s in packed)


def test_a_passage_in_chat_is_read_as_a_prompt_is(tiny: LoadedModel) -> None:
    rendered = render_prompt(tiny.tokenizer, tiny.spec, "The cat sat.")
    sequence = prompt_sequence(tiny, "The cat sat.")
    assert np.array_equal(sequence.input_ids, rendered.input_ids)
    assert np.array_equal(sequence.counts, rendered.content_mask)


def test_of_a_transcript_question_and_answer_count(tiny: LoadedModel) -> None:
    sequence = transcript_sequence(tiny, "Is it five?", "The answer is five.", 512)
    assert tiny.tokenizer.decode(sequence.input_ids[sequence.counts]) == "Is it five?The answer is five."


def test_too_little_text_is_refused(tiny: LoadedModel) -> None:
    with pytest.raises(
        ValueError, match=r"The text holds [\d,]+ content tokens; the training asks for 3,500"
    ):
        plan_passages(tiny, passages(5), TRAINING)


def test_transcripts_are_sampled_once(tmp_path: Path, tiny: LoadedModel) -> None:
    path = tmp_path / "transcripts.jsonl"
    first = sample_transcripts(tiny, PROMPTS, path, TRAINING)
    written = path.stat().st_mtime_ns
    assert sample_transcripts(tiny, PROMPTS, path, TRAINING) == first
    assert path.stat().st_mtime_ns == written
    assert sorted(prompt for prompt, _ in first) == sorted(PROMPTS)
    path.unlink()
    assert sample_transcripts(tiny, PROMPTS, path, TRAINING) == first
    assert sample_transcripts(tiny, PROMPTS, path, replace(TRAINING, seed=5)) != first


def test_batches_are_the_same_for_the_same_seed(tmp_path: Path, tiny: LoadedModel) -> None:
    paths = harvest(tiny, HOOKPOINT, plan_passages(tiny, passages(), TRAINING), tmp_path, shard_tokens=500)
    sources = [ShardBatches(paths, replace(TRAINING, seed=seed)) for seed in (0, 0, 1)]
    first, again, other = ([*source.next_pool()] for source in sources)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0], other[0])
    assert first[0].shape == (256, 16)
    assert first[0].dtype == torch.float32


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "[]", "a line less"])
def test_damaged_transcripts_are_sampled_anew(tmp_path: Path, tiny: LoadedModel, damage: str) -> None:
    path = tmp_path / "transcripts.jsonl"
    first = sample_transcripts(tiny, PROMPTS, path, TRAINING)
    whole = path.read_text()
    lines = whole.splitlines(keepends=True)
    changed = {
        "cut": whole[:-9],
        "flipped": whole.replace("two plus", "two pluz", 1),
        "empty": "",
        "[]": "[]\n" + "".join(lines[1:]),
        "a line less": "".join(lines[:-1]),
    }
    path.write_text(changed[damage])
    assert sample_transcripts(tiny, PROMPTS, path, TRAINING) == first
    assert path.read_text() == whole


def test_transcripts_may_hold_any_character(tmp_path: Path) -> None:
    """Some of them end a line for str.splitlines, and none of them does in JSON lines."""
    path = tmp_path / "transcripts.jsonl"
    said = [("a\u2028b", "c\u2029d\x85e\x0bf\r\ng")]
    transcripts._write_transcripts(path, "settings", said)
    assert transcripts._read_transcripts(path, "settings") == said
    assert transcripts._read_transcripts(path, "others") == []


def test_sampling_that_was_interrupted_goes_on(
    tmp_path: Path, tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcripts, "_BATCH_PROMPTS", 2)
    training = replace(TRAINING, n_transcripts=3)
    whole = sample_transcripts(tiny, PROMPTS, tmp_path / "whole.jsonl", training)
    sampled: list[int] = []
    sample = transcripts._sample_batch

    def dies_at_the_third(loaded, batch, settings, seed):
        sampled.append(len(batch))
        if len(sampled) == 3:
            raise KeyboardInterrupt
        return sample(loaded, batch, settings, seed)

    monkeypatch.setattr(transcripts, "_sample_batch", dies_at_the_third)
    told: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        sample_transcripts(tiny, PROMPTS, tmp_path / "t.jsonl", training, told.append)
    again = sample_transcripts(tiny, PROMPTS, tmp_path / "t.jsonl", training, told.append)
    assert again == whole
    assert sampled == [2, 2, 2, 2]  # the third batch twice, what was finished once
    assert told[-1].startswith("6 of 6 answers")


def test_who_was_killed_while_publishing_finds_the_former_one_in_its_place(tmp_path: Path) -> None:
    out, candidate = tmp_path / "sae", tmp_path / "candidate"
    (tmp_path / ".sae.old").mkdir()
    (tmp_path / ".sae.old" / "README.md").write_text("the card")
    candidate.mkdir()
    (candidate / "cfg.json").write_text("new")
    publish(candidate, out)
    found = {path.name: path.read_text() for path in out.iterdir()}
    assert found == {"README.md": "the card", "cfg.json": "new"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["candidate", "sae"]


@pytest.mark.parametrize("note", ["", "{", "[]", "{}"])
def test_a_shard_whose_note_is_damaged_is_read_anew(tmp_path: Path, tiny: LoadedModel, note: str) -> None:
    sequences = [prompt_sequence(tiny, text) for text in PROMPTS]
    [shard] = harvest(tiny, HOOKPOINT, sequences, tmp_path)
    whole = load_shard(shard)
    shard.with_suffix(".json").write_text(note)
    assert harvest(tiny, HOOKPOINT, sequences, tmp_path) == [shard]
    assert torch.equal(load_shard(shard), whole)


def test_the_published_sae_opens_with_sae_lens(published: Published) -> None:
    module = SAE.load_from_disk(published.sae, dtype="float32")
    states = torch.randn(3, 16)
    assert torch.isfinite(module(states)).all()
    assert (module.encode(states) > 0).sum(-1).max() <= 8


def test_what_it_will_take_is_told_before_it_starts_and_how_far_it_is_on_the_way(
    published: Published,
) -> None:
    estimated = next(n for n, told in enumerate(published.told) if " to read at " in told)
    read = next(n for n, told in enumerate(published.told) if told.startswith("3,5"))
    assert estimated < read
    assert "held-out explained variance 0." in published.told[-1]
    assert published.told[-1].startswith("59,904 of 59,904 tokens")


def test_the_curve_is_written_beside_the_weights(published: Published) -> None:
    curve = json.loads((published.sae / "training_curve.json").read_text())
    assert curve == [asdict(point) for point in published.trained.curve]
    assert curve[-1]["n_tokens"] == 59_928  # the last batch is what was left of a pool
    assert not published.trained.stopped_early


def test_nothing_is_left_of_checkpoints_when_it_is_published(published: Published) -> None:
    assert not (published.folder / "work" / "checkpoints").exists()


STREAMED = replace(TRAINING, n_epochs=4, buffer_tokens=1024, min_explained_variance=0.3)


@pytest.mark.usefixtures("no_weights_on_disk")
def test_streamed_text_in_published_sae_out_and_no_states_on_disk(tmp_path: Path) -> None:
    trained = train(tmp_path, tiny_sae_spec(STREAMED))
    published = SAE.load_from_disk(tmp_path / "saes" / "tiny", dtype="float32")
    assert published.cfg.metadata.hook_name == HOOKPOINT
    assert trained.figures["held_out"]["explained_variance"] > 0.3
    assert {"loss", "spliced_loss", "mean_loss", "loss_recovered"} < set(trained.figures["held_out"])
    assert trained.curve[-1].n_tokens == 4 * 3000 // 256 * 256
    assert not list((tmp_path / "work").rglob("shard_*"))


@pytest.mark.usefixtures("no_weights_on_disk")
@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ({"min_loss_recovered": 0.9999}, r"on held_out' is not published: .* recovers -?\d\.\d+ of the loss"),
        ({"max_l0": 3.0}, r"on held_out' is not published: 8\.0 latents fire per token, expected at most 3"),
    ],
)
def test_whoever_misses_the_gate_may_lower_it_and_need_not_train_again(
    tmp_path: Path, gate: dict[str, float], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        train(tmp_path, tiny_sae_spec(replace(STREAMED, **gate)))
    assert not (tmp_path / "saes" / "tiny").exists()
    told: list[str] = []
    train(tmp_path, tiny_sae_spec(STREAMED), told.append)
    assert "going on from step 46" in told
    assert (tmp_path / "saes" / "tiny" / "cfg.json").exists()
