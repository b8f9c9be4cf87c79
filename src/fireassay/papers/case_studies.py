"""The nine case studies of the curation paper, and its Table III as its authors made it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.curation import curate
from fireassay.curation.curate import Curation
from fireassay.papers.four_approaches import APPROACHES
from fireassay.papers.old_numpy_order import old_numpy_order
from fireassay.statistics import spearman

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

    Raises
    ------
    DataError
        If the folder does not hold the case study.
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


def authors_accuracies(curation: Curation, kept_votes: IntArray, y: IntArray) -> FloatArray:
    """Accuracy of the ten datasets with ties broken as in the authors' environment.

    Their scores are compared bit by bit, so the majority's softmax is computed as they did it,
    ``exp(x - logsumexp(x))``, which splits some ties that are equal on paper.
    """
    score = curation.lower
    if curation.settings.order_by == "confidence":
        score = curation.confidence
        if curation.settings.labeler == "majority":
            counts = np.stack([(kept_votes == c).sum(axis=1) for c in (0, 1)], axis=1).astype(float)
            score = np.exp(counts - logsumexp(counts, axis=1, keepdims=True)).max(axis=1)
    order = old_numpy_order(-1 * score)
    n = len(y)
    sizes = np.round(np.linspace(0, 1, 11) * n).astype(int)[1:]
    sizes[-1] = n
    right = np.cumsum((curation.labels == y)[order])
    return np.asarray(right[sizes - 1] / sizes, dtype=np.float64)


def table_three(folder: str | Path, case: str, n_permutations: int = 1000) -> pd.DataFrame:
    """The eight cells of one case study: as published, as the authors' program, and as tested here.

    Returns
    -------
    DataFrame
        Per labeler and approach: ``authors_rho``, ``authors_p`` (ties in the authors' order);
        ``rho``, ``p_value`` (ties in expectation) with the paper's rule ``definition_3``;
        ``auc`` with its ``verdict`` by the calibrated test; and the ten accuracies of each order.
    """
    study = read_case(folder, case)
    rows = []
    for published, labeler in LABELERS.items():
        for short, approach in COLUMNS.items():
            pruned, order_by = APPROACHES[approach]
            curation = curate(
                study.votes,
                fit_votes=study.fit,
                labeler=labeler,
                prune=0.5 if pruned else None,
                order_by=order_by,
                interval="paper",
                default_class=CASES[case].default_class,
                drop_silent=False,
                seed=SEED,
            )
            accuracies = authors_accuracies(curation, study.votes[:, curation.kept_lfs], study.y)
            rho, p_value = spearman(np.arange(10), accuracies)
            trend = curation.validate(study.y, n_permutations=n_permutations)
            rows.append(
                {
                    "case": case,
                    "labeler": published,
                    "approach": short,
                    "n": len(study.y),
                    "authors_rho": rho,
                    "authors_p": p_value,
                    "authors_accuracy": accuracies.tolist(),
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


def default_order(folder: str | Path, case: str, labeler: str) -> dict[str, object]:
    """What the product's own default (posterior interval, pruned) makes of a case study."""
    study = read_case(folder, case)
    trend = curate(
        study.votes,
        fit_votes=study.fit,
        labeler=labeler,
        default_class=CASES[case].default_class,
        seed=SEED,
    ).validate(study.y, n_permutations=1)
    return {
        "case": case,
        "labeler": labeler,
        "auc": trend.auc,
        "auc_low": trend.auc_interval[0],
        "auc_high": trend.auc_interval[1],
        "verdict": trend.verdict,
    }
