"""Options that commands share: one word for one thing. Nothing scientific is imported here.

A command that needs another default gives it; the word, its meaning and its range are these.
"""

from pathlib import Path
from typing import Annotated

import typer

Config = Annotated[Path, typer.Option("--config", help="The configuration file.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as strict JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Folder or file to write results to.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Same seed, same result.")]
FileSeed = Annotated[
    int | None, typer.Option("--seed", min=0, help="Instead of the configuration's seed.")
]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Processes on this machine.")]
Cluster = Annotated[
    str | None, typer.Option("--cluster", help="Address of a Dask scheduler, tcp://host:8786.")
]
Only = Annotated[list[str] | None, typer.Option("--only", help="Only this part (repeatable).")]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Allow models that run code: pickle, .pt2, package.module:name of a file."
    ),
]
HangMinutes = Annotated[
    float,
    typer.Option(
        "--hang-minutes", min=0.0, help="Most minutes for a model to load, or to answer a block."
    ),
]
Bounds = Annotated[
    tuple[float, float] | None,
    typer.Option("--bounds", help="Smallest and largest input value: LOW HIGH."),
]
ModelOutput = Annotated[
    str, typer.Option("--model-output", help="probabilities, logits or labels.")
]
Confidence = Annotated[
    float, typer.Option("--confidence", min=0.0, max=1.0, help="Of every interval and bound.")
]
LabelColumn = Annotated[str | None, typer.Option("--label", help="The label column of a table.")]
NoSamples = Annotated[
    bool,
    typer.Option("--no-samples", help="Leave rows of the data out of report.html and result.json."),
]
AcceptBelowBaseline = Annotated[
    bool,
    typer.Option(
        "--accept-below-baseline",
        help="Go on where the model agrees with the labels less than chance does.",
    ),
]
