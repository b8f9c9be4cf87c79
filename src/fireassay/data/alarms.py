"""Synthetic alarms of a patient monitor, with known truth: which ones could be suppressed?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer

CHANNELS = ("heart_rate", "respiratory_rate", "spo2")
KINDS = ("HR low", "HR high", "RR low", "RR high", "SpO2 low")
AGES = ("infant", "child", "adult")
ACTIONABLE, SUPPRESSIBLE = 0, 1
CLASS_NAMES = ("actionable", "suppressible")

_STEP_S = 2.0
_STEPS = 60
_EVENT = 30
# Resting mean of each channel, its spread between patients, and the alarm limits (low, high).
_REST = {"infant": (130.0, 38.0, 97.5), "child": (100.0, 24.0, 98.0), "adult": (78.0, 15.0, 97.0)}
_BETWEEN = (9.0, 3.0, 0.8)
_NOISE = (2.0, 1.2, 0.5)
_LIMITS = {
    "infant": ((90.0, 180.0), (20.0, 60.0), (90.0, np.inf)),
    "child": ((65.0, 150.0), (12.0, 40.0), (90.0, np.inf)),
    "adult": ((45.0, 125.0), (7.0, 28.0), (90.0, np.inf)),
}
_COUPLED = (25.0, 12.0, -7.0)  # how another vital sign moves along in a true event
_EVENTS = ("sustained", "transient", "artifact", "borderline")


@dataclass(frozen=True, eq=False)
class Alarms:
    """Windows of vital signs around an alarm."""

    values: FloatArray
    y: IntArray
    kind: NDArray[np.str_]
    limit: FloatArray
    patient: IntArray
    age: NDArray[np.str_]
    event: NDArray[np.str_]
    channels: tuple[str, ...] = CHANNELS
    step_s: float = _STEP_S
    event_s: float = _STEP_S * _EVENT

    def __len__(self) -> int:
        return len(self.y)

    def features(self) -> FloatArray:
        """A plain feature table for classifiers: level, change, duration, jumps and loss."""
        before, after = self.values[:, :_EVENT], self.values[:, _EVENT:]
        lost = np.isnan(self.values).mean(axis=1)
        low = np.nan_to_num(np.nanmin(_never_empty(after), axis=1))
        high = np.nan_to_num(np.nanmax(_never_empty(after), axis=1))
        start = np.nanmean(_never_empty(before), axis=1)
        end = np.nanmean(_never_empty(after[:, -10:]), axis=1)
        jumps = np.nanmean(np.abs(np.diff(_never_empty(self.values), axis=1)), axis=1)
        away = np.abs(_never_empty(after) - start[:, None, :]) > 4 * np.array(_NOISE)
        seconds = away.sum(axis=1) * _STEP_S
        return np.column_stack([low, high, start, end, end - start, seconds, jumps, lost])


def alarms(n: int = 600, n_patients: int = 40, seed: int = 0) -> Alarms:
    """Simulate alarms of a ward."""
    # An actionable alarm is a sustained excursion, often seen in a second vital sign. A
    # suppressible one corrects itself within seconds, or is an artifact: a lost or moved sensor.
    # One in five is borderline, with a duration between the two, and only leans to one side.
    check_integer(n, "n", low=1)
    check_integer(n_patients, "n_patients", low=1)
    rng = generator(seed, "alarms")
    ages = rng.choice(AGES, size=n_patients)
    rest = np.array([_REST[a] for a in ages]) + rng.normal(size=(n_patients, 3)) * _BETWEEN
    restless = rng.beta(2.0, 3.0, size=n_patients)
    patient = rng.integers(n_patients, size=n)
    rows = [_alarm(rng, ages[p], rest[p], restless[p]) for p in patient]
    values, y, kind, limit, event = (list(column) for column in zip(*rows, strict=True))
    return Alarms(
        values=np.stack(values),
        y=np.array(y, dtype=np.int64),
        kind=np.array(kind),
        limit=np.array(limit),
        patient=patient,
        age=ages[patient],
        event=np.array(event),
    )


def _alarm(
    rng: np.random.Generator, age: str, rest: FloatArray, restless: float
) -> tuple[Any, ...]:
    kind = str(rng.choice(KINDS, p=(0.1, 0.2, 0.1, 0.15, 0.45)))
    channel = {"HR": 0, "RR": 1, "SpO2": 2}[kind.split()[0]]
    high = kind.endswith("high")
    limit = _LIMITS[age][channel][int(high)]
    shares = np.array([0.35, 0.3 * restless + 0.1, 0.5 * restless, 0.2])
    event = str(rng.choice(_EVENTS, p=shares / shares.sum()))
    values = _resting(rng, rest)
    sign = 1.0 if high else -1.0
    distance = abs(limit - rest[channel])
    if event == "artifact":
        actionable = False
        _artifact(rng, values, channel, sign, distance)
    else:
        seconds, depth = _course(rng, event)
        actionable = event == "sustained" or (
            event == "borderline" and rng.random() < (seconds - 10.0) / 30.0
        )
        steps = max(1, round(seconds / _STEP_S))
        _excursion(rng, values, channel, sign * distance * depth, steps)
        if rng.random() < (0.65 if actionable else 0.12):
            other = int(rng.choice([c for c in range(3) if c != channel]))
            _excursion(rng, values, other, _COUPLED[other] * (0.6 + rng.random()), steps)
    if rng.random() < 0.15 * restless:
        _lose(rng, values, int(rng.integers(3)), 0.1 + 0.2 * rng.random())
    values[:, 2] = np.minimum(values[:, 2], 100.0)
    values = np.maximum(values, 0.0)
    return values, int(not actionable), kind, float(limit), event


def _course(rng: np.random.Generator, event: str) -> tuple[float, float]:
    """How long an excursion lasts, and how far beyond the limit it goes (1 is the limit)."""
    if event == "sustained":
        return rng.uniform(28.0, 60.0), 1.1 + rng.exponential(0.5)
    if event == "transient":
        return rng.uniform(4.0, 14.0), 1.05 + rng.exponential(0.3)
    return rng.uniform(10.0, 40.0), 1.05 + rng.exponential(0.35)


def _resting(rng: np.random.Generator, rest: FloatArray) -> FloatArray:
    """Slow drift and beat-to-beat noise around the patient's resting values."""
    noise = rng.normal(size=(_STEPS, 3)) * _NOISE
    drift = np.cumsum(rng.normal(size=(_STEPS, 3)) * 0.15, axis=0) * _NOISE
    return np.asarray(rest + noise + drift - drift.mean(axis=0))


