"""Error rates from labels that were not drawn uniformly: unbiased, with intervals that hold."""

from bisect import bisect_left
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray
from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.core.lazy import stats
from fireassay.core.validation import check_integer, check_lengths, check_real
from fireassay.discovery.state import SearchState
from fireassay.statistics import share
from fireassay.statistics.betting import largest_rejected

_ENOUGH_ERRORS = 10
_BETS = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])


def lure_weights(probabilities: ArrayLike, n: int) -> FloatArray:
    """Weights v_m that make the mean of v_m × loss unbiased for the pool's mean loss.

    v_m = 1 + (N − M) / (N − m) · (1 / ((N − m + 1) q_m) − 1), q_m the chance with which the m-th
    row was drawn among those left (Farquhar, Gal and Rainforth 2021); v = 1 for the whole pool.

    Args:
        probabilities: Chance of each drawn row among those left, in the order of the draws.
        n: Rows that could be drawn.

    >>> lure_weights([0.2, 0.25], n=5).tolist()  # uniform draws weigh alike
    [1.0, 1.0]
    """
    chances = np.asarray(probabilities, dtype=np.float64).ravel()
    size = check_integer(n, "n", low=max(1, len(chances)))
    if not ((chances > 0) & (chances <= 1 + 1e-12)).all():
        raise DataError(
            "probabilities must be the chances in (0, 1] with which the rows were drawn.",
            got=f"{chances[~((chances > 0) & (chances <= 1))][:3]}",
            do="Only randomised searches ('random', 'weighted') have them.",
        )
    drawn = len(chances)
    if drawn == size:
        return np.ones(size)
    m = np.arange(1, drawn + 1)
    inverse = 1.0 / ((size - m + 1) * chances)
    return np.asarray(1.0 + (size - drawn) / (size - m) * (inverse - 1.0))


