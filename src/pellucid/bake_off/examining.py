"""What is done with the chosen method: fit it for good, judge it once, see whether more rows would help."""

from __future__ import annotations

import warnings
from dataclasses import replace

from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import Pipeline

from pellucid.bake_off.comparing import Score
from pellucid.bake_off.driving import Importance, importances
from pellucid.bake_off.judging import Judgement, count_seen_before, judge_classes, judge_numbers
from pellucid.bake_off.setting import Setting
from pellucid.model_selection import ErrorCurve, error_against_size

CURVE_SIZES = (0.1, 0.25, 0.5, 1.0)
CURVE_FOLDS = 3
CURVE_COST = 5.0
"""A learning curve costs about this many folds of the comparison."""
END_SECONDS = 1.5
"""Kept for writing, when a learning curve or importances take the rest of the time."""
EXCUSES = {"time": "There was no time left for it.", "interruption": "It was interrupted."}


def fit_for_good(setting: Setting, chosen: Score) -> tuple[Pipeline, list[str]]:
    """Return the method fitted on every row, and what it warned of."""
    setting.say("the final fit", chosen)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = setting.pipeline(chosen.contestant, setting.X).fit(setting.X, setting.target.values)
    return model, list(dict.fromkeys(str(warning.message) for warning in caught))


def judge(setting: Setting, chosen: Score) -> tuple[Judgement, list[Importance] | str]:
    """Open the vault once: the error of the method, trained on the learning rows, and what drives it or an excuse."""
    setting.say("the estimate on rows kept aside", chosen)
    X, y = setting.vault.learning
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = setting.pipeline(chosen.contestant, X).fit(X, y)
        X_test, y_test = setting.vault.open(f"final estimate of {chosen.contestant.name}")
        if setting.is_classification:
            judgement = judge_classes(model, X_test, y_test)
        else:
            judgement = judge_numbers(model, X_test, y_test, float(y.mean()), setting.plan.seed)

        def shuffle() -> list[Importance]:
            task, seed = setting.is_classification, setting.plan.seed
            return importances(model, X_test, y_test, setting.groups(), is_classification=task, seed=seed)

        drivers, cut = setting.budget.attempt(shuffle, setting.budget.seconds_left() - END_SECONDS)
    judgement = replace(judgement, n_seen_before=count_seen_before(X, X_test))
    return judgement, drivers if drivers is not None else EXCUSES[cut]


def learning_curve(setting: Setting, chosen: Score) -> ErrorCurve | str:
    """Return the error of the method for growing training sets, or why there is no time for it."""
    if CURVE_COST * chosen.fold_seconds > setting.budget.seconds_left() - END_SECONDS:
        return EXCUSES["time"]
    setting.say("the learning curve", chosen)
    X, y = setting.vault.learning
    kind = StratifiedKFold if setting.is_classification else KFold

    def draw() -> ErrorCurve:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return error_against_size(
                setting.pipeline(chosen.contestant, X),
                X,
                y,
                sizes=CURVE_SIZES,
                cv=kind(CURVE_FOLDS, shuffle=True, random_state=setting.plan.seed),
                scoring=None if setting.is_classification else "neg_root_mean_squared_error",
            )

    try:
        curve, cut = setting.budget.attempt(draw, setting.budget.seconds_left() - END_SECONDS)
    except ValueError as error:  # a class that the smallest training set has no row of
        return f"It could not be drawn: {error}"
    return curve if curve is not None else EXCUSES[cut]
