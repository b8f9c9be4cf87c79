"""Ambiguity: every printed number can refute its row, other autoencoders are another setting."""

import pytest

from fireassay.papers.ambiguity_published import PUBLISHED
from fireassay.papers.sections import ambiguity
from fireassay.papers.sections.page import left


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
        (trainings(), "reproduced"),
        (trainings(shift=-0.2), "refuted"),
        (trainings(shift=-0.2, rows=9_000), "other setting"),
        (trainings(shift=-0.2, preset="fast"), "other setting"),
    ],
)
def test_tables_of_ambiguity_at_their_size(found, becomes, changed, told):
    section = ambiguity.section(changed(ambiguity_table1=found))
    assert told(section, "Table 5: mnist, mixed, MLP").word == becomes
    assert told(section, "Table 7: mnist, mixed, ResNet").word == "not decided"  # not run
    assert (
        told(section, "Table 1: mnist, mixed, average").word == "not decided"
    )  # one network of four


def test_the_average_is_over_the_networks_of_a_round(changed, told):
    found = trainings()
    for model in ("CNN", "DenseNet", "ResNet"):
        found["parts"] += trainings(model=model)["parts"]
    section = ambiguity.section(changed(ambiguity_table1=found))
    assert told(section, "Table 1: mnist, mixed, average").word == "reproduced"
    average = ambiguity.answers(found["parts"], "mnist", "mixed", "ambiguous", ambiguity.AVERAGE)
    assert average["top1"] == pytest.approx([(0.54 + 0.53 * 3) / 4 + 0.001 * i for i in range(5)])
    found["parts"] = [part for part in found["parts"] if (part["model"], part["run"]) != ("CNN", 4)]
    whole = ambiguity.answers(found["parts"], "mnist", "mixed", "ambiguous", ambiguity.AVERAGE)
    assert len(whole["top1"]) == 4  # the last round lacks a network


@pytest.mark.parametrize(("number", "moved"), [("entropy", 0.3), ("top2", 0.08)])
@pytest.mark.parametrize("test", ["mnist", "nominal"])
def test_any_printed_number_can_refute_a_row_of_ambiguity(test, number, moved, changed, told):
    found = trainings()
    for part in found["parts"]:
        if part["made"] == "mnist":
            part[test][number] -= moved
    section = ambiguity.section(changed(ambiguity_table1=found))
    assert told(section, "Table 5: mnist, mixed, MLP").word == "refuted"
    assert number in told(section, "Table 5: mnist, mixed, MLP").because


def test_fewer_autoencoders_are_another_setting(changed, told):
    found = trainings(shift=-0.2)
    found["settings"]["tries"] = 2
    for own in found["sets"].values():
        own["autoencoders"] = 90
    section = ambiguity.section(changed(ambiguity_table1=found))
    assert "2 autoencoders a pair, theirs 20" in told(section, "Table 5: mnist, mixed, MLP").because
    assert told(section, "Section 5.3").word == "other setting"
    assert "ambiguity" in " ".join(left(changed(ambiguity_table1=found)))


@pytest.mark.parametrize(
    ("review", "becomes"),
    [
        ({"reviewed": 0}, "not decided"),
        ({"reviewed": 300, "kept": 280, "share": 0.93, "low": 0.9, "high": 0.96}, "reproduced"),
        ({"reviewed": 300, "kept": 90, "share": 0.3, "low": 0.25, "high": 0.36}, "refuted"),
        ({"reviewed": 9, "kept": 7, "share": 0.78, "low": 0.4, "high": 0.97}, "not decided"),
    ],
)
def test_only_a_review_decides_on_samples(review, becomes, changed, told):
    found = changed(ambiguity_table1=trainings(), ambiguity_fig8={"mnist": review})
    assert told(ambiguity.section(found), "Fig. 8").word == becomes


def test_a_narrower_or_better_network_is_another_setting(changed, told):
    section = ambiguity.section(changed(ambiguity_table1=trainings(shift=-0.2, model="CNN")))
    assert told(section, "Table 4: mnist, mixed, CNN").word == "other setting"
    found = trainings(shift=-0.2)
    for part in found["parts"]:
        part["nominal"]["top1"] += 0.03
    section = ambiguity.section(changed(ambiguity_table1=found))
    assert told(section, "Table 5: mnist, mixed, MLP").word == "other setting"


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
        assert told(section, claim).word == "refuted"
        with_other_autoencoders = found | {"settings": found["settings"] | {"preset": "fast"}}
        other = ambiguity.section(changed(ambiguity_table1=with_other_autoencoders))
        assert told(other, claim).word == "other setting"


@pytest.mark.parametrize(("top1", "held"), [(0.5, "holds"), (0.9, "does not hold"), (0.7, "open")])
def test_more_ambiguous_than_the_baseline_is_judged_by_its_intervals(top1, held):
    parts = []
    for run in range(5):
        for made, numbers in (
            ("mnist", {"top1": top1, "top2": 0.99, "entropy": 1.2}),
            (ambiguity.BASELINE, {"top1": 0.7, "top2": 0.9, "entropy": 0.9}),
        ):
            shaken = {
                name: value + 0.01 * ((run + len(made)) % 3) for name, value in numbers.items()
            }
            parts.append(
                {"made": made, "training": "mixed", "model": "MLP", "run": run, made: shaken}
            )
    assert ambiguity.beats_baseline(parts, "").because.startswith(held)