def _excursion(
    rng: np.random.Generator,
    values: FloatArray,
    channel: int,
    size: float,
    steps: int,
) -> None:
    ramp = int(rng.integers(1, 6))
    begin = _EVENT - ramp
    shape = np.zeros(_STEPS)
    shape[begin:_EVENT] = np.linspace(0.2, 1.0, ramp)
    shape[_EVENT : _EVENT + steps] = 1.0
    tail = shape[_EVENT + steps :]
    tail[:] = np.exp(-np.arange(1, len(tail) + 1) / 2.0)
    values[:, channel] += size * shape


def _artifact(
    rng: np.random.Generator,
    values: FloatArray,
    channel: int,
    sign: float,
    distance: float,
) -> None:
    """A moved or lost sensor: wild values that nothing else in the patient follows."""
    wild = rng.random() < 0.5
    length = int(rng.integers(3, 25))
    span = slice(_EVENT, min(_STEPS, _EVENT + length))
    width = len(values[span, channel])
    jump = sign * distance * (1.2 + rng.exponential(1.0))
    values[span, channel] += jump * (1.0 if not wild else rng.uniform(0.3, 1.6, size=width))
    if rng.random() < 0.7:
        _lose(rng, values, channel, rng.uniform(0.1, 0.7))


def _lose(rng: np.random.Generator, values: FloatArray, channel: int, share: float) -> None:
    length = max(1, round(share * _STEPS))
    begin = int(rng.integers(0, _STEPS - length + 1))
    values[begin : begin + length, channel] = np.nan


def _never_empty(values: FloatArray) -> FloatArray:
    """Give a channel that is lost throughout one neutral value, so that its mean exists."""
    filled = values.copy()
    empty = np.isnan(filled).all(axis=1)
    rows, columns = np.nonzero(empty)
    filled[rows, 0, columns] = 0.0
    if filled.shape[1] > 1:
        filled[rows, 1, columns] = 0.0
    return filled
