"""Which of a graph's or server's outputs holds the class probabilities."""

from collections.abc import Mapping, Sequence
from typing import Any

from fireassay.classifiers.declared import SUPPORTED
from fireassay.core.errors import ModelError

_PROBABILITY_NAMES = ("prob", "softmax", "logit", "score")


def choose_output(shapes: Mapping[str, Sequence[Any] | None], *, labels: bool, source: str) -> str:
    """The name of the output to read; ``shapes`` has None where a shape is not known.

    One output is taken as it is. Of several, the one with two dimensions (for labels: one), and
    if that leaves a choice, the one whose name speaks of probabilities, logits or labels.

    >>> choose_output({"label": ["n"], "probabilities": ["n", 3]}, labels=False, source="m.onnx")
    'probabilities'
    """
    names = list(shapes)
    if len(names) == 1:
        return names[0]
    wanted = 1 if labels else 2
    candidates = [n for n in names if shapes[n] is None or len(shapes[n] or ()) == wanted]
    if len(candidates) > 1:
        words = ("label", "class") if labels else _PROBABILITY_NAMES
        named = [n for n in candidates if any(word in n.lower() for word in words)]
        candidates = named or candidates
    boxes = any("box" in name.lower() for name in names)
    if len(candidates) != 1 or boxes:
        raise ModelError(
            SUPPORTED,
            got=f"{source!r} with the outputs {', '.join(names[:8]) or 'none'}"
            + (" (an object detector?)" if boxes else ""),
            do="Export the model with the probabilities or logits as its only output.",
        )
    return candidates[0]
