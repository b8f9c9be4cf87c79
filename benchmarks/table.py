"""Write benchmarks/README.md from the files under results/: nothing in it is typed by hand.

python benchmarks/table.py
"""

from pathlib import Path
from typing import Any

from figures import FIGURES, machine_line, markdown, seconds, stored
from rivals_table import rivals

README = Path(__file__).with_name("README.md")

HEAD = """# Benchmarks

Written by `python benchmarks/table.py` from `benchmarks/results/`; refresh everything with
`make benchmarks` (hours), or one row by its own command, then the table. Peers live in an
environment of their own (`benchmarks/peers.py` makes it). Times are CPU seconds of one thread,
because machines are shared: ratios count, not seconds.
"""


def main() -> None:
    README.write_text(page())
    print(f"{README} written")


def page() -> str:
    """The whole page."""
    sections = [
        HEAD, rivals(), kernels(), second_models(), promises(), scaling(), engine(), waiting(),
        plans(), profiles(),
    ]  # fmt: skip
    return "\n".join(section for section in sections if section)


def kernels() -> str:
    """Small pieces of work, against the plain way to do them."""
    record = stored("kernels")
    if record is None:
        return ""
    rows = [
        [one["work"], seconds(one["ours_s"]), seconds(one["rival_s"]), f"×{one['ratio']:.2g}"]
        for one in record.values()
    ]
    slower = [name for name, one in record.items() if one["ratio"] < 1]
    return (
        "## Kernels\n\nIn turns in one process, medians of five, `python benchmarks/kernels.py`. "
        f"Slower than the rival: {', '.join(slower) or 'none'}. "
        "aft_groups: its rival is the same fit without groups, which does less; with groups the "
        "fit also sums a gradient and a Hessian of each of the 5,000 groups, and solves each to "
        "leave that group out once. csv: lines of another width are refused, which takes a pass "
        "over the bytes, and types are found in whole columns, not in pieces "
        "(low_memory=False), so that they do not depend on where a piece ends; without these two "
        "it is pandas' own time. pyarrow's reader took longer than pandas' here.\n\n"
        + markdown(["work; rival", "ours", "rival", "ratio"], rows)
    )


def second_models() -> str:
    """What another model on the same data costs."""
    record = stored("second_model")
    if record is None:
        return ""
    which = ("first", "second", "without store", "two workers")
    rows = [
        [
            name,
            *(f"{one[run]['cpu_s']:.1f}" for run in which),
            *(f"{one[run]['passes_s'] / one[run]['cpu_s']:.0%}" for run in which[:2]),
            "yes" if one["same_bytes"] else "no",
            f"{one['load_average']:.0f}",
        ]
        for name, one in record.items()
    ]
    head = ["job", "first model, CPU s", "second model", "the second without the store",
            "the second with two workers", "passes of the first", "of the second",
            "the last three alike in every byte", "load on 2 cores"]  # fmt: skip
    return (
        "## A second model on the same data\n\nSix questions of a network, accuracy of the boosted "
        "trees; CPU seconds of all processes: `python benchmarks/second_model.py`. Other work on "
        "the machine makes CPU seconds longer, too.\n\n"
        + markdown(head, rows)
        + _not_reached(record["cnn"]["second"])
    )


def _not_reached(one: dict[str, Any]) -> str:
    """What the CNN's second model spends beyond the aim of 8 CPU seconds."""
    if one["cpu_s"] <= 8:
        return ""
    parts = sorted(one["parts"].items(), key=lambda part: -part[1])[:4]
    rest = one["cpu_s"] - sum(one["parts"].values())
    return (
        f"\nThe CNN's second model was to take 8 CPU s at most. Of its {one['cpu_s']:.1f}: "
        + ", ".join(f"{name} {spent:.1f}" for name, spent in parts)
        + f", and {rest:.1f} outside of the parts: loading libraries, and drawing the report's "
        "charts (26, about 2 s). Supervision fits and scores its monitors on this model's own "
        "activations, which no store can have; the passes themselves are "
        f"{one['passes_s']:.1f}.\n"
    )


def promises() -> str:
    rows = [figure.row() for figure in FIGURES]
    short = sum("not reached" in row[4] for row in rows)
    absent = sum(row[3] == "not measured" for row in rows)
    head = ["package", "figure", "target", "measured", "", "note"]
    return (
        f"## What each package promises\n\n{len(rows)} figures: {len(rows) - short - absent} "
        f"reached, {short} not reached, {absent} not measured.\n\n{markdown(head, rows)}"
    )


