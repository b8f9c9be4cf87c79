"""Look for the worlds in which a bound misses most, or a check objects without reason.

    python benchmarks/adversary/search.py                    # every entry, hours
    python benchmarks/adversary/search.py --only group_upper --minutes 2
    python benchmarks/adversary/search.py --again            # the worst worlds, on fresh draws

Random worlds, then moves of the worst of them, all on the same random numbers; in the end the
worst worlds again on 20,000 fresh draws. What was found is added to worst.json and never leaves.
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
from registry import ENTRIES, Entry
from space import World, drawn, moved, world_at

from fireassay.core.files import write_text
from fireassay.core.seeds import generator

WORST = Path(__file__).with_name("worst.json")
LOG = Path(__file__).parents[1] / "results" / "adversary.json"
FRESH, KEPT = 20_000, 2


def misses(
    entry: Entry, world: World, draws: int, seed: int, name: str, seconds: float = math.inf
) -> tuple[int, int]:
    """Misses of so many draws (fewer if the seconds are over), in blocks that fit into memory."""
    total, begun = 0, time.process_time()
    for block, start in enumerate(range(0, draws, entry.block)):
        if start and time.process_time() - begun > seconds:
            return total, start
        rng = generator(seed, "adversary", name, block)
        total += int(entry.missed(world, min(entry.block, draws - start), rng).sum())
    return total, draws


def search(entry: Entry, seconds: float, seed: int) -> tuple[list[dict[str, float]], int]:
    """The worst worlds found in so many CPU seconds, and how many were tried."""
    rng = generator(seed, "search", entry.name)
    start, tried, pool = time.process_time(), 0, []

    def rate(places: dict[str, float], draws: int) -> float:
        return misses(entry, world_at(entry.space, places), draws, seed, "common")[0] / draws

    while time.process_time() - start < 0.4 * seconds or len(pool) < 5:
        places = drawn(entry.space, rng)
        pool.append((rate(places, entry.few), len(pool), places))
        tried += 1
    best = sorted(pool, reverse=True)[:4]
    climbers = [(rate(places, entry.many), number, places) for _, number, places in best]
    while time.process_time() - start < seconds:
        at = int(rng.integers(len(climbers)))
        score, number, places = climbers[at]
        other = moved(places, rng)
        found = rate(other, entry.many)
        tried += 1
        if found >= score:
            climbers[at] = (found, number, other)
    ranked = sorted(climbers, reverse=True)[: KEPT if entry.called == "bound" else 1]
    return [world_at(entry.space, places) for _, _, places in ranked], tried


def record(entry: Entry, world: World, seed: int, seconds: float) -> dict[str, object]:
    """A world with the misses of fresh draws."""
    found, draws = misses(entry, world, min(FRESH, entry.most), seed, "fresh", seconds)
    return {
        "entry": entry.name,
        "world": {name: float(f"{value:.6g}") for name, value in world.items()},
        "words": entry.words(world),
        "misses": found,
        "draws": draws,
        "rate": round(found / draws, 5),
        "error": round(math.sqrt(max(found, 1) * (1 - found / draws)) / draws, 5),
        "nominal": entry.nominal,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--minutes", type=float, default=30.0, help="CPU minutes for each entry")
    parser.add_argument("--fresh", type=float, default=600.0, help="CPU s at most for each fresh")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", action="store_true", help="the known worlds, on fresh draws")
    parser.add_argument("--new", action="store_true", help="only what was never searched")
    asked = parser.parse_args()
    worst = json.loads(WORST.read_text()) if WORST.exists() else []
    log = json.loads(LOG.read_text()) if LOG.exists() else []
    for entry in sorted(ENTRIES, key=lambda entry: entry.called == "objection"):
        searched = any(found["entry"] == entry.name for found in log)
        if asked.only not in entry.name or (asked.new and searched):
            continue
        start = time.process_time()
        known = [found["world"] for found in worst if found["entry"] == entry.name]
        tried = 0
        if asked.again or (not known and entry.known):
            new = known or list(entry.known)
            worst = [found for found in worst if found["entry"] != entry.name]
        else:
            new = []
        if not asked.again:
            found, tried = search(entry, 60 * asked.minutes, asked.seed)
            new += found
        worst += [record(entry, world, asked.seed + 1, asked.fresh) for world in new]
        worst.sort(key=lambda one: (one["entry"], -one["rate"]))
        of_entry = [one for one in worst if one["entry"] == entry.name]
        seconds = time.process_time() - start
        log.append(
            {
                "entry": entry.name,
                "seed": asked.seed,
                "worlds": tried,
                "cpu_hours": round(seconds / 3600, 4),
                "worst": of_entry[0]["rate"],
                "nominal": entry.nominal,
                "called": entry.called,
                "words": of_entry[0]["words"],
            }
        )
        write_text(WORST, json.dumps(worst, indent=1, ensure_ascii=False) + "\n")
        write_text(LOG, json.dumps(log, indent=1, ensure_ascii=False) + "\n")
        print(f"{entry.name}: {of_entry[0]['rate']:.4f} of {entry.nominal} ({tried} worlds)")
        print("   ", of_entry[0]["words"])


if __name__ == "__main__":
    np.seterr(under="ignore")
    main()
