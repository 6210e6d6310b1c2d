"""Method card of discrimination by regression."""

from __future__ import annotations

from pellucid.core.cards import WORK_DONE, MethodCard
from pellucid.core.kinds.arrays import Numbers, SparseRows
from pellucid.core.kinds.plain import Whole
from pellucid.core.kinds.usual import COUNT, FLAG, LABELS, NONNEGATIVE, POSITIVE
from pellucid.core.linear_classifier import LabelSetRules
from pellucid.linear_model.regression_discriminant import RegressionDiscriminant
from pellucid.proofs.linear_model.regression_discriminant import prove_regression_discriminant

CARDS = (
    MethodCard(
        RegressionDiscriminant,
        topics=("CLS-2",),
        prove=prove_regression_discriminant,
        parameters={"alpha": NONNEGATIVE, "tol": POSITIVE, "fit_intercept": FLAG, "max_iter": Whole(low=1)},
        attributes={
            "classes_": LABELS,
            "multilabel_": FLAG,
            "coef_": Numbers(("n_outputs", "n_features")) | SparseRows(("n_outputs", "n_features")),
            "intercept_": Numbers(("n_outputs",)),
            "n_iter_": COUNT,
        },
        input=LabelSetRules(sparse=("csr",)),
        variants=({"alpha": 0.1, "fit_intercept": False},),
        unproved={"n_iter_": WORK_DONE},
    ),
)
