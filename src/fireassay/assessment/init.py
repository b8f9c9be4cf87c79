"""Look at a model and its data, and write the configuration that fits them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from fireassay.assessment.config import Config, RunSection
from fireassay.assessment.context import Context, handed_to, load_perturb, load_sets, unused_columns
from fireassay.assessment.inspection import (
    PATIENCE_MINUTES,
    Inspection,
    another_way,
    columns_of,
    form_in_words,
    in_notes,
    inspect,
    maker,
    rows_in_words,
)
from fireassay.assessment.parts.table import PARTS, settings_models
from fireassay.assessment.plan.power import ProposedGate, propose_gates
from fireassay.assessment.run.preflight import asked, check_before_run, strictest, verified_order
from fireassay.assessment.sections import DataSection, DecisionSection, GatesSection, ModelSection
from fireassay.classifiers import Classifier
from fireassay.classifiers.trust import make_importable
from fireassay.core import DataError, ModelError
from fireassay.data import DataSet
from fireassay.data.handed import Handed
from fireassay.data.pixel_range import as_normalisation

_HEADER = """\
# What fireassay assesses, with what, and the limits to keep.
# Every key is listed; those that are commented out show their default.
# fireassay plan: what it will cost. fireassay run: do it. fireassay check: judge the gates.
"""


def write_config(
    values: Mapping[str, Mapping[str, Any]], proposed: Sequence[ProposedGate] = ()
) -> str:
    """The text of a configuration file with some values set; proposed limits are commented out."""
    # Nobody but the user says what is good enough.
    sections: dict[str, type[BaseModel]] = {
        "model": ModelSection,
        "data": DataSection,
        "decision": DecisionSection,
        "run": RunSection,
        **settings_models(),
    }
    blocks = [_section(name, of, values.get(name, {})) for name, of in sections.items()]
    return "\n".join([_HEADER, *blocks, _gates(values.get("gates", {}), proposed)])


def _gates(values: Mapping[str, Any], proposed: Sequence[ProposedGate]) -> str:
    """The last tables, so that limits can be added at the end of the file."""
    lines = ["# Limits on numbers, judged by fireassay check. Without any, nothing is a pass."]
    fields = dict(GatesSection.model_fields)
    looks, planned = fields.pop("looks"), values.get("looks")
    lines += ["[gates]", f"# {looks.description}"]
    lines += ["# looks = 20" if planned is None else f"looks = {planned}"]
    for name, field in fields.items():
        lines += [f"# {field.description}", f"[gates.{name}]"]
        given = values.get(name, {})
        fitting = [gate for gate in proposed if gate.direction == name]
        if not given and fitting:
            for gate in fitting:
                lines += [f"# {gate.why}", f"# {_toml(gate.name)} = {_toml(gate.limit)}"]
            continue
        shown, mark = (given, "") if given else ((field.examples or [{}])[0], "# ")
        lines += [f"{mark}{_toml(key)} = {_toml(value)}" for key, value in shown.items()]
    return "\n".join(lines) + "\n"


def _section(name: str, section: type[BaseModel], values: Mapping[str, Any]) -> str:
    lines, inner = [f"[{name}]"], []
    for key, field in section.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            inner.append(_section(f"{name}.{key}", field.annotation, values.get(key) or {}))
            continue
        if field.description:
            lines.append(f"# {field.description}")
        if key in values and values[key] is not None:
            lines.append(f"{key} = {_toml(values[key])}")
            continue
        default = field.get_default(call_default_factory=True)
        shown = "" if default in (None, PydanticUndefined) else _toml(default)
        lines.append(f"# {key} = {shown}".rstrip())
    return "\n".join(["\n".join(lines) + "\n", *inner])


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{json.dumps(str(k))} = {_toml(v)}" for k, v in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(item) for item in value)}]"
    if isinstance(value, int | float):
        return repr(value)
    # A JSON string is a TOML basic string, but for DEL.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def config_schema() -> dict[str, Any]:
    """JSON Schema of ``fireassay.toml``: the common tables, and one table per question."""
    schema = Config.model_json_schema()
    for inner in ("settings", "folder", "file_name"):
        schema["properties"].pop(inner, None)
    for name, settings in settings_models().items():
        part = settings.model_json_schema()
        schema.setdefault("$defs", {}).update(part.pop("$defs", {}))
        schema["properties"][name] = part
    schema["title"] = "fireassay.toml"
    return schema


_VOUCHED = "said with --independent: no two rows belong together"
_LEAST_ROWS, _ONE_ROW_IN = 16, 32  # asked about by init: a run asks about all that it needs


@dataclass(frozen=True)
class Initialised:
    """The configuration's text, what was inferred, and what each part still needs."""

    text: str
    inspection: Inspection
    missing: dict[str, str | None]


