"""A report: several answers about one classifier."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from fireassay.core import Evidence, ParameterError, strict_json
from fireassay.core.files import write_text
from fireassay.core.result import SupportsEvidence
from fireassay.report.document import read_document, to_document
from fireassay.report.gates import Gate, Verdict, judge, parse_gates
from fireassay.report.gsn import to_gsn
from fireassay.report.html import to_html
from fireassay.report.junit import to_junit
from fireassay.report.model_card import to_model_card

Gates = Mapping[str, Mapping[str, float]] | Iterable[Gate]
Costs = Mapping[str, Mapping[str, Any]]


class Report:
    """Several answers, shown as a page, a document, a CI result or an assurance argument.

    Parameters
    ----------
    items
        Results of any of the packages (anything with ``evidence()``), or `Evidence`.
    title
        Shown on top; may contain any characters.
    """

    def __init__(self, items: Iterable[SupportsEvidence | Evidence], title: str = "Fire assay"):
        self.parts: tuple[Evidence, ...] = tuple(
            item if isinstance(item, Evidence) else item.evidence() for item in items
        )
        self.title = title
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

    def verdict(self, gates: Gates = ()) -> Verdict:
        """Judge gates, e.g. ``{"max": {"pmi_upper": 0.05}, "min": {"accuracy": 0.9}}``."""
        return judge(self.parts, parse_gates(gates))

    def to_json(self, path: str | Path) -> Path:
        """Strict JSON; equal results give equal bytes."""
        document = to_document(self.parts, self.title)
        text = strict_json.dumps(document, indent=2, sort_keys=False)
        return write_text(path, text + "\n")

    @classmethod
    def from_json(cls, path: str | Path) -> Self:
        """Read a ``result.json`` (figures are not in it)."""
        parts, title = read_document(path)
        return cls(parts, title)

    def to_html(self, path: str | Path, gates: Gates = (), *, costs: Costs | None = None) -> Path:
        """One self-contained page that opens offline.

        ``costs`` has for each part what was planned and what it took, as in ``costs.json``.
        """
        judged = parse_gates(gates)
        verdict = judge(self.parts, judged) if judged else None
        return write_text(path, to_html(self.parts, self.title, verdict, costs))

    def to_junit(self, path: str | Path, gates: Gates = ()) -> Path:
        """JUnit XML for CI servers."""
        return write_text(path, to_junit(self.parts, self.verdict(gates), self.title))

    def to_gsn(self, path: str | Path) -> Path:
        """Goal Structuring Notation as YAML (drawn by gsn2x)."""
        return write_text(path, to_gsn(self.parts, self.title))

    def to_model_card(self, path: str | Path) -> Path:
        """A Markdown model card with the ``model-index`` metadata that model hubs read."""
        return write_text(path, to_model_card(self.parts, self.title))

    def _repr_html_(self) -> str:
        from html import escape

        page = escape(to_html(self.parts, self.title), quote=True)
        return f'<iframe srcdoc="{page}" sandbox style="width:100%;height:40em;border:0"></iframe>'
