"""Small files that declare much, and the most memory that reading each of them takes.

    python tests/faults/bombs.py

Prints a table; each file is read by a process of its own (see tests/data/test_bombs.py).
"""

import importlib.util
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def bombs() -> Any:
    """The module that makes them."""
    path = HERE.parent / "data" / "test_bombs.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Make, read and measure them all."""
    module = bombs()
    makers = [getattr(row, "values", (row,))[0] for row in module.REFUSED]
    header = f"{'bomb':<34}{'file KB':>9}{'before MiB':>12}{'peak MiB':>10}  said\n"
    sys.stdout.write(header)
    for make in makers:
        with tempfile.TemporaryDirectory() as name:
            path = make(Path(name))
            found = module.peak(path)
            files = [path] if path.is_file() else [f for f in path.rglob("*") if f.is_file()]
            size = sum(file.stat().st_size for file in files) / 1000
        said = found["said"].replace(str(name), "")[:60]
        row = f"{make.__name__:<34}{size:>9.0f}{found['before']:>12.0f}{found['peak']:>10.0f}"
        sys.stdout.write(f"{row}  {said}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
