"""The report as one strict-JSON document, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final, get_args

from fireassay.core import (
    Assumption,
    Claim,
    DataError,
    Estimate,
    Evidence,
    Measure,
    Provenance,
    Sample,
    Table,
    json_files,
)
from fireassay.core.evidence import AssumptionStatus, EvidenceStatus
from fireassay.core.files import check_regular
from fireassay.core.measure import Better, Unit

SCHEMA_VERSION = 3
_PLAIN = ("headline", "status", "reason", "partial", "stale", "withheld", "answer", "sentence")


def to_document(
    evidence: Sequence[Evidence], title: str, accepted: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Plain types: ``parts.<name>.status``, ``parts.<name>.estimates.<number>.value`` and so on."""
    parts = {}
    for item in evidence:
        fields = item.to_dict()
        parts[fields.pop("question")] = fields
    return {
        "schema_version": SCHEMA_VERSION,
        "title": title,
        "order": [item.question for item in evidence],
        "accepted": dict(accepted or {}),
        "parts": parts,
    }


def from_document(document: Any) -> tuple[list[Evidence], str, dict[str, str]]:
    """Parts, title and accepted assumptions (charts and pictures are not part of the document)."""
    try:
        if document["schema_version"] != SCHEMA_VERSION:
            raise DataError(
                f"Expected a result of schema version {SCHEMA_VERSION}.",
                got=f"version {document['schema_version']}",
                do="Run the assessment again with this version of fireassay, in a new folder.",
            )
        parts = [_evidence(name, document["parts"][name]) for name in document["order"]]
        return parts, str(document["title"]), dict(document["accepted"])
    except DataError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise DataError("Expected a fireassay result.", got=f"missing or wrong {error}") from error


def read_document(path: str | Path) -> tuple[list[Evidence], str, dict[str, str]]:
    """Parts, title and accepted assumptions from a ``result.json``."""
    try:
        text = check_regular(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"Expected a result at {path}.", got=str(error)) from error
    return from_document(json_files.loads(text))


def _evidence(name: str, fields: dict[str, Any]) -> Evidence:
    tables = {
        key: Table(tuple(t["columns"]), tuple(tuple(row) for row in t["rows"]), t["caption"])
        for key, t in fields["tables"].items()
    }
    provenance = fields["provenance"]
    return Evidence(
        question=name,
        claims=tuple(Claim(**claim) for claim in fields["claims"]),
        estimates={key: Estimate.from_dict(e) for key, e in fields["estimates"].items()},
        assumptions=tuple(Assumption(**assumption) for assumption in fields["assumptions"]),
        tables=tables,
        measures=tuple(Measure(**measure) for measure in fields["measures"]),
        limits=tuple(fields["limits"]),
        samples=tuple(Sample(**sample) for sample in fields["samples"]),
        provenance=Provenance(**provenance) if provenance else None,
        **{word: fields[word] for word in _PLAIN},
    )


RECORDED: Final = "recorded answers"  # what stands for the model of a file of predictions


@dataclass(frozen=True)
class DataFacts:
    """One set of rows that a report rests on.

    Attributes:
        name: Of the file, without its folder.
        rows: How many.
        labelled: Whether they have labels.
        groups: How many groups (patients, devices) they come from; None where nobody said.
        role: What they are for, where that is not testing: ``"for training"``, ``"from the
            field"``.
        left_out: Rows of the file that are not among them, as ``(reason, count)``.

    >>> print(DataFacts("test.npz", 719, labelled=True, groups=312))
    test.npz, 719 labelled rows of 312 groups
    """

    name: str
    rows: int
    labelled: bool = False
    groups: int | None = None
    role: str = ""
    left_out: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        kind = f"{'labelled ' if self.labelled else ''}row{'' if self.rows == 1 else 's'}"
        of = "" if self.groups is None else f" of {self.groups:,} groups"
        purpose = f" {self.role}" if self.role else ""
        return f"{self.name}, {self.rows:,} {kind}{of}{purpose}"


