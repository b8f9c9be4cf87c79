"""What a model does on inputs that belong to two classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from fireassay.ambiguity.ambiguous_set import AmbiguousSet
from fireassay.ambiguity.measures import MEASURES, SENTENCES
from fireassay.ambiguity.metrics import expected_top_k, top_columns, top_k_hits, top_pair_hits
from fireassay.ambiguity.pairs import column_classes
from fireassay.classifiers import as_classifier
from fireassay.core.arrays import AnyArray, FloatArray, IntArray, Probabilities, entropy_bits
from fireassay.core.chart import Chart
from fireassay.core.drawing import matrix
from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption, Claim, Evidence, Provenance, Table
from fireassay.core.lazy import pd
from fireassay.core.result import Answer
from fireassay.core.seeds import generator
from fireassay.core.validation import check_real
from fireassay.core.words import percent
from fireassay.statistics import betting_interval, clopper_pearson, delong_interval, share

PAIRS = "top pair by classes"
_LIMIT = (
    "Intervals hold for further inputs of this very generator: another seed trains another one, "
    "whose numbers may differ by more. They say nothing about natural ambiguity."
)
_RESTS_ON = {
    "entropy": ("both-classes-visible", "not-the-decoder"),
    "control_accuracy": (),
    "control_entropy": (),
}


@dataclass(frozen=True, eq=False)
class AmbiguityEvaluation(Answer):
    """A model's answers on an ambiguous set.

    Attributes:
        top1, top2: Share of inputs whose higher-probability class is the first, or among the first
            two.
        top_pair: Share whose two most probable classes are exactly the two the input lies between.
        entropy: Mean entropy of the predicted probabilities, in bits (a fair coin: 1).
        top1_drawn, top2_drawn: Against the label drawn from the soft label.
        top1_expected, top2_expected: Expectation over such draws; top-1 cannot be above
            ``top1_best``.
        top1_best: What a perfect model would reach in expectation: the mean of the higher
            probability.
        control_accuracy, control_entropy: On reconstructed nominal inputs; None without control
            rows the model knows.
        separation: AUROC of the entropy, ambiguous against reconstructed nominal inputs.
        by_pair: The same per pair, with intervals.
    """

    top1: Estimate
    top2: Estimate
    top_pair: Estimate
    entropy: Estimate
    top1_drawn: Estimate
    top2_drawn: Estimate
    top1_expected: Estimate
    top2_expected: Estimate
    top1_best: Estimate
    control_accuracy: Estimate | None
    control_entropy: Estimate | None
    separation: Estimate | None
    by_pair: pd.DataFrame
    provenance: Provenance

    @property
    def estimates(self) -> dict[str, Estimate]:
        """Every number by name."""
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in every.items() if isinstance(value, Estimate)}

    def frame(self) -> pd.DataFrame:
        """Every number with its interval; ``by_pair`` has them per pair."""
        return pd.DataFrame([{"number": k, **e.to_dict()} for k, e in self.estimates.items()])

    def charts(self) -> dict[str, Chart]:
        """Top-pair accuracy per pair of classes."""
        return {PAIRS: self.pair_chart()}

    def pair_chart(self, links: Sequence[str] = ()) -> Chart:
        """Top-pair accuracy per pair of classes, as a triangle.

        Args:
            links: Where the cell of each pair of ``by_pair`` leads to, if anywhere.
        """
        named = [*self.by_pair["first"], *self.by_pair["second"]]
        classes = dict.fromkeys(sorted(named, key=lambda label: (str(type(label)), label)))
        order = [str(label) for label in classes]
        cells = [
            (str(row.second), str(row.first), float(row.top_pair))  # type: ignore[arg-type]
            for row in self.by_pair.itertuples()
        ]
        to = {cell[:2]: link for cell, link in zip(cells, links, strict=False)}
        return Chart(
            matrix(
                cells, title="both come first", down="between this class …",
                across="… and this one", order=order[1:], columns=order[:-1], links=to,
            ),
            "Share of inputs between two classes for which these two come first."
            + (" A cell leads to its inputs." if links else ""),
            "A triangle of shares by pair of classes.",
        )  # fmt: skip

    def evidence(self) -> Evidence:
        """The answer for the report."""
        ordered = self.by_pair.sort_values("top_pair", kind="stable")
        worst = {name: column.iloc[0] for name, column in ordered.items()}  # each in its own type
        each = 1.0 - (1.0 - self.top_pair.confidence) / len(ordered)
        low, high = clopper_pearson(round(worst["top_pair"] * worst["n"]), int(worst["n"]), each)
        claims = [
            Claim(
                f"Lowest of {len(ordered)} pairs, and chosen for that: {worst['first']} and "
                f"{worst['second']}, both first in {percent(worst['top_pair'])} of {worst['n']} "
                f"inputs ({percent(low)} to {percent(high)}, all pairs at once)."
            )
        ]
        if self.separation is not None:
            told = f"with AUROC {_told(self.separation)}."
            tells = "Its uncertainty tells ambiguous from normal inputs made by the same generator"
            claims.append(Claim(f"{tells} {told}"))
        return Evidence(
            question="ambiguity",
            headline=f"On inputs between two classes it ranks exactly those two first in "
            f"{self.top_pair.percent()} of the cases.",
            claims=tuple(claims),
            measures=MEASURES,
            estimates=self.estimates,
            assumptions=(
                Assumption(
                    "A person would see both classes in these inputs.",
                    "untestable",
                    "Soft labels come from the generator; look at the picture sheets.",
                    id="both-classes-visible",
                ),
                Assumption(
                    "Differences to nominal inputs come from ambiguity, not from the decoder.",
                    "untestable" if self.separation is None else _status(self.separation),
                    "No control rows."
                    if self.separation is None
                    else f"Uncertainty tells the two apart with AUROC {_told(self.separation)}.",
                    id="not-the-decoder",
                ),
            ),
            tables={"pairs": Table.from_frame(self.by_pair, "Per pair of classes", index=False)},
            charts=self.charts(),
            limits=(_LIMIT,),
            provenance=self.provenance,
            answer="top_pair",
            sentence=SENTENCES["pair"].format(MEASURES[0].told(self.top_pair)),
        )


def _told(separation: Estimate) -> str:
    """An AUROC with its interval, as people read it."""
    return next(m for m in MEASURES if m.name == "separation").shown(separation)


def evaluate(model: Any, amb: AmbiguousSet, confidence: float = 0.95) -> AmbiguityEvaluation:
    """Measure a model on an ambiguous set; one query per input and control row.

    Args:
        model: A classifier, or anything `as_classifier` takes. Its classes are matched by label;
            columns without names are taken to be in the order of the set's classes, with a warning.
        amb: What `AmbiguityGenerator.sample` gave.
        confidence: Of every interval: Clopper-Pearson for shares, betting for means, DeLong for the
            AUROC.

    Raises:
        DataError: If the model does not know a class of the set's pairs.

    >>> from fireassay.ambiguity import AmbiguityGenerator
    >>> from fireassay.data import digits
    >>> data = digits()
    >>> amb = AmbiguityGenerator([(3, 8)], tries=1).fit(data.X, data.y).sample(40)
    >>> result = evaluate(lambda X: np.full((len(X), 10), 0.1), amb)
    >>> round(result.entropy.value, 2)  # ten equal classes: log2(10)
    3.32
    """
    check_real(confidence, "confidence", low=0.0, high=1.0)
    classifier = as_classifier(model)
    before = classifier.queries
    raw = classifier.predict_proba(amb.X)
    columns = _Columns.of(amb, column_classes(classifier.classes, amb.classes))
    predicted, soft = columns.predicted(raw), columns.soft(amb.soft_labels)
    scores = _scores(predicted, soft, columns.positions(amb.labels))
    mean = _Means(confidence, float(np.log2(predicted.shape[1])))
    numbers: dict[str, Any] = {name: mean.of(name, values) for name, values in scores.items()}
    numbers |= _control(classifier, amb, columns, scores["entropy"], mean)
    return AmbiguityEvaluation(
        **numbers,
        by_pair=_by_pair(amb, scores, mean),
        provenance=Provenance(
            seed=int(amb.manifest["seed"]),
            model_sha256=classifier.sha256,
            data_sha256=amb.sha256,
            queries=classifier.queries - before,
        ),
    )


def _scores(predicted: FloatArray, soft: FloatArray, drawn: IntArray) -> dict[str, AnyArray]:
    higher = top_columns(soft, 1)[:, 0]
    return {
        "top1": top_k_hits(predicted, higher, 1),
        "top2": top_k_hits(predicted, higher, 2),
        "top_pair": top_pair_hits(soft, predicted),
        "entropy": entropy_bits(predicted),
        "top1_drawn": top_k_hits(predicted, drawn, 1),
        "top2_drawn": top_k_hits(predicted, drawn, 2),
        "top1_expected": expected_top_k(predicted, soft, 1),
        "top2_expected": expected_top_k(predicted, soft, 2),
        "top1_best": soft.max(axis=1),
    }


@dataclass(frozen=True)
class _Columns:
    """Columns of the set's classes and, after them, of classes only the model has."""

    classes: tuple[Any, ...]
    model_classes: tuple[Any, ...]

    @classmethod
    def of(cls, amb: AmbiguousSet, model_classes: tuple[Any, ...]) -> _Columns:
        used = {label for pair in amb.unique_pairs for label in pair}
        missing = sorted((label for label in used if label not in model_classes), key=repr)
        if missing:
            raise DataError(
                "The model must know every class of the ambiguous pairs.",
                got=f"no class {missing[0]!r} among {model_classes[:12]!r}",
                do="Pass classes= to as_classifier in the model's column order.",
            )
        extra = tuple(label for label in model_classes if label not in amb.classes)
        return cls(amb.classes + extra, model_classes)

    def predicted(self, raw: Probabilities) -> Probabilities:
        aligned = np.zeros((len(raw), len(self.classes)), dtype=raw.dtype)
        for column, label in enumerate(self.model_classes):
            aligned[:, self.classes.index(label)] = raw[:, column]
        return aligned

    def soft(self, soft_labels: FloatArray) -> FloatArray:
        return np.pad(soft_labels, ((0, 0), (0, len(self.classes) - soft_labels.shape[1])))

    def positions(self, labels: AnyArray) -> IntArray:
        position = {label: i for i, label in enumerate(self.classes)}
        return np.array([position[label] for label in labels.tolist()], dtype=np.int64)


