"""The one result of a bake-off: the screen, the report and the model file all read it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from pellucid.app.bake_off.comparison import Untried
from pellucid.app.bake_off.importance import Coefficient, Effect, Importance
from pellucid.app.bake_off.judgement import Judgement
from pellucid.app.bake_off.learned import NOTHING, UNCONFIRMED, Learned
from pellucid.app.bake_off.measures import ACCURACY, RMSE, Measure
from pellucid.app.bake_off.options import Options
from pellucid.app.bake_off.scores import MethodScore, why
from pellucid.app.bake_off.tree_story import TreeStory
from pellucid.app.table_model import TableModel
from pellucid.app.tables.reading import notes_of
from pellucid.app.tables.understanding import Columns, Target
from pellucid.core.short_html import short_html
from pellucid.model_selection import ErrorCurve, Opening
from pellucid.proofs.certificate import Certificate


@dataclass(frozen=True)
class Plan:
    """How the methods were compared."""

    recipe: str
    folds: int
    seed: int
    one_standard_error: bool
    options: Options = field(default_factory=Options)

    @property
    def n_splits(self) -> int:
        """How many splits of the learning rows the recipe has."""
        return 1 if self.recipe == "split" else self.folds


@dataclass(frozen=True, repr=False)
class BakeOffResult:
    """A chosen, certified model and what is known about it."""

    model: TableModel
    """A pipeline that takes tables like ``table``, fitted to every row where there was time for it, see
    ``n_fitted``."""
    table: pd.DataFrame
    """As it was given, all rows and columns."""
    target: Target
    """What is predicted, and how it was read."""
    columns: Columns
    """How the other columns were read, and which were left out."""
    plan: Plan
    """How the methods were compared: recipe, folds, seed and the user's wishes."""
    scores: tuple[MethodScore, ...]
    """The best first."""
    untried: tuple[Untried, ...]
    """Methods that were not compared, each with the reason."""
    chosen: MethodScore
    """The score of the method of the model, one of ``scores``."""
    judgement: Judgement
    """Truth, predictions and scores on the rows kept aside."""
    vault_log: tuple[Opening, ...]
    """Every look at the rows kept aside, with its number, reason and time."""
    curve: ErrorCurve | str
    """The learning curve, or why there is none."""
    importances: list[Importance] | str
    """Of the columns, the largest first, or why there are none."""
    coefficients: list[Coefficient]
    """Of a linear method, of each feature one; of several classes the largest. Empty for other methods."""
    intercept: float | None
    """Of a linear method with one row of coefficients; None for any other."""
    effects: list[Effect]
    """Curves of the numbers, for a method on steps (whose steps are not among the coefficients) and for trees."""
    story: TreeStory | str
    """What trees say for themselves, empty for other methods, or why there was no time for it."""
    cautions: tuple[str, ...]
    """What to beware of before the model is used, in sentences."""
    interrupted: bool
    """Whether Ctrl-C was pressed: what had not been done until then was left out."""
    seconds: float
    """From the beginning to the end, by the clock on the wall."""
    learned: Learned | None = None
    """Whether the predictions on the rows kept aside are better than chance."""
    n_fitted: int | None = None
    """Rows that the saved model learned from; None if nobody said."""
    verified: Certificate | str = ""
    """What independent code found in the saved model and its table after the fit, or why nobody looked."""
    compiling_seconds: float = 0.0
    """Of these, spent with compiling loops, which is done once on a machine; a second process may do more of it."""
    flexibility: str = ""
    """What the other methods say about one that underfits."""
    n_in_files: int | None = None
    """Rows with a target in all files, of which the table is a draw; None if the table is all there is."""
    learned_from: str = ""
    """Of such a table, the rows that the saved model learned from, in a sentence."""

    @property
    def certificate(self) -> Certificate:
        """What was proved of the saved model: by ``verify`` if there was time for it, else by the fit itself."""
        if isinstance(self.verified, Certificate):
            return self.verified
        nothing = Certificate("none", reason=f"{type(self.model[-1]).__name__} is no estimator of pellucid.")
        certificate: Certificate = getattr(self.model[-1], "certificate_", nothing)
        return certificate

    @property
    def measure(self) -> Measure:
        """What the methods were compared and judged by."""
        if self.judgement.measure is not None:
            return self.judgement.measure
        classes = self.judgement.classes
        return Measure(RMSE if classes is None else ACCURACY, classes)

    @property
    def done_to_data(self) -> list[str]:
        """How the table was read, in sentences, as far as that was unusual."""
        return [*notes_of(self.table), *self.target.notes, *self.columns.notes()]

    @property
    def baseline(self) -> MethodScore | None:
        """The score of always saying the same."""
        return next((score for score in self.scores if score.contestant.is_baseline), None)

    @property
    def reason(self) -> str:
        """Why this method was chosen, in a sentence."""
        return why(self.chosen, self.scores)

    @property
    def n_rows(self) -> int:
        """Rows with a target."""
        return len(self.target.values) if self.n_in_files is None else self.n_in_files

    @property
    def n_learning(self) -> int:
        """Rows to compare and choose with; the others were kept aside."""
        own_test = self.plan.options.test is not None
        return len(self.target.values) - (0 if own_test else len(self.judgement.actual))

    @property
    def has_own_test(self) -> bool:
        """Whether the rows kept aside are those of a table that the user brought."""
        return self.plan.options.test is not None and self.n_in_files is None

    @property
    def alarm(self) -> str:
        """What must be said before anything else: that nothing, or perhaps nothing, was learned; else empty."""
        return self.learned.sentence if self.learned and self.learned.state in (NOTHING, UNCONFIRMED) else ""

    def frame(self) -> pd.DataFrame:
        """Return the leaderboard, the best method first."""
        rows = [
            {
                "method": score.name,
                "error": score.mean,
                "standard_error": score.standard_error,
                "coefficients": score.n_coefficients,
                "chosen": score is self.chosen,
            }
            for score in self.scores
        ]
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        return f"{self.chosen.name} of {len(self.scores)} methods; test {self.judgement.headline!r}"

    def _repr_html_(self) -> str:
        headline, measure = self.judgement.headline, self.measure

        def written(value: float) -> str:
            return f"{100 * value:.1f} %" if measure.is_share else f"{value:.4g}"

        def spread(value: float) -> str:
            return written(value) if measure.is_share else f"{value:.2g}"

        interval = f"{100 * headline.level:g} % interval {written(headline.low)} to {written(headline.high)}"
        rows = [
            (score.name, f"{written(measure.shown(score.mean))} ± {spread(score.standard_error)}")
            for score in self.scores
        ]
        return short_html(
            f"{self.target.name}: {self.chosen.name}",
            [f"{measure.title} on {headline.n_samples:,} rows kept aside: {written(headline.score)} ({interval})."],
            alarm=self.alarm,
            head=("Method", f"{measure.title} in the comparison"),
            rows=rows,
            chosen=next(place for place, score in enumerate(self.scores) if score is self.chosen),
            folded={"Before you rely on it": [one for one in self.cautions if one != self.alarm]},
            certificate=self.certificate,
        )