def initialise(
    model: str,
    data: Mapping[str, Any],
    *,
    output: str | None = None,
    bounds: tuple[float, float] | None = None,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    classes: Sequence[str] | None = None,
    accept_below_baseline: bool = False,
    independent: bool = False,
    http: Mapping[str, Any] | None = None,
    rows: str | None = None,
    layout: str | None = None,
    pixels: str | None = None,
    trust: bool = False,
    folder: Path = Path(),
    seed: int = 0,
    say: Callable[[str], None] | None = None,
    hang_minutes: float = PATIENCE_MINUTES,
) -> Initialised:
    """Inspect, choose the parts that can be answered, and say what the others need.

    Args:
        model: As in ``[model] path``: a file, an address, or ``"package.module:name"``.
        data: With the keys of the ``[data]`` table; paths are relative to ``folder``.
        output, bounds: The model's kind of output and its allowed input values, where they are not
            to be inferred.
        mean, std: Of normalised images, one number per channel each.
        classes: Names of the model's columns in their order; by default the model's own, else the
            labels'. Labelled rows then show whether that order can be right.
        accept_below_baseline: Go on where the model agrees with the labels less than chance does.
        independent: No two rows belong to one patient, device or document: no limit then says "if".
        http: With the keys of the ``[model.http]`` table, for a model behind an address.
        rows, layout, pixels: As in the ``[model]`` table: how rows are handed to the model. Left
            out, rows go as they are; to a model that refuses them a few rows are sent in other
            ways, and the only way that gives valid answers is taken.
        trust: As in `as_classifier`.
        seed: Of the run, as the configuration will have it.
        folder: Where the configuration will be.
        say: Gets each finding as a line, as soon as it is made.
        hang_minutes: Most minutes for the model to load, and to answer a few rows.

    Returns:
        Initialised: The text of ``fireassay.toml``, what was inferred, and what each part still
            needs.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     _ = (folder / "test.csv").write_text("x,y\\n.1,0\\n.2,0\\n.3,1\\n.8,1\\n")
    ...     _ = (folder / "left.py").write_text(
    ...         "import numpy as np\\ndef model(X): return np.hstack([1 - X, X])\\n")
    ...     started = initialise("left:model", {"test": "test.csv"}, folder=folder, trust=True)
    >>> started.inspection.output, started.missing["accuracy"]
    ('probabilities', None)
    """
    tell = say or (lambda _: None)
    section = DataSection.model_validate({k: v for k, v in data.items() if v is not None})
    model_path = str(folder / model) if (folder / model).exists() else model
    normalisation = as_normalisation(mean, std, bounds)
    make_importable(model, folder, trust=trust)
    columns = columns_of(model_path, output=output, trust=trust, hang_minutes=hang_minutes)
    sets = load_sets(section, folder, columns, seed)
    tell(rows_in_words(len(sets["test"]), sets["test"].y is not None))
    tell(form_in_words(sets["test"]))
    handed = Handed(rows, layout, pixels)
    sets = handed_to(None, sets, handed, normalisation)

    def look() -> tuple[Inspection, Classifier]:
        return inspect(
            model_path,
            sets["test"],
            trust=trust,
            output=output,
            bounds=bounds,
            infer=normalisation is None,
            classes=None if classes is None else as_labels(classes, sets["test"]),
            http=http,
            hang_minutes=hang_minutes,
            handed=handed,
        )

    try:
        found, classifier = look()
    except (ModelError, DataError) as refused:
        if handed != Handed():
            raise
        made = maker(model_path, trust=trust, hang_minutes=hang_minutes, **(http or {}))
        handed, tried = another_way(refused, sets["test"], made)
        tell(f"handed      {tried}")
        sets = handed_to(None, sets, handed, normalisation)
        found, classifier = look()
    for line in found.of_model():
        tell(line)
    if sets["test"].rows.form == "image" and handed.layout and not (pixels or normalisation):
        note = "pixels are sent as numbers from 0 to 1; a model of others needs --pixels"
        found = replace(found, notes=(*found.notes, note))
    unused = unused_columns(section, folder, sets["test"])
    context = check_before_run(
        Context(
            classifier,
            **sets,
            seed=seed,
            normalisation=normalisation,
            perturb=load_perturb(section.perturb, folder, trust=trust),
            repeats=0,
        ),
        most=_LEAST_ROWS + len(sets["test"]) // _ONE_ROW_IN,
        accept_below_baseline=accept_below_baseline,
    )
    found = replace(found, notes=(*found.notes, *_said_of(context, unused)))
    for line in in_notes(found.notes):
        tell(line)
    missing: dict[str, str | None] = {}
    for name in PARTS:
        missing[name] = reason = PARTS[name].missing(context)
        tell(f"{name:<12}{'can be answered' if reason is None else f'needs more: {reason}'}")
    values = {
        "model": _model_values(
            found, handed, sets["test"], path=model, mean=mean, std=std, http=http
        ),
        "data": section.model_dump() | {"label": section.label or sets["test"].label_column},
        "gates": {"accept": {"independent-rows": _VOUCHED}} if independent else {},
        "run": {
            "seed": seed or None,
            "parts": [name for name, reason in missing.items() if reason is None],
        },
    }
    return Initialised(write_config(values, propose_gates(sets["test"])), found, missing)