@dataclass(frozen=True)
class _Means:
    confidence: float
    most_bits: float

    def of(self, name: str, values: AnyArray) -> Estimate:
        """The mean of hits (exact interval) or of bounded values (betting interval)."""
        rests_on = _RESTS_ON.get(name, ("both-classes-visible",))
        if values.dtype.kind == "b":
            return share(int(values.sum()), len(values), self.confidence, rests_on=rests_on)
        bounds = (0.0, self.most_bits) if "entropy" in name else (0.0, 1.0)
        # Control rows come in the order of the file, which may be sorted by class.
        mixed = generator(0, "order of bets", len(values)).permutation(np.clip(values, *bounds))
        low, high = betting_interval(mixed, self.confidence, bounds)
        return Estimate.around(
            float(values.mean()), float(low), float(high), confidence=self.confidence,
            n=len(values), method="betting", rests_on=rests_on,
        )  # fmt: skip


def _control(
    classifier: Any, amb: AmbiguousSet, columns: _Columns, entropy: FloatArray, mean: _Means
) -> dict[str, Estimate | None]:
    if len(amb.control) < 2:
        return {"control_accuracy": None, "control_entropy": None, "separation": None}
    predicted = columns.predicted(classifier.predict_proba(amb.control.X))
    right = top_k_hits(predicted, columns.positions(amb.control.labels), 1)
    control_entropy = entropy_bits(predicted)
    both = np.concatenate([entropy, control_entropy])
    separation = delong_interval(both, np.arange(len(both)) < len(entropy), mean.confidence)
    return {
        "control_accuracy": mean.of("control_accuracy", right),
        "control_entropy": mean.of("control_entropy", control_entropy),
        "separation": replace(separation, rests_on=("both-classes-visible",)),
    }


def _by_pair(amb: AmbiguousSet, scores: dict[str, AnyArray], mean: _Means) -> pd.DataFrame:
    rows = []
    for first, second in amb.unique_pairs:
        own = amb.of_pair(first, second)
        row: dict[str, Any] = {"first": first, "second": second, "n": len(own)}
        for name in ("top1", "top2", "top_pair", "entropy"):
            found = mean.of(name, scores[name][own])
            row |= {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
        rows.append(row)
    return pd.DataFrame(rows)


def _status(separation: Estimate) -> Any:
    return "supported" if separation.low > 0.5 else "contradicted"
