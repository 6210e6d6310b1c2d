"""The certificate that a fit gives its directions: from products that the solver has, or a few more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pellucid.core.types import Array
from pellucid.numerics.design import Design
from pellucid.numerics.principal_directions import PrincipalDirections
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.decomposition.directions import ClaimedDirections, centering_loss, direction_claims
from pellucid.proofs.matrices.missed_eigenvalues import FACTORED, SymmetricMatrix
from pellucid.proofs.rounding import TINY
from pellucid.proofs.sampling import graded
from pellucid.proofs.training_data import TrainingData

ROUGH_LOSS = 1e-6
"""Part of the largest square that a Gram matrix of float32 has lost."""


@dataclass(frozen=True)
class DesignProducts:
    """:math:`A'A` of a design, whose squared singular values sum to ``trace``."""

    design: Design
    trace: float

    @property
    def least_norm(self) -> float:
        """What the largest squared singular value is at least: their mean."""
        return max(self.trace / min(self.design.shape), TINY)

    def times(self, block: Array) -> Array:
        """Return :math:`A'A` times a vector or a block of vectors."""
        return self.design.transposed_times(self.design.times(block))


def certificate_at_fit(
    found: PrincipalDirections, k: int, design: Design, total: float, data: TrainingData, tol: float = 0.0
) -> Certificate:
    """Return the claims about the first ``k`` directions, in the units of the design."""
    is_factored = found.gram is not None and design.shape[1] <= FACTORED
    products: Any = DesignProducts(design, total) if found.gram is None else SymmetricMatrix(found.gram)
    least = total / min(design.shape)
    claimed = ClaimedDirections(
        found.squares[:k],
        found.vectors[:, :k],
        data.X.dtype,
        tol,
        centering_loss(data.X, design.mean, design.total_weight, least),
        ROUGH_LOSS * found.is_rough,
        found.residual,
        is_fit=True,
    )
    return graded("exact", direction_claims(products, claimed, is_factored=is_factored))
