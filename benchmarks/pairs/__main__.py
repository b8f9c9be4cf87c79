"""Models and data as people have them, each through init, plan, run, report and serve.

``python benchmarks/pairs [NAME …]`` (some CPU minutes) writes docs/pairs.md; what was found about
other pairs is kept in results/pairs.json. A pair is one function in one of the files here: it
writes the files into a folder and says what init is called with. The accuracy of each is computed
by scikit-learn or numpy on the bare model, beside fireassay.
"""

import json
import sys
from pathlib import Path

import arrays  # noqa: F401
import extremes  # noqa: F401
import libraries  # noqa: F401
import refused  # noqa: F401
import tables  # noqa: F401
import texts  # noqa: F401
from page import page
from pair import PAIRS
from walk import Outcome, walk

KEPT = Path(__file__).parents[1] / "results" / "pairs.json"
PAGE = Path(__file__).parents[2] / "docs" / "pairs.md"


def main(names: list[str]) -> int:
    """Walk, print, keep what was found, and write the page of all that is kept."""
    wrong = 0
    for name in names or list(PAIRS):
        found = walk(PAIRS[name])
        equal = found.accuracy == found.bare or (
            found.accuracy is not None
            and found.bare is not None
            and abs(found.accuracy - found.bare) < 1e-9
        )
        broken = not equal or any(why.startswith("failed") for why in found.parts.values())
        wrong += broken
        print(
            f"{'WRONG' if broken else 'ok':<6}{name}: {found.accuracy} (bare {found.bare}) "
            f"{sum(found.seconds.values()):.1f} s, {found.megabytes:.0f} MB {found.said[:200]} "
            f"{found.parts}",
            flush=True,
        )
        kept = json.loads(KEPT.read_text()) if KEPT.is_file() else {}
        kept[name] = found.as_dict()
        kept = {n: kept[n] for n in PAIRS if n in kept}
        KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
        PAGE.write_text(page({n: Outcome(**o) for n, o in kept.items()}))
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
