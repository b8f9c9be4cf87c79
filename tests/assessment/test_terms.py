"""Terms of parts: what is known of a part before it is loaded says the truth about it."""

import pytest

from fireassay.assessment import parts
from fireassay.assessment.parts import PARTS, is_built_in, part_module, part_terms
from fireassay.curation import LABELERS
from fireassay.discovery.registry import self_sufficient_searches
from fireassay.reliability import METHODS, GroupsBetting
from fireassay.supervision import SUPERVISORS


@pytest.mark.parametrize("name", PARTS)
def test_a_part_has_the_terms_that_were_read_before_it(name):
    part, terms = part_module(name), part_terms(name)
    assert terms.__name__ != part.__name__
    for word in ("Settings", "USES", "missing", "cost"):
        assert getattr(part, word) is getattr(terms, word)


@pytest.mark.parametrize(
    ("part", "setting", "names"),
    [
        ("reliability", "method", list(METHODS)),
        ("curation", "labeler", list(LABELERS)),
        ("discovery", "search", list(self_sufficient_searches())),
        (
            "supervision",
            "supervisors",
            [name for name, row in SUPERVISORS.items() if "ensemble" not in row.needs],
        ),
    ],
)
def test_the_comment_of_a_setting_names_all_that_can_be_written_there(part, setting, names):
    """Written out, because listing them would load them all; so a new row must be added there."""
    said = part_terms(part).Settings.model_fields[setting].description
    assert ", ".join(names) + "." in said


def test_a_largest_group_belongs_to_the_method_that_uses_it():
    settings = part_terms("reliability").Settings
    assert settings(method=GroupsBetting.name, largest_group=3).largest_group == 3
    with pytest.raises(ValueError, match=GroupsBetting.name):
        settings(largest_group=3)


def test_a_part_of_somebody_else_has_its_own_terms(monkeypatch):
    monkeypatch.setitem(parts.PARTS, "theirs", "fireassay.assessment.terms.accuracy")
    assert not is_built_in("theirs")
    assert part_terms("theirs").USES == ("curation",)
