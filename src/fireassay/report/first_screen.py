"""The first screen, once, for page, app, notebook, terminal and CI: what stands where, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fireassay.core import Assumption, Estimate, Evidence, Measure
from fireassay.core.evidence import CELL_ROWS
from fireassay.core.words import within_a_sentence
from fireassay.report.advice import mended, remedy
from fireassay.report.document import RECORDED, About
from fireassay.report.gates import Gate
from fireassay.report.open_points import Doubt, not_answered, not_to_rely_on
from fireassay.report.verdict import HEADS, PRESUMED, GateCheck, Verdict

# Each state has a word, a shape and a colour; green is for a pass alone.
SHAPES = {
    "pass": "✓",
    "fail": "✗",
    "not enough evidence": "?",
    "undecided": "?",
    "no limits set": "○",
}
COLOURS = {"pass": "good", "fail": "bad", "no limits set": "plain"}
MOST_NUMBERS = 12
_ACTIONS, _MOST_CLASSES, _MOST_SLICES = 3, 12, 4
_CALIBRATION, _NEAR = "calibration_error", 0.05
_URGENCY = {"fail": 0, "undecided": 1, "pass": 2}
# What to do about a condition that nobody has shown, and where.
_ASKED_FOR: Final = {
    "independent-rows": ("Name the patients or devices of the rows.", '[data] group = "COLUMN"'),
    "unseen-rows": (
        "Give the training rows, or say why the model has seen no test row.",
        '[data] train = "FILE" or [gates.accept] unseen-rows = "why"',
    ),
    "missing-truths": ("Find the missing truths, or argue why they are missing.", ""),
    "labels-from-the-field": ("Label rows of the field.", "fireassay label serve"),
}
_OF_A_FILE: Final = {
    "independent-rows": ("Name the patients or devices.", "--group COLUMN, or --independent"),
    "unseen-rows": (
        "Say why the model was trained on none of these rows.",
        '[gates.accept] unseen-rows = "why", after fireassay init --predictions FILE',
    ),
}


@dataclass(frozen=True)
class LimitLine:
    """One limit: what was found, the limit, its state, and what it takes for granted."""

    check: GateCheck
    found: str
    between: str
    state: str
    struck: bool
    assumes: tuple[str, ...]

    @property
    def why(self) -> str:
        """The end that counted, without the conditions that stand beside it."""
        said = [PRESUMED[each] for each in self.check.presumed]
        told = self.check.explanation.split("; ")
        return "; ".join(each for each in told if each not in said)

    @property
    def whole(self) -> str:
        """The number with its interval, as every table shows it."""
        e, m = self.check.estimate, self.check.measure
        return "" if e is None or m is None else m.shown(e)


@dataclass(frozen=True)
class AnswerLine:
    """One question: its sentence, the number behind it, and whether the data contradicts it."""

    part: Evidence
    place: int
    sentence: str
    shown: str
    struck: bool
    tags: tuple[str, ...]
    beside: str
    checks: tuple[GateCheck, ...]


@dataclass(frozen=True)
class Action:
    """Something to do next, with the command or the key that does it."""

    text: str
    command: str = ""

    def __str__(self) -> str:
        return f"{self.text} {self.command}".strip()


@dataclass(frozen=True)
class Glance:
    """The data at a glance: rows, groups, classes, confusion matrix with its rows, slices."""

    facts: tuple[str, ...]
    said: tuple[str, ...] = ()
    matrix: tuple[tuple[str, tuple[int, ...]], ...] = ()
    rows: Mapping[tuple[str, str], str] = ()  # type: ignore[assignment]
    slices: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class FirstScreen:
    """All that the first screen says, in its order."""

    verdict: Verdict
    about: About | None
    limits: tuple[LimitLine, ...]
    actions: tuple[Action, ...]
    doubts: tuple[Doubt, ...]
    unknown: tuple[str, ...]
    answers: tuple[AnswerLine, ...]
    glance: Glance | None

    @property
    def head(self) -> str:
        """The verdict as one word."""
        return HEADS[self.verdict.status]

    @property
    def rest(self) -> str:
        """The verdict without that word."""
        return self.verdict.headline.removeprefix(f"{self.head}: ")

    @property
    def answers_shown(self) -> tuple[AnswerLine, ...]:
        """The answers that a first look has room for: those with limits, then the first others."""
        room = max(0, MOST_NUMBERS - len(self.limits))
        kept = sorted(self.answers, key=lambda a: not a.checks)[:room]
        return tuple(answer for answer in self.answers if answer in kept)

    def document(self) -> dict[str, Any]:
        """Plain types, for ``check --json``."""
        return {
            "head": self.head,
            "limits": [
                {"number": line.check.gate.number, "found": line.whole, "state": line.check.word,
                 "limit": line.check.limit, "struck": line.struck, "assumes": line.assumes}
                for line in self.limits
            ],
            "answers": [
                {"part": a.part.question, "sentence": a.sentence, "found": a.shown,
                 "struck": a.struck}
                for a in self.answers
            ],
            "do_next": [str(action) for action in self.actions],
            "not_known": self.unknown,
        }  # fmt: skip


def first_screen(
    parts: Sequence[Evidence],
    verdict: Verdict,
    accepted: Mapping[str, str] | None = None,
    about: About | None = None,
) -> FirstScreen:
    """The first screen of a report that was judged."""
    agreed, known = accepted or {}, {part.question: part for part in parts}
    doubts = tuple(not_to_rely_on(parts, agreed))
    return FirstScreen(
        verdict,
        about,
        tuple(_limit(check, known.get(check.part), agreed) for check in verdict.checks),
        _actions(parts, verdict, agreed, _OF_A_FILE if about and about.model == RECORDED else {}),
        doubts,
        tuple(not_answered(parts)),
        tuple(
            _answer(part, i, verdict, agreed)
            for i, part in enumerate(parts)
            if part.status != "not available"  # these are not known
        ),
        _glance(known.get("accuracy"), about),
    )


def _limit(check: GateCheck, part: Evidence | None, accepted: Mapping[str, str]) -> LimitLine:
    estimate, measure = check.estimate, check.measure
    state = f"{SHAPES[check.status]} {check.word}"
    if estimate is None or measure is None or part is None:
        found = "" if estimate is None or measure is None else measure.told(estimate)
        return LimitLine(check, found, "", state, struck=False, assumes=())
    struck = any(a.id not in accepted for a in part.contradicted(measure.name))
    assumes = [
        within_a_sentence(a.statement).removesuffix(".")
        for a in part.assumptions
        if a.status == "untestable"
        and a.id in estimate.rests_on
        and a.id not in {*accepted, *PRESUMED}
    ]
    open_ = dict.fromkeys([*check.presumed, *_presumed(part, estimate, accepted)])
    assumes += [PRESUMED[each].removeprefix("if ").removeprefix("although ") for each in open_]
    assumes += [f"accepted ({name}): {reason}" for name, reason in check.accepted]
    return LimitLine(
        check, measure.told(estimate), _between(estimate, measure), state, struck, tuple(assumes)
    )


def _presumed(part: Evidence, estimate: Estimate, accepted: Mapping[str, str]) -> list[str]:
    """Conditions behind a number that nothing shows and nobody vouches for."""
    ids = [a.id for a in part.assumptions if a.status == "untestable" and a.id in PRESUMED]
    return [each for each in ids if each in estimate.rests_on and each not in accepted]


def _between(estimate: Estimate, measure: Measure) -> str:
    """The interval without its value; of a bound its confidence, of a count the rows."""
    if estimate.kind == "interval":
        return measure.between(estimate)
    if estimate.kind == "bound":
        return f"bound, {100 * estimate.confidence:g} %"
    return "counted" if estimate.kind == "count" else "no interval"


def _answer(
    part: Evidence, place: int, verdict: Verdict, accepted: Mapping[str, str]
) -> AnswerLine:
    estimate = part.estimates.get(part.answer)
    shown = "" if estimate is None else part.measure(part.answer).shown(estimate)
    tags: list[str] = [] if part.status == "done" else [part.status]
    tags += [word for word in ("stale", "partial") if getattr(part, word)]
    checks = (c for c in verdict.checks if part.question in (c.part, c.gate.number.split(".")[0]))
    return AnswerLine(
        part,
        place,
        part.sentence or part.headline,
        shown,
        bool(against(part, accepted)),
        tuple(tags),
        _beside(part),
        tuple(checks),
    )


def against(part: Evidence, accepted: Mapping[str, str]) -> list[Assumption]:
    """What the data contradicts behind the number that answers the question."""
    found = part.contradicted(part.answer) if part.answer else ()
    return [assumption for assumption in found if assumption.id not in accepted]


def _beside(part: Evidence) -> str:
    """Whether confidences are true: it stands beside the answer of the part that measured it."""
    estimate = part.estimates.get(_CALIBRATION)
    if estimate is None or part.question != "accuracy":
        return ""
    measure, fits = part.measure(_CALIBRATION), part.estimates.get("temperature")
    if fits is None or not estimate.low > 0 or abs(fits.value - 1) < _NEAR:
        return f"Calibration error: {measure.shown(estimate)}."
    points, side = measure.told(estimate).removesuffix(" %"), "more" if fits.value > 1 else "less"
    return f"It is {points} points {side} sure than it should be."


def _actions(
    parts: Sequence[Evidence],
    verdict: Verdict,
    accepted: Mapping[str, str],
    instead: Mapping[str, tuple[str, str]],
) -> tuple[Action, ...]:
    """What to do next: what is broken or old first, then what settles limits, then conditions."""
    found = []
    for part in parts:
        name = part.question
        again = f"fireassay run --only {name}"
        if part.status == "failed":
            found.append(Action(f"Mend {name}: {part.reason}", again))
        elif part.stale or part.partial:
            text = remedy(Gate(name, "max", 0.0), part, None).text
            found.append(Action(text, again))
    checks = {check.gate: check for check in verdict.checks}
    urgent = sorted(
        verdict.advice,
        key=lambda a: (
            _URGENCY[checks[a.gate].status] if a.gate in checks else 1,
            a.labels is None and not a.command.startswith("fireassay run"),
            a.labels or 0,
        ),
    )
    for advice in urgent:
        name = checks[advice.gate].name if advice.gate in checks else advice.gate.number
        found.append(Action(f"{name[:1].upper()}{name[1:]}: {advice.text}", advice.command))
    if not verdict.checks:
        limit = "fireassay check RUN --max error=0.05"
        found.append(Action("Set a limit that says what is good enough.", limit))
    broken = [a for part in parts for a in against(part, accepted)]
    told = " ".join(action.text for action in found)
    found += [Action(*mend) for mend in map(mended, broken) if mend[0] not in told]
    presumed = dict.fromkeys(each for check in verdict.checks for each in check.presumed)
    asked_for = {**_ASKED_FOR, **instead}
    found += [Action(*asked_for[each]) for each in presumed if each in asked_for]
    return tuple({action.text: action for action in found}.values())[:_ACTIONS]


def _glance(part: Evidence | None, about: About | None) -> Glance | None:
    """Rows, classes, confusion matrix and slices, from accuracy; None where it has no matrix."""
    table = None if part is None else part.tables.get("confusion")
    if part is None or table is None:
        return None
    matrix: tuple[tuple[str, tuple[int, ...]], ...]
    if table.columns[:2] == ("truth", "answered"):  # many classes: filled cells, one by one
        sums: dict[str, int] = {}
        for truth, _, count in table.rows:
            sums[str(truth)] = sums.get(str(truth), 0) + int(count)
        matrix = tuple((name, (count,)) for name, count in sums.items())
    else:
        matrix = tuple((str(row[0]), tuple(map(int, row[1:]))) for row in table.rows)
    n = sum(sum(counts) for _, counts in matrix)
    groups = next((d.groups for d in (about.data if about else ()) if d.groups), None)
    facts = [f"{n:,} labelled rows{f' of {groups:,} groups' if groups else ''}"]
    shown = [f"{name} ({sum(counts):,})" for name, counts in matrix[:_MOST_CLASSES]]
    more = len(matrix) - len(shown)
    facts.append(
        f"{len(matrix)} classes: {', '.join(shown)}{f' and {more} more' if more > 0 else ''}"
    )
    kept = part.tables.get(CELL_ROWS)
    rows = {} if kept is None else {(str(r[0]), str(r[1])): str(r[2]) for r in kept.rows}
    small = len(matrix) <= _MOST_CLASSES
    said = tuple(column.removeprefix("answered ") for column in table.columns[1:])
    return Glance(
        tuple(facts),
        said if small else (),
        matrix if small else (),
        rows,
        _slices(part),
    )


def _slices(part: Evidence) -> tuple[tuple[str, str, str], ...]:
    """Slices of the first number that has any, the worst first: name, number, rows."""
    table = part.tables.get("slices")
    if table is None or table.columns[:4] != ("column", "value", "rows", "number"):
        return ()
    measure = part.measure(str(table.rows[0][3]))
    rows = [row for row in table.rows if row[3] == table.rows[0][3] and row[4] == row[4]]
    rows.sort(key=lambda row: row[4] if measure.better == "high" else -row[4])
    return tuple(
        (
            f"{row[0]}: {row[1]}",
            f"{measure.said} "
            + measure.shown(Estimate.around(*row[4:7], confidence=0.95, n=row[2], method="slice")),
            f"{row[2]:,} rows{'' if row[10] == 'yes' else ', too small'}",
        )
        for row in rows[:_MOST_SLICES]
    )


def changed_since(before: Sequence[Evidence], verdict: Verdict, parts: Sequence[Evidence]) -> str:
    """What became of the limited numbers (else of the answers) since an earlier run."""
    old = {part.question: part.estimates for part in before}
    named = [(c.part, c.measure.name) for c in verdict.checks if c.measure is not None]
    named = named or [(part.question, part.answer) for part in parts if part.answer]
    known = {part.question: part for part in parts}
    told = []
    for question, name in dict.fromkeys(named):
        if name in old.get(question, {}) and name in known[question].estimates:
            measure = known[question].measure(name)
            ends = [measure.told(e[name]) for e in (old[question], known[question].estimates)]
            if ends[0] != ends[1]:
                told.append(f"{measure.said} {' → '.join(ends)}")
    said = "; ".join(told[:_ACTIONS]) or "no leading number has changed"
    return f"Since the last run: {said}."
