"""Which alarms of a ward are hard, and does a classifier behave on them as a robust one should?

A simulated ward with known truth stands in for field data: 24 rules of thumb vote on each alarm,
the votes give labels and an order from safe to adversarial, and the order is checked three ways.
"""

from sklearn.ensemble import RandomForestClassifier

from fireassay import curation
from fireassay.curation.simulation import compare_approaches
from fireassay.curation.windows import ALARM_FUNCTIONS, alarm_votes
from fireassay.data.alarms import alarms


def main() -> curation.Trend:
    ward = alarms(600, seed=0)
    votes = alarm_votes(ward)
    names = [rule.name for rule in ALARM_FUNCTIONS]
    result = curation.curate(votes, names=names, labeler="snorkel", default_class=1)

    print("Labelling functions (first five):")
    table = result.lf_analysis(ward.y)[["name", "coverage", "accuracy", "kept", "reason"]]
    print(table.head().to_string(index=False, float_format="{:.2f}".format))
    for warning in result.warnings:
        print("Careful:", warning)

    # 1. No label at all: plan an audit, and buy those labels only.
    plan = result.plan_audit(accuracy_first=0.95, accuracy_last=0.7)
    print(f"\nAn audit needs {plan.n_labels} labels (power {plan.power}).")
    rows = result.audit_rows(plan.n_labels)
    audit = result.audit(rows, ward.y[rows])
    print(f"Audit: {audit.verdict}; accuracy of all labels {audit.accuracy[-1]:.2f} "
          f"[{audit.low[-1]:.2f}, {audit.high[-1]:.2f}]")  # fmt: skip

    # 2. All labels, counting patients and not alarms.
    trend = result.validate(ward.y, groups=ward.patient)
    print("\nWith all labels:", trend.in_words())

    # 3. The published rule can mislead: here it sees an order that is not there.
    other = curation.curate(votes, labeler="triplet", interval="paper", default_class=1)
    print("\nAnother label model:", other.validate(ward.y, groups=ward.patient).in_words())

    # A classifier, trained on other alarms, followed along the datasets.
    past = alarms(900, seed=1)
    forest = RandomForestClassifier(200, random_state=0).fit(past.features(), past.y)
    found = result.robustness(
        forest.predict(ward.features()), by=ward.age, validity=trend, groups=ward.patient
    )
    print(f"\nClassifier: {found.verdict}. {found.reason}")
    print(found.subgroups[["subgroup", "n", "agreement", "difference", "differs"]].to_string(
        index=False, float_format="{:.2f}".format))  # fmt: skip

    # The paper's four approaches, as in its Table III.
    print()
    print(compare_approaches(votes, ward.y, default_class=1, case="ward"))
    return trend


if __name__ == "__main__":
    main()
