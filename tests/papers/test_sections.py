"""Every section says *refuted* when the stored result is made to contradict the paper."""

import copy
from pathlib import Path

import pytest

from fireassay.papers.ambiguity_published import PUBLISHED
from fireassay.papers.sections import (
    ambiguity,
    curation,
    discovery,
    reliability,
    supervision,
    survival,
)
from fireassay.papers.sections.page import left, page, sections
from fireassay.papers.sections.section import Results

ROOT = Path(__file__).resolve().parents[2]
STORED = Results(ROOT / "studies" / "results", ROOT / "benchmarks" / "results")


class Changed:
    """The stored results with some of them replaced."""

    def __init__(self, **instead):
        self.instead = instead

    def __call__(self, name):
        return self.instead.get(name.replace("/", "_").replace("-", "_"), STORED(name))


def verdicts(section):
    rows = {row.item + ", " + row.shows: row.verdict for row in section.rows}
    return rows | {claim.text: claim.verdict for claim in section.claims}


def word(section, start):
    return next(v.word for text, v in verdicts(section).items() if text.startswith(start))


def because(section, start):
    return next(v.because for text, v in verdicts(section).items() if text.startswith(start))


def test_the_page_is_made_from_the_stored_results():
    assert page(STORED, ROOT / "docs") == (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def test_every_refuted_claim_shows_a_figure_and_every_claim_a_belief():
    for section in sections(STORED):
        for claim in section.claims:
            assert claim.belief
            if claim.verdict.word == "refuted":
                assert any(character.isdigit() for character in claim.verdict.because)


def test_without_results_nothing_is_decided(tmp_path):
    for section in sections(Results(tmp_path)):
        decided = {v.word for v in verdicts(section).values()}
        assert decided <= {"not decided", "no public data"}


def test_what_is_left_is_what_is_smaller_than_the_paper(tmp_path):
    assert len(left(Results(tmp_path))) == 6
    found = trainings()
    assert "ambiguity" in " ".join(left(Changed(ambiguity_table1=found)))  # one network of four
    for model in ("CNN", "DenseNet", "ResNet"):
        found["parts"] += trainings(model=model)["parts"]
    changed = {"ambiguity_table1": found, "reliability_mnist": cells(), "survival_cifar10": {}}
    waiting = " ".join(left(Changed(**changed)))
    assert "ambiguity" not in waiting
    assert "mnist" not in waiting
    assert "survival_cifar10" in waiting


def test_one_cell_of_table_three_is_enough():
    found = STORED("curation_case_studies")
    assert word(curation.section(STORED), "Table III") == "reproduced"
    found["cells"][5]["authors_rho"] += 0.01
    found["sizes"]["spam"][0] += 1
    section = curation.section(Changed(curation_case_studies=found))
    assert word(section, "Table III") == word(section, "Table I,") == "refuted"


def test_table_two_leaves_out_a_valid_cell_of_table_three():
    assert "71 of 72" in because(curation.section(STORED), "Table II,")
    found = STORED("curation_case_studies")
    for cell in found["cells"]:
        if (cell["case"], cell["labeler"], cell["approach"]) in curation.DASHES:
            cell["authors_p"] = 0.2
    section = curation.section(Changed(curation_case_studies=found))
    assert word(section, "Table II,") == "reproduced"


@pytest.mark.parametrize(
    ("claim", "change", "becomes"),
    [
        ("Their approach never", {"verdict": "none", "definition_3": "none"}, "reproduced"),
        ("Their approach never", {"verdict": "increasing"}, "refuted"),
        ("Twelve of 18", {"authors_p": 0.9}, "refuted"),
        ("Each of the three", {"authors_rho": -0.9}, "refuted"),
        ("The verdicts are", {"rho": -0.9, "p_value": 0.0, "paper_rho": 0.9}, "refuted"),
        ("Fig. 3", {}, "reproduced"),
    ],
)
def test_claims_of_curation_follow_the_cells(claim, change, becomes):
    found = STORED("curation_case_studies")
    for cell in found["cells"]:
        cell.update(change)
    assert word(curation.section(Changed(curation_case_studies=found)), claim) == becomes


def test_lines_that_part_refute_the_figure():
    found = STORED("curation_case_studies")
    for cell in found["cells"]:
        if cell["case"] == "spam" and cell["approach"] == "ours":
            cell["authors_accuracy"] = [0.1] * 10
    assert word(curation.section(Changed(curation_case_studies=found)), "Fig. 3") == "refuted"


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
def test_tables_of_ambiguity_at_their_size(found, becomes):
    section = ambiguity.section(Changed(ambiguity_table1=found))
    assert word(section, "Table 5: mnist, mixed, MLP") == becomes
    assert word(section, "Table 7: mnist, mixed, ResNet") == "not decided"  # not run
    assert word(section, "Table 1: mnist, mixed, average") == "not decided"  # one network of four


def test_the_average_is_over_the_networks_of_a_round():
    found = trainings()
    for model in ("CNN", "DenseNet", "ResNet"):
        found["parts"] += trainings(model=model)["parts"]
    section = ambiguity.section(Changed(ambiguity_table1=found))
    assert word(section, "Table 1: mnist, mixed, average") == "reproduced"
    average = ambiguity.answers(found["parts"], "mnist", "mixed", "ambiguous", ambiguity.AVERAGE)
    assert average["top1"] == pytest.approx([(0.54 + 0.53 * 3) / 4 + 0.001 * i for i in range(5)])
    found["parts"] = [part for part in found["parts"] if (part["model"], part["run"]) != ("CNN", 4)]
    whole = ambiguity.answers(found["parts"], "mnist", "mixed", "ambiguous", ambiguity.AVERAGE)
    assert len(whole["top1"]) == 4  # the last round lacks a network


@pytest.mark.parametrize(("number", "moved"), [("entropy", 0.3), ("top2", 0.08)])
@pytest.mark.parametrize("test", ["mnist", "nominal"])
def test_any_printed_number_can_refute_a_row_of_ambiguity(test, number, moved):
    found = trainings()
    for part in found["parts"]:
        if part["made"] == "mnist":
            part[test][number] -= moved
    section = ambiguity.section(Changed(ambiguity_table1=found))
    assert word(section, "Table 5: mnist, mixed, MLP") == "refuted"
    assert number in because(section, "Table 5: mnist, mixed, MLP")


def test_fewer_autoencoders_are_another_setting():
    found = trainings(shift=-0.2)
    found["settings"]["tries"] = 2
    for own in found["sets"].values():
        own["autoencoders"] = 90
    section = ambiguity.section(Changed(ambiguity_table1=found))
    assert "2 autoencoders a pair, theirs 20" in because(section, "Table 5: mnist, mixed, MLP")
    assert word(section, "Section 5.3") == "other setting"
    assert "ambiguity" in " ".join(left(Changed(ambiguity_table1=found)))


@pytest.mark.parametrize(
    ("review", "becomes"),
    [
        ({"reviewed": 0}, "not decided"),
        ({"reviewed": 300, "kept": 280, "share": 0.93, "low": 0.9, "high": 0.96}, "reproduced"),
        ({"reviewed": 300, "kept": 90, "share": 0.3, "low": 0.25, "high": 0.36}, "refuted"),
        ({"reviewed": 9, "kept": 7, "share": 0.78, "low": 0.4, "high": 0.97}, "not decided"),
    ],
)
def test_only_a_review_decides_on_samples(review, becomes):
    found = Changed(ambiguity_table1=trainings(), ambiguity_fig8={"mnist": review})
    assert word(ambiguity.section(found), "Fig. 8") == becomes


def test_a_narrower_or_better_network_is_another_setting():
    section = ambiguity.section(Changed(ambiguity_table1=trainings(shift=-0.2, model="CNN")))
    assert word(section, "Table 4: mnist, mixed, CNN") == "other setting"
    found = trainings(shift=-0.2)
    for part in found["parts"]:
        part["nominal"]["top1"] += 0.03
    section = ambiguity.section(Changed(ambiguity_table1=found))
    assert word(section, "Table 5: mnist, mixed, MLP") == "other setting"


def test_claims_of_ambiguity_can_be_refuted():
    found = trainings()
    for part in found["parts"]:
        part["nominal"]["entropy"] = 3.0
        part["nominal"]["top1"] = 0.5 if part["training"] == "mixed" else 0.99
        part["nominal"]["top2"] = 1.2
        part[part["made"]]["top1"] = 0.9
    section = ambiguity.section(Changed(ambiguity_table1=found))
    for claim in (
        "Ambiguous inputs halve",
        "Top-2 accuracy",
        "Entropy is higher",
        "Mixed training",
    ):
        assert word(section, claim) == "refuted"
        with_other_autoencoders = found | {"settings": found["settings"] | {"preset": "fast"}}
        other = ambiguity.section(Changed(ambiguity_table1=with_other_autoencoders))
        assert word(other, claim) == "other setting"


def test_claims_on_supervisors_can_be_refuted_at_the_paper_s_size():
    found = STORED("supervision_table2")
    found["settings"] |= {"train_rows": 80_000, "attacked": 1_000, "members": 20}
    found["summary"] = [row for row in found["summary"] if "mean" in row]
    for row in found["summary"]:
        row["architectures"] = 4
    same = supervision.section(Changed(supervision_table2=copy.deepcopy(found)))
    assert word(same, "Softmax-based supervisors find") == "reproduced"
    for row in found["summary"]:
        softmax = row["supervisor"] in supervision.SOFTMAX
        row["mean"] = 0.3 if softmax else 0.95
        row["arm"] = 0.01
        if row["supervisor"] == "dsa" and row["set"] == "corrupted":
            row["mean"] = 0.6
    cells, over_trainings = supervision.auroc(found["summary"]), supervision.spreads([])
    theirs = supervision.claims(cells, over_trainings, "", "")
    ours = supervision.claims(cells, over_trainings, "", "our own rows")
    for start in ("Softmax-based", "Surprise", "No single", "On corrupted", "… and no better"):
        same, other = (next(c for c in told if c.text.startswith(start)) for told in (theirs, ours))
        assert same.verdict.word == "refuted", start
        assert other.verdict.word == "other setting", start
    for part in found["parts"]:
        for record in part["records"]:
            record["auroc"] = 0.4 + 0.1 * part["run"]
    section = supervision.section(Changed(supervision_table2=found))
    assert "share above 0.05 1, printed 0.0594" in because(section, "Tables 8–11")
    spreads = supervision.spreads(found["parts"])
    assert len(spreads) == 488  # as many as they print
    assert all(own == pytest.approx((0.158, 0.6), abs=1e-3) for own in spreads.values())
    assert word(section, "Tables 8–11") == "other setting"
    assert word(section, "Where trainings differ much") == "reproduced"  # their means are .6
    for part in found["parts"]:
        for record in part["records"]:
            record["auroc"] = 0.8 + 0.1 * part["run"]
    section = supervision.section(Changed(supervision_table2=found))
    assert "does not hold" in because(section, "Where trainings differ much")
    assert "does not hold" in because(section, "Softmax-based supervisors beat")
    assert word(section, "… and no better") == "other setting"
    for row in found["summary"]:
        row["mean"] = 0.9 if row["supervisor"] in supervision.SOFTMAX else 0.2
    section = supervision.section(Changed(supervision_table2=found))
    assert "does not hold" in because(section, "On adversarial")
    assert word(section, "Table 2, MNIST, ambiguous") == "other setting"
    for row in found["summary"]:
        row["architectures"] = 2
    section = supervision.section(Changed(supervision_table2=found))
    assert "2 of 4 architectures" in because(section, "Surprise adequacy")


def test_searches_that_find_nothing_do_not_hold():
    found = STORED("discovery/bias-0")
    for curve in found["curves"].values():
        curve["sdr"] = [0.5] * 50
    found["cloud"]["log_mae"] = [-value for value in found["cloud"]["log_mae"]]
    section = discovery.section(Changed(discovery_bias_0=found))
    told = verdicts(section)
    assert "does not hold" in because(section, "Fig. 1")
    assert "does not hold" in str(told["Fig. 3, spread at 50 labels"])
    assert all(v.word in ("other setting", "not decided") for v in told.values())


@pytest.mark.parametrize(("hits", "holds"), [(45, "holds"), (25, "open"), (5, "does not hold")])
def test_light_superpixels_are_counted(hits, holds):
    model = {"kind": "bias", "seed": 0, "errors": 50, "lighter than the median candidate": 30}
    model["heaviest superpixel lighter than its image"] = hits
    found = Changed(discovery_superpixels={"models": [model]})
    told = verdicts(discovery.section(found))
    text = next(v.because for name, v in told.items() if name.startswith("Figs. 8, 9, errors"))
    assert text.startswith(f"{holds}, lighter in {hits} of 50")


def cells(**change):
    row = {
        "published": {"test error": 0.0235, "cells": 170_000, "ACU": 0.106615, "E": 0.036517},
        "test error": 0.008, "cells": 170_000, "ACU": 0.11, "E": 0.037, "their mass": 0.995,
        "ACU interval": [0.105, 0.112], "E interval": [0.035, 0.039],
        "splitting": {"cells": 100, "difference": 0.02, "difference interval": [0.01, 0.03]},
    }  # fmt: skip
    return row | change


@pytest.mark.parametrize(
    ("item", "change", "becomes"),
    [
        ("Table 1, MNIST", {}, "reproduced"),
        ("Table 1, MNIST", {"E": 0.08, "E interval": [0.07, 0.09]}, "other setting"),
        ("Table 1, MNIST", {"E": 0.08, "cells": 4_000}, "other setting"),
        ("Table 1, MNIST", {"E": 0.08, "test error": 0.1}, "other setting"),
        ("On image sets", {"ACU": 0.001}, "refuted"),
        ("… because small", {}, "not decided"),
        ("The k heaviest", {}, "reproduced"),
        ("The k heaviest", {"their mass": 1e-8}, "refuted"),
        ("Plain draws", {}, "reproduced"),
        ("Plain draws",
         {"splitting": {"cells": 100, "difference": 0.0, "difference interval": [-1e-4, 1e-4]}},
         "refuted"),
    ],
)  # fmt: skip
def test_image_rows_follow_the_cells(item, change, becomes):
    section = reliability.section(
        Changed(reliability_mnist=cells(**change), reliability_cifar10={})
    )
    assert word(section, item) == becomes


@pytest.mark.parametrize(
    ("wrong", "told"), [(9_000, "does not hold"), (100, "holds"), (160, "open")]
)
def test_errors_on_decoded_images_are_told_from_changes(wrong, told):
    row = cells(**{"wrong after decoding": wrong, "test rows": 10_000})
    assert reliability.robustness_explains({"mnist": row}).because.startswith(told)


def test_grid_rows_can_be_refuted():
    found = STORED("reliability_table1")
    for row in found["rows"]:
        row["E"] *= 1.5
        row["ACU"] = 0.5
        row["test error"] = 0.3
    section = reliability.section(Changed(reliability_table1=found))
    for start in ("Table 1, DS-1", "On the two-dimensional", "Fig. 2"):
        assert word(section, start) == "refuted"
    assert word(section, "Table 1, DS-2") == "no public data"
    assert word(section, "Ub is an upper bound") == "refuted"


def archive(**change):
    found = STORED("survival_archive")
    for path, value in change.items():
        part, name, *rest = path.split("__")
        found[part][name][rest[0]] = value
    return found


@pytest.mark.parametrize(
    ("claim", "change", "becomes"),
    [
        ("More epochs", {"effects__epochs__low": 0.001, "effects__epochs__high": 0.002}, "refuted"),
        ("More epochs", {"effects__epochs__low": -0.2, "effects__epochs__high": -0.1},
         "reproduced"),
        ("More accuracy", {"effects__accuracy__low": 0.1, "effects__accuracy__high": 0.2},
         "refuted"),
        ("Deeper models", {"without_query_time__layers__low": -0.2,
                           "without_query_time__layers__high": -0.1}, "refuted"),
        ("… because", {"effects__layers__low": 0.1, "effects__layers__high": 0.2}, "refuted"),
        ("Training time", {"effects__train_time__low": -1.0}, "reproduced"),
        ("Training time", {}, "refuted"),
        ("Every model is broken:", {}, "refuted"),
        ("Table I, AIC", {}, "refuted"),
    ],
)  # fmt: skip
def test_claims_of_survival_follow_the_archive(claim, change, becomes):
    section = survival.section(Changed(survival_archive=archive(**change)))
    assert word(section, claim) == becomes


def test_a_table_that_maximum_likelihood_allows_is_not_refuted():
    found = STORED("survival_archive")
    for row in found["printed"].values():
        row["aic"] = row["bic"] = None
    assert word(survival.section(Changed(survival_archive=found)), "Table I, AIC") == "reproduced"


def test_cheap_attacks_everywhere_break_every_model():
    found = STORED("survival_archive")
    for row in found["cost"]:
        row |= {"ratio": 5.0, "low": 4.0, "high": 6.0}
    found["unchanged"] = 0
    section = survival.section(Changed(survival_archive=found))
    for claim in ("Every model is broken:", "… at least", "What is counted"):
        assert word(section, claim) == "reproduced"
