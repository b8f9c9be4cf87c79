"""What each of several looks may spend."""

import pytest

from fireassay.statistics.labels_needed import alpha_at_look


def test_all_looks_together_spend_alpha():
    spent = sum(alpha_at_look(0.05, look) for look in range(1, 100_000))
    assert spent == pytest.approx(0.05, rel=1e-4)
