"""``fireassay lock``: fix limits, decision, parts and seed before the numbers are seen."""

from pathlib import Path

from fireassay.cli.console import emit_json, say
from fireassay.cli.options import Json, Quiet, opt


def lock(
    config: Path = opt(Path("fireassay.toml"), "The configuration file."),
    amend: bool = opt(False, "Replace the protocol; the old one is kept inside.", "--amend"),
    reason: str = opt("", "Why the protocol is amended."),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write fireassay-protocol.json: limits, threshold, unit, parts, settings and seed.

    Hashes of the data join at the first reading. Afterwards every verdict says whether its limits
    were locked before the first look.

    Example: fireassay lock --config fireassay.toml
    """
    from fireassay.assessment import read_config
    from fireassay.assessment.run.protocol import FILE, write_protocol

    asked = read_config(config)
    made = write_protocol(asked, amend=amend, reason=reason)
    path = asked.folder / FILE
    if json:
        emit_json({"protocol": str(path), "sha256": made.sha256, "amended": len(made.earlier)})
    else:
        say(f"locked: {path}", quiet=quiet)
        say(f"SHA-256: {made.sha256}", quiet=quiet)
