"""Public names of a package, each imported when it is first used."""

import importlib
import re
import sys
from types import ModuleType
from typing import Any

_IMPORT = re.compile(r"^    from (fireassay[\w.]*) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)


class LazyPackage(ModuleType):
    """A package whose public names live in modules that are imported when a name is used."""

    def __getattr__(self, name: str) -> Any:
        home = self.__dict__.get("_homes", {}).get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(home), name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # A module named after the function in it must not take the function's place.
        if isinstance(value, ModuleType) and self._homes.get(name) == value.__name__:
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self._homes})


def lazy_names(package: str) -> None:
    """Let a package give its names on demand: those that its source imports for type checkers.

    Parameters
    ----------
    package
        The package, whose ``__init__.py`` has its imports under ``if TYPE_CHECKING``.

    >>> import fireassay.networks
    >>> "Cnn" in dir(fireassay.networks)
    True
    """
    module: Any = sys.modules[package]
    source = module.__spec__.loader.get_source(package)
    homes = {
        name.strip(): home
        for home, several, one in _IMPORT.findall(source)
        for name in (several or one).split(",")
        if name.strip()
    }
    module.__dict__["_homes"] = homes
    module.__class__ = LazyPackage