def scaling() -> str:
    record = stored("scaling")
    if record is None:
        return ""
    rows = []
    for row in record["rows"]:
        points = "; ".join(f"{p['n']:,}: {seconds(p['cpu_s'])}" for p in row["points"])
        rows.append([
            row["name"], row["unit"], points,
            f"{row['exponent']:.2f} [{row['low']:.2f}, {row['high']:.2f}]",
            f"{row['exponent_of_the_last_step']:.2f}",
            f"×{row['times_limit']:,.1f} of {row['limit_is']}",
        ])  # fmt: skip
    head = ["function", "n", "CPU seconds", "exponent [95 %]", "last ×10", "from the limit"]
    return (
        "## Growth\n\n" + machine_line(record) + f"\n{markdown(head, rows)}\n"
        "The exponent is the slope of log seconds on log n over all turns; below 1 a constant "
        "start still shows, so the last step (n × 10 to n × 100) stands beside it. A limit is the "
        "least that the machine needs for the stated pass alone.\n"
    )  # fmt: skip


def engine() -> str:
    record = stored("engine")
    if record is None:
        return ""
    here = record["journalled"]
    text = (
        f"## Empty tasks\n\n{here['tasks']:,} journalled in one process: "
        f"{here['tasks'] / here['seconds']:,.0f} a second, {here['bytes_per_task']:.0f} bytes "
        f"each; CPU ms a task in successive tenths: "
        f"{', '.join(f'{v:.3f}' for v in here['cpu_ms_by_tenth'])}.\n"
    )
    if "cluster" in record:
        far = record["cluster"]
        busy = ", ".join(f"{who} {ms:.3f}" for who, ms in far["cpu_ms_per_task"].items())
        text += (
            f"\n{far['tasks']:,} through a Dask scheduler to two workers: "
            f"{far['tasks_per_s']:,.0f} a second; CPU ms a task: {busy}; wall ms a task in "
            f"successive tenths: {', '.join(f'{v:.3f}' for v in far['wall_ms_by_tenth'])}.\n"
        )
    return text


def waiting() -> str:
    record = stored("waiting") or {}
    shown = {
        "mid_size": (
            "a run, ResNet-18-like ONNX 32 × 32, 2,000 rows", "532, 25 % of it useful passes",
            "≤ 180, ≥ 80 %", lambda r: f"{r['cpu_s']:.0f}, {r['useful_share']:.1%}",
        ),
        "thousand_classes": (
            "accuracy, 50,000 × 1,000 classes, linear model", "8.1 for 10,000 rows",
            "≤ 1", lambda r: f"{r['cpu_s']:.2f}, {r['model_s']:.2f} of it the model"
            + (f"; its steps in bare numpy {r['floor']['cpu_s']:.2f}" if "floor" in r else ""),
        ),
        "mapped_npz": (
            "4.2 GB of images in an npz: loaded, hashed", "read whole", "≤ 1 GB held",
            lambda r: f"{r['cpu_s']:.1f}, {r['anonymous_mb']:.0f} MB held beside the file",
        ),
        "large_network": (
            "init and plan, ResNet-18 at 224 × 224, 1,000 classes", "63 and 40, silent 124 s",
            "≤ 15, a line each second", lambda r: " and ".join(
                f"{r[step]['child_cpu_s']:.1f} (silent {r[step]['longest_silence_s']:.0f} s)"
                for step in ("init", "plan")
            ),
        ),
    }  # fmt: skip
    rows = [
        *_started(record.get("start_up")),
        *(
            [what, before, aim, now(record[name]) if name in record else "not measured",
             f"`python benchmarks/waiting.py {name}`"]
            for name, (what, before, aim, now) in shown.items()
        ),
        *_sent(record.get("rows_sent")),
    ]  # fmt: skip
    head = ["what", "before, CPU s", "aim", "now, CPU s", "command"]
    return (
        f"## Where a user waits\n\n{markdown(head, rows)}\n*Before* are the figures of an "
        "independent measurement on an earlier version. Byte code was kept, as an installed "
        "package has it; commands that answer at once are medians of seven starts.\n"
    )


