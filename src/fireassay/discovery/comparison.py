"""Which search works on this model and these data? Many searches over many random subsets."""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.classifiers import as_classifier
from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray, is_frame, largest
from fireassay.core.chart import Chart
from fireassay.core.drawing import IntervalRow, axis, curves, intervals
from fireassay.core.errors import ParameterError
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Claim, Evidence, Provenance, Table
from fireassay.core.hashing import sha256
from fireassay.core.lazy import pd
from fireassay.core.result import Answer
from fireassay.core.seeds import check_seed, derived_seed, generator
from fireassay.core.validation import check_class_indices, check_integer
from fireassay.core.words import p_text
from fireassay.data.rows import Rows, taken
from fireassay.discovery.adversarial_distance import adversarial_distance, measure_log_mae
from fireassay.discovery.fixed_searches import SEARCHES, self_sufficient_searches
from fireassay.discovery.known_rows import (
    KnownRows,
    is_numbers,
    known_rows,
    searchable,
    takes_holes,
)
from fireassay.discovery.matched_random import MatchedRandom, matched_random_test
from fireassay.discovery.measures import MEASURES
from fireassay.discovery.result import CALIBRATED
from fireassay.discovery.space import COVER_WIDTH
from fireassay.discovery.state import critical_rows, positions
from fireassay.discovery.strategy import Candidates, Strategy, spent
from fireassay.engine import Executor, RunStore

_MEASURES = ("sdr", "errors", "spread", "utility")
_TITLES = {
    "sdr": "errors found / expected",
    "errors": "errors found",
    "spread": "spread (lower is better)",
    "utility": "Bansal-Weld utility",
}
_QUANTILES = (0.025, 0.975)
_SUBSET_SHARE = 0.8
_BAND = (
    "Subsets overlap: the band over subsets shows how much a search varies, it is not a confidence "
    "interval for other models or data."
)


