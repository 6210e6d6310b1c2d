"""Method cards of factors: nonnegative, of known entries, hidden and independent ones."""

from __future__ import annotations

from typing import Any

from pellucid.core.cards import WORK_DONE, MethodCard, Trial
from pellucid.core.input_rules import PASSES, InputRules
from pellucid.core.kinds.arrays import FLOATS, WHOLES, Numbers
from pellucid.core.kinds.collections import PLAIN, Items, Lookup
from pellucid.core.kinds.plain import Live, Nothing, Number, OneOf, Only, Optional, Real, Whole
from pellucid.core.kinds.usual import A_LIST, COUNT, FLAG, NONNEGATIVE, POSITIVE, RANDOM_STATE, VERBOSE
from pellucid.core.user_warnings import warn_user
from pellucid.decomposition.alternating.alternating_least_squares import AlternatingLeastSquares
from pellucid.decomposition.factor_analysis.factor_analysis import FactorAnalysis
from pellucid.decomposition.ica.fast_ica import FastICA
from pellucid.decomposition.nmf.nmf import NMF
from pellucid.decomposition.nmf.nmf_problem import LOSSES


def _check_solver(estimator: Any) -> None:
    """Refuse a divergence that coordinate descent does not know, and warn of zeros that would stay."""
    if estimator.solver == "cd" and estimator.beta_loss not in (2, "frobenius"):
        raise ValueError(
            f"Invalid beta_loss parameter: solver 'cd' does not handle beta_loss = {estimator.beta_loss!r}. "
            "Use solver='mu'."
        )
    if estimator.solver == "mu" and estimator.init == "nndsvd":
        warn_user(
            "The multiplicative update ('mu') solver cannot update zeros present in the initialization, and so leads "
            "to poorer results when used jointly with init='nndsvd'. You may try init='nndsvda' or init='nndsvdar' "
            "instead."
        )


def _parts_rules(estimator: Any) -> InputRules:
    blocks = PASSES if estimator.solver == "cd" and estimator.init != "custom" else ""
    return InputRules(sparse=("csr",), missing=True, weights=False, blocks=blocks)


WIDE = ("float64",)

