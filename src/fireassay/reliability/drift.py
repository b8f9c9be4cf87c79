"""Drift of the inputs: a sequential test, and a two-sample classifier test."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.lazy import spatial
from fireassay.core.seeds import generator
from fireassay.reliability.inputs import Inputs
from fireassay.statistics.error_detector import start_weight
from fireassay.statistics.rank_tests import average_ranks

_COMPONENTS = 3
_BETS = (-1.6, -0.6, 0.6, 1.6)
_PER_SPREAD, _FARTHEST = 50, 40
_BINS = 2 * _PER_SPREAD * _FARTHEST + 1
_MOST_EVIDENCE = 1e12
_AT_ONCE = 200


class Strangeness:
    """A few numbers per row that move when the profile does."""

    def __init__(self, known: Inputs) -> None:
        self.centre = known.X.mean(axis=0)
        _, _, axes = np.linalg.svd(known.X - self.centre, full_matrices=False)
        self.axes = axes[:_COMPONENTS]
        self.scale = known.X.std(axis=0) + 1e-12
        self.tree = spatial.cKDTree(known.X / self.scale)
        self.usual = self._numbers(known, neighbour=2)

    def __call__(self, inputs: Inputs) -> FloatArray:
        """The numbers of new rows, one row each."""
        return self._numbers(inputs, neighbour=1)

    def _numbers(self, inputs: Inputs, neighbour: int) -> FloatArray:
        """Distance to the nearest known row, doubt, and positions along the main directions."""
        distance, _ = self.tree.query(inputs.X / self.scale, k=[neighbour])
        centred = inputs.X - self.centre
        # Row by row: a matrix product differs in the last bits with the number of rows.
        directions = [(centred * axis).sum(axis=1) for axis in self.axes]
        return np.column_stack([np.asarray(distance)[:, 0], inputs.doubt, *directions])


class InputDrift:
    """Evidence against "rows come as before", false with probability at most alpha, ever."""

    # Strangeness is ranked among all rows before, ties by lot: uniform as long as nothing changes.
    # For every score and bet M ← (M + ω_t)(1 + b (rank - ½)), as in `ErrorDetector`. Scores are
    # kept in bins that come from the known rows alone.

    def __init__(self, known: Inputs, compared: Inputs, block: int, seed: int) -> None:
        self.block = block
        self._strangeness = Strangeness(known)
        usual = self._strangeness.usual
        low, self._middle, high = np.quantile(usual, [0.25, 0.5, 0.75], axis=0)
        spread = np.where(high > low, high - low, usual.std(axis=0))
        self._unit = np.where(spread > 0, spread, 1.0) / math.sqrt(block)
        self._rng = generator(seed, "ties of the monitor")
        self._counts = np.zeros((usual.shape[1], _BINS), dtype=np.int64)
        self._capital = np.zeros((usual.shape[1], len(_BETS)))
        self._waiting = np.zeros((0, usual.shape[1]))
        self._steps = 0
        self.evidence = 1.0
        blocks = _block_means(self._strangeness(compared), block)[0]
        self._reference = len(blocks)
        for scores in self._bins(blocks):
            self._counts[np.arange(len(scores)), scores] += 1

    def see(self, inputs: Inputs) -> None:
        """Take in new rows, in the order of time."""
        waiting = np.vstack([self._waiting, self._strangeness(inputs)])
        judged, self._waiting = _block_means(waiting, self.block)
        for start in range(0, len(judged), _AT_ONCE):
            self._play(self._bins(judged[start : start + _AT_ONCE]))

    def _bins(self, scores: FloatArray) -> Any:
        place = np.clip((scores - self._middle) / self._unit, -_FARTHEST, _FARTHEST)
        return np.rint((place + _FARTHEST) * _PER_SPREAD).astype(np.int64)

    def _play(self, scores: IntArray) -> None:
        """Bet on each row in turn; where rows stand among those before is counted at once."""
        some, games = scores.shape
        before = self._counts.sum(axis=1)[:, None] - np.cumsum(self._counts, axis=1)
        above, level = np.empty((2, some, games))
        for game, column in enumerate(scores.T):
            later = column[None, :] > column[:, None]
            equal = column[None, :] == column[:, None]
            above[:, game] = before[game, column] + np.tril(later).sum(axis=1)
            level[:, game] = self._counts[game, column] + np.tril(equal).sum(axis=1)
            np.add.at(self._counts[game], column, 1)
        ties = self._rng.random((some, games))
        totals = self._reference + self._steps + np.arange(1, some + 1)
        ranks = (above + ties * level) / totals[:, None]
        growths = 1.0 + (ranks - 0.5)[:, :, None] * np.array(_BETS)
        for growth in growths:
            self._steps += 1
            weight = start_weight(self._steps) / len(_BETS)
            self._capital = np.minimum((self._capital + weight) * growth, _MOST_EVIDENCE)
            self.evidence = max(self.evidence, float(self._capital.sum()) / games)

    def snapshot(self) -> dict[str, Any]:
        """What it has learnt, in plain types; `restore` goes on from it."""
        used = [np.flatnonzero(row) for row in self._counts]
        return {
            "steps": self._steps,
            "evidence": self.evidence,
            "capital": self._capital.tolist(),
            "waiting": self._waiting.tolist(),
            "bins": [b.tolist() for b in used],
            "counts": [row[b].tolist() for row, b in zip(self._counts, used, strict=True)],
            "ties": self._rng.bit_generator.state,
        }

    def restore(self, kept: dict[str, Any]) -> None:
        """Go on from a snapshot that was taken with the same reference."""
        self._steps, self.evidence = kept["steps"], kept["evidence"]
        self._capital = np.array(kept["capital"])
        self._waiting = np.array(kept["waiting"]).reshape(-1, len(self._counts))
        self._counts[:] = 0
        for row, bins, counts in zip(self._counts, kept["bins"], kept["counts"], strict=True):
            row[bins] = counts
        self._rng.bit_generator.state = kept["ties"]


def _block_means(scores: FloatArray, block: int) -> tuple[FloatArray, FloatArray]:
    """Means over whole blocks of rows, and the rows that wait for theirs to fill."""
    whole = len(scores) // block
    kept = scores[: whole * block].reshape(whole, block, scores.shape[1])
    return kept.mean(axis=1), scores[whole * block :]


_MOST_ROWS = 1000
_PERMUTATIONS = 999
_TREES = 50


def classifier_two_sample_p(a: FloatArray, b: FloatArray, seed: int = 0) -> float:
    """Exact p-value of "one distribution": trees rank held-out rows, whose sides are permuted."""
    from sklearn.ensemble import ExtraTreesClassifier

    rng = generator(seed, "two samples")
    a, b = (rows[rng.permutation(len(rows))[:_MOST_ROWS]] for rows in (a, b))
    rows, side = np.vstack([a, b]), np.repeat([0, 1], [len(a), len(b)])
    fold = np.concatenate([rng.permutation(len(sample)) % 2 for sample in (a, b)])
    smallest = 1.0
    for held_out in (0, 1):
        fit, judged = fold != held_out, fold == held_out
        trees = ExtraTreesClassifier(
            _TREES, min_samples_leaf=5, class_weight="balanced", random_state=seed % 2**32
        ).fit(rows[fit], side[fit])
        ranks = average_ranks(trees.predict_proba(rows[judged])[:, 1])
        n = int(side[judged].sum())
        seen = float(ranks[side[judged] == 1].sum())
        dealt = rng.permuted(np.tile(ranks, (_PERMUTATIONS, 1)), axis=1)[:, :n].sum(axis=1)
        as_far = int((dealt >= seen - 1e-9).sum())
        smallest = min(smallest, (as_far + 1) / (_PERMUTATIONS + 1))
    return min(1.0, 2.0 * smallest)
