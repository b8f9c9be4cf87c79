from fireassay.engine.labels.records import GivenAnswer, consensus


def answers(*given):
    return [
        GivenAnswer(number, item, who, kind, choice, "", None, "", False)
        for number, (item, who, kind, choice) in enumerate(given)
    ]


def one(*given):
    return consensus(answers(*[(0, *row) for row in given]))[0]


def test_unanimous_answers_settle():
    found = one(("a", "answer", 2), ("b", "answer", 2))
    assert (found.state, found.label, found.disagreed) == ("settled", 2, False)


def test_most_answers_settle_but_the_disagreement_is_noted():
    found = one(("a", "answer", 2), ("b", "answer", 2), ("c", "answer", 1))
    assert (found.state, found.label, found.disagreed) == ("settled", 2, True)


def test_a_tie_is_a_conflict():
    found = one(("a", "answer", 2), ("b", "answer", 1))
    assert (found.state, found.label) == ("conflict", None)


def test_cannot_tell_is_an_answer():
    assert one(("a", "answer", -1), ("b", "answer", -1)).state == "cannot tell"
    assert one(("a", "answer", -1), ("b", "answer", 0)).state == "conflict"


def test_other_is_a_label():
    found = one(("a", "answer", -2))
    assert (found.state, found.label) == ("settled", -2)


def test_a_resolution_overrules():
    found = one(("a", "answer", 2), ("b", "answer", 2), ("judge", "resolve", 0))
    assert (found.state, found.label, found.resolved) == ("settled", 0, True)
    assert one(("a", "answer", 2), ("judge", "resolve", -1)).state == "cannot tell"


def test_a_skip_says_nothing():
    assert consensus(answers((0, "a", "skip", None))) == {}
