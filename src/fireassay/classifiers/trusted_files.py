"""Model files that this user has said to trust, by the SHA-256 of their bytes.

The list stands in the user's own settings, not beside the model: who sends a folder cannot send
trust in it.
"""

import hashlib
import json
import os
from pathlib import Path

from fireassay.core.errors import ConfigError
from fireassay.core.files import write_text

SETTINGS_VARIABLE = "FIREASSAY_SETTINGS"


def settings_folder() -> Path:
    """``$FIREASSAY_SETTINGS``, else ``fireassay`` in ``$XDG_CONFIG_HOME`` or ``~/.config``."""
    given = os.environ.get(SETTINGS_VARIABLE)
    if given:
        return Path(given)
    home = os.environ.get("XDG_CONFIG_HOME", "")
    # The standard for these folders: a relative path counts as none.
    base = Path(home) if Path(home).is_absolute() else Path.home() / ".config"
    return base / "fireassay"


def trusted_list() -> Path:
    """The file with the hashes, one JSON object ``{sha256: path when it was trusted}``."""
    return settings_folder() / "trusted.json"


def is_trusted(path: Path) -> bool:
    """Whether the user has trusted a file of exactly these bytes, under whatever name."""
    known = _known()
    return bool(known) and _sha256(path) in known


def is_trusted_digest(digest: str) -> bool:
    """Whether the user has trusted something with this SHA-256."""
    return digest in _known()


def remember_trust(path: str | Path) -> Path | None:
    """Keep that a file of these bytes is trusted; what is no file (an address) needs no trust.

    Returns
    -------
    Path | None
        Where it was written down; None if ``path`` is no file.

    Raises
    ------
    OSError
        If the settings cannot be written.
    """
    path = Path(path)
    if not path.is_file():
        return None
    return remember_digest(_sha256(path), str(path.resolve()))


def remember_digest(digest: str, what: str) -> Path:
    """Keep that something with this SHA-256 is trusted; ``what`` is for whoever reads the list."""
    known = {**_known(), digest: what}
    return write_text(trusted_list(), json.dumps(known, indent=2, sort_keys=True) + "\n")


def _known() -> dict[str, str]:
    place = trusted_list()
    try:
        known = json.loads(place.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as damage:
        raise ConfigError(
            f"The list of trusted files, {place}, must be readable JSON.",
            got=f"{type(damage).__name__}: {damage}"[:200],
            do="Mend or delete it; without it, trust is asked for again.",
        ) from damage
    if not isinstance(known, dict):
        raise ConfigError(
            f"The list of trusted files, {place}, must be an object of SHA-256 and path.",
            got=type(known).__name__,
            do="Mend or delete it; without it, trust is asked for again.",
        )
    return known


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
