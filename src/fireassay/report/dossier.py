"""A report in the order of a reporting guideline: each item filled, or left to its owner."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from fireassay.core import Evidence, ParameterError
from fireassay.report.exports import markdown_text
from fireassay.report.open_points import not_answered
from fireassay.report.report import Report
from fireassay.report.verdict import Verdict
from fireassay.version import __version__

State = Literal["filled", "partly", "open", "owner"]
_MOST_NUMBERS, _MOST_ROWS = 40, 30
_UNSEEN: Final = ("unseen-rows", "nominal-apart-from-training")
_OPENS: Final = {
    "slices": "Name slices: fireassay judge --slice COLUMN, or [data] slices.",
    "decision": "Set [decision] threshold or costs; without them the most probable class counts.",
    "groups": "Name the groups: --group COLUMN, or [data] group.",
    "advice": "Set limits: [gates], or --max and --min.",
    "lock": "Fix the limits beforehand: fireassay lock.",
    "limits": "Set limits: [gates], or --max and --min.",
    "table": "Judge labelled rows: fireassay judge, or fireassay run --only accuracy.",
    "numbers": "Judge labelled rows: fireassay judge, or fireassay run --only accuracy.",
    "unseen": "Name the training rows: [data] train.",
    "field": "Name field rows ([data] operational), or label rows drawn by lot.",
    "indeterminate": "Name the answer that stands for no result: --indeterminate VALUE.",
}


@dataclass(frozen=True)
class Case:
    """What a dossier is written from."""

    report: Report
    verdict: Verdict
    declared: Mapping[str, str] = field(default_factory=dict)  # [about] of the configuration
    facts: Mapping[str, Sequence[str]] = field(default_factory=dict)  # decision, lock, flow


@dataclass(frozen=True)
class FilledItem:
    """One item of a guideline with what a run says to it."""

    number: str
    topic: str
    asks: str  # in our words
    state: State  # "partly": something is left to the owner; "owner": no tool can know it
    lines: tuple[str, ...]  # one fact each
    left: tuple[str, ...]  # what remains to be done or written, and by whom


@dataclass(frozen=True)
class Dossier:
    """A guideline filled from a run: every item in the guideline's order."""

    guideline: str
    subject: str
    source: str
    title: str
    items: tuple[FilledItem, ...]

    @property
    def summary(self) -> str:
        """How many items are filled, open and left to others, in one sentence."""
        count = {state: sum(i.state == state for i in self.items) for state in _STATES}
        ours = len(self.items) - count["owner"]
        done = count["filled"] + count["partly"]
        return (
            f"Filled: {done} of {ours} items that a tool can fill. Open: {count['open']}. "
            f"Left to owners: {count['owner']}."
        )

    def markdown(self) -> str:
        """The dossier as Markdown; every text from a user is escaped."""
        said = markdown_text
        lines = [f"# {said(self.title)}: {said(self.guideline)}", "", said(self.source), ""]
        lines.append(f"{said(self.summary)} Written by fireassay {__version__}.")
        for item in self.items:
            lines += ["", f"## {said(item.number)} {said(item.topic)}", "", f"*{said(item.asks)}*"]
            lines += ["", *(f"- {said(line)}" for line in item.lines)] if item.lines else []
            lines += ["", *(f"- **{said(line)}**" for line in item.left)] if item.left else []
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        """The dossier as one page that opens offline, with places to write."""
        from fireassay.report.page import page_environment
        from fireassay.report.page_charts import csp_hash

        environment = page_environment()
        styles = environment.get_template("report.css").render() + _WRITING
        return environment.get_template("dossier.html").render(
            dossier=self,
            words=_SHOWN,
            styles=styles,
            policy=f"default-src 'none'; img-src data:; style-src {csp_hash(styles)}",
            version=__version__,
        )


_STATES: Final[tuple[State, ...]] = ("filled", "partly", "open", "owner")
_SHOWN: Final[dict[State, tuple[str, str]]] = {
    "filled": ("filled", ""),
    "partly": ("filled, rest left", ""),
    "open": ("open", "warn"),
    "owner": ("owner", ""),
}
_WRITING: Final = ".write{min-height:3.2em;border:1px dashed currentColor;margin:.3em 0}"


@cache
def guidelines() -> dict[str, dict[str, Any]]:
    """Every guideline by its name: one data file each."""
    folder = files("fireassay.report").joinpath("guidelines")
    found = [file for file in folder.iterdir() if file.name.endswith(".toml")]
    return {
        file.name.removesuffix(".toml"): tomllib.loads(file.read_text(encoding="utf-8"))
        for file in found
    }


