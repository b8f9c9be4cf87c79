"""The argument by requirement: a leg is developed only where its limits are kept."""

from fireassay.core import Assumption, Estimate, Evidence
from fireassay.report import Report

ERROR = Estimate(0.04, 0.02, 0.06, 0.95, 100, "Clopper-Pearson", rests_on=("independent-rows",))
PART = Evidence(
    "accuracy",
    "Right on 96 %.",
    estimates={"error": ERROR},
    assumptions=(
        Assumption("Rows are independent.", "untestable", "asked", id="independent-rows"),
    ),
)


def argument(tmp_path, limit, requirements):
    report = Report([PART], "Alarm")
    gates = {"max": {"accuracy.error": limit}}
    return report.to_gsn(tmp_path / "gsn.yaml", gates, requirements).read_text()


def leg(text, goal):
    lines = text.split(f"\n{goal}:\n")[1].splitlines()
    return lines[: next((i for i, t in enumerate(lines) if t[:1] != " "), None)]


def test_a_kept_limit_develops_its_requirement(tmp_path):
    text = argument(tmp_path, 0.1, {"R1": ("Errors are rare.", ["accuracy.error"])})
    assert any("supportedBy: [Sn2_1]" in line for line in leg(text, "G2"))
    assert any("inContextOf: [A1]" in line for line in leg(text, "G2"))
    assert not any("undeveloped" in line for line in leg(text, "G2"))


def test_a_broken_limit_leaves_its_requirement_undeveloped(tmp_path):
    text = argument(tmp_path, 0.01, {"R1": ("Errors are rare.", ["accuracy.error"])})
    assert any("undeveloped: true" in line for line in leg(text, "G2"))


def test_a_requirement_without_a_judged_limit_says_so(tmp_path):
    both = ["accuracy.error", "survival.standing_share"]
    text = argument(tmp_path, 0.1, {"R1": ("Errors are rare.", both)})
    assert any("no such limit was judged" in line for line in leg(text, "G2"))
    assert any("undeveloped: true" in line for line in leg(text, "G2"))
