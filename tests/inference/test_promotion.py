"""The logit lens of directions."""

import torch

from cg_pipeline.inference.promotion import promoted_tokens
from tests.fakes import tiny_loaded_model


def test_a_direction_promotes_the_tokens_it_points_at() -> None:
    """The unembedding row of a token is the direction that raises it most, once rows have equal length."""
    model = tiny_loaded_model()
    head = model.module.get_output_embeddings().weight
    head.copy_(torch.nn.functional.normalize(head, dim=-1))
    ids = model.tokenizer(" the cat answer is", add_special_tokens=False)["input_ids"]

    found = promoted_tokens(model, head[ids].float(), n=3)

    assert [tokens[0] for tokens in found] == [model.tokenizer.decode([token]).strip() for token in ids]
    assert all(len(tokens) <= 3 for tokens in found)


def test_only_what_a_person_can_read_is_listed() -> None:
    model = tiny_loaded_model("gpt2")
    directions = torch.randn(20, 16, generator=torch.Generator().manual_seed(0))

    listed = [token for tokens in promoted_tokens(model, directions, n=8) for token in tokens]

    assert listed
    assert all(token == token.strip() and token and token.isprintable() for token in listed)
    assert not any(mark in token for token in listed for mark in ("Ġ", "\ufffd", "<|im_end|>"))


def test_the_scale_of_the_final_norm_counts() -> None:
    model = tiny_loaded_model()
    model.module.model.norm.weight.copy_(
        torch.tensor([1.0] + [0.0] * 15)
    )  # only the first axis reaches the head
    head = model.module.get_output_embeddings().weight
    directions = torch.eye(16)[:1] + 5 * torch.eye(16)[1:2]

    [tokens] = promoted_tokens(model, directions, n=1)

    ranked = head[:, 0].argsort(descending=True).tolist()
    readable = (model.tokenizer.decode([token]).strip() for token in ranked if token > 3)
    assert tokens[0] == next(
        text for text in readable if text.isprintable() and text and "\ufffd" not in text
    )
