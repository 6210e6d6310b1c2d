"""Who wins, and why."""

from __future__ import annotations

from collections.abc import Sequence

from pellucid.bake_off.comparing import Score
from pellucid.model_selection.recipes import chosen_by


def choose(scores: Sequence[Score], *, one_standard_error: bool) -> Score:
    """Return the method with the least error, or the simplest within one standard error of it; never the baseline.

    A method with fewer coefficients is simpler; one without any, such as neighbors, is the least simple.
    """
    candidates = [score for score in scores if not score.contestant.is_baseline]
    if not one_standard_error:
        return min(candidates, key=lambda score: score.mean)
    simplest_first = sorted(candidates, key=lambda score: (score.n_coefficients or float("inf"), score.mean))
    names = {score.contestant.name: score for score in simplest_first}
    return names[chosen_by({name: score.errors for name, score in names.items()}, "one standard error")]


def why(chosen: Score, scores: Sequence[Score]) -> str:
    """Return the sentence that says why the method was chosen."""
    best = choose(scores, one_standard_error=False)
    name = sentence_case(chosen.contestant.name)
    if chosen is best:
        return f"{name} made the smallest error on rows it had not seen, so it was chosen."
    return (
        f"{sentence_case(best.contestant.name)} made the smallest error; {chosen.contestant.name} is within one "
        "standard error of it with fewer coefficients, so it was chosen."
    )


def sentence_case(text: str) -> str:
    """Return a text with a capital first letter, the others as they are."""
    return text[:1].upper() + text[1:]
