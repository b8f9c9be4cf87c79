"""Options that every command shares. Nothing scientific is imported here: ``--help`` is fast."""

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print the result as strict JSON.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Same seed, same result.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Folder or file to write results to.")
]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Processes on this machine.")]
Cluster = Annotated[
    str | None, typer.Option("--cluster", help="Address of a Dask scheduler, tcp://host:8786.")
]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Allow model files that can run code when read (pickle, .pt2)."),
]
