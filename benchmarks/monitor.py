"""The alarm on labelled errors: how often falsely, how soon, and what the recent bound covers.

``python benchmarks/monitor.py`` (six CPU minutes) prints the table of docs/reliability.md.
"""

import numpy as np
from scipy.signal import lfilter
from scipy.special import ndtr, ndtri

from fireassay import as_classifier
from fireassay.reliability import Monitor
from fireassay.statistics import ErrorDetector, recent_rate_upper

ALPHA, STREAMS, BLOCK, MEMORY = 0.05, 1000, 50, 0.95


def remembering(rng, n):
    """Normal values of which each remembers the one before (AR 1)."""
    noise = rng.normal(size=n)
    noise[1:] *= np.sqrt(1 - MEMORY**2)
    return lfilter([1], [1, -MEMORY], noise)


def false_alarms(rng, limit=0.02):
    """Of quiet streams, independent ones and ones with memory judged in blocks."""
    plain = sum(
        ErrorDetector(limit, ALPHA).after(rng.random(1500) < limit).alarm for _ in range(STREAMS)
    )
    blocks = sum(
        ErrorDetector(limit, ALPHA, BLOCK).after(remembering(rng, 3000) < ndtri(limit)).alarm
        for _ in range(STREAMS)
    )
    return plain, blocks


def median_delay(rng, limit, rate, labelled=1.0, streams=60, most=1500):
    """Rows from the change 1 % → rate to the alarm, where a share of the rows is labelled.

    1,000 labels come before the change; streams that alarmed by then are left out.
    """
    delays = []
    for _ in range(streams):
        found = ErrorDetector(limit, ALPHA).after(rng.random(1000) < 0.01)
        if found.alarm_at is None:
            found = found.after(rng.random(most) < rate)
            labels = most if found.alarm_at is None else found.alarm_at - 1000
            # Rows until so many of them have a label.
            delays.append(labels + (rng.negative_binomial(labels, labelled) if labelled < 1 else 0))
    return float(np.median(delays))


def coverage(rng, streams=2000):
    """Misses of the window's mean, by look and by stream, and of the new rate after a jump."""
    rates = np.r_[np.full(1000, 0.01), np.full(1000, 0.1)]
    missed, looks, some, late = 0, 0, 0, {200: 0, 350: 0, 500: 0}
    for _ in range(streams):
        wrong = rng.random(2000) < rates
        at = [
            recent_rate_upper(wrong[:t]) < rates[max(0, t - 500) : t].mean()
            for t in range(100, 2001, 100)
        ]
        missed, looks, some = missed + sum(at), looks + len(at), some + any(at)
        for after in late:
            late[after] += recent_rate_upper(wrong[: 1000 + after]) < 0.1
    return missed / looks, some / streams, {after: n / streams for after, n in late.items()}


MODEL = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1])


def drift_alarms(rng, memory, streams):
    """Of quiet rows, 300 (or 2,000 with memory) as reference and twice as many watched."""
    n = 2000 if memory else 300
    found = 0
    for seed in range(streams):
        draw = np.column_stack([remembering(rng, 3 * n) for _ in range(2)])
        X = ndtr(draw) if memory else rng.random((3 * n, 2))
        found += Monitor(MODEL, X[:n], alpha=ALPHA, seed=seed).update(X[n:]).drifted
    return found


def drift_delay(rng, quiet, streams=40):
    """Rows until a shift of one column, uniform to Beta(2, 1), is seen after a quiet time."""
    delays = []
    for seed in range(streams):
        monitor = Monitor(MODEL, rng.random((300, 2)), alpha=ALPHA, seed=seed)
        state, rows = monitor.update(rng.random((quiet, 2))), 0
        if state.drifted:
            continue
        while not state.drifted and rows < 2000:
            shifted = np.column_stack([rng.random(10), rng.beta(2, 1, 10)])
            state, rows = monitor.update(shifted), rows + 10
        delays.append(rows)
    return float(np.median(delays))


def main():
    rng = np.random.default_rng(0)
    plain, blocks = false_alarms(rng)
    print(f"false alarms, independent: {plain} of {STREAMS}; memory {MEMORY}: {blocks}", flush=True)
    for limit in (0.01, 0.02):
        for labelled in (1.0, 0.1, 0.01):
            delays = [median_delay(rng, limit, rate, labelled) for rate in (0.05, 0.1, 0.2)]
            print(f"limit {limit}, {labelled:.0%} labelled: median rows to the alarm {delays}")
    window, streams, late = coverage(rng)
    print(f"window's mean missed at {window:.1%} of looks, in {streams:.1%} of streams of 20 looks")
    print(f"new rate missed so many labels after the jump: {late}", flush=True)
    print(f"drift, false alarms: independent {drift_alarms(rng, False, 1000)} of 1,000", flush=True)
    print(f"drift, false alarms: memory {MEMORY} {drift_alarms(rng, True, 200)} of 200", flush=True)
    for quiet in (300, 3000):
        print(f"drift after {quiet} quiet rows: median {drift_delay(rng, quiet)} rows", flush=True)


if __name__ == "__main__":
    main()
