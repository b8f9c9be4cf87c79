"""What each of several looks may spend."""

import pytest

from fireassay.statistics.labels_needed import alpha_at_look, groups_to_pass


def test_all_looks_together_spend_alpha():
    spent = sum(alpha_at_look(0.05, look) for look in range(1, 100_000))
    assert spent == pytest.approx(0.05, rel=1e-4)


def test_more_groups_pass_where_too_few_had_no_error():
    # 72 groups without an error are the fewest that can keep 5 %: (1 - 0.05)^72 < 0.025
    assert groups_to_pass([0] * 60, [10] * 60, 0.05).total >= 72
