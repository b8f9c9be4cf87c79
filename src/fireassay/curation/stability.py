"""How much the answer depends on the seed, the labeler and the luck of the sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.chart import Chart
from fireassay.core.errors import ParameterError
from fireassay.core.lazy_modules import pd, special
from fireassay.core.percent import percent
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer, check_labels, check_real
from fireassay.curation.findings import Finding
from fireassay.curation.labelers import (
    LABELERS,
    GivenProbabilities,
    Labeler,
    as_labeler,
    label_model,
)
from fireassay.curation.labelling import PatternLabels, label_patterns
from fireassay.curation.order import check_groups, order_test
from fireassay.curation.votes import VotePatterns
from fireassay.statistics import spearman

if TYPE_CHECKING:
    from fireassay.curation.curate import Curation

NEEDED = 0.95
_VERDICTS = ("decreasing", "none", "increasing")


@dataclass(frozen=True, eq=False)
class Stability(Finding):
    """The same votes through every labeler and seed, and through resampled data.

    Attributes
    ----------
    panel
        One row per labeler and seed: share of equal labels, rank correlation of the scores and
        overlap of D_1 with the result at hand, and how well it explains the votes (`votes_fit`);
        with true labels also the accuracy of its labels, and the verdict.
    shares
        Share of each verdict over labelers and seeds (empty without labels).
    bootstrap_shares
        Share of each verdict over resampled data: shown, never a gate.
    stable
        Whether at least 95 % of the panel says "decreasing"; None without labels.

    >>> from fireassay.curation import curate, simulate_votes
    >>> votes, y = simulate_votes([0.9, 0.9, 0.6, 0.6], coverage=0.8, n=1000, seed=0)
    >>> labelers = ("majority", "triplet")
    >>> found = curate(votes).stability(y, n_boot=10, seeds=(0, 1), labelers=labelers)
    >>> found.stable, len(found.panel)
    (True, 4)
    """

    panel: pd.DataFrame
    shares: dict[str, float]
    bootstrap_shares: dict[str, float]
    stable: bool | None
    n_boot: int

    def frame(self) -> pd.DataFrame:
        """One row per labeler and seed."""
        return self.panel

    def charts(self) -> dict[str, Chart]:
        """Verdicts by labeler."""
        from fireassay.curation.charts import stability_chart

        return {"stability": stability_chart(self)}

    def in_words(self) -> str:
        """How many of the panel agree, and which label model to trust."""
        if self.stable is None:
            share = float(self.panel["same_labels"].min())
            return (
                f"Other label models and seeds give at least {percent(share)} equal labels. "
                f"{self.trusted} explains the votes best, which is no test: an audit would be."
            )
        if self.trusted is None:
            which = "No label model tried leads to hard cases with every seed: trust none."
        else:
            which = f"Of those that do with every seed, {self.trusted} labels best."
        return (
            f"{percent(self.shares['decreasing'])} of the label models and seeds tried agree "
            f"that the order leads to hard cases ({percent(NEEDED)} are asked for). {which}"
        )

    @property
    def trusted(self) -> str | None:
        """The label model to trust.

        With labels: of those whose order is "decreasing" with every seed, the one whose labels are
        right most often, or None. Without labels: the one that explains the votes best.
        """
        by = self.panel.groupby("labeler", sort=False)
        if self.stable is None:
            return str(by["votes_fit"].mean().idxmax())
        kept = by["verdict"].agg(lambda found: bool((found == "decreasing").all()))
        accuracy = by["accuracy"].mean()[kept.to_numpy(dtype=bool)]
        return str(accuracy.idxmax()) if len(accuracy) else None

    @property
    def holds(self) -> bool | None:
        """Whether enough of the panel agree; None without labels."""
        return self.stable


def stability(
    result: Curation,
    y: Any = None,
    n_boot: int = 200,
    *,
    seeds: Sequence[int] = tuple(range(10)),
    labelers: Sequence[Any] | None = None,
    gamma: float = 0.05,
    groups: Any = None,
) -> Stability:
    """Repeat a curation with other labelers, seeds and resampled samples."""
    check_integer(n_boot, "n_boot", low=0)
    check_real(gamma, "gamma", low=0.0, high=1.0)
    labelers = tuple(LABELERS) if labelers is None else labelers
    if not len(seeds) or not len(labelers):
        raise ParameterError("Stability needs at least one seed and one labeler.")
    truth = None if y is None else check_labels(y, n=result.n)
    grouped = check_groups(groups, result.n)
    rows = [
        {"labeler": name, "seed": seed, **_compare(result, table, truth, grouped, gamma)}
        for name, seed, table in _panel(result, labelers, seeds)
    ]
    panel = pd.DataFrame(rows)
    if truth is None:
        return Stability(panel, {}, {}, None, 0)
    shares = _shares(panel["verdict"].tolist())
    booted = _bootstrap(result, truth, grouped, n_boot, gamma)
    return Stability(panel, shares, _shares(booted), shares["decreasing"] >= NEEDED, n_boot)


def _panel(
    result: Curation, labelers: Sequence[Any], seeds: Sequence[int]
) -> Iterator[tuple[str, int, PatternLabels]]:
    for item in labelers:
        labeler = label_model(item, "A stability panel")
        table = None
        for seed in seeds:
            if table is None or getattr(labeler, "draws", True):
                varied = replace(result.settings, labeler=labeler.name, seed=int(seed))
                table = label_patterns(result.patterns, result.fit_patterns, labeler, varied)
            yield labeler.name, int(seed), table


def _compare(
    result: Curation,
    table: PatternLabels,
    truth: AnyArray | None,
    grouped: IntArray | None,
    gamma: float,
) -> dict[str, Any]:
    of_row = result.patterns.of_row
    labels = table.labels[of_row]
    score = table.score(result.settings.order_by)[of_row]
    first = max(1, int(result.sizes[0]))
    other = np.argsort(-score, kind="stable")[:first]
    row: dict[str, Any] = {
        "kept_lfs": len(table.pruning.kept),
        "same_labels": float((labels == result.labels).mean()),
        "rank_correlation": spearman(score, result.score)[0] if result.n > 2 else float("nan"),
        "first_set_overlap": len(np.intersect1d(other, result.order[:first])) / first,
        "votes_fit": votes_fit(result.patterns.only(table.pruning.kept), table.posterior),
    }
    if truth is not None:
        test = order_test(score, np.asarray(labels == truth), grouped)
        row["accuracy"] = float((labels == truth).mean())
        row |= {"auc": test.auc, "p_value": test.p_value, "verdict": test.verdict(gamma)}
    return row


def votes_fit(patterns: VotePatterns, posterior: FloatArray) -> float:
    """Mean log-likelihood of a row's votes, if functions vote by the class alone.

    How often each function votes what for each class (one abstention and vote of each kind added)
    is counted with the posterior as weights, so that any label model can be compared.
    """
    weight = posterior * patterns.counts[:, None]
    total = weight.sum(axis=0)
    log_joint = np.tile(np.log((total + 1) / (total + 1).sum()), (len(patterns.votes), 1))
    kinds = np.arange(-1, patterns.n_classes)
    for column in patterns.votes.T:
        shown = column[:, None] == kinds
        rate = (shown.T.astype(np.float64) @ weight + 1) / (total + len(kinds))
        log_joint += np.log(rate)[column + 1]
    return float(patterns.counts @ special.logsumexp(log_joint, axis=1) / patterns.n_rows)


def _bootstrap(
    result: Curation,
    truth: AnyArray,
    grouped: IntArray | None,
    n_boot: int,
    gamma: float,
) -> list[str]:
    settings = result.settings
    if settings.labeler == "given":
        labeler: Labeler | GivenProbabilities = GivenProbabilities(result.table.posterior)
        given = result.table.posterior
    else:
        labeler, given = as_labeler(settings.labeler), None
    of_row, patterns = result.patterns.of_row, result.patterns
    own_fit = result.own_fit_patterns is not None
    verdicts = []
    for number in range(n_boot):
        rng = generator(settings.seed, "bootstrap", number)
        rows, group = _resample(result.n, grouped, rng)
        counts = np.bincount(of_row[rows], minlength=len(patterns.votes))
        drawn = replace(patterns, counts=counts)
        fit = _redrawn(result.fit_patterns, rng) if own_fit else drawn
        table = label_patterns(patterns, fit, labeler, settings, given=given)
        correct = np.asarray(table.labels[of_row[rows]] == truth[rows])
        score = table.score(settings.order_by)[of_row[rows]]
        verdicts.append(order_test(score, correct, group).verdict(gamma))
    return verdicts


def _resample(
    n: int, grouped: IntArray | None, rng: np.random.Generator
) -> tuple[IntArray, IntArray | None]:
    """Rows drawn with replacement; whole groups, each draw a group of its own."""
    if grouped is None:
        return rng.integers(n, size=n), None
    members = [np.flatnonzero(grouped == c) for c in range(int(grouped.max()) + 1)]
    drawn = rng.integers(len(members), size=len(members))
    rows = np.concatenate([members[c] for c in drawn])
    group = np.repeat(np.arange(len(drawn)), [len(members[c]) for c in drawn])
    return rows, group


def _redrawn(patterns: VotePatterns, rng: np.random.Generator) -> VotePatterns:
    n = patterns.n_rows
    return replace(patterns, counts=rng.multinomial(n, patterns.counts / n))


def _shares(verdicts: list[str]) -> dict[str, float]:
    total = len(verdicts)
    return {v: verdicts.count(v) / total if total else float("nan") for v in _VERDICTS}
