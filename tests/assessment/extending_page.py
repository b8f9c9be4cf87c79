"""The examples on the page "Add your own": run as they stand there, registered, taken back.

As a plugin (``pytest -p extending_page``) it registers them for a whole test run, so that the
common checks of each kind see them.
"""

import contextlib
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from fireassay.core.registry import Registry
from fireassay.data import digits, two_moons

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
_SECTION = re.compile(r"^## (.+?)$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def examples():
    """Code by the heading of its section."""
    found = {}
    for heading, text in _SECTION.findall(PAGE.read_text()):
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        if blocks:
            found[heading] = "\n".join(blocks)
    return found


def given():
    """What the examples take for granted: a model with gradients, rows, votes, images."""
    import torch

    import fireassay as fa

    train, test = two_moons(200, seed=0), two_moons(240, seed=1)
    low, span = train.X.min(axis=0), np.ptp(train.X, axis=0)
    network = torch.nn.Sequential(torch.nn.Linear(2, 2))
    with torch.no_grad():
        network[0].weight.copy_(torch.tensor([[-2.0, 4.0], [2.0, -4.0]]))
        network[0].bias.copy_(torch.tensor([-1.0, 1.0]))
    rng = np.random.default_rng(0)
    inside = np.clip((test.X - low) / span, 0, 1).astype(np.float32)
    return {
        "np": np,
        "model": fa.as_classifier(network, classes=(0, 1), bounds=(0, 1), output="logits"),
        "X_train": ((train.X - low) / span).astype(np.float32),
        "y_train": train.y,
        "X_test": inside,
        "y_test": test.y,
        "noise": rng.random((80, 2)).astype(np.float32),
        "votes": np.where(rng.random((80, 5)) < 0.8, test.y[:80, None], -1),
        "images": digits().X[:20],
    }


def run(code, name="extending_page_example"):
    """Run code as a module of its own, which rows can name; returns its names."""
    module = ModuleType(name)
    vars(module).update(given())
    sys.modules[name] = module
    exec(code, vars(module))
    return vars(module)


def registries():
    """Every registry of a package, by package and name."""
    import fireassay

    return {
        (package, name): thing
        for package in fireassay._PACKAGES
        for module in [getattr(fireassay, package)]
        for name in module.__all__
        if isinstance(thing := getattr(module, name), Registry)
    }


@contextlib.contextmanager
def taken_back():
    """Whatever is registered meanwhile is gone afterwards."""
    before = {id(registry): set(registry) for registry in registries().values()}
    try:
        yield
    finally:
        for registry in {id(r): r for r in registries().values()}.values():
            for name in set(registry) - before.get(id(registry), set(registry)):
                registry.unregister(name)


def pytest_configure(config):
    """As a plugin: register everything on the page."""
    del config
    run("\n".join(examples().values()))
