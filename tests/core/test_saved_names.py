"""A saved file names things, not modules: every dataclass has a name, and every name a class.

`python tests/core/test_saved_names.py` adds new classes to the table and follows moved ones.
"""

import dataclasses
import importlib
import json
import pkgutil

import pytest

import fireassay
from fireassay.core import DataError, codec
from fireassay.core import codec as saved
from fireassay.core.codec import TABLE, saved_class, saved_name
from fireassay.curation.simulation import FourApproaches
from fireassay.survival import KaplanMeier


def dataclasses_of_fireassay() -> dict[str, str]:
    """Every public dataclass: "module:Class" and the name it gets if it has none yet."""
    found: dict[str, str] = {}
    for module in pkgutil.walk_packages(fireassay.__path__, "fireassay."):
        if "__main__" in module.name:
            continue
        for name, kind in vars(importlib.import_module(module.name)).items():
            own = isinstance(kind, type) and kind.__module__ == module.name
            if own and dataclasses.is_dataclass(kind) and not name.startswith("_"):
                found[f"{module.name}:{name}"] = f"{module.name.split('.')[1]}.{name}"
    return found


def updated(table: dict[str, str]) -> dict[str, str]:
    found = dataclasses_of_fireassay()
    lost = {name: home for name, home in table.items() if home not in found}
    new = {home: name for home, name in found.items() if home not in table.values()}
    for home, default in new.items():
        class_name = home.partition(":")[2]
        moved = [name for name in lost if name.partition(".")[2] == class_name]
        fresh = default if default not in table else home
        table[default if default in lost else (moved or [fresh])[0]] = home
    return dict(sorted(table.items()))


@pytest.mark.extras  # imports every module, also those of the repository alone
def test_every_dataclass_has_one_name_and_every_name_its_class() -> None:
    table = json.loads(TABLE.read_text())
    assert set(table.values()) == set(dataclasses_of_fireassay()), "run this file as a program"
    assert len(set(table.values())) == len(table)
    assert all(dataclasses.is_dataclass(saved_class(name)) for name in table)


def test_a_class_is_saved_by_its_name_and_found_by_the_path_that_version_2_wrote() -> None:
    assert saved_name(KaplanMeier) == "survival.KaplanMeier"
    assert saved_class("survival.KaplanMeier") is KaplanMeier
    assert saved_class("fireassay.survival.curves:KaplanMeier") is KaplanMeier


@pytest.mark.parametrize("name", ["os:system", "fireassay.__main__:app", "core.No", ":", "a:b:c"])
def test_nothing_else_is_made(name: str) -> None:
    with pytest.raises(DataError, match="class that this version of fireassay does not have"):
        codec.decode({"$class": name, "fields": {}}, {})


@pytest.mark.extras  # imports every module, also those of the repository alone
def test_a_moved_class_keeps_its_name() -> None:
    table = json.loads(TABLE.read_text())
    before = table | {"curation.Trend": "fireassay.survival.trend:Trend"}
    moved = {("survival.Trend" if n == "curation.Trend" else n): h for n, h in before.items()}
    found = updated(dict(moved))
    assert found["survival.Trend"] == "fireassay.curation.trend:Trend"
    assert updated(dict(found)) == found


def test_what_an_installed_package_lacks_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel has the whole table, but not the package that repeats the papers."""
    monkeypatch.setattr(saved, "PAPERS", TABLE.parent / "nowhere")
    saved._homes.cache_clear()
    try:
        with pytest.raises(DataError, match="class that this version of fireassay does not have"):
            saved_class("fireassay.papers.trashfire_archive:Archive")
        assert saved_class("fireassay.papers.four_approaches:FourApproaches") is FourApproaches
    finally:
        saved._homes.cache_clear()


if __name__ == "__main__":
    names = updated(json.loads(TABLE.read_text()) if TABLE.exists() else {})
    TABLE.write_text(json.dumps(names, indent=1) + "\n", encoding="utf-8")
