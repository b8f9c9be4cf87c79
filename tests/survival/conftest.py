import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def oracle():
    """What lifelines 0.30.3 says (tests/survival/oracles/make_lifelines.py)."""
    path = Path(__file__).parent / "oracles" / "lifelines.json"
    return json.loads(path.read_text())


@pytest.fixture(scope="session")
def lung(oracle):
    return pd.DataFrame(oracle["lung"]["data"])


@pytest.fixture(scope="session")
def diabetes(oracle):
    return pd.DataFrame(oracle["diabetes"]["data"]).replace(1e99, np.inf)


@pytest.fixture(scope="session")
def ovarian():
    """R's survival::ovarian."""
    path = Path(__file__).parent / "oracles" / "ovarian.csv"
    return pd.read_csv(path).rename(columns={"futime": "duration", "fustat": "event"})
