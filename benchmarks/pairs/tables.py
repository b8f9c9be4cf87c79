"""Tables as people have them: names, holes, dates, categories, columns in another order."""

import numpy as np
import pandas as pd
from pair import Setup, function, kept, pair, share


def patients(n=700, seed=0):
    """A table as a hospital has it: numbers, counts, names, holes, a group, a label."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "patient": rng.integers(0, n // 2, n),
            "age": rng.normal(50, 15, n).round(1),
            "bmi": rng.normal(25, 4, n),
            "visits": rng.integers(0, 9, n),
            "sex": rng.choice(["f", "m"], n),
            "ward": rng.choice(["A", "B", "Süd"], n),
        }
    )
    score = 0.08 * (frame.age - 50) + 1.5 * (frame.sex == "m") + 0.3 * (frame.visits - 4)
    frame["outcome"] = np.where(score + rng.normal(0, 1, n) > 0.8, "ill", "well")
    frame.loc[rng.random(n) < 0.1, "bmi"] = np.nan
    frame.loc[rng.random(n) < 0.08, "ward"] = None
    return frame


def pipeline(frame):
    """Imputers, a scaler and a one-hot encoder before a logistic regression."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    names = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    columns = ["ward", "sex", "age", "bmi", "visits"]
    both = ColumnTransformer([("n", numbers, columns[2:]), ("c", names, columns[:2])])
    model = make_pipeline(both, LogisticRegression(max_iter=1000))
    return model.fit(frame[columns], frame["outcome"])


@pair("columns in another order", "logistic regression on a frame, skops", "CSV, one column more")
def _(folder):
    from sklearn.linear_model import LogisticRegression

    frame = patients()[["age", "visits", "outcome"]].assign(extra=1.5)
    model = LogisticRegression().fit(frame[["age", "visits"]], frame["outcome"])
    frame[["extra", "visits", "outcome", "age"]].to_csv(folder / "test.csv", index=False)
    arguments = ["--model", kept(model, folder), "--data", "test.csv", "--label", "outcome"]
    return Setup(arguments, share(model.predict(frame[["age", "visits"]]), frame["outcome"]))


@pair("names and holes", "pipeline with a ColumnTransformer, skops", "CSV, strings and holes")
def _(folder):
    frame = patients()
    train, test, field = frame[:300], frame[300:550], frame[550:].drop(columns="outcome")
    for name, part in (("train", train), ("test", test), ("field", field)):
        part.to_csv(folder / f"{name}.csv", index=False)
    model = pipeline(train)
    arguments = ["--model", kept(model, folder), "--data", "test.csv", "--train", "train.csv"]
    arguments += ["--operational", "field.csv", "--label", "outcome", "--group", "patient"]
    arguments += ["--slices", "sex"]
    return Setup(arguments, share(model.predict(test), test["outcome"]))


@pair("the same, joblib", "the same pipeline, joblib, --trust", "Parquet, strings and holes")
def _(folder):
    frame = patients(seed=1)
    frame[300:].to_parquet(folder / "test.parquet")
    model = pipeline(frame[:300])
    arguments = ["--model", kept(model, folder, "model.joblib"), "--data", "test.parquet"]
    arguments += ["--label", "outcome", "--ignore", "patient", "--trust"]
    return Setup(arguments, share(model.predict(frame[300:]), frame["outcome"][300:]))


@pair("categories", "HistGradientBoosting, joblib, --trust", "Parquet, categorical columns, holes")
def _(folder):
    from sklearn.ensemble import HistGradientBoostingClassifier

    frame = patients(seed=2).astype({"ward": "category", "sex": "category"})
    columns = ["age", "bmi", "sex", "ward"]
    model = HistGradientBoostingClassifier(max_iter=20).fit(
        frame[columns][:400], frame.outcome[:400]
    )
    frame[400:].to_parquet(folder / "test.parquet")
    arguments = ["--model", kept(model, folder, "model.joblib"), "--data", "test.parquet"]
    arguments += ["--label", "outcome", "--trust"]
    return Setup(arguments, share(model.predict(frame[columns][400:]), frame.outcome[400:]))


@pair("dates and flags", "a function of a data frame", "Parquet, dates, flags")
def _(folder):
    rng = np.random.default_rng(3)
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, 240), "D")
    frame = pd.DataFrame(
        {"day": days, "urgent": rng.random(240) < 0.4, "n": rng.integers(0, 9, 240)}
    )
    late = (frame.day > pd.Timestamp("2024-07-01")).astype(float) + frame.urgent
    frame["label"] = np.where(late + rng.normal(0, 0.4, 240) > 0.7, "late", "soon")
    frame.to_parquet(folder / "test.parquet")
    body = (
        "import pandas as pd\ndef model(X):\n"
        "    s = 3 * ((X['day'] > pd.Timestamp('2024-07-01')) * 1.0 + X['urgent']) - 2\n"
        "    p = 1 / (1 + np.exp(-s.to_numpy()))\n    return np.column_stack([p, 1 - p])"
    )
    said = np.where(late > 2 / 3, "late", "soon")
    return Setup(
        ["--model", function(folder, "by_day", body), "--data", "test.parquet"],
        share(said, frame["label"]),
    )