def _said_of(context: Context, unused: Sequence[str]) -> tuple[str, ...]:
    """What the checks before a run have found, as sentences."""
    within, left_out = context.natural_range, ", ".join(unused[:8])
    return (
        *((f"columns that the model does not take, left out: {left_out}",) if unused else ()),
        *(() if within is None else (f"attacks and corruptions work within {within.found}",)),
        *context.notes,
        *strictest(context.test),
        *asked(context.test),
        *(doubt.check for doubt in context.doubts),
        *_order_in_words(context),
    )


def _model_values(found: Inspection, handed: Handed, test: DataSet, **given: Any) -> dict[str, Any]:
    """The keys of ``[model]``: what was given, and what was inferred."""
    return {
        "output": found.output,
        "classes": [c if isinstance(c, int | str) else str(c) for c in found.classes],
        "bounds": found.bounds,
        "rows": handed.rows or ("texts" if test.rows.is_text else None),
        "layout": handed.layout,
        "pixels": handed.pixels,
        "batch_size": handed.batch_size,
        **given,
    }


def as_labels(classes: Sequence[str], data: DataSet) -> tuple[str | int, ...]:
    """Names as somebody typed them; integers where the labels are integers."""
    numbers = data.y is not None and data.y.dtype.kind in "iub"
    if numbers and all(name.strip().lstrip("-").isdigit() for name in classes):
        return tuple(int(name) for name in classes)
    return tuple(classes)


def _order_in_words(context: Context) -> tuple[str, ...]:
    """Whether the labelled rows confirm the order of the classes."""
    order = verified_order(context)
    if order is None:
        return ("the order of the classes is not verified: there are no labels",)
    share = f"{100 * order.agreement:.1f} % of {order.n} labelled rows agree"
    if order.is_verified:
        return (f"the order of the classes is verified: {share}",)
    few = "" if order.n == len(context.test) else "; a run looks at more"
    return (f"the order of the classes is NOT verified: {share}, no more than chance{few}",)