CARDS = (
    MethodCard(
        NMF,
        topics=("DIM-4",),
        device="pellucid.decomposition.nmf.nmf_on_device:fit_on_device",
        onnx="NMF has no graph: "
        "it finds the parts of every new row by a search, which a graph cannot do. Use PCA or TruncatedSVD.",
        workings="pellucid.decomposition.nmf.nmf_workings:nmf_workings",
        free={
            "order": "the order of the components, which follows the start",
            "scale": "how the length of a component is shared with its weights, where nothing is penalized",
        },
        parameters={
            "n_components": Nothing() | OneOf(("auto",)) | Whole(low=1),
            "init": Nothing() | OneOf(("random", "nndsvd", "nndsvda", "nndsvdar", "custom")),
            "solver": OneOf(("cd", "mu")),
            "beta_loss": OneOf(tuple(LOSSES)) | Number(),
            "tol": NONNEGATIVE,
            "max_iter": Whole(low=1),
            "random_state": RANDOM_STATE,
            "alpha_W": NONNEGATIVE,
            "alpha_H": OneOf(("same",)) | NONNEGATIVE,
            "l1_ratio": Number(low=0, high=1),
            "verbose": VERBOSE,
            "shuffle": FLAG,
        },
        check=_check_solver,
        attributes={
            "components_": Numbers(("n_found", "n_features"), FLOATS, low=0),
            "weights_": Optional(Numbers(("n_rows", "n_found"), FLOATS, low=0)),  # none of rows in blocks
            "n_components_": Whole(low=1, size="n_found"),
            "reconstruction_err_": Real(),
            "n_iter_": Whole(low=1),
        },
        input=_parts_rules,
        passes="pellucid.decomposition.nmf.nmf_passes:nmf_in_passes",
        variants=(
            {"n_components": 2, "alpha_W": 0.01, "l1_ratio": 0.5},
            {"n_components": 2, "solver": "mu", "beta_loss": "kullback-leibler"},
        ),
        unproved={"n_iter_": WORK_DONE},
        squares=frozenset({"reconstruction_err_"}),
        trial=Trial(rows=5),
        take_for="amounts that only add up, such as gray values, counts or spectra, and parts that are to be named",
        references=(
            ("Lee and Seung, Learning the parts of objects by non-negative matrix factorization, Nature 401 (1999)"),
            (
                "Cichocki and Phan, Fast local algorithms for large scale nonnegative matrix and tensor "
                "factorizations, IEICE Transactions E92-A (2009)"
            ),
        ),
    ),
    MethodCard(
        AlternatingLeastSquares,
        topics=("DIM-3",),
        onnx="AlternatingLeastSquares has no graph: "
        "it solves a problem of its own for the known entries of every new row.",
        workings="pellucid.decomposition.alternating.alternating_workings:alternating_workings",
        free={
            "scale": "how the length of a component is shared with its weights, where both penalties are 0",
        },
        parameters={
            "n_components": Whole(low=1),
            "alpha": NONNEGATIVE,
            "alpha_components": Nothing() | NONNEGATIVE,
            "max_iter": Whole(low=1),
            "tol": NONNEGATIVE,
            "random_state": RANDOM_STATE,
        },
        attributes={
            "components_": Numbers(("n_found", "n_features"), FLOATS),
            "weights_": Optional(Numbers(("n_rows", "n_found"), FLOATS)),  # none of rows in blocks
            "objective_": Real(),
            "n_iter_": Whole(low=1),
        },
        input=InputRules(sparse=("csr",), missing=True, weights=False, blocks=PASSES),
        passes="pellucid.decomposition.alternating.alternating_passes:factors_in_passes",
        variants=({"n_components": 3, "alpha": 1.0, "alpha_components": 0.01},),
        unproved={"n_iter_": WORK_DONE},
        squares=frozenset({"objective_"}),
        trial=Trial(rows=5),
        take_for="a matrix of which many entries are missing, such as ratings, and these are to be guessed",
        references=(
            ("Koren, Bell and Volinsky, Matrix factorization techniques for recommender systems, Computer 42 (2009)"),
        ),
    ),
    MethodCard(
        FactorAnalysis,
        topics=("DIM-5",),
        device="pellucid.decomposition.factor_analysis.factors_on_device",
        onnx="pellucid.decomposition.components_in_onnx:factors",
        parameters={
            "n_components": Nothing() | COUNT,
            "tol": NONNEGATIVE,
            "copy": FLAG,
            "max_iter": Whole(low=1),
            "noise_variance_init": Nothing()
            | Numbers((None,), ("float64", "float32", *WHOLES))
            | Items(POSITIVE)
            | A_LIST,
            "svd_method": OneOf(("randomized", "lapack")),
            "iterated_power": COUNT,
            "rotation": Nothing() | OneOf(("varimax", "quartimax")),
            "random_state": RANDOM_STATE,
        },
        attributes={
            "components_": Numbers(("n_components", "n_features"), WIDE),
            "noise_variance_": Numbers(("n_features",), WIDE, low=0.0),
            "mean_": Numbers(("n_features",), WIDE),
            "loglike_": Items(Real()),
            "n_iter_": Whole(low=1),
        },
        input=InputRules(blocks=PASSES),
        passes="pellucid.decomposition.factor_analysis.factor_analysis_passes:factors_in_passes",
        variants=(
            {"n_components": 2},
            {"n_components": 2, "rotation": "varimax"},
            {"n_components": 0},
        ),
        squares=frozenset({"noise_variance_"}),
        take_for="columns that are measured with noise of different sizes, and few causes behind them",
        references=("Rubin and Thayer, EM algorithms for ML factor analysis, Psychometrika 47 (1982)",),
    ),
    MethodCard(
        FastICA,
        topics=("DIM-6",),
        onnx="pellucid.decomposition.components_in_onnx:sources",
        free={
            "order": "the order of the sources, which follows the start",
            "sign": "the sign of each source",
        },
        parameters={
            "n_components": Nothing() | Whole(low=1),
            "algorithm": OneOf(("parallel", "deflation", "spacings")),
            "whiten": OneOf(("unit-variance", "arbitrary-variance")) | Only(False),
            "fun": OneOf(("logcosh", "exp", "cube")) | Live("a function"),
            "fun_args": Nothing() | Lookup(PLAIN),
            "max_iter": Whole(low=1),
            "tol": NONNEGATIVE,
            "w_init": Nothing() | A_LIST,
            "whiten_solver": OneOf(("eigh", "svd")),
            "random_state": RANDOM_STATE,
        },
        attributes={
            "components_": Numbers(("n_found", "n_features"), FLOATS),
            "mixing_": Numbers(("n_features", "n_found"), FLOATS),
            "mean_": Optional(Numbers(("n_features",), FLOATS)),
            "whitening_": Optional(Numbers(("n_found", "n_features"), FLOATS)),
            "multi_information_": Real(),
            "n_iter_": Whole(low=1),
        },
        input=InputRules(weights=False, fewest_rows=2),
        variants=(
            {"n_components": 2, "algorithm": "deflation", "whiten": "arbitrary-variance", "fun": "cube"},
            {"n_components": 2, "algorithm": "spacings"},
        ),
        unproved={
            "n_iter_": WORK_DONE,
            "multi_information_": "an estimate from some of the rows, for the reader: no answer depends on it",
        },
        take_for="signals that are mixtures of independent, not Gaussian sources",
        references=(
            (
                "Hyvärinen and Oja, Independent component analysis: algorithms and applications, Neural "
                "Networks 13 (2000)"
            ),
        ),
    ),
)
