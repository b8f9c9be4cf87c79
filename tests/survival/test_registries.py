"""Defences and families by name: one row is all that a table, a page or an error needs."""

import pytest

from fireassay import survival
from fireassay.core.errors import ConfigError, ParameterError
from fireassay.survival.campaign_config import read_config


@pytest.mark.parametrize("row", survival.DEFENCES.values(), ids=lambda row: row.name)
def test_every_defence_is_made_of_each_of_its_values(row):
    for value in row.values:
        made = survival.make_defence(row.name, value)
        assert (made.name, made.value) == (row.name, value)
    if row.values:
        with pytest.raises(ParameterError, match="needs a value"):
            survival.make_defence(row.name)


def test_a_campaign_knows_the_same_defences():
    attacks = [{"name": "fgm"}]
    for row in survival.DEFENCES.values():
        axis = {"name": row.name, "values": row.values}
        config = read_config({"attacks": attacks, "defences": [axis]})
        trained = {training["training_defence"] for training in config.trainings()}
        assert trained == ({row.name} if row.in_training else {"none"})
    with pytest.raises(ConfigError, match="one of none, gauss-in"):
        read_config({"attacks": attacks, "defences": [{"name": "wall"}]})


def test_a_family_is_named_or_the_nearest_one_is():
    with pytest.raises(ParameterError, match="Did you mean weibull"):
        survival.fit(None, "weibul")
    with pytest.raises(ParameterError, match="how times are distributed"):
        survival.plan(family="cox")
    with pytest.raises(ParameterError, match="without a free shape"):
        survival.plan(family="gengamma")
