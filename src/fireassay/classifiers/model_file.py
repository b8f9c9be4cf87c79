"""What kind of model a file holds, told from its name and first bytes, without opening it."""

import zipfile
from pathlib import Path

from fireassay.core.errors import ModelError, UntrustedFileError

_PICKLE_NAMES = (".pkl", ".pickle", ".joblib", ".sav", ".dump")
_TORCH_NAMES = (".pt", ".pth", ".ckpt", ".bin")
_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")


def model_kind(path: Path, *, trust: bool) -> str:
    """One of "onnx", "pt2", "skops", and with ``trust`` "pickle", "torch pickle".

    Raises
    ------
    UntrustedFileError
        For a pickle under any name, without ``trust``.
    ModelError
        If there is no such file, or it is none of these.
    """
    if not path.is_file():
        raise ModelError(
            "A model given as text must be a file, an http:// address or 'package.module:name'.",
            got=f"{str(path)!r}, which is {'a folder' if path.is_dir() else 'not there'}",
        )
    with open(path, "rb") as file:
        head = file.read(16)
    if not head:
        raise ModelError("A model file must not be empty.", got=f"{str(path)!r}, 0 bytes")
    kind = _kind(path, head)
    if kind in ("pickle", "torch pickle") and not trust:
        raise UntrustedFileError(
            "A pickle can run any code when it is read, so it is not opened.",
            got=f"{str(path)!r}, a {kind} file",
            do="Save the model as .skops, .onnx or .pt2; if you made this file yourself, say "
            "trust=True (--trust).",
        )
    return kind


def _kind(path: Path, head: bytes) -> str:
    suffix = path.suffix.lower()
    if head[:1] == b"\x80" and head[1] <= 5:
        return "torch pickle" if suffix in _TORCH_NAMES else "pickle"
    if head[:2] == b"PK":
        return _zip_kind(path)
    if suffix in _TORCH_NAMES:
        return "torch pickle"
    if suffix in _PICKLE_NAMES or (suffix != ".onnx" and head.startswith(_COMPRESSED)):
        return "pickle"
    if suffix == ".onnx":
        return "onnx"
    if suffix in (".skops", ".pt2"):
        raise ModelError(f"A {suffix} file must be a zip archive.", got=f"{str(path)!r}, damaged")
    raise ModelError(
        "A model file must be .onnx, .skops or .pt2.",
        got=f"{str(path)!r}",
        do="Export the model: torch.export.save, skops.io.dump or an ONNX exporter.",
    )


def _zip_kind(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError) as damage:
        raise ModelError(
            "The model file must be a whole zip archive.", got=f"{str(path)!r} ({damage})"
        ) from damage
    if "schema.json" in names:
        return "skops"
    if any(
        name.endswith(("/archive_format", "serialized_exported_program.json")) for name in names
    ):
        return "pt2"
    if "serialized_exported_program.json" in names:
        return "pt2"
    if any(name.endswith("data.pkl") for name in names):
        return "torch pickle"
    raise ModelError(
        "A zip archive must be a .skops or .pt2 model.",
        got=f"{str(path)!r} with {', '.join(names[:5])}",
    )
