"""Names that benchmarks, studies, examples and docs take from the package are there."""

import ast
import importlib
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPTS = [
    path for folder in ("benchmarks", "studies", "examples", "docs")
    for path in sorted((ROOT / folder).rglob("*.py"))
]  # fmt: skip


def missing(module, name):
    home = importlib.import_module(module)
    return not hasattr(home, name) and importlib.util.find_spec(f"{module}.{name}") is None


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_script_imports_is_there(path):
    taken = [
        (node.module, name.name)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fireassay")
        for name in node.names
    ]
    assert [f"{module}.{name}" for module, name in taken if missing(module, name)] == []
