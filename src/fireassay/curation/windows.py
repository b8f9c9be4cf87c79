"""Time-series windows as samples: named channels, seconds instead of indices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray
from fireassay.core.errors import DataError, ParameterError
from fireassay.curation.functions import LabellingFunction, apply, labelling_function
from fireassay.curation.votes import ABSTAIN
from fireassay.data.alarms import ACTIONABLE, SUPPRESSIBLE, Alarms


@dataclass(frozen=True, eq=False)
class Window:
    """One window of several signals sampled together; a lost signal is NaN.

    Attributes:
        values: Shape (steps, channels).
        channels: Names of the columns.
        step_s: Seconds from one step to the next.
        event_s: When the event (the alarm) starts, in seconds after the window's start.
        context: What else is known: age, kind of alarm, limits.

    >>> window = Window(np.array([[80.0], [90.0], [130.0], [140.0], [90.0]]), ("pulse",), event_s=1)
    >>> window.before("pulse").tolist(), window.seconds_above("pulse", 120.0)
    ([80.0], 2.0)
    """

    values: FloatArray
    channels: tuple[str, ...]
    step_s: float = 1.0
    event_s: float = 0.0
    context: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, channel: str) -> FloatArray:
        try:
            return self.values[:, self.channels.index(channel)]
        except ValueError as missing:
            raise ParameterError(
                f"The window has the channels {', '.join(self.channels)}.", got=repr(channel)
            ) from missing

    def before(self, channel: str) -> FloatArray:
        """The signal before the event."""
        return self[channel][: self._event]

    def after(self, channel: str) -> FloatArray:
        """The signal from the event on."""
        return self[channel][self._event :]

    def seconds_above(self, channel: str, limit: float) -> float:
        """Longest uninterrupted time above a limit after the event."""
        return _longest(self.after(channel) > limit) * self.step_s

    def seconds_below(self, channel: str, limit: float) -> float:
        """Longest uninterrupted time below a limit after the event."""
        return _longest(self.after(channel) < limit) * self.step_s

    def lost(self, channel: str) -> float:
        """Share of the window in which the signal is lost."""
        return float(np.isnan(self[channel]).mean())

    def roughness(self, channel: str) -> float:
        """Median size of the jumps from step to step (0 for a lost signal)."""
        jumps = np.abs(np.diff(self[channel]))
        jumps = jumps[~np.isnan(jumps)]
        return float(np.median(jumps)) if len(jumps) else 0.0

    def largest_jump(self, channel: str) -> float:
        """Largest change from one step to the next (0 for a lost signal)."""
        jumps = np.abs(np.diff(self[channel]))
        return float(np.nanmax(jumps)) if (~np.isnan(jumps)).any() else 0.0

    def mean_of(self, signal: FloatArray) -> float:
        """Mean of what is not lost; NaN if all is."""
        present = signal[~np.isnan(signal)]
        return float(present.mean()) if len(present) else float("nan")

    @property
    def _event(self) -> int:
        return round(self.event_s / self.step_s)


@dataclass(frozen=True, eq=False)
class Windows(Sequence[Window]):
    """Many windows of equal length, e.g. for `fireassay.curation.apply`.

    Attributes:
        values: Shape (n, steps, channels).
        context: Per-window facts: a name and one value for each window.
        channels, step_s, event_s: As of each `Window`.

    >>> windows = Windows(np.zeros((3, 60, 1)), ("pulse",), context={"age": np.array([31, 64, 80])})
    >>> len(windows), int(windows[2].context["age"])
    (3, 80)
    """

    values: FloatArray
    channels: tuple[str, ...]
    step_s: float = 1.0
    event_s: float = 0.0
    context: Mapping[str, AnyArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.values.ndim != 3 or self.values.shape[2] != len(self.channels):
            raise DataError(
                f"Windows must have shape (n, steps, {len(self.channels)}), one per channel.",
                got=f"shape {self.values.shape}",
            )
        for name, column in self.context.items():
            if len(column) != len(self.values):
                raise DataError(
                    f"The context '{name}' must have {len(self.values)} values.",
                    got=str(len(column)),
                )

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> Window: ...
    @overload
    def __getitem__(self, index: slice) -> "Windows": ...
    def __getitem__(self, index: int | slice) -> "Window | Windows":
        context = {name: column[index] for name, column in self.context.items()}
        if isinstance(index, slice):
            return Windows(self.values[index], self.channels, self.step_s, self.event_s, context)
        return Window(self.values[index], self.channels, self.step_s, self.event_s, context)


def _longest(inside: BoolArray) -> int:
    """Length of the longest run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    return int((edges[1::2] - edges[::2]).max(initial=0))


