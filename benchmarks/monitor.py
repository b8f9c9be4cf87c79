"""The alarm on labelled errors: how often falsely, how soon, and what the recent bound covers.

``python benchmarks/monitor.py`` (three CPU minutes) prints the table of docs/reliability.md.
"""

import numpy as np
from scipy.signal import lfilter
from scipy.special import ndtri

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


def median_delay(rng, limit, rate, streams=60, most=1500):
    """Labels from the change 1 % → rate to the alarm; streams that alarmed before are left out."""
    delays = []
    for _ in range(streams):
        found = ErrorDetector(limit, ALPHA).after(rng.random(1000) < 0.01)
        if found.alarm_at is None:
            found = found.after(rng.random(most) < rate)
            delays.append(most if found.alarm_at is None else found.alarm_at - 1000)
    return float(np.median(delays))


def coverage(rng, streams=2000):
    """Misses of the window's mean over all looks, and of the new rate 200 and 500 labels on."""
    rates = np.r_[np.full(1000, 0.01), np.full(1000, 0.1)]
    missed, looks, late = 0, 0, {200: 0, 500: 0}
    for _ in range(streams):
        wrong = rng.random(2000) < rates
        for t in range(100, 2001, 100):
            missed += recent_rate_upper(wrong[:t]) < rates[max(0, t - 500) : t].mean()
            looks += 1
        for after in late:
            late[after] += recent_rate_upper(wrong[: 1000 + after]) < 0.1
    return missed / looks, {after: count / streams for after, count in late.items()}


def main():
    rng = np.random.default_rng(0)
    plain, blocks = false_alarms(rng)
    print(f"false alarms, independent: {plain} of {STREAMS}; memory {MEMORY}: {blocks}")
    for limit in (0.01, 0.02):
        delays = [median_delay(rng, limit, rate) for rate in (0.05, 0.1, 0.2)]
        print(f"limit {limit}: median delay after 1 % → 5 / 10 / 20 %: {delays}")
    window, late = coverage(rng)
    print(f"window's mean missed at {window:.1%} of looks; new rate missed {late}")


if __name__ == "__main__":
    main()
