"""A real model in ten minutes: LightGBM on a table with categories (Fair's survey of marriages)

pip install lightgbm statsmodels pyarrow
python examples/gallery/affairs_table.py FOLDER
"""

import sys
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
from statsmodels.datasets import fair

WORK = {
    1: "student",
    2: "unskilled",
    3: "white-collar",
    4: "skilled",
    5: "managerial",
    6: "professional",
}
MODULE = '''\
"""The model as a function of the table: the booster takes categories as it was fitted on them."""

from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd

booster = lightgbm.Booster(model_file=Path(__file__).with_name("affairs.txt"))
WORK = {work}


def predict(frame):
    rows = frame.assign(**{{
        name: pd.Categorical(frame[name], categories=WORK) for name in ("wife", "husband")
    }})
    p = booster.predict(rows[booster.feature_name()], num_threads=1)
    return {{"faithful": 1 - p, "affair": p}}
'''


def table():
    """The survey with names for the codes of the two occupations."""
    survey = fair.load_pandas().data
    frame = survey.rename(columns={"occupation": "wife", "occupation_husb": "husband"})
    for name in ("wife", "husband"):
        frame[name] = frame[name].astype(int).map(WORK)
    frame["answer"] = np.where(frame.pop("affairs") > 0, "affair", "faithful")
    return frame


def main(folder):
    frame = table()
    order = np.random.default_rng(0).permutation(len(frame))
    train, test = frame.iloc[order[:4000]], frame.iloc[order[4000:]]
    folder.mkdir(parents=True, exist_ok=True)
    names = list(WORK.values())
    X = train.drop(columns="answer")
    X = X.assign(**{n: pd.Categorical(X[n], categories=names) for n in ("wife", "husband")})
    data = lightgbm.Dataset(X, (train["answer"] == "affair").to_numpy())
    settings = {"objective": "binary", "num_leaves": 8, "verbose": -1, "seed": 0, "num_threads": 1}
    lightgbm.train(settings, data, 60).save_model(folder / "affairs.txt")
    (folder / "affairs_model.py").write_text(MODULE.format(work=names))
    test.to_csv(folder / "test.csv", index=False)
    train.to_csv(folder / "train.csv", index=False)
    print(f"{len(test)} answers in {folder}/test.csv, the model in {folder}/affairs_model.py")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "affairs"))
