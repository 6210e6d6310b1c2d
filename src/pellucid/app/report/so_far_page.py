"""The page and the card of a model that was kept before the comparison ended: short, and says so at once."""

from __future__ import annotations

import shlex

import pellucid
from pellucid.app.bake_off.so_far import SoFar
from pellucid.app.report.card import again_section, data_section, head_section, leaderboard_section
from pellucid.app.report.figures import ticks, whiskers
from pellucid.app.report.page import Origin, page_template, versions
from pellucid.proofs.certificate import GRADES, Certificate


def render_so_far(so_far: SoFar, origin: Origin) -> str:
    """Return the page about the best model so far: no pictures, for it may be written many times and read never.

    Parameters
    ----------
    so_far : SoFar
        What is told: the best model while others are still compared.
    origin : Origin
        Names of table and model file, and the command.
    """
    measure, scores = so_far.measure, so_far.scores
    return page_template("so_far_report.html").render(
        result=so_far,
        target=so_far.target.name,
        is_classification=so_far.target.is_classification,
        measure=measure,
        recipe=_compared(so_far),
        certificate=_claimed(so_far),
        grade_meaning=GRADES[_claimed(so_far).grade],
        table_name=origin.table_name,
        model_name=origin.model_name,
        command=origin.command,
        versions=versions(),
        version=pellucid.__version__,
        quoted_target=shlex.quote(so_far.target.name),
        quoted_weights=f" --weights {shlex.quote(so_far.plan.options.weights)}" if so_far.plan.options.weights else "",
        leaders=list(zip(scores, whiskers(scores, mirrored=measure.is_score), strict=True)),
        ticks=ticks(scores, measure),
        has_auc=any(score.auc == score.auc for score in scores),
        has_log_loss=any(score.log_loss == score.log_loss for score in scores),
        has_seconds=any(score.fit_seconds == score.fit_seconds for score in scores),
        untried={},
        alarm="",
    )


def render_card_so_far(so_far: SoFar, origin: Origin) -> str:
    """Return the model card of the best model so far, in Markdown.

    Parameters
    ----------
    so_far : SoFar
        What is told: the best model while others are still compared.
    origin : Origin
        Names of table and model file, and the command.
    """
    sections = (
        head_section(so_far, origin, so_far.sentence),
        leaderboard_section(so_far),
        data_section(so_far, origin),
        again_section(so_far, origin),
    )
    return "\n".join(sections)


def _compared(so_far: SoFar) -> str:
    """Return what the errors in the table come from."""
    n_splits, n_rows = len(so_far.chosen.errors), so_far.chosen.pace.rows
    splits = "one split" if n_splits == 1 else f"{n_splits} splits"
    return f"{splits} of the rows to learn from ({n_rows:,} of them to learn from, others to validate with)"


def _claimed(so_far: SoFar) -> Certificate:
    """Return what the fit claims of itself; nobody has verified it."""
    nothing = Certificate("none", reason=f"{type(so_far.model[-1]).__name__} is no estimator of pellucid.")
    claimed: Certificate = getattr(so_far.model[-1], "certificate_", nothing)
    return claimed
