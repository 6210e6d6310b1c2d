"""Method card of the ranking support vector machine."""

from __future__ import annotations

import numpy as np

from pellucid.core.cards import WORK_DONE, MethodCard, Trial
from pellucid.core.input_rules import NUMBERS, InputRules
from pellucid.core.kinds.arrays import Numbers
from pellucid.core.kinds.plain import OneOf, Optional, Real, Whole
from pellucid.core.kinds.usual import COUNT, POSITIVE
from pellucid.ranking.ranking_svm import RankingSVM

WEIGHTS = Numbers(("n_features",), ("float64",))
WITNESSES = dict.fromkeys(
    ("smoothed_coef_", "smoothing_"), "a witness: with another one the bound is weaker or fails, never wrong"
)

CARDS = (
    MethodCard(
        RankingSVM,
        topics=("CLS-7",),
        onnx="pellucid.core.onnx.linear_answers:numbers",
        workings="pellucid.ranking.ranking_svm_workings:ranking_svm_workings",
        parameters={
            "C": POSITIVE,
            "loss": OneOf(("hinge", "squared_hinge")),
            "tol": POSITIVE,
            "max_iter": Whole(low=1),
        },
        attributes={
            "coef_": WEIGHTS,
            "smoothed_coef_": Optional(WEIGHTS),
            "smoothing_": Optional(Real()),
            "qid_": Numbers((None,), ("int64",), low=0),
            "n_iter_": COUNT,
        },
        input=InputRules(NUMBERS, sparse=("csr",), dtypes=np.float64, order="C"),
        variants=({"loss": "squared_hinge"}, {"C": 1e-3}),
        # the first two tell a dual point, and any that closes the gap will do
        unproved=WITNESSES | {"n_iter_": WORK_DONE},
        trial=Trial(rows=4),
        take_for="an order within each query, where no number is wanted",
        references=("Joachims, Optimizing search engines using clickthrough data, KDD 2002",),
    ),
)
