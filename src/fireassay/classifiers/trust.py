"""What the user has trusted: model files, pickles, tokens for servers, code beside a configuration.

The list stands in the user's own settings, not beside the model: who sends a folder cannot send
trust in it.
"""

import hashlib
import importlib.machinery
import json
import os
import sys
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fireassay.classifiers.adapt import as_classifier
from fireassay.classifiers.declared import readable
from fireassay.classifiers.import_path import is_import_path
from fireassay.core.errors import ConfigError, ModelError, UntrustedFileError
from fireassay.core.files import write_text
from fireassay.core.lazy import require
from fireassay.core.source_only import import_from_source

SETTINGS_VARIABLE = "FIREASSAY_SETTINGS"
_READABLE = "The model file must be readable with the libraries installed here."


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
    """Keep that a file of these bytes is trusted; what is no file (an address) needs no trust."""
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
    must, mend = f"The list of trusted files, {place}, must be", "Mend or delete it; without it, "
    mend += "trust is asked for again."
    try:
        known = json.loads(place.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as damage:
        got = f"{type(damage).__name__}: {damage}"[:200]
        raise ConfigError(f"{must} readable JSON.", got=got, do=mend) from damage
    if not isinstance(known, dict):
        got = type(known).__name__
        raise ConfigError(f"{must} an object of SHA-256 and path.", got=got, do=mend)
    return known


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def adapt(path: Path, **options: Any) -> Any:
    """The model in a pickle or joblib file. Runs whatever code the file holds."""
    import joblib

    with readable(_READABLE, str(path)):
        model = joblib.load(path)
    return as_classifier(model, **options)


def adapt_torch(path: Path, **options: Any) -> Any:
    """The model in a file of ``torch.save``. Runs whatever code the file holds."""
    torch = require("torch", "torch", "A torch model file")
    with readable(_READABLE, str(path)):
        model = torch.load(path, map_location="cpu", weights_only=False)
    return as_classifier(model, **options)


def adapt_torchscript(path: Path, **options: Any) -> Any:
    """The module in a file of ``torch.jit.save``, whose operators believe what the file says."""
    torch = require("torch", "torch", "A TorchScript file")
    with (
        readable(_READABLE, str(path)),
        warnings.catch_warnings(),
    ):  # torch.jit is deprecated, its files are there
        # torch.jit is deprecated, its files are there.
        warnings.simplefilter("ignore", DeprecationWarning)
        module = torch.jit.load(path, map_location="cpu")
    return as_classifier(module, **options)


def check_token(url: str, token_env: str | None, *, trust: bool = False) -> None:
    """Refuse to send an environment variable to a server that the user has not named for it."""
    if token_env is None or trust or is_trusted_digest(_digest(url, token_env)):
        return
    raise UntrustedFileError(
        f"The configuration asks to send the environment variable {token_env!r} to {_origin(url)}.",
        got="no word of yours that it may",
        do="If that server is to get it, say so once: fireassay run --trust.",
    )


def remember_token(url: str, token_env: str | None) -> Path | None:
    """Keep in the user's settings that this variable may go to this server."""
    if token_env is None:
        return None
    return remember_digest(_digest(url, token_env), f"${token_env} to {_origin(url)}")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{parts.scheme}://{parts.hostname or ''}:{port}"


def _digest(url: str, token_env: str) -> str:
    return hashlib.sha256(f"token\0{_origin(url)}\0{token_env}".encode()).hexdigest()


_SUFFIXES = tuple(importlib.machinery.all_suffixes())
_MOST_FILES, _MOST_BYTES = 5_000, 256 * 2**20


def code_beside(model: str, folder: Path) -> Path | None:
    """What "package.module:name" would import from a folder; None if nothing there."""
    # A folder that the user's own ``PYTHONPATH`` names is no longer just any folder.
    own = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    if not is_import_path(model) or folder.resolve() in {Path(entry).resolve() for entry in own}:
        return None
    found = importlib.machinery.PathFinder.find_spec(_top(model), [str(folder.resolve())])
    if found is None:
        return None
    place = found.origin or next(iter(found.submodule_search_locations or ()), None)
    return None if place is None else Path(place)


def make_importable(model: str, folder: Path, *, trust: bool = False) -> None:
    """Let "package.module:name" name a module that lies in ``folder``, if the user trusts it."""
    # Installed code needs the user's word, too: ``subprocess:call`` is installed everywhere.
    if not is_import_path(model):
        return
    place = code_beside(model, folder)
    if not trust and not is_trusted_digest(code_digest(model, folder)):
        known = "installed code, which you have not named as a model"
        raise UntrustedFileError(
            f"The model {model!r} is code that the configuration names: it is imported and called.",
            got=known if place is None else f"{place}, which you have not trusted as it is now",
            do="Look at what it does. If it may run, say so once with --trust.",
        )
    if place is not None:
        import_from_source(folder)
        if str(folder.resolve()) not in sys.path:
            sys.path.insert(0, str(folder.resolve()))


def remember_code(model: str, folder: Path) -> Path | None:
    """Keep in the user's settings that this code, as it is now, may run."""
    if not is_import_path(model):
        return None
    place = code_beside(model, folder)
    what = "installed" if place is None else f"code in {folder.resolve()}"
    return remember_digest(code_digest(model, folder), f"{model}, {what}")


def code_digest(model: str, folder: Path) -> str:
    """SHA-256 of the name, and of all Python files that an import may take from a folder."""
    # A trusted module that imports another one of the folder runs that one, too. Of installed code
    # the name alone counts.
    digest, size = hashlib.sha256(f"code\0{model}\0".encode()), 0
    if code_beside(model, folder) is None:
        return digest.hexdigest()
    files = islice(_importable(folder.resolve(), _top(model)), _MOST_FILES + 1)
    for number, file in enumerate(sorted(files)):
        content = file.read_bytes()
        size += len(content)
        if number >= _MOST_FILES or size > _MOST_BYTES:
            raise ModelError(
                f"The code beside a configuration must be at most {_MOST_FILES} files and "
                f"{_MOST_BYTES // 2**20} MiB.",
                got=f"more in {folder}",
                do="Put the configuration into a folder of its own, or install the package.",
            )
        name = file.relative_to(folder.resolve()).as_posix().encode()
        digest.update(len(name).to_bytes(8, "big") + name + hashlib.sha256(content).digest())
    return digest.hexdigest()


def _importable(folder: Path, top: str) -> Iterator[Path]:
    for entry in os.scandir(folder):
        path = Path(entry.path)
        if entry.is_file() and path.name.endswith(_SUFFIXES):
            yield path
        elif entry.is_dir() and entry.name.isidentifier() and entry.name != "__pycache__":
            yield from _package(path, entry.name == top)


def _package(folder: Path, known: bool) -> Iterator[Path]:
    """All Python files of a package; a folder with none on its first level counts if ``known``."""
    inside = [Path(entry.path) for entry in os.scandir(folder)]
    if known or any(path.name.endswith(_SUFFIXES) for path in inside):
        for path in inside:
            if path.is_file() and path.name.endswith(_SUFFIXES):
                yield path
            elif path.is_dir() and path.name.isidentifier() and path.name != "__pycache__":
                if path.is_symlink():  # it may lead anywhere, or in a circle
                    raise ModelError("Code must not hold links to folders.", got=str(path))
                yield from _package(path, True)


def _top(model: str) -> str:
    return model.partition(":")[0].partition(".")[0]
