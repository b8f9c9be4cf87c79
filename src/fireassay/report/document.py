"""The report as one strict-JSON document, and back."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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
    strict_json,
)
from fireassay.core.regular_file import check_regular

SCHEMA_VERSION = 3


def to_document(
    evidence: Sequence[Evidence], title: str, accepted: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Plain types: ``parts.<name>.status``, ``parts.<name>.estimates.<number>.value`` and so on."""
    parts = {}
    for item in evidence:
        fields = item.to_dict()
        parts[fields.pop("question")] = fields
    order = [item.question for item in evidence]
    return {
        "schema_version": SCHEMA_VERSION,
        "title": title,
        "order": order,
        "accepted": dict(accepted or {}),
        "parts": parts,
    }


def from_document(document: Any) -> tuple[list[Evidence], str, dict[str, str]]:
    """Parts, title and accepted assumptions (charts and pictures are not part of the document).

    Raises
    ------
    DataError
        If the document is not a fireassay result of a known version.
    """
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
    return from_document(strict_json.loads(text))


def _evidence(name: str, fields: dict[str, Any]) -> Evidence:
    tables = {
        key: Table(tuple(t["columns"]), tuple(tuple(row) for row in t["rows"]), t["caption"])
        for key, t in fields["tables"].items()
    }
    provenance = fields["provenance"]
    return Evidence(
        question=name,
        headline=fields["headline"],
        status=fields["status"],
        reason=fields["reason"],
        claims=tuple(Claim(**claim) for claim in fields["claims"]),
        estimates={key: Estimate.from_dict(e) for key, e in fields["estimates"].items()},
        assumptions=tuple(Assumption(**assumption) for assumption in fields["assumptions"]),
        tables=tables,
        measures=tuple(Measure(**measure) for measure in fields["measures"]),
        limits=tuple(fields["limits"]),
        partial=fields["partial"],
        stale=fields["stale"],
        samples=tuple(Sample(**sample) for sample in fields["samples"]),
        withheld=fields["withheld"],
        answer=fields["answer"],
        sentence=fields["sentence"],
        provenance=Provenance(**provenance) if provenance else None,
    )
