"""The JSON Schema of ``result.json``, for tools in any language."""

from typing import Any, get_args

from fireassay.core.measure import Better, Unit
from fireassay.report.document import SCHEMA_VERSION

_TEXT = {"type": "string"}
_NUMBER = {
    "oneOf": [
        {"type": "number"},
        {
            "type": "object",
            "properties": {"$float": {"enum": ["nan", "inf", "-inf"]}},
            "required": ["$float"],
            "additionalProperties": False,
        },
    ]
}


def result_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) that every ``result.json`` satisfies.

    >>> result_schema()["required"]
    ['accepted', 'order', 'parts', 'schema_version', 'title']
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fireassay result",
        **_object(
            {
                "schema_version": {"const": SCHEMA_VERSION},
                "title": _TEXT,
                "order": {"type": "array", "items": _TEXT},
                "accepted": {"type": "object", "additionalProperties": _TEXT},
                "parts": {"type": "object", "additionalProperties": _part()},
            }
        ),
    }


def _part() -> dict[str, Any]:
    estimate = _object(
        {
            "value": _NUMBER,
            "low": _NUMBER,
            "high": _NUMBER,
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "n": {"type": "integer", "minimum": 0},
            "method": _TEXT,
            "kind": {"enum": ["interval", "bound", "count", "point"]},
            "rests_on": {"type": "array", "items": _TEXT},
        }
    )
    claim = _object({"text": _TEXT, "holds": {"type": ["boolean", "null"]}})
    assumption = _object(
        {
            "statement": _TEXT,
            "status": {"enum": ["supported", "contradicted", "untestable"]},
            "check": _TEXT,
            "id": _TEXT,
        }
    )
    measure = _object(
        {
            "name": _TEXT,
            "label": _TEXT,
            "unit": {"enum": list(get_args(Unit))},
            "better": {"enum": list(get_args(Better))},
            "meaning": _TEXT,
        }
    )
    table = _object(
        {
            "columns": {"type": "array", "items": _TEXT},
            "rows": {"type": "array", "items": {"type": "array"}},
            "caption": _TEXT,
        }
    )
    provenance = _object(
        {
            "seed": {"type": "integer", "minimum": 0},
            "model_sha256": {"type": ["string", "null"]},
            "data_sha256": {"type": ["string", "null"]},
            "queries": {"type": "integer", "minimum": 0},
            "labels": {"type": "integer", "minimum": 0},
            "versions": {"type": "object", "additionalProperties": _TEXT},
            "host": {"type": "object"},
        }
    )
    sample = _object(
        {
            "row": {"type": ["integer", "string"]},
            "why": _TEXT,
            "source": _TEXT,
            "truth": _TEXT,
            "said": _TEXT,
            "confidence": {"type": ["number", "null"]},
            "scores": {"type": "object", "additionalProperties": _NUMBER},
        }
    )
    return _object(
        {
            "headline": _TEXT,
            "answer": _TEXT,
            "sentence": _TEXT,
            "status": {"enum": ["done", "failed", "not available"]},
            "reason": _TEXT,
            "claims": {"type": "array", "items": claim},
            "estimates": {"type": "object", "additionalProperties": estimate},
            "assumptions": {"type": "array", "items": assumption},
            "tables": {"type": "object", "additionalProperties": table},
            "measures": {"type": "array", "items": measure},
            "limits": {"type": "array", "items": _TEXT},
            "partial": _TEXT,
            "stale": _TEXT,
            "samples": {"type": "array", "items": sample},
            "withheld": {"type": "integer", "minimum": 0},
            "provenance": {"oneOf": [provenance, {"type": "null"}]},
        }
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }
