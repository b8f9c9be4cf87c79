"""Marks of a part's charts lead to the rows that they stand for."""

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from fireassay.core import Chart
from fireassay.web.sample_set import SampleSet

Datum = Mapping[str, Any]
Fields = dict[str, str]
_TROUBLES = {
    "errors": {"right": "wrong"},
    "adversarial": {"mark": "fell to an attack"},
    "strong adversarial": {"mark": "fell to an attack"},
    "curated": {"part": "curation"},
}


def linked(chart: Chart, part: str, name: str, run: str, rows: SampleSet | None) -> Chart:
    """The chart with an address for each mark; as it is where the rows are not known."""
    rule = _RULES.get((part, name)) or _RULES.get((part, ""))
    if rule is None or rows is None:
        return chart
    spec = copy.deepcopy(dict(chart.body))

    def address(datum: Datum) -> str | None:
        fields = {key: value for key, value in rule(datum).items() if value}
        known = rows.facets
        wanted = [key for key in fields if key != "sort"]
        wanted += [fields["sort"].removeprefix("-")] if "sort" in fields else []
        if any(key not in known for key in wanted):
            return None
        return f"/runs/{run}/samples?{urlencode(fields)}"

    _link(spec, address, inherited=False)
    return replace(chart, body=spec)


def _link(spec: dict[str, Any], address: Callable[[Datum], str | None], *, inherited: bool) -> None:
    """Give each row of the data its address, and each mark on such data the channel for it."""
    has = inherited
    values = spec.get("data", {}).get("values") if isinstance(spec.get("data"), dict) else None
    if isinstance(values, list):
        has = False
        for datum in values:
            found = address(datum) if isinstance(datum, dict) else None
            if found is not None:
                datum["href"] = found
                has = True
    encoding = spec.get("encoding", {})
    summed = any(isinstance(c, dict) and "aggregate" in c for c in encoding.values())
    if "mark" in spec and has and not summed:
        spec["encoding"] = {**encoding, "href": {"field": "href", "type": "nominal"}}
    for key in ("layer", "hconcat", "vconcat", "concat"):
        for inner in spec.get(key, ()):
            _link(inner, address, inherited=has)
    if isinstance(spec.get("spec"), dict):
        _link(spec["spec"], address, inherited=has)


def _of_confidence(datum: Datum) -> Fields:
    """The tenth that a dot of the reliability diagram stands for."""
    if "x" not in datum or "line" not in datum:
        return {}
    tenth = min(9, math.floor(10 * float(datum["x"]) + 1e-9))
    return {"confidence": f"{tenth / 10:g}..{(tenth + 1) / 10:g}"}


def _of_dataset(datum: Datum) -> Fields:
    return {"dataset": f"{round(float(datum['x']))}"} if "x" in datum else {"part": "curation"}


def _of_trouble(datum: Datum) -> Fields:
    return _TROUBLES.get(str(datum.get("label")), {"mark": "raises the alarm"})


_RULES: dict[tuple[str, str], Callable[[Datum], Fields]] = {
    ("accuracy", "recall"): lambda d: {"truth": str(d.get("label", ""))},
    ("accuracy", "reliability diagram"): _of_confidence,
    ("accuracy", ""): lambda _: {"part": "accuracy"},
    ("curation", "accuracy"): _of_dataset,
    ("curation", "robustness"): _of_dataset,
    ("curation", ""): lambda _: {"part": "curation"},
    ("ambiguity", ""): lambda d: {
        "truth": str(d.get("down", "")),
        "said": str(d.get("across", "")),
    },
    ("supervision", "caught"): _of_trouble,
    ("supervision", "heat_map"): lambda d: {"sort": f"-score.{d.get('down', '')}"},
    ("supervision", ""): lambda _: {"part": "supervision"},
    ("discovery", ""): lambda _: {"part": "discovery"},
    ("reliability", ""): lambda _: {"right": "wrong"},
    ("survival", ""): lambda _: {"part": "survival"},
}
