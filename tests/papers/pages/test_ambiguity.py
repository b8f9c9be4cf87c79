"""Ambiguity: every printed number can refute its row, other autoencoders are another setting."""

import pytest

from fireassay.papers.ambiguity_published import PUBLISHED
from fireassay.papers.pages import ambiguity, ambiguity_claims
from fireassay.papers.pages.page import left


def trainings(shift=0.0, rows=60_000, model="MLP", preset="paper"):
    """Five trainings of a network that give the printed numbers, moved by ``shift``."""
    parts = []
    for run in range(5):
        for made, training in (("mnist", "mixed"), ("mnist", "clean"),
                               ("fashion-mnist", "mixed"), ("fashion-mnist", "clean")):  # fmt: skip
            part = {"made": made, "training": training, "model": model, "run": run}
            for test, key in (("ambiguous", made), ("nominal", "nominal")):
                cells = PUBLISHED[made, training, test][model]
                names = ("top1", "top2", "top_pair", "entropy")
                part[key] = {
                    name: None if cell is None else cell + shift * (key == made) + 0.001 * run
                    for name, cell in zip(names, cells, strict=True)
                }
            parts.append(part)
    settings = {"rows": rows, "ambiguous": 20_000, "tested": 10_000, "epochs": 10, "tries": 20}
    own = {"autoencoders": 900, "accepted": 880, "cpu_seconds": 1.0}
    return {
        "parts": parts, "settings": settings | {"preset": preset},
        "sets": {"mnist": own, "fashion-mnist": own},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("found", "becomes"),
    [
        (trainings(), "agrees"),
        (trainings(shift=-0.2), "differs"),
        (trainings(shift=-0.2, rows=9_000), "differs"),
    ],
)
def test_tables_of_ambiguity_at_their_size(found, becomes, changed, told):
    section = ambiguity.section(changed(ambiguity_table1=found))
    assert told(section, "Table 5: mnist, mixed, MLP").finding == becomes
    assert told(section, "Table 7: mnist, mixed, ResNet").finding == "open"  # not run
    assert told(section, "Table 1: mnist, mixed, average").finding == "open"  # one network of four


def test_the_average_is_over_the_networks_of_a_round(changed, told):
    found = trainings()
    for model in ("CNN", "DenseNet", "ResNet"):
        found["parts"] += trainings(model=model)["parts"]
    section = ambiguity.section(changed(ambiguity_table1=found))
    assert told(section, "Table 1: mnist, mixed, average").finding == "agrees"
    average = ambiguity_claims.answers(
        found["parts"], "mnist", "mixed", "ambiguous", ambiguity_claims.AVERAGE
    )
    assert average["top1"] == pytest.approx([(0.54 + 0.53 * 3) / 4 + 0.001 * i for i in range(5)])
    found["parts"] = [part for part in found["parts"] if (part["model"], part["run"]) != ("CNN", 4)]
    whole = ambiguity_claims.answers(
        found["parts"], "mnist", "mixed", "ambiguous", ambiguity_claims.AVERAGE
    )
    assert len(whole["top1"]) == 4  # the last round lacks a network


@pytest.mark.parametrize(("number", "moved"), [("entropy", 0.3), ("top2", 0.08)])
@pytest.mark.parametrize("test", ["mnist", "nominal"])
def test_any_printed_number_can_refute_a_row_of_ambiguity(test, number, moved, changed, told):
    found = trainings()
    for part in found["parts"]:
        if part["made"] == "mnist":
            part[test][number] -= moved
    section = ambiguity.section(changed(ambiguity_table1=found))
    assert told(section, "Table 5: mnist, mixed, MLP").finding == "differs"
    assert number in told(section, "Table 5: mnist, mixed, MLP").because


def test_fewer_autoencoders_are_another_setting(changed, told):
    found = trainings(shift=-0.2)
    found["settings"]["tries"] = 2
    for own in found["sets"].values():
        own["autoencoders"] = 90
    section = ambiguity.section(changed(ambiguity_table1=found))
    assert "2 autoencoders a pair, theirs 20" in told(section, "Table 5: mnist, mixed, MLP").differs
    assert told(section, "Section 5.3").setting == "ours"
    assert "ambiguity" in " ".join(left(changed(ambiguity_table1=found)))


