"""The nine case studies of the curation paper, and its Table III as its authors made it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.seeds import generator
from fireassay.curation import curate
from fireassay.curation.simulation import APPROACHES
from fireassay.statistics import delong_interval, spearman

SEED = 1234567
"""The authors' seed of the label model."""

COLUMNS = {
    "pl_conf_all": "PL Conf with all LFs",
    "pl_conf_indep": "PL Conf with Indep. LFs",
    "ci_lb_all": "CI LB with all LFs",
    "ours": "Our Approach",
}
"""Short names of the paper's four columns, as the file of published values has them."""

SPLITS = ("train", "dev", "test")
LABELERS = {"majorityvote": "majority", "snorkel": "snorkel"}


@dataclass(frozen=True)
class Case:
    """One case study: its name in the paper, and the label of rows without a majority."""

    title: str
    default_class: int


CASES = {
    "spo2_hr_lo": Case("HR Low", 1),
    "spo2_hr_hi": Case("HR High", 1),
    "rr_lo": Case("RR Low", 1),
    "rr_hi": Case("RR High", 1),
    "spo2_lo": Case("SpO2 Low", 1),
    "crossmodal": Case("Cross Modal", 0),
    "crowd": Case("Crowdsourcing", 0),
    "recsys": Case("Recsys", 1),
    "spam": Case("Spam", 0),
}


@dataclass(frozen=True, eq=False)
class CaseVotes:
    """Votes of a case study: those to fit on, those with a known label, and the labels."""

    fit: IntArray
    votes: IntArray
    y: IntArray


def read_case(folder: str | Path, case: str) -> CaseVotes:
    """The votes of all splits, and of those that have labels.

    Raises:
        DataError: If the folder does not hold the case study.
    """
    fit, votes, labels = [], [], []
    for split in SPLITS:
        file = Path(folder) / f"{case}_L_{split}.npy"
        if file.is_file():
            fit.append(np.load(file, allow_pickle=False))
            truth = Path(folder) / f"{case}_Y_{split}.npy"
            if truth.is_file():
                votes.append(fit[-1])
                labels.append(np.load(truth, allow_pickle=False))
    if not votes:
        raise DataError(
            f"Expected votes and labels of '{case}' in {folder}.",
            got="no pair of files",
            do=f"Put {case}_L_test.npy and {case}_Y_test.npy there (or train, dev).",
        )
    return CaseVotes(np.concatenate(fit), np.concatenate(votes), np.concatenate(labels))


def sizes(folder: str | Path, case: str) -> list[int | None]:
    """Rows of the three splits (None where there is none) and labelling functions: Table I."""
    files = [Path(folder) / f"{case}_L_{split}.npy" for split in SPLITS]
    shapes = [np.load(f, allow_pickle=False).shape if f.is_file() else None for f in files]
    return [*(s and s[0] for s in shapes), next(s[1] for s in shapes if s)]


def table_three(folder: str | Path, case: str, n_permutations: int = 1000) -> pd.DataFrame:
    """The eight cells of one case study: as published, as the authors' program, and as tested here.

    Returns:
        DataFrame: Per labeler and approach: ``authors_rho``, ``authors_p`` (ties in the authors'
            order, the interval of their program); ``formula_rho`` (the interval of their Section
            IV-C); ``rho``, ``p_value`` (ties in expectation) with the paper's rule
            ``definition_3``; ``auc`` with its ``verdict`` by the calibrated test; and the ten
            accuracies of each order.
    """
    study = read_case(folder, case)
    rows = []
    for published, labeler in LABELERS.items():
        for short, approach in COLUMNS.items():
            pruned, order_by = APPROACHES[approach]
            coded, written = (
                curate(
                    study.votes,
                    fit_votes=study.fit,
                    labeler=labeler,
                    prune=0.5 if pruned else None,
                    order_by=order_by,
                    interval=interval,
                    default_class=CASES[case].default_class,
                    drop_silent=False,
                    seed=SEED,
                )
                for interval in ("paper", "posterior")
            )
            theirs, as_written = (
                one.validate(study.y, ties="published", n_permutations=1)
                for one in (coded, written)
            )
            trend = coded.validate(study.y, n_permutations=n_permutations)
            rows.append(
                {
                    "case": case,
                    "labeler": published,
                    "approach": short,
                    "n": len(study.y),
                    "authors_rho": theirs.rho,
                    "authors_p": theirs.p_value,
                    "authors_accuracy": theirs.accuracy.tolist(),
                    "formula_rho": as_written.rho,
                    "rho": trend.rho,
                    "p_value": trend.p_value,
                    "accuracy": trend.accuracy.tolist(),
                    "definition_3": trend.definition_3,
                    "auc": trend.auc,
                    "auc_low": trend.auc_interval[0],
                    "auc_high": trend.auc_interval[1],
                    "auc_p": trend.auc_p_value,
                    "verdict": trend.verdict,
                }
            )
    return pd.DataFrame(rows)


def majority(study: CaseVotes, default_class: int) -> tuple[FloatArray, FloatArray]:
    """Whether the majority's label is right, row by row, and the share of votes against it."""
    ones, zeros = ((study.votes == c).sum(axis=1) for c in (1, 0))
    label = np.where(ones > zeros, 1, np.where(zeros > ones, 0, default_class))
    total = ones + zeros  # rows without a vote are as doubtful as a tie
    against = np.where(total, np.minimum(ones, zeros) / np.maximum(total, 1), 0.5)
    return (label == study.y).astype(np.float64), against


def random_orders(folder: str | Path, each: int, seed: int = 0) -> dict[str, int]:
    """How many random orders of the rows of each case study Definition 3 calls valid."""
    valid = 0
    for case, about in CASES.items():
        right, _ = majority(read_case(folder, case), about.default_class)
        sizes = np.round(np.linspace(0, 1, 11) * len(right)).astype(int)[1:]
        random = generator(seed, "random orders", case)
        for _ in range(each):
            accuracy = np.cumsum(random.permutation(right))[sizes - 1] / sizes
            valid += bool(spearman(np.arange(10), accuracy)[1] < 0.05)
    return {"orders": each * len(CASES), "valid": valid}


def disagreement(folder: str | Path) -> dict[str, float]:
    """How well the crowd's disagreement alone tells the rows whose majority is wrong."""
    right, against = majority(read_case(folder, "crowd"), CASES["crowd"].default_class)
    found = delong_interval(against, right == 0)
    return {"auc": found.value, "auc_low": found.low, "auc_high": found.high, "n": len(right)}
