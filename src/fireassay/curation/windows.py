"""Time-series windows as samples: named channels, seconds instead of indices."""

from collections.abc import Callable, Mapping, Sequence
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
# By channel: a change that counts, a jump no heart makes, noise, and what recovery leaves.
_MOVES = {"heart_rate": 10.0, "respiratory_rate": 5.0, "spo2": 2.5}
_JUMPS = {"heart_rate": 40.0, "respiratory_rate": 16.0, "spo2": 9.0}
_NOISE = {"heart_rate": 4.0, "respiratory_rate": 2.4, "spo2": 1.0}
_RECOVERED = {"heart_rate": 8.0, "respiratory_rate": 4.0, "spo2": 1.5}


def alarm_windows(ward: Alarms) -> Windows:
    """Alarms as windows that labelling functions can look at (without the truth)."""
    context = {"kind": ward.kind, "limit": ward.limit, "age": ward.age}
    return Windows(ward.values, ward.channels, ward.step_s, ward.event_s, context)


def _channel(window: Window) -> str:
    """The signal that alarms."""
    return _CHANNEL[str(window.context["kind"]).split()[0]]


def _is_high(window: Window) -> bool:
    return str(window.context["kind"]).endswith("high")


def _beyond_s(window: Window) -> float:
    """Seconds the alarming signal stays beyond the limit that raised the alarm."""
    seconds = window.seconds_above if _is_high(window) else window.seconds_below
    return seconds(_channel(window), float(window.context["limit"]))


def _change(window: Window, channel: str) -> float:
    """Mean after the alarm minus mean before it."""
    return window.mean_of(window.after(channel)) - window.mean_of(window.before(channel))


def _another_follows(window: Window) -> bool:
    """Whether another vital sign moves along with the alarm."""
    others = [channel for channel in window.channels if channel != _channel(window)]
    return any(abs(_change(window, channel)) > _MOVES[channel] for channel in others)


def _at_end(window: Window) -> float:
    return window.mean_of(window[_channel(window)][-5:])


def _implausible(window: Window) -> bool:
    return (
        window.seconds_below("spo2", 50) > 0
        or window.seconds_above("heart_rate", 270) > 0
        or window.seconds_above("respiratory_rate", 120) > 0
    )


def _not_recovered(window: Window) -> bool:
    end, limit = _at_end(window), float(window.context["limit"])
    return end > limit if _is_high(window) else end < limit


def _recovered(window: Window) -> bool:
    channel = _channel(window)
    return abs(_at_end(window) - window.mean_of(window.before(channel))) < _RECOVERED[channel]


def _crying(window: Window) -> bool:
    applies = window.context["kind"] == "HR high" and window.context["age"] != "adult"
    return bool(applies and not window.seconds_below("spo2", 92) > 0)


def _just_beyond(window: Window) -> bool:
    after = window.mean_of(window.after("respiratory_rate"))
    return _channel(window) == "respiratory_rate" and abs(after - window.context["limit"]) < 3


def _rule(
    name: str, meaning: str, label: int, holds: Callable[[Window], bool]
) -> LabellingFunction:
    """A labelling function that votes for the label where a condition holds."""
    made = labelling_function(name=name, meaning=meaning)
    return made(lambda window: label if holds(window) else ABSTAIN)


ALARM_FUNCTIONS: tuple[LabellingFunction, ...] = (
    _rule("very_fast_heart", "Very fast heart for 10 s or more: act.", ACTIONABLE,
          lambda w: w.seconds_above("heart_rate", _FASTEST[str(w.context["age"])]) >= 10),
    _rule("very_slow_heart", "Very slow heart for 10 s or more: act.", ACTIONABLE,
          lambda w: w.seconds_below("heart_rate", _SLOWEST[str(w.context["age"])]) >= 10),
    _rule("deep_desaturation", "SpO2 below 80 for 15 s or more: act.", ACTIONABLE,
          lambda w: w.seconds_below("spo2", 80) >= 15),
    _rule("long_desaturation", "SpO2 below 85 for 20 s or more: act.", ACTIONABLE,
          lambda w: w.seconds_below("spo2", 85) >= 20),
    _rule("any_desaturation", "SpO2 below 90 at all: act.", ACTIONABLE,
          lambda w: w.seconds_below("spo2", 90) > 0),
    _rule("brief_desaturation", "SpO2 below 90 for less than 10 s: suppress.", SUPPRESSIBLE,
          lambda w: 0 < w.seconds_below("spo2", 90) < 10),
    _rule("apnoea", "No breath rate above 5 for 20 s: act.", ACTIONABLE,
          lambda w: w.seconds_below("respiratory_rate", 5) >= 20),
    _rule("over_in_10_s", "Beyond the limit for less than 10 s: suppress.", SUPPRESSIBLE,
          lambda w: _beyond_s(w) < 10),
    _rule("over_in_16_s", "Beyond the limit for less than 16 s: suppress.", SUPPRESSIBLE,
          lambda w: _beyond_s(w) < 16),
    _rule("beyond_for_30_s", "Beyond the limit for 30 s or more: act.", ACTIONABLE,
          lambda w: _beyond_s(w) >= 30),
    _rule("beyond_for_44_s", "Beyond the limit for 44 s or more: act.", ACTIONABLE,
          lambda w: _beyond_s(w) >= 44),
    _rule("signal_mostly_lost", "Alarming signal lost for 30 % of the time: suppress.",
          SUPPRESSIBLE, lambda w: w.lost(_channel(w)) >= 0.3),
    _rule("signal_partly_lost", "Alarming signal lost for 10 % of the time: suppress.",
          SUPPRESSIBLE, lambda w: w.lost(_channel(w)) >= 0.1),
    _rule("implausible_value", "A value no living patient has: suppress.", SUPPRESSIBLE,
          _implausible),
    _rule("sudden_jump", "The signal jumps from one beat to the next: suppress.", SUPPRESSIBLE,
          lambda w: w.largest_jump(_channel(w)) > _JUMPS[_channel(w)]),
    _rule("rough_signal", "The signal is rough throughout: suppress.", SUPPRESSIBLE,
          lambda w: w.roughness(_channel(w)) > _NOISE[_channel(w)]),
    _rule("second_sign_follows", "A second vital sign moves along: act.", ACTIONABLE,
          _another_follows),
    _rule("others_unmoved", "All other vital signs stay as they were: suppress.", SUPPRESSIBLE,
          lambda w: not _another_follows(w)),
    _rule("not_recovered", "Still beyond the limit at the end: act.", ACTIONABLE, _not_recovered),
    _rule("recovered", "Back to where it was at the end: suppress.", SUPPRESSIBLE, _recovered),
    _rule("crying", "Fast heart with normal oxygen, a crying child: suppress.", SUPPRESSIBLE,
          _crying),
    _rule("oxygen_and_heart", "Low oxygen and a slowing heart: act.", ACTIONABLE,
          lambda w: w.seconds_below("spo2", 90) >= 10 and _change(w, "heart_rate") < -8),
    _rule("just_beyond", "Breathing only just beyond the limit: suppress.", SUPPRESSIBLE,
          _just_beyond),
    _rule("laboured_breathing", "Low oxygen with fast breathing: act.", ACTIONABLE,
          lambda w: w.seconds_below("spo2", 92) >= 10 and _change(w, "respiratory_rate") > 4),
)  # fmt: skip


def alarm_votes(ward: Alarms, **options: Any) -> Any:
    """The votes of all alarm functions; options go to `fireassay.curation.apply`."""
    return apply(ALARM_FUNCTIONS, alarm_windows(ward), 2, **options)