def dossier(name: str, case: Case) -> Dossier:
    """Fill a guideline from a run."""
    known = guidelines()
    if name not in known:
        raise ParameterError(f"Known guidelines: {', '.join(sorted(known))}.", got=name)
    chosen = known[name]
    items = tuple(_fill(item, case) for item in chosen["items"])
    return Dossier(chosen["title"], chosen["subject"], chosen["source"], case.report.title, items)


def _fill(item: Mapping[str, Any], case: Case) -> FilledItem:
    """One item: sources first, then what the configuration declares, then what is left."""
    lines: list[str] = []
    lacking: list[str] = []
    for source in item.get("from", ()):
        words = source.split()
        found = SOURCES[words[0]](case, *words[1:])
        lines += [line for line in found if line not in lines]
        if not found:
            lacking.append(_OPENS.get(words[0], _not_there(case, words)))
    declared = [(key, case.declared.get(key)) for key in item.get("about", ())]
    lines += [f"{key.replace('_', ' ').capitalize()}: {said}" for key, said in declared if said]
    owner = item["owner"]
    left = list(dict.fromkeys(lacking))
    left += [
        f"Not from this tool: owner {owner}. Write it here, or as [about] {key}."
        for key, said in declared
        if not said
    ]
    if "left" in item:
        left.append(f"For the {owner}: {item['left']}")
    by_tool = bool(item.get("from"))
    if not by_tool:
        state: State = "owner" if any(not said for _, said in declared) else "filled"
    elif len(lacking) == len(item["from"]):
        state = "open"
    else:
        state = "partly" if left else "filled"
    return FilledItem(item["number"], item["topic"], item["asks"], state, tuple(lines), tuple(left))


def _not_there(case: Case, words: Sequence[str]) -> str:
    """Why a part has no answer, and the command that would give one."""
    name = words[-1]
    part = _part(case, name)
    reason = f": {part.reason}" if part is not None and part.reason else ""
    return f"{name.capitalize()} was not answered{reason}. Try: fireassay run --only {name}"


def _part(case: Case, name: str) -> Evidence | None:
    return next((part for part in case.report.parts if part.question == name), None)


def _relied_on(case: Case, name: str) -> Evidence | None:
    part = _part(case, name)
    return part if part is not None and part.status == "done" else None


def _mark(part: Evidence) -> str:
    """What a reader must know before the number: stale and partial answers are marked."""
    marks = [f"stale, made with {part.stale}"] if part.stale else []
    marks += [f"partial: {part.partial}"] if part.partial else []
    return f" [{'; '.join(marks)}]" if marks else ""


def _numbers(case: Case, name: str, *wanted: str) -> list[str]:
    part = _relied_on(case, name)
    if part is None:
        return []
    lines = []
    for key, estimate in part.estimates.items():
        if key.split("[")[0] not in wanted or "{" in key:
            continue
        measure = part.measure(key)
        against = " (contradicted by the data: not to be relied on)"
        lines.append(
            f"{measure.label}: {measure.shown(estimate)}, n = {estimate.n:,}, {estimate.method}"
            f"{against if part.contradicted(key) else ''}{_mark(part)}"
        )
    more = len(lines) - _MOST_NUMBERS
    return lines if more <= 0 else [*lines[:_MOST_NUMBERS], f"{more} more are in result.json."]


def _table(case: Case, name: str, kind: str) -> list[str]:
    part = _relied_on(case, name)
    tables = {} if part is None else part.tables
    lines = []
    for key, table in tables.items():
        if kind in key:
            lines.append(f"{table.caption or key} ({', '.join(map(str, table.columns))})")
            lines += [", ".join(map(str, row)) for row in table.rows[:_MOST_ROWS]]
            more = len(table.rows) - _MOST_ROWS
            lines += [f"{more} more rows are in result.json."] if more > 0 else []
    return lines


def _slices(case: Case) -> list[str]:
    """Named slices; without any the one that a search found, which its claim begins with."""
    named = [*_table(case, "accuracy", "slice"), *_table(case, "reliability", "slice")]
    part = _relied_on(case, "accuracy")
    claims = () if part is None else part.claims
    return named or [claim.text for claim in claims if claim.text.startswith("Where answered ")]


def _verdict(case: Case) -> list[str]:
    return [case.verdict.headline, *(str(check) for check in case.verdict.checks)]


def _limits(case: Case) -> list[str]:
    return [f"{check.label}: {check.limit}" for check in case.verdict.checks]


