"""``fireassay lock``: fix limits, decision, parts and seed before the numbers are seen."""

from pathlib import Path

from fireassay.cli.console import emit_json, say
from fireassay.cli.options import answering, opt


@answering
def lock(
    config: Path = opt(Path("fireassay.toml"), "The configuration file."),
    amend: bool = opt(False, "Replace the protocol; the old one is kept inside.", "--amend"),
    reason: str = opt("", "Why the protocol is amended."),
) -> None:
    """Write fireassay-protocol.json: limits, threshold, unit, parts, settings and seed.

    Hashes of the data join at the first reading. Afterwards every verdict says whether its limits
    were locked before the first look.

    Example: fireassay lock --config fireassay.toml
    """
    from fireassay.assessment import read_config
    from fireassay.assessment.run.protocol import FILE, write_protocol

    read = read_config(config)
    made = write_protocol(read, amend=amend, reason=reason)
    path = read.folder / FILE
    emit_json({"protocol": str(path), "sha256": made.sha256, "amended": len(made.earlier)})
    say(f"locked: {path}")
    say(f"SHA-256: {made.sha256}")
