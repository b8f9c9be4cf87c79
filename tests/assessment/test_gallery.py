"""Words of a text, weighed by what the confidence loses without them."""

from typing import Any

import numpy as np

from fireassay.assessment.samples.gallery import token_weights


def _fever(texts: Any) -> Any:
    bad = np.array(["fever" in text for text in texts], dtype=float)
    return np.stack([1 - bad, bad], axis=1)


def test_the_word_that_decides_has_all_the_weight() -> None:
    found = token_weights(("high", "fever", "today"), _fever)
    assert found == (("high", 0.0), ("fever", 1.0), ("today", 0.0))
