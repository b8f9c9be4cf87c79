"""Time-series windows as samples: named channels, seconds instead of indices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray
from fireassay.core.errors import DataError, ParameterError


@dataclass(frozen=True, eq=False)
class Window:
    """One window of several signals sampled together; a lost signal is NaN.

    Attributes
    ----------
    values
        Shape (steps, channels).
    channels
        Names of the columns.
    step_s
        Seconds from one step to the next.
    event_s
        When the event (the alarm) starts, in seconds after the window's start.
    context
        What else is known: age, kind of alarm, limits.

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

    Attributes
    ----------
    values
        Shape (n, steps, channels).
    context
        Per-window facts: a name and one value for each window.
    channels, step_s, event_s
        As of each `Window`.

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
