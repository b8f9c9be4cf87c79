"""The benchmark page: fireassay beside other libraries."""

from typing import Any

from figures import machine_line, markdown, seconds, stored


def rivals() -> str:
    record = stored("rivals")
    if record is None:
        return ""
    rows = [_rival(row, f'python benchmarks/rivals --only "{row["peer"]}"')
            for row in record["rows"]]  # fmt: skip
    rows += [_rival(row, "python benchmarks/attack_speed.py") for row in _attacks()]
    below = sum(row["ratio"] < 1 for row in (*record["rows"], *_attacks()))
    head = ["package", "work", "best alternative", "ours", "theirs", "ratio [95 %]", "target",
            "agreement; why, where we are slower", "measured", "command"]  # fmt: skip
    return (
        "## Against the best alternatives, side by side in one run\n\n" + machine_line(record)
        + "\nEvery row was done whole by both, ours with its default settings. \"By hand\" is what "
        "a competent user writes in twenty lines: benchmarks/rivals/by_hand.py. A ratio under 1 "
        f"means that the other is faster: {below} of {len(rows)} rows.\n"
        f"\n{markdown(head, rows)}\nEach ratio is the geometric mean of 3 or more turns with a t "
        "interval on the log scale; a row without an interval was run once. Decision-based attacks "
        "are compared at equal distance, in docs/attacks.md.\n" + _dsa_floor(record)
    )  # fmt: skip


def _dsa_floor(record: dict[str, Any]) -> str:
    """Why no program can be much faster than twelve lines where all directions are alike."""
    counts = stored("dsa_bounds")
    row = next((row for row in record["rows"] if row["peer"] == "numpy float32, DSA"), {})
    if counts is None or "floor_cpu_s" not in row:
        return ""
    bounds = "; ".join(
        f"{one['directions']} directions leave {one['pairs']:.1%} of the pairs, and "
        f"{one['columns_of_a_block']:.0%} of the columns of a block of 128 rows"
        for one in counts["bounds"]
    )
    least = min(one["directions"] / 128 + one["columns_of_a_block"] for one in counts["bounds"])
    own, other = counts["own_gflop"], counts["other_gflop"]
    left = (own + least * other) / (own + other)
    return (
        f"\n**DSA where all directions are alike.** Each row needs its products with the training "
        f"rows of its class ({counts['own_gflop']:.1f} Gflop), and each of the {counts['met']:,} "
        f"training rows that are met needs those with all other classes "
        f"({counts['other_gflop']:.1f} Gflop). These alone took {row['floor_cpu_s']:.3f} s in the "
        f"same run, of {row['peer_cpu_s']:.3f} s of the twelve lines: a program that did nothing "
        f"else would be ×{row['peer_cpu_s'] / row['floor_cpu_s']:.2f} as fast. To do fewer, a "
        "bound must rule pairs out, and the part of two rows outside of the looked-at directions "
        "may always be alike. Even if the smallest distance were known before "
        f"(`python benchmarks/dsa_bounds.py`): {bounds}. The bound itself takes its directions' "
        f"share of 128, so that at best {least:.0%} of the second products remain: "
        f"×{row['peer_cpu_s'] / row['floor_cpu_s'] / left:.2f}, before a pass over all pairs, the "
        "gathering of columns, and distances that are not known beforehand. So products that are "
        "all done cannot reach ×1.5; whether a bound by class centres would is open, since it has "
        "not been built. Activations of a network spread in few directions: there a bound is "
        "used, and pays.\n"
    )


def _rival(row: dict[str, Any], command: str) -> list[str]:
    target = "" if row.get("target") is None else f"≥ {row['target']:g}"
    form = "{:,.2f}" if row["ratio"] < 10 else "{:,.0f}"
    ratio = form.format(row["ratio"])
    spread = ""
    if row["low"] is not None:
        spread = f" [{form.format(row['low'])}, {form.format(row['high'])}]"
    said = row["agreement"]
    if row["ratio"] < 1 or (row.get("target") or 0) > row["ratio"]:
        said = "; ".join(part for part in (said, row.get("why", "")) if part)
    return [
        row["package"], row["work"], row["peer"], seconds(row["ours_cpu_s"]),
        seconds(row["peer_cpu_s"]), f"**×{ratio}**{spread}", target, said, row["date"],
        f"`{command}`",
    ]  # fmt: skip


_WHY = {
    "loop": "why: docs/attacks.md",
    "foolbox": "rows go in blocks of 128, 64, 32 …, so that an answer does not depend on how many "
    "are asked: 200 are three calls, and a small network's calls cost as much as its rows",
}


def _attacks() -> list[dict[str, Any]]:
    """PGD, FGM and DeepFool against foolbox and a loop in torch, as attack_speed.py left them."""
    found = stored("attack_speed") or {"speeds": []}
    rows = []
    for row in found["speeds"]:
        for key, peer in (("foolbox", "foolbox"), ("loop", "torch, early stopping, by hand")):
            if f"{key}_ratio" not in row:
                continue
            rows.append({
                "package": "attacks", "work": f"{row['attack']}, {row['rows']:,} × {row['data']}",
                "peer": peer, "ours_cpu_s": row["ours"], "peer_cpu_s": row[key],
                "ratio": row[f"{key}_ratio"], "low": row[f"{key}_low"], "high": row[f"{key}_high"],
                "agreement": f"fell {row['ours_fell']:.0%}, peer {row[f'{key}_fell']:.0%}",
                "why": _why(key, row[f"{key}_high"]), "date": row.get("date", "–"),
            })  # fmt: skip
    return rows


def _why(key: str, high: float | None) -> str:
    return _WHY[key] if high is None or high < 1 else "no difference shown"