@pytest.mark.parametrize(
    ("review", "becomes"),
    [
        ({"reviewed": 0}, "open"),
        ({"reviewed": 300, "kept": 280, "share": 0.93, "low": 0.9, "high": 0.96}, "agrees"),
        ({"reviewed": 300, "kept": 90, "share": 0.3, "low": 0.25, "high": 0.36}, "differs"),
        ({"reviewed": 9, "kept": 7, "share": 0.78, "low": 0.4, "high": 0.97}, "open"),
    ],
)
def test_only_a_review_decides_on_samples(review, becomes, changed, told):
    found = changed(ambiguity_table1=trainings(), ambiguity_fig8={"mnist": review})
    assert told(ambiguity.section(found), "Fig. 8").finding == becomes


def test_a_narrower_or_better_network_is_another_setting(changed, told):
    section = ambiguity.section(changed(ambiguity_table1=trainings(shift=-0.2, model="CNN")))
    assert told(section, "Table 4: mnist, mixed, CNN").setting == "ours"
    found = trainings(shift=-0.2)
    for part in found["parts"]:
        part["nominal"]["top1"] += 0.03
    section = ambiguity.section(changed(ambiguity_table1=found))
    assert "nominal top-1 0.94" in told(section, "Table 5: mnist, mixed, MLP").differs


def test_claims_of_ambiguity_can_be_refuted(changed, told):
    found = trainings()
    for part in found["parts"]:
        part["nominal"]["entropy"] = 3.0
        part["nominal"]["top1"] = 0.5 if part["training"] == "mixed" else 0.99
        part["nominal"]["top2"] = 1.2
        part[part["made"]]["top1"] = 0.9
    section = ambiguity.section(changed(ambiguity_table1=found))
    for claim in (
        "Ambiguous inputs halve",
        "Top-2 accuracy",
        "Entropy is higher",
        "Mixed training",
    ):
        assert told(section, claim, here=True).finding == "differs"
        with_other_autoencoders = found | {"settings": found["settings"] | {"preset": "fast"}}
        other = ambiguity.section(changed(ambiguity_table1=with_other_autoencoders))
        assert told(other, claim, here=True).setting == "ours"


@pytest.mark.parametrize(("top1", "held"), [(0.5, "agrees"), (0.9, "differs"), (0.7, "open")])
def test_more_ambiguous_than_the_baseline_is_judged_by_its_intervals(top1, held):
    parts = []
    for run in range(5):
        for made, numbers in (
            ("mnist", {"top1": top1, "top2": 0.99, "entropy": 1.2}),
            (ambiguity_claims.BASELINE, {"top1": 0.7, "top2": 0.9, "entropy": 0.9}),
        ):
            shaken = {
                name: value + 0.01 * ((run + len(made)) % 3) for name, value in numbers.items()
            }
            parts.append(
                {"made": made, "training": "mixed", "model": "MLP", "run": run, made: shaken}
            )
    assert ambiguity_claims.beats_baseline(parts, "").finding == held


def test_the_label_file_of_the_baseline_can_differ(stored, changed, told):
    found = stored("authors_archives")
    row = told(ambiguity.section(stored), "Section 6.2")
    assert (row.finding, row.setting) == ("agrees", "theirs")
    found["ambiguity"]["test"]["one class"] = 800
    assert told(ambiguity.section(changed(authors_archives=found)), "Section 6.2").finding == (
        "differs"
    )


def test_their_networks_are_judged_on_nominal_rows(stored, changed, told):
    row = "Table 5: mnist, clean, MLP, nominal"
    found = stored("ambiguity_networks")
    section = ambiguity.section(stored)
    assert (told(section, row).finding, told(section, row).setting) == (
        "agrees",
        "theirs, retrained",
    )
    for part in found["parts"]:
        part["nominal"]["entropy"] = 1.0
    one = ambiguity.section(changed(ambiguity_networks=found))
    assert told(one, row).finding == "open"  # a single training has no interval
    found["parts"] += [part | {"run": run} for part in found["parts"] for run in (1, 2)]
    assert told(ambiguity.section(changed(ambiguity_networks=found)), row).finding == "differs"


def test_sentences_are_held_against_the_printed_table(stored, monkeypatch, told):
    claim, text = "Their inputs are more", "Table 1, percentages"
    for start in (claim, text, "Table 1, averages"):
        assert told(ambiguity.section(stored), start).finding == "agrees"
        assert told(ambiguity.section(stored), start).setting == "theirs, as printed"
    other = {key: dict(rows) for key, rows in PUBLISHED.items()}
    other["mnist", "mixed", "ambiguous"]["average"] = (0.8, 0.8, 0.8, 0.5)
    for module in (ambiguity, ambiguity_claims):
        monkeypatch.setattr(module, "PUBLISHED", other)
    for start in (claim, text, "Table 1, averages"):
        assert told(ambiguity.section(stored), start).finding == "differs"