def estimate_error(
    indices: ArrayLike,
    wrong: ArrayLike,
    probabilities: ArrayLike,
    n: int,
    *,
    surrogate: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Error rate of the whole pool from a randomised search, without bias.

    Args:
        indices: Rows in draw order, each once, positions in the pool.
        wrong: Whether each of them is an error (or any loss in [0, 1]).
        probabilities: Chance of each draw among the rows then left, > 0.
        n: Rows in the pool.
        surrogate: A guess of the loss of every row of the pool, fixed before any label was seen: 1
            − confidence, for example. It lowers the variance and never biases.
        confidence: Of the interval, in (0, 1).

    Returns:
        The value is LURE, exactly unbiased. The interval comes from betting on weighted draws
        without replacement: it holds for any number of draws and any stopping rule.

    >>> estimate_error([3, 0], [True, False], [0.2, 0.25], n=5).value
    0.5
    """
    confidence = check_real(confidence, "confidence", low=0.0, high=1.0)
    rows = np.asarray(indices, dtype=np.int64).ravel()
    loss = np.asarray(wrong, dtype=np.float64).ravel()
    chances = np.asarray(probabilities, dtype=np.float64).ravel()
    check_lengths(indices=len(rows), wrong=len(loss), probabilities=len(chances))
    if len(np.unique(rows)) != len(rows) or (len(rows) and (rows.min() < 0 or rows.max() >= n)):
        raise DataError(
            f"indices must be different positions in a pool of {n} rows.",
            got="repeated or impossible ones",
        )
    if not ((loss >= 0) & (loss <= 1)).all():
        raise DataError("wrong must be booleans or losses in [0, 1].", got=f"{loss[:5]}")
    if not len(rows):
        return Estimate(float("nan"), 0.0, 1.0, confidence, 0, "no draws")
    weights = lure_weights(chances, n)
    if surrogate is None:
        value = float((weights * loss).mean())
    else:
        guess = np.asarray(surrogate, dtype=np.float64).ravel()
        check_lengths(surrogate=len(guess), pool=n)
        value = float(guess.mean() + (weights * (loss - guess[rows])).mean())
    low = _betting_lower(loss, chances, n, (1 - confidence) / 2)
    high = 1.0 - _betting_lower(1.0 - loss, chances, n, (1 - confidence) / 2)
    method = "LURE, betting interval" if surrogate is None else "LURE + surrogate, betting interval"
    # The estimate stays as it is, unbiased; where it leaves the interval, that becomes wider.
    return Estimate.around(value, low, high, confidence=confidence, n=len(rows), method=method)


def _betting_lower(loss: FloatArray, chances: FloatArray, n: int, alpha: float) -> float:
    """Lower bound of the pool's mean loss, valid at every draw."""
    # Z_t = loss_t / (N q_t) has conditional mean m − (losses drawn before) / N; a gambler who bets
    # on Z being larger cannot grow rich if m is true. The bound is the largest m at which he does.
    scaled = loss / (n * chances)
    drawn_before = np.concatenate([[0.0], np.cumsum(loss)[:-1]]) / n
    certain = float(loss.sum()) / n

    def refuted(mean: float) -> bool:
        left = mean - drawn_before
        if (left <= 0).any():
            first = int(np.argmax(left <= 0))
            if loss[first:].any():
                return True
            scaled_now, left_now = scaled[:first], left[:first]
        else:
            scaled_now, left_now = scaled, left
        if not len(left_now):
            return False
        returns = np.log1p(_BETS[:, None] * (scaled_now / left_now - 1.0)[None, :])
        wealth = np.exp(np.cumsum(returns, axis=1)).mean(axis=0)
        return bool(wealth.max() >= 1.0 / alpha)

    if len(loss) == n:
        return certain
    if not refuted(certain + 1e-12):
        return certain
    return largest_rejected(refuted, certain, 1.0 - float((1.0 - loss).sum()) / n, 60)


def hansen_hurwitz(
    wrong: ArrayLike, probabilities: ArrayLike, n: int, confidence: float = 0.95
) -> Estimate:
    """Error rate from draws *with* replacement, each row with a fixed known chance per draw.

    The mean of loss / (N p), unbiased; a betting interval from both losses and their complements.

    Args:
        wrong: Whether each drawn row is an error.
        probabilities: Chance of that row in each draw.
        n: Rows that could be drawn.
        confidence: Of the interval, in (0, 1).

    >>> hansen_hurwitz([True, False], [0.25, 0.25], n=4).value
    0.5
    """
    loss = np.asarray(wrong, dtype=np.float64).ravel()
    chances = np.asarray(probabilities, dtype=np.float64).ravel()
    check_lengths(wrong=len(loss), probabilities=len(chances))
    if not ((chances > 0) & (chances <= 1)).all():
        raise DataError("probabilities must be in (0, 1].", got=f"{chances[:5]}")
    value = float((loss / (n * chances)).mean()) if len(loss) else float("nan")
    low = _iid_betting_lower(loss / (n * chances), (1 - confidence) / 2)
    high = 1.0 - _iid_betting_lower((1 - loss) / (n * chances), (1 - confidence) / 2)
    method = "Hansen-Hurwitz, betting interval"
    return Estimate.around(value, low, high, confidence=confidence, n=len(loss), method=method)


def _iid_betting_lower(values: FloatArray, alpha: float) -> float:
    """Lower bound of the mean of non-negative values with one common mean in [0, 1]."""
    if not values.any():
        return 0.0

    def refuted(mean: float) -> bool:
        returns = np.log1p(_BETS[:, None] * (values / max(mean, 1e-300) - 1.0)[None, :])
        return bool(np.exp(np.cumsum(returns, axis=1)).mean(axis=0).max() >= 1.0 / alpha)

    return largest_rejected(refuted, 0.0, 1.0, 60)


def horvitz_thompson(
    wrong: ArrayLike, inclusion: ArrayLike, n: int, confidence: float = 0.95
) -> Estimate:
    """Error rate from rows that were included independently, each with a known chance.

    Σ loss / π / N, unbiased, with the normal interval from Σ (1 − π) loss² / π² / N² (Poisson
    sampling). With fewer than ten errors its upper end is raised to the number of errors in the
    pool of which so few are still likely to be seen, taking the smallest π given as the smallest of
    the pool: no error seen is no proof of none. The interval stays within [0, 1].

    Args:
        wrong: Whether each included row is an error.
        inclusion: Chance with which it was included.
        n: Rows that could be included.
        confidence: Of the interval, in (0, 1).

    >>> horvitz_thompson([True, False], [0.5, 0.5], n=4).value
    0.5
    """
    loss = np.asarray(wrong, dtype=np.float64).ravel()
    chances = np.asarray(inclusion, dtype=np.float64).ravel()
    check_lengths(wrong=len(loss), inclusion=len(chances))
    if not ((chances > 0) & (chances <= 1)).all():
        raise DataError("inclusion must be chances in (0, 1].", got=f"{chances[:5]}")
    value = float((loss / chances).sum() / n)
    error = float(np.sqrt((np.square(loss / chances) * (1 - chances)).sum())) / n
    reach = float(stats.norm.ppf((1 + confidence) / 2)) * error
    low, high, method = value - reach, value + reach, "Horvitz-Thompson, normal interval"
    if np.count_nonzero(loss) < _ENOUGH_ERRORS:
        # A pool with K errors shows at least Bin(K, smallest chance): K is refuted by too few.
        smallest = float(chances.min()) if len(chances) else 0.0
        most = _most_errors(int(np.count_nonzero(loss)), smallest, n, confidence)
        high, method = max(high, most / n), f"{method}, few errors: upper end by counting"
        low = float(loss.sum()) / n
    return Estimate.around(
        value, max(0.0, low), min(1.0, high), confidence=confidence, n=len(loss), method=method
    )


def _most_errors(seen: int, chance: float, n: int, confidence: float) -> int:
    """The largest number of errors in the pool of which so few are seen with chance (1 − c) / 2."""
    tail = (1.0 - confidence) / 2.0
    counts = np.arange(seen, n + 1)
    return int(counts[stats.binom.cdf(seen, counts, chance) > tail].max(initial=seen))


def ppi(
    wrong: ArrayLike,
    predicted: ArrayLike,
    predicted_unlabelled: ArrayLike,
    confidence: float = 0.95,
) -> Estimate:
    """Error rate from *uniformly* drawn labels plus guesses on unlabelled rows (PPI++).

    Args:
        wrong, predicted: Loss of the labelled rows, and the guess of it (1 − confidence).
        predicted_unlabelled: The guess on rows without a label.
        confidence: Of the interval, in (0, 1).

    Angelopoulos, Duchi and Zrnic 2023: λ = clip(cov(Y, F) / ((1 + n/N) var F), 0, 1),
    θ = λ mean F_u + mean(Y − λF). The normal interval needs errors and right answers: with fewer
    than ten of either it is widened to contain Clopper and Pearson's from the labels alone, and it
    stays within [0, 1]. On the labels of a search, which are not drawn uniformly, it is biased.

    >>> ppi([1, 0, 1, 0], [0.5, 0.5, 0.5, 0.5], [0.5, 0.5]).value  # a guess without news
    0.5
    """
    loss = np.asarray(wrong, dtype=np.float64).ravel()
    guess = np.asarray(predicted, dtype=np.float64).ravel()
    others = np.asarray(predicted_unlabelled, dtype=np.float64).ravel()
    check_lengths(wrong=len(loss), predicted=len(guess))
    n, many = len(loss), len(others)
    if n < 2 or many < 2:
        raise DataError("ppi needs at least 2 labelled and 2 unlabelled rows.", got=f"{n}, {many}")
    variance = float(np.var(np.concatenate([guess, others]), ddof=1))
    covariance = float(np.cov(loss, guess, ddof=1)[0, 1])
    trust = 0.0 if variance == 0 else float(np.clip(covariance / ((1 + n / many) * variance), 0, 1))
    value = float(trust * others.mean() + (loss - trust * guess).mean())
    spread = trust**2 * others.var(ddof=1) / many + (loss - trust * guess).var(ddof=1) / n
    reach = float(stats.norm.ppf((1 + confidence) / 2) * np.sqrt(spread))
    low, high, method = value - reach, value + reach, f"PPI++, lambda {trust:.2f}, normal interval"
    hits = float(loss.sum())
    if min(hits, n - hits) < _ENOUGH_ERRORS:
        exact = share(hits, n, confidence)
        low, high = min(low, exact.low), max(high, exact.high)
        method += ", few errors: widened to Clopper-Pearson"
    value = min(max(value, 0.0), 1.0)
    return Estimate.around(
        value, max(0.0, low), min(1.0, high), confidence=confidence, n=n, method=method
    )


AUDIT = "audit"
UNLIKE = "the calibration rows are not like the pool"
_ANNOUNCED = 10.0


def errors_among(rows: int, drawn: int, wrong: int, alpha: float) -> tuple[int, int]:
    """Smallest and largest number of errors in a set that a draw without replacement allows."""
    if not drawn:
        return 0, rows
    low, high = wrong, rows - drawn + wrong

    def many(errors: int) -> bool:
        return bool(stats.hypergeom.cdf(wrong, rows, errors, drawn) > alpha / 2)

    def few(errors: int) -> bool:
        return bool(stats.hypergeom.sf(wrong - 1, rows, errors, drawn) > alpha / 2)

    # Of both tails more than half of alpha is left.
    fewest = low + bisect_left(range(low, high), True, key=few)
    return fewest, high - bisect_left(range(high - low), True, key=lambda i: many(high - i))


def errors_left(state: SearchState, confidence: float) -> Estimate | None:
    """Errors among candidates without a label, from the audit, the split or both; else None."""
    # The audit's rows are drawn by lot from all candidates that nobody had asked about. Calibration
    # rows count if lots had divided them from the pool. Both together have half of the level each;
    # where they contradict each other the audit alone speaks.
    told = state.told
    audited = state.asked_by(AUDIT)
    done = 0 < state.audit_size <= len(audited)
    known = state.known
    splits = known is not None and known.split and bool(known.candidate.any())
    if not done and not splits:
        return None
    alpha = (1 - confidence) / (2 if splits and state.audit_size else 1)
    asked_here = [c for c in state.asked if c not in told]
    left = len(state.rows) - len(told) - len(state.skipped)
    found: list[tuple[int, int, float, int, str]] = []
    if done:
        found.append(_by_audit(state, audited, asked_here, alpha))
    if splits and known is not None:
        flags = (known.predicted != known.labels)[known.candidate]
        n, wrong = len(flags), int(flags.sum())
        seen = int(state.wrong(list(told)).sum())
        low, high = errors_among(len(state.rows) + n, n, wrong, alpha)
        found.append((low - wrong - seen, high - wrong - seen, len(state.rows) * wrong / n - seen,
                      n, "exact bounds from calibration rows divided by lot"))  # fmt: skip
    low, high = max(f[0] for f in found), min(f[1] for f in found)
    method = " and ".join(f[4] for f in found)
    if low > high or (not done and high < 0):
        low, high, method = found[0][0], found[0][1], f"{found[0][4]}; {UNLIKE}"
    low, high = (int(np.clip(end, 0, left)) for end in (low, high))
    return Estimate(float(np.clip(found[0][2], low, high)), low, high, confidence,
                    sum(f[3] for f in found), method, rests_on=("known-chances",))  # fmt: skip


def _by_audit(
    state: SearchState, audited: Any, asked_here: list[int], alpha: float
) -> tuple[int, int, float, int, str]:
    """Least and most errors left as the audit has them, their estimate, its rows, its method."""
    start = state.arms.index(AUDIT)
    lost = [c for c in asked_here if c in state.asked[start:]]
    rows, drawn = len(state.rows) - start - len(lost), len(audited)
    wrong = int(state.wrong(audited).sum())
    low, high = errors_among(rows, drawn, wrong, alpha)
    unresolved = sum(c not in state.skipped for c in asked_here)
    low, high = 0 if lost else low - wrong, high - wrong + unresolved
    return low, high, wrong * (rows - drawn) / drawn, drawn, "exact bounds of a draw by lot"


def told_left(left: Estimate, unlabelled: int) -> str:
    """One sentence on what is left."""
    some = f"Of {unlabelled:,} candidates without a label {left.low:.0f} to {left.high:.0f} are"
    also = f": {UNLIKE}, so the audit alone speaks" if UNLIKE in left.method else ""
    return f"{some} confidently wrong (95 %; {left.n} rows drawn by lot){also}."


def within_tolerance(state: SearchState) -> bool:
    """Whether the split alone allows for no more errors than its user tolerates."""
    if not state.tolerance or state.known is None or not state.known.split:
        return False
    found = errors_left(state, 0.95)
    return found is not None and found.high <= state.tolerance


def tired(state: SearchState) -> bool:
    """Whether the last labels hit no more often than lots would among what is left."""
    # Lots hit as often as calibration rows are wrong, mixed with ten rows of announced errors.
    last = state.asked_by("search")[-state.patience :] if state.patience else []
    if not state.patience or len(last) < state.patience:
        return False
    announced = _ANNOUNCED * float((1 - state.confidence).mean())
    known = state.known
    seen = np.zeros(0) if known is None else (known.predicted != known.labels)[known.candidate]
    rate = (float(seen.sum()) + announced) / (len(seen) + _ANNOUNCED)
    return int(state.wrong(last).sum()) <= rate * len(last)
