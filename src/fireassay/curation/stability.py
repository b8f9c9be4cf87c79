"""How much the answer depends on the seed, the labeler and the luck of the sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.chart import Chart
from fireassay.core.errors import ParameterError
from fireassay.core.lazy import pd, special
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer, check_labels, check_real
from fireassay.core.words import percent
from fireassay.curation.analysis import stability_chart
from fireassay.curation.audit import check_audited
from fireassay.curation.findings import Finding
from fireassay.curation.labelers import LABELERS, GivenProbabilities, MajorityVote, as_labeler
from fireassay.curation.labelling import PatternLabels, label_patterns, relabelled
from fireassay.curation.order import check_groups, dataset_sizes, order_test, score_levels
from fireassay.curation.votes import VotePatterns
from fireassay.statistics import spearman

if TYPE_CHECKING:
    from fireassay.curation.curate import Curation

NEEDED = 0.95
_PLAIN, _SETS = MajorityVote.name, 10
_VERDICTS = ("decreasing", "none", "increasing")


@dataclass(frozen=True, eq=False)
class Stability(Finding):
    """The same votes through every labeler and seed, and through resampled data.

    Attributes:
        panel: One row per labeler and seed: share of equal labels, rank correlation of the scores
            and overlap of D_1 with the result at hand, and how well it explains the votes
            (`votes_fit`); where something judges, the mean accuracy of ten nested sets and the
            lower bound of its gain over majority vote; with predictions, how many labels they
            share; with true labels also the accuracy of the labels, and the verdict.
        judge: What judges the labelers: true labels, audited ones, the model's answers or nothing.
        shares: Share of each verdict over labelers and seeds (empty without labels).
        bootstrap_shares: Share of each verdict over resampled data: shown, never a gate.
        stable: Whether at least 95 % of the panel says "decreasing"; None without labels.

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
    judge: str = ""

    def frame(self) -> pd.DataFrame:
        """One row per labeler and seed."""
        return self.panel

    def charts(self) -> dict[str, Chart]:
        """Verdicts by labeler."""
        return {"stability": stability_chart(self)}

    def in_words(self) -> str:
        """How many of the panel agree, and which label model to trust."""
        which = f"Judged by {self.judge}, {self.trusted} is to be preferred."
        if not self.judge:
            which = "Nothing judges the label models: majority vote stays, which is no test."
        if self.stable is None:
            share = percent(float(self.panel["same_labels"].min()))
            return f"Other label models and seeds give at least {share} equal labels. {which}"
        if self.trusted is None:
            which = "No label model tried leads to hard cases with every seed: trust none."
        return (
            f"{percent(self.shares['decreasing'])} of the label models and seeds tried agree "
            f"that the order leads to hard cases ({percent(NEEDED)} are asked for). {which}"
        )

    @property
    def trusted(self) -> str | None:
        """The label model to trust: majority vote, unless another is shown to order better.

        Shown: its nested sets are more accurate with every seed, by the lower bound of the paired
        gain. With true labels only those count whose order is "decreasing" with every seed; None
        where there is none.
        """
        if not self.judge:
            return _PLAIN
        by = self.panel.groupby("labeler", sort=False)
        table = by.agg(accuracy=("nested_accuracy", "mean"), gain=("gain_low", "min"))
        better = table[table["gain"] > 0]
        if self.stable is not None:
            kept = by["verdict"].agg(lambda found: bool((found == "decreasing").all()))
            table = table[kept.to_numpy(dtype=bool)]
            better = better[better.index.isin(table.index)]
            if not len(better) and _PLAIN not in table.index:
                better = table
            if not len(better) and not len(table):
                return None
        return str(better["accuracy"].idxmax()) if len(better) else _PLAIN

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
    audit: tuple[Any, Any] | None = None,
    predictions: Any = None,
) -> Stability:
    """Repeat a curation with other labelers, seeds and resampled samples."""
    check_integer(n_boot, "n_boot", low=0)
    check_real(gamma, "gamma", low=0.0, high=1.0)
    labelers = tuple(LABELERS) if labelers is None else labelers
    if not len(seeds) or not len(labelers):
        raise ParameterError("Stability needs at least one seed and one labeler.")
    truth = None if y is None else check_labels(y, n=result.n)
    grouped = check_groups(groups, result.n)
    answers = None if predictions is None else check_labels(predictions, n=result.n)
    judge, judged, right = "", np.arange(result.n), truth if truth is not None else answers
    if truth is not None:
        judge = "true labels"
    elif audit is not None:
        judged, right = check_audited(*audit, result.n)
        judge = f"{len(judged)} audited labels"
    elif answers is not None:
        judge = "the model's answers, which may be wrong"
    panel_of = "A stability panel"
    _, _, plain = next(relabelled(result, (_PLAIN,), (0,), panel_of))
    rows = []
    for name, seed, table in relabelled(result, labelers, seeds, panel_of):
        row = {"labeler": name, "seed": seed, **_compare(result, table, truth, grouped, gamma)}
        if answers is not None:
            row["same_as_model"] = float((table.labels[result.patterns.of_row] == answers).mean())
        if right is not None:
            row |= _gain(result, (table, plain), judged, right, grouped)
        rows.append(row)
    panel = pd.DataFrame(rows)
    if truth is None:
        return Stability(panel, {}, {}, None, 0, judge)
    shares = _shares(panel["verdict"].tolist())
    booted = _bootstrap(result, truth, grouped, n_boot, gamma)
    return Stability(panel, shares, _shares(booted), shares["decreasing"] >= NEEDED, n_boot, judge)


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


