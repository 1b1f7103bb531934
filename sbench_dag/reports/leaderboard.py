"""A leaderboard of reward models as text for a terminal. docs/reward-metrics.md explains its columns."""

from __future__ import annotations

import numpy as np

from sbench_dag.reports.text import table
from sbench_dag.rewards.leaderboard import Interval, Leaderboard, Row
from sbench_dag.rewards.metrics import SUCCESS, WORST, Agreement, Detection, Preference
from sbench_dag.rewards.score import LABELS, Status

SHOWN = 3
"""Models with columns of their own, where a terminal has room for no more."""


def leaderboard_text(board: Leaderboard, name: str) -> str:
    """name: of the data."""
    parts = [
        f"{name}: {board.n:,} examples in {len(board.subsets)} subsets, {board.clusters:,} source episodes",
        _errors(board),
        f"MAE: group-wise, the plain mean of the subsets'; no answer counts as an error of {WORST:.0f}. "
        f"Skill: 1 - MAE / MAE of always {board.best_constant}.\n"
        f"[ ]: 95 %, {board.resamples:,} resamples of source episodes by subset, seed {board.seed}. "
        "P(1st): among the models.",
    ]
    if board.models:
        parts += [
            _two_best(board),
            f"What was answered, alone\n{_answered(board)}",
            f"Agreement, of what was answered\n{_agreement(board)}",
            f"Success (label 4 or more; label 5), of what was answered\n{_detection(board)}",
        ]
    parts.append(f"Subsets: MAE, no answer counted (in brackets how many answers, where not all)\n{_subsets(board)}")
    if board.models:
        parts.append(f"Labels (rows) and scores (columns), of what was answered\n{_confusion(board)}")
    if board.disagreements:
        parts.append(f"Worth watching: far off the label, or far apart\n{_disagreements(board)}")
    if len(board.models) > SHOWN:
        parts.append(f"Tables with a column per model show the first {SHOWN}; --json has all.")
    return "\n\n".join(part for part in parts if part)


def _errors(board: Leaderboard) -> str:
    header = ("rank", "model", "MAE", "[95 %]", "skill", "behind 1st", "[95 %]", "P(1st)", "by instance")
    rows = []
    for row in board.rows:
        behind, weighted = row.behind, row.instance_weighted
        rows.append(
            (
                row.rank or "-",
                _shown(row),
                f"{row.group_wise.value:.3f}",
                _interval(row.group_wise.interval),
                _number(row.group_wise.skill, 2),
                f"{behind.difference:+.3f}" if behind else "",
                _interval(behind.interval, 3) if behind else "",
                "" if row.first is None else f"{row.first:.2f}",
                f"{weighted.value:.3f} {_interval(weighted.interval)}",
            )
        )
    return table(header, rows)


def _answered(board: Leaderboard) -> str:
    header = ("model", "answered", "unparseable", "missing", "MAE", "of subsets", "skill", "by instance")
    rows = []
    for row in board.models:
        answered = row.answered
        assert answered is not None
        rows.append(
            (
                row.name,
                f"{answered.n}/{board.n}",
                row.statuses[Status.UNPARSEABLE],
                row.statuses[Status.MISSING],
                _number(answered.group_wise),
                f"{answered.subsets}/{len(board.subsets)}",
                _number(answered.skill, 2),
                _number(answered.instance_weighted),
            )
        )
    return table(header, rows)


def _two_best(board: Leaderboard) -> str:
    """What the subsets say, one by one, of the first two."""
    if len(board.models) < 2 or len(board.subsets) < 2:
        return ""
    first, second = board.models[:2]
    assert second.behind is not None
    units = second.behind.units
    low, high = units.leave_one_out or (0.0, 0.0)
    return (
        f"{first.name} against {second.name}, with the {units.n} subsets as units: better in {units.wins}"
        f"{f', equal in {units.ties}' if units.ties else ''};\npaired t p = {_number(units.p_t)}, sign test p = "
        f"{_number(units.p_sign)}; the difference without one of the subsets: {low:+.4f} to {high:+.4f}"
    )