_CHANNEL = {"HR": "heart_rate", "RR": "respiratory_rate", "SpO2": "spo2"}
_FASTEST = {"infant": 200.0, "child": 170.0, "adult": 140.0}
_SLOWEST = {"infant": 80.0, "child": 55.0, "adult": 40.0}


def alarm_windows(ward: Alarms) -> Windows:
    """Alarms as windows that labelling functions can look at (without the truth)."""
    context = {"kind": ward.kind, "limit": ward.limit, "age": ward.age}
    return Windows(ward.values, ward.channels, ward.step_s, ward.event_s, context)


def _channel(window: Window) -> str:
    return _CHANNEL[str(window.context["kind"]).split()[0]]


def _beyond_s(window: Window) -> float:
    """Seconds the alarming signal stays beyond the limit that raised the alarm."""
    limit = float(window.context["limit"])
    if str(window.context["kind"]).endswith("high"):
        return window.seconds_above(_channel(window), limit)
    return window.seconds_below(_channel(window), limit)


def _change(window: Window, channel: str) -> float:
    """Mean after the alarm minus mean before it."""
    return window.mean_of(window.after(channel)) - window.mean_of(window.before(channel))


def _follows(window: Window, channel: str) -> bool:
    """Whether another vital sign moves along with the alarm."""
    size = {"heart_rate": 10.0, "respiratory_rate": 5.0, "spo2": 2.5}[channel]
    return abs(_change(window, channel)) > size


def _others(window: Window) -> list[str]:
    return [channel for channel in window.channels if channel != _channel(window)]


@labelling_function
def very_fast_heart(window: Window) -> int:
    """Very fast heart for 10 s or more: act."""
    limit = _FASTEST[str(window.context["age"])]
    return ACTIONABLE if window.seconds_above("heart_rate", limit) >= 10 else ABSTAIN


@labelling_function
def very_slow_heart(window: Window) -> int:
    """Very slow heart for 10 s or more: act."""
    limit = _SLOWEST[str(window.context["age"])]
    return ACTIONABLE if window.seconds_below("heart_rate", limit) >= 10 else ABSTAIN


@labelling_function
def deep_desaturation(window: Window) -> int:
    """SpO2 below 80 for 15 s or more: act."""
    return ACTIONABLE if window.seconds_below("spo2", 80) >= 15 else ABSTAIN


@labelling_function
def long_desaturation(window: Window) -> int:
    """SpO2 below 85 for 20 s or more: act."""
    return ACTIONABLE if window.seconds_below("spo2", 85) >= 20 else ABSTAIN


@labelling_function
def any_desaturation(window: Window) -> int:
    """SpO2 below 90 at all: act."""
    return ACTIONABLE if window.seconds_below("spo2", 90) > 0 else ABSTAIN


@labelling_function
def brief_desaturation(window: Window) -> int:
    """SpO2 below 90 for less than 10 s: suppress."""
    return SUPPRESSIBLE if 0 < window.seconds_below("spo2", 90) < 10 else ABSTAIN


@labelling_function
def apnoea(window: Window) -> int:
    """No breath rate above 5 for 20 s: act."""
    return ACTIONABLE if window.seconds_below("respiratory_rate", 5) >= 20 else ABSTAIN


@labelling_function
def over_in_10_s(window: Window) -> int:
    """Beyond the limit for less than 10 s: suppress."""
    return SUPPRESSIBLE if _beyond_s(window) < 10 else ABSTAIN


@labelling_function
def over_in_16_s(window: Window) -> int:
    """Beyond the limit for less than 16 s: suppress."""
    return SUPPRESSIBLE if _beyond_s(window) < 16 else ABSTAIN


@labelling_function
def beyond_for_30_s(window: Window) -> int:
    """Beyond the limit for 30 s or more: act."""
    return ACTIONABLE if _beyond_s(window) >= 30 else ABSTAIN


@labelling_function
def beyond_for_44_s(window: Window) -> int:
    """Beyond the limit for 44 s or more: act."""
    return ACTIONABLE if _beyond_s(window) >= 44 else ABSTAIN


