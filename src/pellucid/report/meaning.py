"""What a certificate means for the user of a method."""

from __future__ import annotations

from typing import Any

from pellucid.bake_off import BakeOffResult
from pellucid.proofs.certificate import GRADES, Certificate
from pellucid.proofs.sampling import CONFIDENCE, in_percent, left_open

MEANINGS = {
    "Blend": "what is proved of each member holds, and the answer is their weighted mean; that the weights are good "
    "was seen on rows held out, not proved",
    "KNeighbors": "the rows were stored as they are, and the search finds the nearest ones; nothing is learned beyond "
    "that, so it says nothing about how good their answers are",
    "HistGradientBoosting": "each question of each tree was the best at its place, given all before it; that is no "
    "promise that the trees together are the best possible",
    "RandomForest": "each question of the trees checked was the best at its place for the rows its tree drew; that is "
    "no promise about the forest as a whole",
    "DecisionTree": "each question was the best at its place; another tree as a whole may still fit better",
    "KMeans": "every row is with the nearest of the centers, and every center is the mean of its rows; how much better "
    "the best clustering of all could be is bounded below, where a claim says so",
    "KMedoids": "every row is with the nearest of the medoids, and no swap of a medoid with another row that was tried "
    "makes the sum of distances smaller",
    "GaussianMixture": "one more step of the method changes nothing worth mentioning; another start may still end in a "
    "likelier mixture",
    "TSNE": "what draws rows together and what drives them apart are in balance, up to the share that the gradient is; "
    "another start may still end in another map as good",
    "LinearRegression": "no other coefficients fit these rows better, up to rounding",
    "Ridge": "no other coefficients make squared error plus penalty smaller on these rows, up to rounding",
    "Lasso": "no other coefficients make error plus penalty smaller on these rows by more than the gap shown",
    "Logistic": "no other coefficients make loss plus penalty smaller on these rows by more than the gap shown",
    "LinearSVC": "no other line makes loss plus penalty smaller on these rows by more than the gap shown",
    "NB": "the shares, means and spreads are those of these rows; whether the columns are independent, as the method "
    "supposes, is another question",
    "LinearDiscriminant": "the means and spreads are those of these rows; whether the classes are Gaussian clouds, as "
    "the method supposes, is another question",
}
"""By a part of the name of an estimator: what its certificate means."""


MOST_LEFT_OPEN = 0.2
"""Share that samples may leave open in a certificate that is shown in green."""


def meaning_of(certificate: Certificate, method: Any) -> str:
    """Return what the grade of a certificate means for the user of a method, as the end of a sentence."""
    if not certificate.holds:
        return GRADES[certificate.grade]
    name = type(method).__name__
    return next((meaning for part, meaning in MEANINGS.items() if part in name), GRADES[certificate.grade])


def standing_of(result: BakeOffResult) -> tuple[str, str]:
    """Return how far the certificate of a result was looked into, in words, and the style it is shown in.

    What a fit claims of itself is often a sample of three questions out of thousands: only what was verified is green.
    """
    certificate = result.certificate
    if certificate.failed:
        return "a claim does not hold", "does-not-hold"
    if not certificate.holds:
        return "proves nothing", "proves-nothing"
    if isinstance(result.verified, Certificate):
        share = left_open(certificate)
        rest = f" on samples: at {CONFIDENCE} confidence, at most {in_percent(share)} is otherwise" if share else ""
        return f"verified by other code than the fit's{rest}", "holds" if share <= MOST_LEFT_OPEN else "proves-nothing"
    why = result.verified.removesuffix(".").lower() or "nobody asked for it"
    return f"claimed by the fit, not verified ({why})", "proves-nothing"