@dataclass(frozen=True)
class SearchComparison(Answer):
    """Curves of every search over random subsets of the candidates.

    Attributes:
        sdr, errors, spread, utility, queried_confidence: (replications, searches, labels).
        one_shot: For each search on all candidates: its errors against matched random draws.
        searches, budget, subset: What was compared, with so many labels on so many candidates.
        population, population_error_rate, population_expected_rate: All candidates, how often the
            model is wrong on them, and how often its confidence says.
        seed, model_sha256, data_sha256, queries: What was compared, and rows sent to the model.
    """

    searches: tuple[str, ...]
    budget: int
    subset: int
    population: int
    population_error_rate: float
    population_expected_rate: float
    sdr: FloatArray
    errors: FloatArray
    spread: FloatArray
    utility: FloatArray
    queried_confidence: FloatArray
    one_shot: tuple[MatchedRandom, ...]
    seed: int
    model_sha256: str
    data_sha256: str
    queries: int

    def frame(self) -> pd.DataFrame:
        """One row per search: means at the full budget, spread over subsets, one-shot test."""
        table = pd.DataFrame({"search": list(self.searches)})
        for measure in _MEASURES:
            final = getattr(self, measure)[:, :, -1]
            table[measure] = final.mean(axis=0)
            if measure == "sdr":
                table["sdr_low"], table["sdr_high"] = np.quantile(final, _QUANTILES, axis=0)
        table["one_shot_sdr"] = [m.sdr for m in self.one_shot]
        table["matched_random_sdr"] = [m.sdr_random for m in self.one_shot]
        table["one_shot_p"] = [m.p_value for m in self.one_shot]
        return table.set_index("search")

    def charts(self) -> dict[str, Chart]:
        """Mean curves of each measure with the middle 95 % of the subsets."""
        return {
            **{measure: self._curves(measure) for measure in _MEASURES},
            "confidence": self._confidences(),
        }

    def _curves(self, measure: str) -> Chart:
        values = getattr(self, measure)
        steps = np.arange(1, self.budget + 1)
        lines = {name: (steps, values[:, i].mean(axis=0)) for i, name in enumerate(self.searches)}
        up: dict[str, Any] = {"axis": axis(_TITLES[measure])}
        if measure == "sdr":  # early ratios divide by almost nothing
            settled = values[:, :, self.budget // 5 :].mean(axis=0)
            up["scale"] = {"domain": [0, round(1.5 * max(1.5, float(settled.max())), 3)]}
        return Chart(
            curves(
                lines,
                {"axis": axis("labels", tickMinStep=1)},
                up,
                bands={
                    name: tuple(np.quantile(values[:, i], _QUANTILES, axis=0))
                    for i, name in enumerate(self.searches)
                },
                levels=[(1.0, "as many as announced")] if measure == "sdr" else (),
            ),
            f"{_TITLES[measure].capitalize()}: mean over random subsets, and their middle 95 %.",
            "A line with a band for each search.",
        )

    def _confidences(self) -> Chart:
        rows = []
        for i, name in enumerate(self.searches):
            low, middle, high = np.quantile(self.queried_confidence[:, i], (0.25, 0.5, 0.75))
            rows.append(IntervalRow(name, middle, low, high))
        return Chart(
            intervals(rows, "confidence of the queried rows"),
            "How confident the rows are that each search asks about: median and middle half.",
            "A dot with a line for each search.",
        )

    def evidence(self) -> Evidence:
        """Which search beat random rows of the same confidence here."""
        table = self.frame()
        estimates = {}
        for i, name in enumerate(self.searches):
            final = self.sdr[:, i, -1]
            low, high = np.quantile(final, _QUANTILES)
            estimates[f"sdr_{name}"] = Estimate.around(
                float(final.mean()), low, high, confidence=0.95, n=self.budget,
                method=f"mean and middle 95 % of {len(final)} random subsets",
                rests_on=("calibrated",),
            )  # fmt: skip
        alpha = 0.05 / len(self.searches)
        tested = list(zip(self.searches, self.one_shot, strict=True))
        skilled = ", ".join(name for name, test in tested if test.p_value < alpha)
        best = str(table["sdr"].idxmax())
        headline = (
            f"Largest mean ratio: {best} ({float(table['sdr'].max()):.2f}); better than random rows"
            f" of the same confidence (Bonferroni 5 %): {skilled or 'no search'}."
        )
        return Evidence(
            "discovery",
            headline=headline,
            claims=tuple(
                Claim(f"{name} beats matched random rows ({p_text(m.p_value)}).", m.p_value < 0.05)
                for name, m in zip(self.searches, self.one_shot, strict=True)
            ),
            estimates=estimates,
            assumptions=(CALIBRATED,),
            measures=MEASURES,
            tables={"searches": Table.from_frame(table, "Means at the full budget")},
            charts=self.charts(),
            limits=(_BAND, "A search that wins here need not win on another model."),
            provenance=Provenance(self.seed, self.model_sha256, self.data_sha256, self.queries),
        )


def _names(searches: str | Sequence[str], *, distances: bool) -> tuple[str, ...]:
    """The searches to compare; all that need no scores of the user's where he says "all"."""
    if searches == "all":
        return self_sufficient_searches(distances=distances)
    if not searches:
        raise ParameterError("At least one search must be compared.", got="none")
    return tuple([searches] if isinstance(searches, str) else searches)


def compare(
    model: Any,
    X: Any,
    y: ArrayLike,
    searches: str | Sequence[str] = "all",
    budget: int = 50,
    subset: int = 2000,
    replications: int = 100,
    workers: int = 2,
    seed: int = 0,
    *,
    critical_class: Any = None,
    threshold: float = 0.65,
    log_mae: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    features: ArrayLike | None = None,
    attack: str = "hopskipjump",
    max_queries: int = 500,
    attack_parameters: dict[str, Any] | None = None,
    cluster: Any = None,
    store: RunStore | None = None,
    progress: Any = None,
    calibration: tuple[Any, ArrayLike] | None = None,
) -> SearchComparison:
    """Run searches against known labels, over random subsets of the candidates.

    Args:
        model, X, y: A calibrated model and labelled rows: an array, a frame or texts.
        searches: ``"all"`` that need no scores of yours, or names of `SEARCHES`. No attack measures
            distances of frames and texts, so that "all" leaves out searches that need them.
        budget, subset, replications: Labels, candidates of a subset (up to 80 %), how many subsets.
        log_mae: Logarithms of the perturbations of every row of X (see `measure_log_mae`), if
            known; the curve over confidence is fitted anew in every subset. Otherwise they are
            measured.
        scores: Ready scores (low = suspicious) instead.
        workers, cluster, store, progress: Where it runs and keeps a journal; results are the same.
        seed: Of subsets and searches.
        critical_class, threshold, features, calibration: As in `Search`.
        attack, max_queries, attack_parameters: How adversarial distances are measured.

    >>> X = np.linspace(0.7, 0.99, 40)[:, None]
    >>> model = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> found = compare(
    ...     model, X, [1] * 40, ["random", "low-confidence"], budget=5, replications=2, workers=1,
    ...     progress=False)
    >>> float(found.errors.max())  # the model is always right here
    0.0
    """
    classifier = as_classifier(model)
    inputs = searchable(X, holes=takes_holes(classifier))
    known_distances = scores is not None or log_mae is not None or is_numbers(inputs)
    names = _names(searches, distances=known_distances)
    needs = {SEARCHES[name].needs for name in names}
    check_seed(seed)
    before = classifier.queries
    probabilities = classifier.predict_proba(inputs)
    labels = check_class_indices(y, classifier.classes, n=len(inputs))
    rows = critical_rows(probabilities, tuple(classifier.classes), critical_class, threshold)
    wrong = (probabilities.argmax(axis=1) != labels)[rows]
    known = None if scores is None else np.asarray(scores, dtype=np.float64)[rows]
    logs = None if log_mae is None else np.asarray(log_mae, dtype=np.float64)[rows]
    chosen = taken(inputs, rows)
    if known is None and logs is None and needs & {"scores", "distances"}:
        logs = measure_log_mae(
            classifier, chosen, attack, max_queries, seed, **(attack_parameters or {})
        )
    second = None
    if "known rows" in needs:
        second = known_rows(classifier, chosen, probabilities[rows], calibration, seed)
    size = max(1, min(check_integer(subset, "subset", low=1), int(_SUBSET_SHARE * len(rows))))
    limit = min(check_integer(budget, "budget", low=1), size)
    strategies = [SEARCHES[name] for name in names]
    shared = {
        "confidence": largest(probabilities)[rows],
        "predicted": probabilities.argmax(axis=1)[rows],
        "labels": labels[rows],
        "second": second,
        "features": positions(chosen, features, rows, len(inputs), seed),
        "logs": logs,
        "scores": known,
        # Where a worker finds them: those that a user registered are known here only.
        "searches": [f"{s.__module__}:{s.__qualname__}" for s in strategies],
        "budget": limit,
        "seed": seed,
    }
    tasks = [
        {"replication": i, "size": size}
        for i in range(check_integer(replications, "replications", low=1))
    ]
    executor = Executor(workers=workers, cluster=cluster, store=store, progress=progress)
    tasks.append({"replication": -1, "size": len(rows)})
    parts = executor.map(replicate, tasks, shared, name="searches")
    whole = parts.pop()
    stacked = {key: np.stack([part[key] for part in parts]) for key in (*_MEASURES, "confidence")}
    return SearchComparison(
        searches=names,
        budget=limit,
        subset=size,
        population=len(rows),
        population_error_rate=float(wrong.mean()),
        population_expected_rate=float((1 - shared["confidence"]).mean()),
        **{measure: stacked[measure] for measure in _MEASURES},
        queried_confidence=stacked["confidence"],
        one_shot=tuple(
            matched_random_test(shared["confidence"], wrong, queried)
            for queried in whole["queried"]
        ),
        seed=seed,
        model_sha256=classifier.sha256,
        data_sha256=sha256(Rows(inputs).sha256 if is_frame(inputs) else inputs, labels),
        queries=classifier.queries - before,
    )


def replicate(
    row: dict[str, int],
    confidence: FloatArray,
    predicted: IntArray,
    labels: IntArray,
    second: KnownRows | None,
    features: FloatArray,
    logs: FloatArray | None,
    scores: FloatArray | None,
    searches: list[str],
    budget: int,
    seed: int,
) -> dict[str, AnyArray]:
    """All searches on one random subset (or, for replication −1, on all candidates)."""
    number = row["replication"]
    chosen = np.arange(len(confidence))
    if number >= 0:
        rng = generator(seed, "compare", "subset", number)
        chosen = np.sort(rng.choice(len(confidence), size=row["size"], replace=False))
    stated, answers, truth = confidence[chosen], predicted[chosen], labels[chosen]
    flags = answers != truth
    ranked = None if scores is None else scores[chosen]
    if ranked is None and logs is not None:
        ranked = adversarial_distance(log_mae=logs[chosen], confidence=stated)
    candidates = Candidates(
        stated, features[chosen], ranked, derived_seed(seed, "compare", "clusters", number),
        answers, None if second is None else second.among(chosen),
    )  # fmt: skip
    curves: dict[str, list[AnyArray]] = {}
    for reference in searches:
        search: type[Strategy] = pkgutil.resolve_name(reference)
        rng = generator(seed, "compare", search.name, number)
        queried = spent(search, candidates, flags, truth, budget, rng)
        for key, curve in _curves(candidates, flags, queried).items():
            curves.setdefault(key, []).append(curve)
        curves.setdefault("queried", []).append(chosen[queried])
    return {key: np.stack(values) for key, values in curves.items()}


def _curves(candidates: Candidates, wrong: BoolArray, queried: IntArray) -> dict[str, FloatArray]:
    distances = candidates.space.distances(queried)
    nearest = np.minimum.accumulate(distances, axis=0)
    covers = np.exp(-np.square(distances) / COVER_WIDTH) * wrong[queried][:, None]
    covered = np.maximum.accumulate(covers, axis=0)
    errors = np.cumsum(wrong[queried]).astype(np.float64)
    expected = np.maximum(np.cumsum(1 - candidates.confidence[queried]), 1e-12)
    return {
        "errors": errors,
        "sdr": errors / expected,
        "spread": nearest.mean(axis=1),
        "utility": covered @ candidates.confidence,
        "confidence": candidates.confidence[queried],
    }
