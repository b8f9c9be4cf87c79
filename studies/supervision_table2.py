"""Table 2 and Tables 8 to 11 of the supervision paper: 16 supervisors, four kinds of trouble.

    FIREASSAY_DATA=FOLDER python studies/supervision_table2.py --work FOLDER [--workers N]
    python studies/supervision_table2.py --work FOLDER --table      # what is stored, as Markdown

At the paper's size: both data sets, 60,000 nominal and 20,000 ambiguous rows of all 45 pairs (20
autoencoders each) to learn from, five supervised trainings of each of four architectures (all but
the fully connected one narrower), ensembles of 20, 10,000 test rows, 1,000 attacked ones at fixed
budgets (FGSM, BIM, PGD to the last step, DeepFool), the 15 corruptions of MNIST-C, and the
generator's control set. Every member and every run is journalled: killed, the same command goes
on. About 4.5 CPU hours.
"""

import json

import pandas as pd
from commands import data_folder, executor, options, write

from fireassay.papers.supervision_summary import summary
from fireassay.papers.supervision_trainings import (
    LOADERS,
    ambiguous_rows,
    one_autoencoder,
    one_member,
    one_run,
)

SIZES = {"runs": 5, "members": 20, "rows": 10_000, "attacked": 1_000, "train_rows": 60_000,
         "ambiguous_rows": 20_000, "tries": 20, "epochs": 100}  # fmt: skip
QUICK = {"runs": 1, "members": 2, "rows": 150, "attacked": 30, "train_rows": 3_000,
         "ambiguous_rows": 100, "tries": 1, "epochs": 2}  # fmt: skip
ARCHITECTURES = ("simple-cnn", "fully-connected", "densenet", "resnet")


def markdown(results):
    """The summary as tables: mean ± half the interval's width, spread over runs, published."""
    frame = pd.DataFrame(results["summary"])
    lines = []
    for data, own in frame.groupby("data", sort=False):
        kinds = list(own["set"].drop_duplicates())
        lines += [f"**{data}**", "", f"| supervisor | {' | '.join(kinds)} |"]
        lines.append("|---" * (len(kinds) + 1) + "|")
        for supervisor, cells in own.groupby("supervisor", sort=False):
            shown = [_cell(cells[cells["set"] == kind].iloc[0]) for kind in kinds]
            lines.append(f"| {supervisor} | {' | '.join(shown)} |")
        lines.append("")
    return "\n".join(lines)


def _cell(row):
    if pd.isna(row["mean"]):
        return "n.a."
    text = f"{row['mean']:.2f}"
    if not pd.isna(row.get("arm")):
        text += f" ± {row['arm']:.2f} ({row['spread']:.2f})"
    published = row.get("published")
    return text if pd.isna(published) else f"{text} *{published:.2f}*"


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--table", action="store_true", help="Only print what is stored.")
    parser.add_argument("--data", nargs="+", choices=list(LOADERS), default=list(LOADERS))
    parser.add_argument("--architectures", nargs="+", default=list(ARCHITECTURES))
    for name, value in SIZES.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}", type=int, help=f"{value:,} if not given."
        )
    chosen = parser.parse_args()
    if chosen.table:
        print(markdown(json.loads((chosen.results / "supervision_table2.json").read_text())))
        return
    usual = QUICK if chosen.quick else SIZES
    settings = {name: getattr(chosen, name) or usual[name] for name in SIZES}
    settings["pairs"] = [(3, 8)] if chosen.quick else None
    wanted = ["mnist"] if chosen.quick else chosen.data
    kinds = ["fully-connected"] if chosen.quick else chosen.architectures
    folder, where = str(data_folder()), executor(chosen)
    made = where.map(
        ambiguous_rows, [{"data": name} for name in wanted], name="ambiguous rows",
        shared={"folder": folder, "settings": settings},
    )  # fmt: skip
    runs = range(settings["runs"])
    kept = [
        where.map(
            one_autoencoder, [{"data": name, "run": i} for i in runs],
            {"folder": folder, "made": own, "settings": settings}, name=f"autoencoders, {name}",
        )
        for name, own in zip(wanted, made, strict=True)
    ]  # fmt: skip
    parts, seconds = [], sum(part["cpu_seconds"] for each in (made, *kept) for part in each)
    for architecture in kinds:
        for name, own, encoders in zip(wanted, made, kept, strict=True):
            row = {"data": name, "architecture": architecture}
            shared = {"folder": folder, "made": own, "settings": settings}
            rows = [row | {"member": i} for i in range(settings["members"] + 1)]
            members = where.map(one_member, rows, shared, name=f"{architecture} on {name}")
            rows = [row | {"run": i} for i in runs]
            shared |= {"members": members, "autoencoders": encoders}
            found = where.map(one_run, rows, shared, name="supervised")
            parts += list(zip(rows, found, strict=True))
            seconds += sum(part["cpu_seconds"] for part in (*members, *found))
            results = {
                "settings": settings,
                "summary": summary(parts, settings["members"] + 1),
                "parts": [row | part for row, part in parts],
                "cpu_seconds": seconds,
            }
            write(chosen, "supervision_table2", results)
    print(markdown(results))


if __name__ == "__main__":
    main()
