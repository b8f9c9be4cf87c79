"""A look into a .pt2 archive before torch reads it: nothing in it may run code.

torch reads such archives with pickle, compiled libraries and ``eval`` of shape expressions where
the archive asks for them. Only what plain exported networks need is let through.
"""

import ast
import io
import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from fireassay.core.errors import ModelError
from fireassay.core.extras import require

_ENTRIES = re.compile(
    r"[^/]+/(data/weights/weight_\d+|data/weights/[\w.]+_weights_config\.json"
    r"|data/constants/tensor_\d+|data/constants/[\w.]+_constants_config\.json"
    r"|data/sample_inputs/[\w.]+\.pt|models/[\w.]+\.json|archive_format|archive_version"
    r"|byteorder|version|\.data/\w+|\.format_version|\.storage_alignment|extra/.*)"
)
_TARGETS = re.compile(r"torch\.ops\.(aten|prims)\.\w+(\.\w+)?|torch\.sym_\w+|math\.\w+")
# fmt: off
_OPERATORS = frozenset((
    "getitem", "add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "neg", "abs",
    "ge", "gt", "le", "lt", "eq", "ne", "and_", "or_",
))
_EXPRESSIONS = frozenset((
    "Symbol", "Integer", "Float", "Rational", "Add", "Mul", "Pow", "Mod", "PythonMod",
    "FloorDiv", "CleanDiv", "CeilDiv", "Max", "Min", "Abs", "Eq", "Ne", "Gt", "Ge", "Lt", "Le",
    "And", "Or", "Not", "ceiling", "floor", "CeilToInt", "FloorToInt", "TruncToInt", "ToFloat",
    "IntTrueDiv", "FloatTrueDiv", "FloatPow", "PowByNatural", "Where", "ModularIndexing",
    "Equality", "Unequality", "GreaterThan", "LessThan", "StrictGreaterThan", "StrictLessThan",
    "oo", "int_oo", "true", "false",
))
# fmt: on
_BARRED = ("from_file", "load", "save")
_CONTAINERS = frozenset(
    (None, "null", "builtins.tuple", "builtins.list", "builtins.dict", "collections.OrderedDict")
)


def suspicious_parts(content: bytes) -> list[str]:
    """What in the archive could run code; empty for a plain exported network.

    Raises
    ------
    ModelError
        If the archive is damaged.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return list(_findings(archive))
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, RecursionError) as damage:
        raise ModelError("The .pt2 file must be whole.", got=f"{damage}"[:300]) from damage


def _findings(archive: zipfile.ZipFile) -> Iterator[str]:
    entries = archive.infolist()
    if len({entry.filename for entry in entries}) < len(entries):
        yield "two entries of one name"
    for entry in entries:
        name = entry.filename
        if not _ENTRIES.fullmatch(name):
            yield f"the entry {name!r}"
        elif entry.compress_type != zipfile.ZIP_STORED:
            yield f"the compressed entry {name!r}"  # torch never compresses; a bomb would
        elif name.endswith(".json"):
            yield from _in_tree(json.loads(archive.read(entry)))
        elif name.endswith(".pt") and not _only_tensors(archive.read(entry)):
            yield f"objects other than tensors in {name!r}"


def _in_tree(tree: Any) -> Iterator[str]:
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node)
        elif isinstance(node, dict):
            pending.extend(node.values())
            yield from _in_node(node)


def _in_node(node: dict[str, Any]) -> Iterator[str]:
    if node.get("use_pickle"):
        yield f"the pickled tensor {node.get('path_name')!r}"
    target = node.get("target")
    if isinstance(target, str) and "inputs" in node and not is_plain_target(target):
        yield f"a call of {target!r}"
    expression = node.get("expr_str")
    if expression is not None and not is_plain_expression(str(expression)):
        yield f"the shape expression {str(expression)[:80]!r}"
    for key in ("in_spec", "out_spec"):
        if node.get(key) and not _is_plain_spec(str(node[key])):
            yield f"a custom container in {key}"
    if node.get("as_custom_obj") or node.get("as_operator"):
        yield "a custom object"


def is_plain_target(target: str) -> bool:
    """Whether an operation is one of torch's own array operations.

    >>> is_plain_target("torch.ops.aten.linear.default"), is_plain_target("torch.hub.load")
    (True, False)
    """
    head, _, name = target.partition(".")
    if head == "_operator":
        return name in _OPERATORS
    return bool(_TARGETS.fullmatch(target)) and not any(
        part in _BARRED for part in target.split(".")
    )


def is_plain_expression(text: str) -> bool:
    """Whether a shape expression is arithmetic on symbols and nothing else.

    >>> is_plain_expression("Symbol('s0', positive=True) + 1"), is_plain_expression("exit()")
    (True, False)
    """
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return all(_is_plain(node) for node in ast.walk(tree))


def _is_plain(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name)
    if isinstance(node, ast.Name):
        return node.id in _EXPRESSIONS or re.fullmatch(r"[suz]+\d+", node.id) is not None
    if isinstance(node, ast.Constant):
        text = node.value
        return not isinstance(text, str) or re.fullmatch(r"[A-Za-z]\w*", text) is not None
    return isinstance(
        node,
        ast.Expression
        | ast.BinOp
        | ast.UnaryOp
        | ast.Compare
        | ast.keyword
        | ast.operator
        | ast.unaryop
        | ast.cmpop
        | ast.expr_context,
    )


def _is_plain_spec(text: str) -> bool:
    """Whether inputs and outputs are nested only in tuples, lists and dicts."""
    return all(
        node["type"] in _CONTAINERS
        for node in _dicts(json.loads(text))
        if "type" in node and "children_spec" in node
    )


def _dicts(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
        tree = list(tree.values())
    if isinstance(tree, list):
        for item in tree:
            yield from _dicts(item)


def _only_tensors(content: bytes) -> bool:
    torch = require("torch", "torch", "A .pt2 model")
    try:
        torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except Exception:  # noqa: BLE001 - whatever torch's restricted reader refuses is not plain
        return False
    return True
