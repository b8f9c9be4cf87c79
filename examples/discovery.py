"""Fifty labels for a model whose training data lacked a sub-group: a bias found in digits.

A classifier learns to tell 3, 5 and 8 from the other digits, but no 9 was in its training data.
Where does it confidently call a digit "one of 3, 5, 8" and is wrong? Runs in a few seconds.
"""

import numpy as np

from fireassay import data, discovery
from fireassay.classifiers import as_classifier


def main() -> discovery.SearchResult:
    from sklearn.linear_model import LogisticRegression

    digits = data.digits()
    X = digits.X.reshape(len(digits.X), -1)
    wanted = np.isin(digits.y, (3, 5, 8))
    names = np.where(wanted, "3, 5 or 8", "other")
    order = np.random.default_rng(0).permutation(len(X))
    train, validation, field = order[:600], order[600:900], order[900:]

    # The bias: a sub-group is missing from training and validation.
    hidden = np.isin(digits.y, (9,))
    train, validation = train[~hidden[train]], validation[~hidden[validation]]
    estimator = LogisticRegression(C=10.0, max_iter=500).fit(X[train], names[train])
    model = as_classifier(estimator, bounds=(float(X.min()), float(X.max())))

    calibrated = discovery.calibrate(model, X[validation], names[validation])
    print(f"temperature {calibrated.temperature:.2f}")
    results = {}
    for name in ("adversarial-distance", "random"):
        search = discovery.Search(
            name, model=calibrated, X=X[field], critical_class="3, 5 or 8", budget=50,
            max_queries=200, matched_share=0.2,
        )  # fmt: skip
        result = results[name] = search.run(lambda row: names[field[row]])
        low, high = result.sdr_interval
        ratio = f"ratio {result.sdr:.2f} [{low:.2f}, {high:.2f}], p = {result.p_value:.2g}"
        print(f"{name}: {result.errors} errors, {result.expected:.1f} expected, {ratio}")
        skill = result.matched_random
        if skill is not None:
            print(f"  against random rows of the same confidence: p = {skill.p_value:.2g}")
        if result.errors:
            found = digits.y[field[result.rows[result.wrong]]]
            print(f"  the errors are the digits {np.bincount(found, minlength=10)} (0 … 9)")
    print("A small p says: the confidences are too high there. Only the second p speaks of skill.")
    return results["adversarial-distance"]


if __name__ == "__main__":
    main()