def plans() -> str:
    record = stored("plan_errors")
    if record is None:
        return ""
    rows = []
    for found in record.values():
        whole = found["all"]
        rows.append([
            found["what"].rstrip(".") + (" *" if found["never_seen"] else ""),
            f"{whole['planned_s']:.1f} s, {whole['planned_mb']:,.0f} MB",
            f"{whole['spent_s']:.1f} s, {whole['spent_mb']:,.0f} MB",
            f"{100 * (whole['planned_s'] / whole['spent_s'] - 1):+.0f} %",
            f"{whole['planned_mb'] / whole['spent_mb']:.2f}",
        ])  # fmt: skip
    head = ["a whole run, default settings", "planned", "spent", "seconds", "memory, times"]
    return (
        f"## Plans\n\n{markdown(head, rows)}\n`python benchmarks/plan_errors.py`, which prints the "
        "parts, too. Spent seconds do not count waiting for a busy processor. The last run of "
        "each, no interval; on a machine with much other work the forest's error was -9 % in one "
        "run and +22 % in the next, the mid-size network's +32 % and +15 %; of what concerns "
        "seconds, only the look at the machine's speed was changed in between. Formulas were "
        "changed after the other models had been measured; those with * were measured for the "
        f"first time afterwards: {_first(record)}. That showed what was then mended: memory of "
        "what draws a report's charts, and that an ONNX graph is asked twice about a row whose "
        "layers are read.\n" + _large_images()
    )


def _first(record: dict[str, Any]) -> str:
    """What plans of models that nobody had looked at were off by."""
    return ", ".join(
        f"{name.replace('_', ' ')} {100 * (one['planned_s'] / one['spent_s'] - 1):+.0f} % and "
        f"{one['planned_mb'] / one['spent_mb']:.2f} times the memory"
        for name, one in ((n, found["first"]) for n, found in record.items() if found["never_seen"])
    )


def _large_images() -> str:
    """A plan from a hundredth of the rows, and what the whole took."""
    found = stored("large_images")
    if found is None:
        return ""
    planned, spent = (
        sum(part[key] for part in found["parts"].values()) for key in ("planned_s", "spent_s")
    )
    parts = "; ".join(
        f"{name} {part['planned_s']:.0f} planned, {part['spent_s']:.0f} spent"
        for name, part in found["parts"].items()
    )
    above = found["run"]["anonymous_mb"] - found["bare_model"]["anonymous_mb"]
    return (
        f"\n{found['rows']:,} byte images of 224 × 224 × 3, simulated, "
        f"{found['rows'] * 150528 / 1e9:.1f} GB, planned from a run on a hundredth of them: "
        f"{planned:.0f} s planned, {spent:.0f} spent ({planned / spent - 1:+.0%}): {parts}. CPU "
        f"seconds of the commands: init {found['init']['cpu_s']:.1f}, plan "
        f"{found['plan']['cpu_s']:.1f}, run {found['run']['cpu_s']:.0f}. Anonymous memory of the "
        f"run {found['run']['anonymous_mb']:,} MB, {above:,} more than a process with the bare "
        "model (`python benchmarks/large_images.py FOLDER`; one run; docs/speed.md says what was "
        "changed after it).\n"
    )


def _started(record: dict[str, Any] | None) -> list[list[str]]:
    """Commands that should answer at once."""
    known = {
        "--help": (".25", "≤ .25"),
        "run --help": (".90", "≤ .25"),
        "init --help": (".90", "≤ .25"),
        "survival --help": (".90", "≤ .25"),
        "init": ("2.5", "≤ .8"),
        "plan": ("2.5", "≤ .8"),
        "run, nothing to do": ("2.3", "≤ .6"),
    }
    found = {} if record is None else record["cpu_s"]
    return [
        [f"`fireassay {name}`", before, aim,
         f"{found[name]:.2f}" if name in found else "not measured",
         "`python benchmarks/start_up.py`"]
        for name, (before, aim) in known.items()
    ]  # fmt: skip


def _sent(record: dict[str, Any] | None) -> list[list[str]]:
    """Rows sent for a row that was asked about."""
    rows = []
    known = (("table", "a table model", "13.6; survival 140"), ("texts", "a text model", "–"))
    for name, what, before in known:
        now = "not measured"
        if record is not None:
            now = f"{record[name]['ratio']:.2f}"
            if attacked := record[name]["parts"].get("survival"):
                now += f"; survival {attacked['sent'] / attacked['asked']:.2f}"
        rows.append(
            [f"rows sent / asked, {what}", before, "≤ 1.05", now,
             "`python benchmarks/rows_sent.py`"]
        )  # fmt: skip
    return rows


def profiles() -> str:
    record = stored("profiles")
    if record is None:
        return ""
    rows = []
    for name, entry in record["profiles"].items():
        costs = "; ".join(f"{c['where']} {c['share']:.0%}" for c in entry["largest"])
        rows.append([name, seconds(entry["cpu_s"]), costs, entry["done"]])
    head = ["work", "CPU", "three largest costs (own time)", "what was done about them"]
    return f"## Where the time goes\n\n{markdown(head, rows)}"


if __name__ == "__main__":
    main()
