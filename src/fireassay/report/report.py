"""A report: several answers about one classifier, for a page, files, a notebook and tests."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from fireassay.core import Evidence, ParameterError, json_files
from fireassay.core.files import write_text
from fireassay.core.result import SupportsEvidence
from fireassay.report.document import About, read_document, to_document
from fireassay.report.exports import to_gsn, to_junit, to_model_card
from fireassay.report.first_screen import first_screen
from fireassay.report.gates import Ask, Gate, Gates, parse_gates, usual_number
from fireassay.report.looks_and_changes import judge_spent
from fireassay.report.page import page_environment, screen_html, to_html
from fireassay.report.verdict import Verdict

if TYPE_CHECKING:
    import pandas as pd

Accepted = Mapping[str, str]
Costs = Mapping[str, Mapping[str, Any]]


class Report:
    """Several answers, shown as a page, a document, a CI result or an assurance argument.

    Args:
        items: Results of any of the packages (anything with ``evidence()``), or `Evidence`.
        title: Shown on top; may contain any characters.
        accepted: Assumptions that are accepted although the data contradicts them, by id, each with
            the reason: it is said wherever the number is.
        about: The model, the data, the day and the seed, for the first line of the page and of the
            card.
        fractions: By the name of a gate's number what is left of its error probability after
            earlier looks at the same labels; 0: nothing.
        asked: Gives standard numbers that no part has yet, such as ``sensitivity@0.2``, when a
            limit names them.

    >>> from fireassay.core import Estimate
    >>> error = Estimate(0.04, 0.02, 0.06, 0.95, 100, "Clopper-Pearson")
    >>> report = Report([Evidence("accuracy", "Right on 96 %.", estimates={"error": error})])
    >>> report.verdict({"max": {"accuracy.error": 0.1}}).status
    'pass'
    """

    def __init__(
        self,
        items: Iterable[SupportsEvidence | Evidence],
        title: str = "Fire assay",
        accepted: Accepted | None = None,
        about: About | None = None,
        fractions: Mapping[str, float] | None = None,
        asked: Ask | None = None,
    ):
        self.parts: tuple[Evidence, ...] = tuple(
            item if isinstance(item, Evidence) else item.evidence() for item in items
        )
        self.title = title
        self.accepted = dict(accepted or {})
        self.about = about
        self.fractions = dict(fractions or {})
        self.asked = asked
        names = [part.question for part in self.parts]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ParameterError(
                "A report has one answer per question.",
                got=f"several for {', '.join(repeated)}",
                do="Make one report per model.",
            )

    def __getitem__(self, question: str) -> Evidence:
        for part in self.parts:
            if part.question == question:
                return part
        raise KeyError(question)

    def verdict(
        self, gates: Gates = (), accept: Accepted | None = None, *, strict: bool = False
    ) -> Verdict:
        """Judge limits on numbers.

        Args:
            gates: E.g. ``{"max": {"pmi_upper": 0.05}, "min": {"accuracy": 0.9}}``, or `Gate`
                objects.
            accept: Further assumptions to accept although the data contradicts them, with the
                reason.
            strict: Let undecided gates fail.

        Returns:
            Verdict: ``pass``, ``fail``, ``not enough evidence`` or ``no limits set``; only a pass
                is true.

        Raises:
            ParameterError: If a gate names a number that no part has, or that several have.
        """
        accepted = {**self.accepted, **(accept or {})}
        meant = self.meant(gates)
        return judge_spent(self.parts, meant, accepted, strict=strict, fractions=self.fractions)

    def meant(self, gates: Gates) -> tuple[Gate, ...]:
        """The gates by the usual names of their numbers, which the parts have from now on.

        Args:
            gates: As for `verdict`.
        """
        found = []
        for gate in parse_gates(gates):
            parts = {part.question: part for part in self.parts}
            new = usual_number(gate.number, parts, self.asked)
            if isinstance(new, Evidence):
                self.parts = tuple(new if p.question == new.question else p for p in self.parts)
                new = f"{new.question}.{list(new.estimates)[-1]}"
            found.append(replace(gate, number=new))
        return tuple(found)

    def without_samples(self) -> Self:
        """The same report without any row of the data; it says how many were left out."""
        parts = [part.without_samples() for part in self.parts]
        return type(self)(parts, self.title, self.accepted, self.about, self.fractions, self.asked)

    def frame(self) -> "pd.DataFrame":
        """One row per number: what it is, its value and interval, and how it was made."""
        import pandas as pd

        own = ("value", "low", "high", "confidence", "n", "kind", "method")
        rows = [
            (part.question, name, part.measure(name).label, *(getattr(e, key) for key in own))
            for part in self.parts
            for name, e in part.estimates.items()
        ]
        return pd.DataFrame(rows, columns=["part", "name", "label", *own])

    def __str__(self) -> str:
        lines = [self.title]
        for part in self.parts:
            marks = [word for word in ("stale", "partial") if getattr(part, word)]
            state = f" ({', '.join(marks)})" if marks else ""
            lines += ["", f"{part.question}{state}: {part.headline}"]
            for name, estimate in part.estimates.items():
                measure = part.measure(name)
                against = "" if not part.contradicted(name) else "  (contradicted by the data)"
                lines.append(
                    f"  {measure.label}: {measure.shown(estimate)} (n = {estimate.n:,}){against}"
                )
        return "\n".join(lines)

    def to_json(self, path: str | Path) -> Path:
        """Strict JSON; equal results give equal bytes."""
        text = json_files.dumps(self.document(), indent=2, sort_keys=False)
        return write_text(path, text + "\n")

    def document(self) -> dict[str, Any]:
        """What ``result.json`` holds, as plain types."""
        return to_document(self.parts, self.title, self.accepted)

    @classmethod
    def from_json(cls, path: str | Path) -> Self:
        """Read a ``result.json`` (charts and pictures are not in it)."""
        return cls(*read_document(path))

    def _judged(self, gates: Gates | Verdict, *, strict: bool = False) -> Verdict:
        """The verdict on limits, or one that was given and knows of looks and models, too."""
        return gates if isinstance(gates, Verdict) else self.verdict(gates, strict=strict)

    def to_html(
        self, path: str | Path, gates: Gates | Verdict = (), *, costs: Costs | None = None
    ) -> Path:
        """One self-contained page that opens offline; ``gates`` are limits, or a `Verdict` on them.

        ``costs`` has for each part what was planned and what it took, as in ``costs.json``.
        """
        verdict = self._judged(gates)
        page = to_html(self.parts, self.title, verdict, costs, self.accepted, self.about)
        return write_text(path, page)

    def to_junit(
        self, path: str | Path, gates: Gates | Verdict = (), *, strict: bool = False
    ) -> Path:
        """JUnit XML for CI servers."""
        verdict = self._judged(gates, strict=strict)
        return write_text(path, to_junit(self.parts, verdict, self.title, self.accepted))

    def to_gsn(
        self,
        path: str | Path,
        gates: Gates | Verdict = (),
        requirements: Mapping[str, tuple[str, Sequence[str]]] | None = None,
    ) -> Path:
        """Goal Structuring Notation as YAML (drawn by gsn2x).

        ``requirements`` gives by id a sentence and the names of the limits that support the
        requirement; the argument then has one leg for each instead of one for each question.
        """
        known = (self.parts, self.title, self._judged(gates), self.accepted, self.about)
        return write_text(path, to_gsn(*known, requirements))

    def to_model_card(self, path: str | Path, gates: Gates | Verdict = ()) -> Path:
        """A Markdown model card with the ``model-index`` metadata that model hubs read."""
        verdict = self._judged(gates)
        card = to_model_card(self.parts, self.title, verdict, self.accepted, self.about)
        return write_text(path, card)

    def _repr_html_(self) -> str:
        """Shown in notebooks: questions and answers; `to_html` writes the whole page."""
        from fireassay.report.report import report_html

        return report_html(self.parts, self.title, self.verdict(), self.accepted, self.about)


def assert_gate(
    result: SupportsEvidence | Evidence | Report,
    *,
    max: dict[str, float] | None = None,  # noqa: A002 - the words of the command line
    min: dict[str, float] | None = None,  # noqa: A002
    accept: dict[str, str] | None = None,
    **upper_limits: float,
) -> None:
    """Fail a test if a number is beyond its limit, at the unfavourable end of its interval.

    Keyword arguments are upper limits; ``min={"accuracy": 0.9}`` gives lower ones. What is
    undecided fails, too: what did not run is not a pass.

    Args:
        result: A result of any package, `Evidence` or a `Report`.
        max, upper_limits: Upper limits by the name of their number.
        min: Lower limits.
        accept: Assumptions that the data contradicts, by id, with the reason why they are accepted.

    Raises:
        AssertionError: Names every gate that did not pass, and why.

    >>> from fireassay.core import Estimate
    >>> error = Estimate(0.04, 0.02, 0.06, 0.95, 100, "Clopper-Pearson")
    >>> found = Evidence("accuracy", "Right on 96 %.", estimates={"error": error})
    >>> assert_gate(found, error=0.1)
    >>> assert_gate(found, error=0.01)
    Traceback (most recent call last):
        ...
    AssertionError: fail: error ≤ 0.01: even its lower end is 0.020
    """
    report = result if isinstance(result, Report) else Report([result])
    limits: dict[str, Any] = {**(max or {}), **upper_limits}
    gates = [Gate(name, "max", float(limit)) for name, limit in limits.items()]
    gates += [Gate(name, "min", float(limit)) for name, limit in (min or {}).items()]
    if not gates:
        raise ParameterError("assert_gate needs at least one limit, e.g. pmi_upper=0.05.")
    verdict = report.verdict(gates, accept=accept)
    if not verdict:
        reasons = [
            f"{c.gate.number} {c.limit}: {c.explanation}"
            for c in verdict.checks
            if c.status != "pass"
        ]
        reasons += [f"{name} failed" for name in verdict.failed_parts]
        raise AssertionError(f"{verdict.status}: " + "; ".join(reasons))


# The notebook's own text colour and paper: it may be light or dark.
_COLOURS = """
.fireassay { --ink: currentColor; --soft: color-mix(in srgb, currentColor 72%, transparent);
  --paper: transparent; --card: rgba(128,128,128,.1); --line: rgba(128,128,128,.35);
  --edge: #808890; --accent: #2f7fd1; --good: #2a8a46; --bad: #cc4b44; --warn: #b07d1a; }
.fireassay .good { color: var(--good); } .fireassay .bad { color: var(--bad); }
.fireassay .warn { color: var(--warn); } .fireassay table { border-collapse: collapse; }
.fireassay .tag { font-weight: 600; } .fireassay .soft { color: var(--soft); }
"""


def report_html(
    parts: Sequence[Evidence],
    title: str,
    verdict: Verdict,
    accepted: Mapping[str, str] | None = None,
    about: About | None = None,
) -> str:
    """The first screen under its title, with its own style; `to_html` writes the whole page."""
    from markupsafe import escape

    styles = page_environment().get_template("first_screen.css").render()
    screen = first_screen(parts, verdict, accepted, about)
    shown = screen_html(screen, parts, {"part": ""})
    head = f"<p><strong>{escape(title)}</strong></p>" if title else ""
    scoped = f".fireassay {{ {styles} }}{_COLOURS}"
    return f'<div class="fireassay first"><style>{scoped}</style>{head}{shown}</div>'


def verdict_html(verdict: Verdict) -> str:
    """The verdict alone: every limit with its state, and what would settle it."""
    return report_html((), "", verdict)
