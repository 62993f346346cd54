import pytest
import torch

from cg_pipeline.inference import near_directions
from cg_pipeline.inference.near_directions import nearest_directions


def unit(n: int, width: int = 6) -> torch.Tensor:
    return torch.nn.functional.normalize(
        torch.randn(n, width, generator=torch.Generator().manual_seed(0)), dim=1
    )


@pytest.mark.parametrize("at_once", [1, 40, 2**25])
def test_blocks_find_what_the_whole_matrix_shows(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_directions, "_COSINES_AT_ONCE", at_once)
    directions = unit(17)
    cosines = (directions @ directions.T).fill_diagonal_(-2.0)
    nearest, cosine = nearest_directions(directions)
    assert nearest.tolist() == cosines.argmax(1).tolist()
    torch.testing.assert_close(cosine, cosines.amax(1))


def test_a_copy_is_the_nearest_and_never_the_latent_itself() -> None:
    directions = torch.cat([unit(5), unit(5)[2:3]])
    nearest, cosine = nearest_directions(directions)
    assert (nearest[2], nearest[5]) == (5, 2)
    assert cosine[2] == pytest.approx(1.0)
    assert not (nearest == torch.arange(6)).any()


def test_a_direction_of_length_zero_is_near_nobody() -> None:
    """F26: a dead decoder row is zero, not NaN."""
    directions = torch.cat([unit(4), torch.zeros(1, 6)])
    _, cosine = nearest_directions(directions)
    assert cosine[4] == 0
    assert cosine.isfinite().all()


def test_the_only_latent_has_no_neighbour() -> None:
    nearest, cosine = nearest_directions(unit(1))
    assert (nearest.tolist(), cosine.tolist()) == ([-1], [0.0])