def _with_scores(board: Leaderboard) -> list[tuple[str, Agreement]]:
    """The models, and what knows nothing but which constant is best."""
    constant = f"always {board.best_constant}"
    return [(_shown(row), row.agreement) for row in board.rows if row.agreement and (row.rank or row.name == constant)]


def _agreement(board: Leaderboard) -> str:
    header = ("model", "n", "exact", "within 1", "bias", "kappa", "rho", "tau", "pairs of an episode", "of a subset")
    rows = [
        (
            name,
            a.n,
            *(_number(value, 2) for value in (a.exact, a.within_one)),
            "-" if a.signed_error is None else f"{a.signed_error:+.2f}",
            *(_number(value, 2) for value in (a.kappa, a.spearman, a.kendall)),
            *(_preference(pairs) for pairs in (a.within_cluster, a.within_subset)),
        )
        for name, a in _with_scores(board)
    ]
    return table(header, rows)


def _detection(board: Leaderboard) -> str:
    header = ("model", *(text.format(t) for t in SUCCESS for text in ("AUROC {}", "false positives {}")))
    rows = [
        (name, *(cell for found in a.detection for cell in (_number(found.auroc), _false_positives(found))))
        for name, a in _with_scores(board)
    ]
    return table(header, rows)


def _subsets(board: Leaderboard) -> str:
    models = [row.name for row in board.models[:SHOWN]]
    rows = [
        (
            _end(subset.name, 24),
            subset.n,
            subset.clusters,
            "/".join(map(str, subset.labels)),
            f"{subset.best_constant_error:.3f} ({subset.best_constant})",
            *(_counted(subset.errors[name], subset.answered[name], subset.n) for name in models),
        )
        for subset in board.subsets
    ]
    return table(("subset", "n", "episodes", "labels 1 to 5", "constant", *(_end(m, 14) for m in models)), rows)


def _confusion(board: Leaderboard) -> str:
    blocks = [_matrix(row) for row in board.models[:SHOWN] if row.agreement]
    return "\n".join("   ".join(lines).rstrip() for lines in zip(*blocks, strict=True))


def _matrix(row: Row) -> list[str]:
    assert row.agreement is not None
    counts = np.asarray(row.agreement.confusion)
    width = max(4, len(str(counts.max(initial=0))) + 1)
    lines = ["  " + "".join(f"{score:>{width}}" for score in LABELS)]
    lines += [f"{label} " + "".join(f"{n:>{width}}" for n in counts[label - 1]) for label in LABELS]
    size = max(len(lines[0]), 24)
    return [row.name[:size].ljust(size), *(line.ljust(size) for line in lines)]


def _disagreements(board: Leaderboard) -> str:
    models = [row.name for row in board.models[:SHOWN]]
    rows = [
        (
            _end(d.id, 46),
            d.label,
            f"{d.error:.1f}",
            d.spread,
            *("-" if d.scores[m] is None else d.scores[m] for m in models),
        )
        for d in board.disagreements[:10]
    ]
    return table(("example", "label", "error", "spread", *(_end(m, 14) for m in models)), rows)


def _shown(row: Row) -> str:
    return row.name if row.rank else f"({row.name})"


def _end(text: str, length: int) -> str:
    return text if len(text) <= length else f"…{text[1 - length :]}"


def _interval(found: Interval, digits: int = 2) -> str:
    return "" if found is None else f"[{found[0]:.{digits}f}, {found[1]:.{digits}f}]"


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _counted(error: float, answered: int, n: int) -> str:
    return f"{error:.3f}" if answered == n else f"{error:.3f} ({answered})"


def _false_positives(found: Detection) -> str:
    if not found.failures:
        return "-"
    return f"{found.false_positives / found.failures:.2f} {found.false_positives}/{found.failures}"


def _preference(found: Preference) -> str:
    return "-" if found.accuracy is None else f"{found.accuracy:.2f} of {found.pairs:,}"
