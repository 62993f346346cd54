"""Of every latent the one whose decoder direction is closest to its own."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

_COSINES_AT_ONCE = 2**25
"""Numbers in one block of cosines: 128 MB in float32, so that 65,536 latents fit beside their model."""


@torch.no_grad()
def nearest_directions(
    directions: Float[Tensor, "d_sae d_model"],
) -> tuple[Int[Tensor, " d_sae"], Float[Tensor, " d_sae"]]:
    """The nearest other latent of each, and the cosine of the angle between them.

    A block of rows at a time against all others; of equally near ones the first. -1 and 0 for the only
    latent of its dictionary; a direction of length zero has cosine 0 with every other.

    Args:
        directions: of unit length, or zero.
    """
    n = len(directions)
    nearest = torch.full((n,), -1, dtype=torch.long, device=directions.device)
    cosine = torch.zeros(n, device=directions.device)
    if n < 2:
        return nearest, cosine
    for rows in torch.arange(n, device=directions.device).split(max(1, _COSINES_AT_ONCE // n)):
        block = directions[rows] @ directions.T
        block[torch.arange(len(rows), device=block.device), rows] = -torch.inf
        best = block.max(1)
        nearest[rows], cosine[rows] = best.indices, best.values.clamp(-1.0, 1.0)
    return nearest, cosine
