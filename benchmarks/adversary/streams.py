"""Watching and objecting where nothing is wrong: false alarms and false objections."""

import groups
import numpy as np
from scipy.special import softmax
from space import Range, Space, World

from fireassay.statistics import poisson_binomial_tail
from fireassay.statistics.groups.group_monitor import group_evidence
from fireassay.statistics.independence import error_runs
from fireassay.statistics.temperature import temperature

CLAIMS: Space = {
    "classes": Range(2, 10, "whole"),
    "sharpness": Range(0.5, 8, "log"),
    "temperature": Range(0.5, 3, "log"),
    "calibration": Range(20, 500, "whole"),
    "labels": Range(20, 200, "whole"),
    "rounded": Range(0, 1, "choice"),
}
RUNS: Space = {
    "rows": Range(100, 2_000, "whole"),
    "rare": Range(0.02, 0.5, "logit"),
    "sharpness": Range(0.3, 4, "log"),
    "order": Range(0, 4, "choice"),
}
ORDERS = ("no order", "labels", "confidence", "answers", "labels, then score")


def alarm(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """The detector's alarm on groups that are wrong exactly as often as the limit allows."""
    errors, sizes = groups.groups_of({**world, "fractional": 0.0}, draws, rng)
    _, _, truth, cap = groups.law(world)
    return (group_evidence(errors, sizes, truth, cap) >= 100.0).any(axis=1)


def runs(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Runs of errors in a file of independent rows that is sorted by something."""
    found = []
    for _ in range(draws):
        label = (rng.random(int(world["rows"])) < world["rare"]).astype(int)
        score = rng.normal(size=len(label)) + world["sharpness"] * (2 * label - 1)
        answer, sure = (score > 0).astype(int), np.abs(score)
        keys = (np.zeros(len(label)), label, sure, answer, label + 0.5 * np.tanh(score / 9))
        order = np.argsort(keys[int(world["order"])], kind="stable")
        found.append(error_runs(label[order], answer[order], sure[order]).objects)
    return np.array(found)


def mended(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Calibrated up to a temperature, least sure rows labelled: accused at .05 nevertheless?"""
    found = []
    for _ in range(draws):
        shown, truth = _answers(world, int(world["calibration"]), rng)
        mends = temperature(shown, truth)
        shown, truth = _answers(world, 5 * int(world["labels"]), rng)
        rows = np.argsort(shown.max(axis=1), kind="stable")[: int(world["labels"])]
        wrong = shown[rows].argmax(axis=1) != truth[rows]
        found.append(p_mended(shown[rows], wrong, mends.largest) <= 0.05)
    return np.array(found)


def p_mended(shown: np.ndarray, wrong: np.ndarray, largest: float) -> float:
    """As in discovery: the p-value at the largest temperature, doubled."""
    mildest = np.maximum(shown, 1e-12) ** (1 / largest)
    return 2 * poisson_binomial_tail(1 - mildest.max(axis=1) / mildest.sum(axis=1), wrong.sum())


def _answers(world: World, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    logits = world["sharpness"] * rng.normal(size=(n, int(world["classes"])))
    true = softmax(logits, axis=1)
    truth = (true.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, true.shape[1] - 1)
    shown = softmax(logits * world["temperature"], axis=1)
    if world["rounded"]:
        shown = shown.round(4)
        shown /= shown.sum(axis=1, keepdims=True)
    return shown, truth


def in_words(world: World) -> str:
    """A world as a list of its numbers."""
    said = ", ".join(f"{name} {value:.4g}" for name, value in world.items() if name != "order")
    return said + (f", sorted by {ORDERS[int(world['order'])]}" if "order" in world else "")
