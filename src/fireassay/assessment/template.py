"""The configuration file that ``init`` writes: every key, with what it means."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from fireassay.assessment.config import (
    DataSection,
    DecisionSection,
    GatesSection,
    ModelSection,
    RunSection,
)
from fireassay.assessment.parts import settings_models
from fireassay.assessment.proposed_gates import ProposedGate

_HEADER = """\
# What fireassay assesses, with what, and the limits to keep.
# Every key is listed; those that are commented out show their default.
# fireassay plan: what it will cost. fireassay run: do it. fireassay check: judge the gates.
"""


def write_config(
    values: Mapping[str, Mapping[str, Any]], proposed: Sequence[ProposedGate] = ()
) -> str:
    """The text of a configuration file with some values set, e.g. ``{"model": {"path": …}}``.

    Proposed limits stand in it commented out: nobody but the user says what is good enough.
    """
    sections: dict[str, type[BaseModel]] = {
        "model": ModelSection,
        "data": DataSection,
        "decision": DecisionSection,
        "run": RunSection,
        **settings_models(),
    }
    blocks = [_HEADER]
    for name, section in sections.items():
        blocks.append(_section(name, section, values.get(name, {})))
    return "\n".join([*blocks, _gates(values.get("gates", {}), proposed)])


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
