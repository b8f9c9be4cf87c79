"""A million test rows and a million field rows through the whole assessment.

``python benchmarks/million_rows.py [ROWS]`` (some CPU minutes, 2 GB) prints the seconds of the
processor of every step and part and the most memory; docs/pairs.md has the row of that name.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "pairs"))

from extremes import many_rows
from walk import in_a_process


def main(rows: int) -> int:
    """Every step in a process of its own; the parts' own times are those of the run folder."""
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CONFIG_HOME"] = str(Path(name) / "settings")
        setup = many_rows(Path(name), rows)
        os.chdir(name)
        for step in ("init", "plan", "run", "report"):
            found = in_a_process([step, *(setup.arguments if step == "init" else [])])
            print(f"{step:<8}{found.seconds:8.1f} s {found.megabytes:8.0f} MB  exit {found.code}")
            if found.code:
                print(found.said[-2000:])
        costs = json.loads(Path("fireassay-run/costs.json").read_text())
        for part, cost in costs.items():
            actual = cost["actual"]
            print(f"  {part:<13}{actual['seconds']:8.1f} s {actual['memory_mb']:8.0f} MB")
        result = json.loads(Path("fireassay-run/result.json").read_text())["parts"]
        for part, said in result.items():
            print(f"  {part:<13}{said['status']}: {said['headline'][:150]}")
        print(subprocess.run(["du", "-sm", "fireassay-run"], capture_output=True, text=True).stdout)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