def _gain(
    result: Curation, tables: tuple[PatternLabels, PatternLabels], rows: IntArray, right: AnyArray,
    groups: IntArray | None,
) -> dict[str, float]:  # fmt: skip
    """Mean accuracy of the nested sets of the judged rows, and its least gain over the second."""
    # A set's accuracy is linear in the right labels once the order is fixed: each row adds a share.
    of_row = result.patterns.of_row[rows]
    own, plain = (
        (table.labels[of_row] == right) * _weights(table.score(result.settings.order_by)[of_row])
        for table in tables
    )
    gain = own - plain
    each = gain
    if groups is not None:
        each = np.bincount(np.unique(groups[rows], return_inverse=True)[1], gain)
    spread = np.sqrt(len(each) * each.var(ddof=1)) if len(each) > 1 else np.inf
    low = float(gain.sum() - special.ndtri(0.975) * spread)
    return {"nested_accuracy": float(own.sum()), "gain_low": low}


def _weights(score: FloatArray) -> FloatArray:
    """What a right label of each row adds to the mean accuracy of nested sets; ties share."""
    n = len(score)
    sizes = dataset_sizes(n, min(_SETS, n))
    starts = np.arange(n)[:, None] < sizes
    at_place = (starts / sizes).mean(axis=1)
    levels, level = score_levels(score)
    by_level = np.bincount(np.sort(level), at_place, len(levels)) / np.bincount(level)
    return np.asarray(by_level[level])


def votes_fit(patterns: VotePatterns, posterior: FloatArray) -> float:
    """Mean log-likelihood of a row's votes, if functions vote by the class alone."""
    # Vote shares per class are counted with the posterior as weights (one of each kind added), so
    # that any label model can be compared.
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
    result: Curation, truth: AnyArray, grouped: IntArray | None, n_boot: int, gamma: float
) -> list[str]:
    settings = result.settings
    given = result.table.posterior if settings.labeler == "given" else None
    labeler = as_labeler(settings.labeler) if given is None else GivenProbabilities(given)
    of_row, patterns = result.patterns.of_row, result.patterns
    own_fit = result.own_fit_patterns is not None
    verdicts = []
    for number in range(n_boot):
        rng = generator(settings.seed, "bootstrap", number)
        rows, group = _resample(result.n, grouped, rng)
        counts = np.bincount(of_row[rows], minlength=len(patterns.votes))
        drawn = replace(patterns, counts=counts)
        fit = drawn
        if own_fit:
            n, shares = result.fit_patterns.n_rows, result.fit_patterns.counts
            fit = replace(result.fit_patterns, counts=rng.multinomial(n, shares / n))
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


def _shares(verdicts: list[str]) -> dict[str, float]:
    total = len(verdicts)
    return {v: verdicts.count(v) / total if total else float("nan") for v in _VERDICTS}
