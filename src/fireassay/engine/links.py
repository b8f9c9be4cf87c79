"""Links in a run folder, which could lead out of it."""

from pathlib import Path

from fireassay.core.errors import StoreError


def refuse_link(path: Path) -> None:
    """A received run folder must not make fireassay read or write elsewhere."""
    if path.is_symlink():
        raise StoreError(
            "A run folder must hold its files itself.",
            got=f"a link: {path}",
            do="Put the files into the folder, or remove the link.",
        )