@dataclass(frozen=True)
class About:
    """What was assessed, with what, and when. Kept beside the timings, out of ``result.json``.

    Attributes:
        model: The name of the model's file, its address or import name.
        data: Every set of rows.
        seed: Same seed, same result.
        began: When the run began, in ISO form; fixed then, so that tomorrow's page is today's.
        inputs: Identifies model, data and seed: a run on others begins anew.
        change: What became of the limits and answers since the last run in the same folder.

    >>> print(About("net.onnx", (DataFacts("test.npz", 719, labelled=True),), 0, "2026-11-16"))
    net.onnx · test.npz, 719 labelled rows · 16 November 2026 · seed 0
    """

    model: str
    data: tuple[DataFacts, ...]
    seed: int
    began: str = ""
    inputs: str = ""
    change: str = ""

    @property
    def day(self) -> str:
        """The day in words; empty where it is not known."""
        if not self.began:
            return ""
        day: date = datetime.fromisoformat(self.began).date()
        return f"{day.day} {day:%B %Y}"

    @property
    def facts(self) -> tuple[str, ...]:
        """Model, data, day and seed."""
        known = (self.model, *map(str, self.data), self.day, f"seed {self.seed}")
        return tuple(fact for fact in known if fact)

    def __str__(self) -> str:
        return " · ".join(self.facts)

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "About":
        """The inverse of `to_dict`."""
        data = tuple(
            DataFacts(**{**d, "left_out": tuple((why, n) for why, n in d.get("left_out", ()))})
            for d in fields["data"]
        )
        return cls(**{**fields, "data": data})


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }


def _list(of: Any) -> dict[str, Any]:
    return {"type": "array", "items": of}


def _named(of: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": of}


def _one_of(words: Any) -> dict[str, Any]:
    return {"enum": list(get_args(words))}


_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_NUMBER = {"oneOf": [{"type": "number"}, _object(**{"$float": {"enum": ["nan", "inf", "-inf"]}})]}


def result_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) that every ``result.json`` satisfies.

    >>> result_schema()["required"]
    ['accepted', 'order', 'parts', 'schema_version', 'title']
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fireassay result",
        **_object(
            schema_version={"const": SCHEMA_VERSION},
            title=_TEXT,
            order=_list(_TEXT),
            accepted=_named(_TEXT),
            parts=_named(_part()),
        ),
    }


def _part() -> dict[str, Any]:
    digest = {"type": ["string", "null"]}
    estimate = _object(
        **dict.fromkeys(("value", "low", "high"), _NUMBER),
        confidence={"type": "number", "minimum": 0, "maximum": 1},
        n=_COUNT,
        method=_TEXT,
        kind={"enum": ["interval", "bound", "count", "point"]},
        rests_on=_list(_TEXT),
    )
    states = _one_of(AssumptionStatus)
    provenance = _object(
        seed=_COUNT,
        model_sha256=digest,
        data_sha256=digest,
        queries=_COUNT,
        labels=_COUNT,
        versions=_named(_TEXT),
        host={"type": "object"},
    )
    sample = _object(
        row={"type": ["integer", "string"]},
        **dict.fromkeys(("why", "source", "truth", "said"), _TEXT),
        confidence={"type": ["number", "null"]},
        scores=_named(_NUMBER),
    )
    kinds = {"unit": _one_of(Unit), "better": _one_of(Better)}
    return _object(
        **dict.fromkeys(("headline", "answer", "sentence"), _TEXT),
        status=_one_of(EvidenceStatus),
        reason=_TEXT,
        claims=_list(_object(text=_TEXT, holds={"type": ["boolean", "null"]})),
        estimates=_named(estimate),
        assumptions=_list(_object(statement=_TEXT, status=states, check=_TEXT, id=_TEXT)),
        tables=_named(_object(columns=_list(_TEXT), rows=_list({"type": "array"}), caption=_TEXT)),
        measures=_list(_object(name=_TEXT, label=_TEXT, **kinds, meaning=_TEXT)),
        limits=_list(_TEXT),
        partial=_TEXT,
        stale=_TEXT,
        samples=_list(sample),
        withheld=_COUNT,
        provenance={"oneOf": [provenance, {"type": "null"}]},
    )
