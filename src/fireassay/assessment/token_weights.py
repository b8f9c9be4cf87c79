"""Which words of a text mattered: how much surer the model is with each than without it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LEAST = 0.02  # of confidence: less is not worth a mark
_SHARE = 0.25  # of what the most important word does


def token_weights(
    tokens: Sequence[str], ask: Callable[[NDArray[Any]], NDArray[np.float64]]
) -> tuple[tuple[str, float], ...]:
    """Each token with how much the confidence falls without it; 0 where that is little.

    Parameters
    ----------
    tokens
        The words of one text, in order.
    ask
        Gives the probabilities of texts, one row each: it is asked once, about the text and the
        text without each of its words.

    Returns
    -------
    tuple of (token, weight)

    >>> def model(texts):
    ...     bad = np.array(["fever" in text for text in texts], dtype=float)
    ...     return np.stack([1 - bad, bad], axis=1)
    >>> token_weights(("high", "fever", "today"), model)
    (('high', 0.0), ('fever', 1.0), ('today', 0.0))
    """
    if len(tokens) < 2:
        return tuple((token, 0.0) for token in tokens)
    without = [" ".join([*tokens[:i], *tokens[i + 1 :]]) for i in range(len(tokens))]
    answers = ask(np.array([" ".join(tokens), *without], dtype=object))
    said = int(answers[0].argmax())
    falls = answers[0, said] - answers[1:, said]
    mattered = falls >= max(_LEAST, _SHARE * float(falls.max()))
    return tuple(
        (token, float(round(fall, 4)) if marked else 0.0)
        for token, fall, marked in zip(tokens, falls.tolist(), mattered.tolist(), strict=True)
    )
