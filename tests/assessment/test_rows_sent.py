"""In a plain run of a table, attacks ask in small blocks: rows sent against rows asked."""

import numpy as np
import pandas as pd

from fireassay.assessment import read_config, run_assessment

MODEL = """
import numpy as np
def model(frame):
    score = frame["age"] / 100 + 0.2 * (frame["sex"] == "m")
    p = np.clip(np.asarray(score, dtype=float), 0.01, 0.99)
    return np.column_stack([1 - p, p])
"""
TOML = """
[model]
path = "scores:model"
classes = ["ill", "well"]
[data]
test = "test.csv"
label = "outcome"
[run]
parts = ["survival"]
[survival]
samples = 12
budget = 40
"""


def test_a_table_is_attacked_in_small_blocks_by_one_process_without_a_budget(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.uniform(10, 90, 300), "sex": rng.choice(["f", "m"], 300)})
    frame["outcome"] = np.where(frame["age"] > 50, "well", "ill")
    frame.to_csv(tmp_path / "test.csv", index=False)
    (tmp_path / "scores.py").write_text(MODEL)
    (tmp_path / "fireassay.toml").write_text(TOML)
    done = run_assessment(read_config(tmp_path / "fireassay.toml"), trust=True)
    assert done.report["survival"].status == "done"
    spent = done.costs["survival"]["actual"]
    assert spent["queries"] > 100
    assert spent["delivered"] < 2 * spent["queries"], "every call was padded to 256 rows"
