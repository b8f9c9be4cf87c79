"""Look at a model and its data, and write the configuration that fits them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fireassay.assessment.config import DataSection
from fireassay.assessment.context import Context
from fireassay.assessment.door import at_the_door, verified_order
from fireassay.assessment.inputs import load_perturb, load_sets, unused_columns
from fireassay.assessment.inspection import (
    PATIENCE_MINUTES,
    Inspection,
    columns_of,
    in_notes,
    inspect,
    rows_in_words,
)
from fireassay.assessment.parts import PARTS, part_terms
from fireassay.assessment.proposed_gates import propose_gates
from fireassay.assessment.template import write_config
from fireassay.classifiers.code_beside import make_importable
from fireassay.data import DataSet
from fireassay.data.natural_range import as_normalisation

# Somebody waits: of a slow model, what these seconds allow is asked. A run asks about all it needs.
_DOOR_S, _LEAST_ROWS = 4.0, 64


@dataclass(frozen=True)
class Initialised:
    """The configuration's text, what was inferred, and what each part still needs."""

    text: str
    inspection: Inspection
    missing: dict[str, str | None]


def initialise(
    model: str,
    data: Mapping[str, Any],
    *,
    output: str | None = None,
    bounds: tuple[float, float] | None = None,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    classes: Sequence[str] | None = None,
    accept_below_baseline: bool = False,
    http: Mapping[str, Any] | None = None,
    trust: bool = False,
    folder: Path = Path(),
    seed: int = 0,
    say: Callable[[str], None] | None = None,
    hang_minutes: float = PATIENCE_MINUTES,
) -> Initialised:
    """Inspect, choose the parts that can be answered, and say what the others need.

    Parameters
    ----------
    model
        As in ``[model] path``: a file, an address, or ``"package.module:name"``.
    data
        With the keys of the ``[data]`` table; paths are relative to ``folder``.
    output, bounds
        The model's kind of output and its allowed input values, where they are not to be inferred.
    mean, std
        Of normalised images, one number per channel each.
    classes
        Names of the model's columns in their order; by default the model's own, else the labels'.
        Labelled rows then show whether that order can be right.
    accept_below_baseline
        Go on where the model agrees with the labels less than chance does.
    http
        With the keys of the ``[model.http]`` table, for a model behind an address.
    trust
        As in `as_classifier`.
    seed
        Of the run, as the configuration will have it.
    folder
        Where the configuration will be.
    say
        Gets each finding as a line, as soon as it is made.
    hang_minutes
        Most minutes for the model to load, and to answer a few rows.

    Returns
    -------
    Initialised
        The text of ``fireassay.toml``, what was inferred, and what each part still needs.

    >>> import tempfile
    >>> import numpy as np
    >>> from fireassay.data import two_moons
    >>> moons = two_moons(40)
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     np.savez(folder / "test.npz", X=moons.X, y=moons.y)
    ...     _ = (folder / "left.py").write_text(
    ...         "import numpy as np\\n"
    ...         "def model(X): return np.where(X[:, :1] < 0.5, [[0.9, 0.1]], [[0.2, 0.8]])\\n"
    ...     )
    ...     started = initialise("left:model", {"test": "test.npz"}, folder=folder, trust=True)
    >>> started.inspection.output, started.missing["accuracy"]
    ('probabilities', None)
    """
    tell = say or (lambda _: None)
    section = DataSection.model_validate({k: v for k, v in data.items() if v is not None})
    model_path = str(folder / model) if (folder / model).exists() else model
    normalisation = as_normalisation(mean, std, bounds)
    make_importable(model, folder, trust=trust)
    columns = columns_of(model_path, output=output, trust=trust, hang_minutes=hang_minutes)
    sets = load_sets(section, folder, columns)
    tell(rows_in_words(len(sets["test"]), sets["test"].y is not None))
    found, classifier = inspect(
        model_path,
        sets["test"],
        section.test,
        trust=trust,
        output=output,
        bounds=bounds,
        infer=normalisation is None,
        classes=None if classes is None else as_labels(classes, sets["test"]),
        http=http,
        hang_minutes=hang_minutes,
    )
    for line in found.of_model():
        tell(line)
    unused = unused_columns(section, folder, sets["test"])
    if unused:
        note = f"columns that the model does not take, left out: {', '.join(unused[:8])}"
        found = replace(found, notes=(*found.notes, note))
    context = at_the_door(
        Context(
            classifier,
            **sets,
            seed=seed,
            normalisation=normalisation,
            perturb=load_perturb(section.perturb, folder, trust=trust),
            door_rows=max(_LEAST_ROWS, int(_DOOR_S / max(found.row_seconds, 1e-9))),
        ),
        accept_below_baseline=accept_below_baseline,
    )
    if context.natural_range is not None:
        note = f"attacks and corruptions work within {context.natural_range.found}"
        found = replace(found, notes=(*found.notes, note))
    said = (*context.notes, *(doubt.check for doubt in context.doubts))
    found = replace(found, notes=(*found.notes, *said, *_order_in_words(context)))
    for line in in_notes(found.notes):
        tell(line)
    missing: dict[str, str | None] = {}
    for name in PARTS:
        missing[name] = reason = part_terms(name).missing(context)
        tell(f"{name:<12}{'can be answered' if reason is None else f'needs more: {reason}'}")
    values = {
        "model": {
            "path": model,
            "output": found.output,
            "classes": [c if isinstance(c, int | str) else str(c) for c in found.classes],
            "bounds": found.bounds,
            "mean": mean,
            "std": std,
            "http": http,
        },
        "data": section.model_dump(),
        "run": {
            "seed": seed or None,
            "parts": [name for name, reason in missing.items() if reason is None],
        },
    }
    return Initialised(write_config(values, propose_gates(sets["test"])), found, missing)


def as_labels(classes: Sequence[str], data: DataSet) -> tuple[str | int, ...]:
    """Names as somebody typed them; integers where the labels are integers.

    >>> as_labels(["1", "0"], DataSet([[0.0]], [1]))
    (1, 0)
    """
    numbers = data.y is not None and data.y.dtype.kind in "iub"
    if numbers and all(name.strip().lstrip("-").isdigit() for name in classes):
        return tuple(int(name) for name in classes)
    return tuple(classes)


def _order_in_words(context: Context) -> tuple[str, ...]:
    """Whether the labelled rows confirm the order of the classes."""
    order = verified_order(context)
    if order is None:
        return ("the order of the classes is not verified: there are no labels",)
    share = f"{100 * order.agreement:.1f} % of {order.n} labelled rows agree"
    if order.is_verified:
        return (f"the order of the classes is verified: {share}",)
    return (f"the order of the classes is NOT verified: {share}, no more than chance",)