@labelling_function
def signal_mostly_lost(window: Window) -> int:
    """Alarming signal lost for 30 % of the time: suppress."""
    return SUPPRESSIBLE if window.lost(_channel(window)) >= 0.3 else ABSTAIN


@labelling_function
def signal_partly_lost(window: Window) -> int:
    """Alarming signal lost for 10 % of the time: suppress."""
    return SUPPRESSIBLE if window.lost(_channel(window)) >= 0.1 else ABSTAIN


@labelling_function
def implausible_value(window: Window) -> int:
    """A value no living patient has: suppress."""
    impossible = (
        window.seconds_below("spo2", 50) > 0
        or window.seconds_above("heart_rate", 270) > 0
        or window.seconds_above("respiratory_rate", 120) > 0
    )
    return SUPPRESSIBLE if impossible else ABSTAIN


@labelling_function
def sudden_jump(window: Window) -> int:
    """The signal jumps from one beat to the next: suppress."""
    size = {"heart_rate": 40.0, "respiratory_rate": 16.0, "spo2": 9.0}[_channel(window)]
    return SUPPRESSIBLE if window.largest_jump(_channel(window)) > size else ABSTAIN


@labelling_function
def rough_signal(window: Window) -> int:
    """The signal is rough throughout: suppress."""
    size = {"heart_rate": 4.0, "respiratory_rate": 2.4, "spo2": 1.0}[_channel(window)]
    return SUPPRESSIBLE if window.roughness(_channel(window)) > size else ABSTAIN


@labelling_function
def second_sign_follows(window: Window) -> int:
    """A second vital sign moves along: act."""
    return ACTIONABLE if any(_follows(window, c) for c in _others(window)) else ABSTAIN


@labelling_function
def others_unmoved(window: Window) -> int:
    """All other vital signs stay as they were: suppress."""
    return SUPPRESSIBLE if not any(_follows(window, c) for c in _others(window)) else ABSTAIN


@labelling_function
def not_recovered(window: Window) -> int:
    """Still beyond the limit at the end: act."""
    end = window.mean_of(window[_channel(window)][-5:])
    limit = float(window.context["limit"])
    high = str(window.context["kind"]).endswith("high")
    return ACTIONABLE if (end > limit if high else end < limit) else ABSTAIN


@labelling_function
def recovered(window: Window) -> int:
    """Back to where it was at the end: suppress."""
    channel = _channel(window)
    size = {"heart_rate": 8.0, "respiratory_rate": 4.0, "spo2": 1.5}[channel]
    end = window.mean_of(window[channel][-5:])
    return SUPPRESSIBLE if abs(end - window.mean_of(window.before(channel))) < size else ABSTAIN


@labelling_function
def crying(window: Window) -> int:
    """Fast heart with normal oxygen, a crying child: suppress."""
    applies = window.context["kind"] == "HR high" and window.context["age"] != "adult"
    if not applies or window.seconds_below("spo2", 92) > 0:
        return ABSTAIN
    return SUPPRESSIBLE


@labelling_function
def oxygen_and_heart(window: Window) -> int:
    """Low oxygen and a slowing heart: act."""
    low = window.seconds_below("spo2", 90) >= 10
    return ACTIONABLE if low and _change(window, "heart_rate") < -8 else ABSTAIN


@labelling_function
def just_beyond(window: Window) -> int:
    """Breathing only just beyond the limit: suppress."""
    if not str(window.context["kind"]).startswith("RR"):
        return ABSTAIN
    limit = float(window.context["limit"])
    after = window.after("respiratory_rate")
    return SUPPRESSIBLE if abs(window.mean_of(after) - limit) < 3 else ABSTAIN


@labelling_function
def laboured_breathing(window: Window) -> int:
    """Low oxygen with fast breathing: act."""
    low = window.seconds_below("spo2", 92) >= 10
    return ACTIONABLE if low and _change(window, "respiratory_rate") > 4 else ABSTAIN


ALARM_FUNCTIONS: tuple[LabellingFunction, ...] = tuple(
    value for value in list(globals().values()) if isinstance(value, LabellingFunction)
)


def alarm_votes(ward: Alarms, **options: Any) -> Any:
    """The votes of all alarm functions; options go to `fireassay.curation.apply`."""
    return apply(ALARM_FUNCTIONS, alarm_windows(ward), 2, **options)
