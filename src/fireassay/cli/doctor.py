"""``fireassay doctor``: what is installed, and what each missing extra would enable."""

from fireassay.cli.console import emit_json, say
from fireassay.cli.options import Json, Quiet


def doctor(json: Json = False, quiet: Quiet = False) -> None:
    """Show what is installed, and what each missing extra would enable.

    Example: fireassay doctor
    """
    from fireassay.classifiers.adapters import every_kind
    from fireassay.core.evidence import host_size, library_versions
    from fireassay.core.extras import EXTRAS, is_installed

    extras = {name: is_installed(module) for name, (module, _) in EXTRAS.items()}
    models = {row.name: row.is_available for row in every_kind()}
    if json:
        emit_json(
            {"versions": library_versions(), "host": host_size(), "extras": extras}
            | {"models": models}
        )
        return
    if quiet:
        return
    for name, version in library_versions().items():
        say(f"{name:<14} {version}")
    host = host_size()
    say(f"{'machine':<14} {host['cores']} cores, {host.get('memory_gib', '?')} GiB")
    for name, (_, purpose) in EXTRAS.items():
        state = "installed" if extras[name] else f"missing: pip install 'fireassay[{name}]'"
        say(f"[{name}] {state} ({purpose})")
    readable = ", ".join(name for name, available in models.items() if available)
    say(f"{'models':<14} {readable}")
