"""Percentages and p-values as people write them, and text that no terminal obeys."""

import json

from fireassay.core.words import p_text, percent, visible


def test_shares_and_p_values_as_text():
    assert [percent(0.95), percent(0.0123, 1)] == ["95 %", "1.2 %"]
    assert [p_text(0.0312), p_text(1.5e-05)] == ["p = 0.031", "p below 0.001"]


def test_what_a_terminal_would_obey_is_written_out_and_json_stays_equal():
    hostile = "class \x1b[2Jone"
    assert visible(hostile) == "class \\u001b[2Jone"
    assert json.loads(
        visible(json.dumps(hostile, ensure_ascii=False).replace("\\u001b", "\x1b"))
    ) == (hostile)