def _advice(case: Case) -> list[str]:
    if not case.verdict.checks:
        return []
    return [str(one) for one in case.verdict.advice] or ["No limit needs more labels."]


def _answer(case: Case, name: str) -> list[str]:
    part = _relied_on(case, name)
    if part is None:
        return []
    said = part.sentence or part.headline
    return [f"{said}{_mark(part)}", *(f"Limitation: {limit}" for limit in part.limits)]


def _field(case: Case) -> list[str]:
    lines = _numbers(case, "reliability", "pmi", "pmi_upper", "pmi_lower", "field_upper")
    ids = ("labels-from-the-field", "labels-right")
    return [*lines, *_ledger(case, *ids)] if lines else []


def _ledger(case: Case, *ids: str) -> list[str]:
    """Assumptions with their status and check; all without ids."""
    accepted = case.report.accepted
    found = [
        f"{a.statement} [{a.status}] {a.check}"
        + (f" Accepted: {accepted[a.id]}" if a.id in accepted else "")
        for part in case.report.parts
        for a in part.assumptions
        if not ids or a.id in ids
    ]
    return list(dict.fromkeys(found))


def _methods(case: Case) -> list[str]:
    found: dict[str, list[str]] = {}
    for part in case.report.parts:
        for name, estimate in part.estimates.items():
            if estimate.kind in ("interval", "bound"):
                found.setdefault(f"{estimate.method}, {100 * estimate.confidence:g} %", []).append(
                    f"{part.question}.{name.split('[')[0]}"
                )
    return [f"{method}: {', '.join(dict.fromkeys(used))}" for method, used in found.items()]


def _hashes(case: Case, what: str) -> list[str]:
    """The SHA-256 of the models or data that parts were made from, a line each."""
    made = {getattr(p.provenance, f"{what}_sha256") for p in case.report.parts if p.provenance}
    return [f"SHA-256 of the {what}: {digest}" for digest in sorted(filter(None, made))]


def _model(case: Case) -> list[str]:
    about = case.report.about
    return [*([] if about is None else [f"Model: {about.model}"]), *_hashes(case, "model")]


def _data(case: Case) -> list[str]:
    about = case.report.about
    return [*([] if about is None else map(str, about.data)), *_hashes(case, "data")]


def _flow(case: Case) -> list[str]:
    return [*case.facts.get("flow", ()), *_data(case)[: 0 if case.facts.get("flow") else None]]


def _groups(case: Case) -> list[str]:
    about = case.report.about
    known = () if about is None else about.data
    lines = [f"{d.name}: intervals count {d.groups:,} groups." for d in known if d.groups]
    if not lines:
        alone = _ledger(case, "independent-rows")
        return ["No groups were named: intervals count rows.", *alone] if alone else []
    return [*lines, *_ledger(case, "independent-groups", "largest-group")]


def _indeterminate(case: Case) -> list[str]:
    part = _relied_on(case, "accuracy")
    if part is None or not any("confusion" in name for name in part.tables):
        return []
    said = [claim.text for claim in part.claims if "indeterminate" in claim.text]
    return said or ["Every judged row has an answer; none is indeterminate."]


def _software(case: Case) -> list[str]:
    versions: dict[str, str] = {"fireassay": __version__}
    for part in case.report.parts:
        versions |= dict(part.provenance.versions) if part.provenance else {}
    seeds = sorted({part.provenance.seed for part in case.report.parts if part.provenance})
    listed = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    day = case.report.about.day if case.report.about else ""
    return [f"Made with {listed}.", f"Seed: {', '.join(map(str, seeds))}."] + (
        [f"The run began on {day}."] if day else []
    )


# Adding a source is one function and one row; a guideline names it in ``from``.
SOURCES: Final[dict[str, Callable[..., list[str]]]] = {
    "numbers": _numbers,
    "table": _table,
    "slices": _slices,
    "verdict": _verdict,
    "limits": _limits,
    "part": _answer,
    "field": _field,
    "assumptions": _ledger,
    "unseen": lambda case: _ledger(case, *_UNSEEN),
    "checks": lambda case: _ledger(case, "independent-rows", "reproducible", *_UNSEEN),
    "unanswered": lambda case: [f"Not answered: {t}" for t in not_answered(case.report.parts)],
    "advice": _advice,
    "methods": _methods,
    "model": _model,
    "data": _data,
    "flow": _flow,
    "groups": _groups,
    "software": _software,
    "decision": lambda case: list(case.facts.get("decision", ())),
    "lock": lambda case: list(case.facts.get("lock", ())),
    "indeterminate": _indeterminate,
}
