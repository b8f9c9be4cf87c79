"""What a run gives back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fireassay.report import Report, Verdict

Costs = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class RunOutcome:
    """A run: its folder, its report, and for each part what was planned and what it took.

    Attributes
    ----------
    folder, report
        Where everything is, and what was found.
    costs
        What each part was planned to take, and took.
    only, gates
        Parts that were asked for by name; the limits that were configured.
    """

    folder: Path
    report: Report
    costs: Costs = field(default_factory=dict)
    only: tuple[str, ...] = ()
    gates: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """On the limits that were configured."""
        return self.report.verdict(self.gates)

    @property
    def exit_code(self) -> int:
        """0 if what was asked for ran; 3 if a part failed, or one asked for was not available."""
        if self.only:
            return 0 if all(self.report[name].status == "done" for name in self.only) else 3
        return 3 if any(part.status == "failed" for part in self.report.parts) else 0
