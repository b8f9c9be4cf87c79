"""LightGBM's text format: checked line by line, and written anew from what was checked.

The library's own reader takes sizes and positions in a file on trust and reads outside its memory
where they are wrong, so it never sees the bytes of a file that somebody sent.
"""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.classifiers.booster_trees import check_pieces, check_tree
from fireassay.core.errors import ModelError

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)
_WHOLE = ("num_class", "num_tree_per_iteration", "label_index", "max_feature_idx")
_OBJECTIVE = re.compile(r"[a-z_]{1,40}( [a-z_]{1,20}:[-+.0-9e]{1,25}){0,3}")
_PARAMETER = re.compile(r"\[[a-z0-9_]{1,60}: [^\[\]\n]{0,10000}\]")
_OF_LEAVES = ("leaf_value", "leaf_weight", "leaf_count")
_OF_NODES = (
    "split_feature",
    "split_gain",
    "threshold",
    "decision_type",
    "left_child",
    "right_child",
    "internal_value",
    "internal_weight",
    "internal_count",
)
_NEEDED = ("leaf_value", "split_feature", "threshold", "decision_type", "left_child", "right_child")
_END = "end of trees"
_CATEGORIES = "pandas_categorical:"


def checked_text(text: str, name: str) -> str:
    """The model in a text, written anew.

    Raises
    ------
    ModelError
        For trees that point outside themselves, sizes that do not fit, and what is not known.
    """
    head, *trees = text.replace("\r\n", "\n").split("\nTree=")
    if not trees or _END not in trees[-1]:
        raise ModelError(f"{name} must hold trees, and the end of them.", got=f"{len(trees)} trees")
    trees[-1], _, rest = trees[-1].partition(_END)
    header = entries(head)
    lines = [*_checked_header(header, head, name), ""]
    n_features = int(header["max_feature_idx"]) + 1
    for number, tree in enumerate(trees):
        found = entries(tree.split("\n\n")[0])
        lines += [f"Tree={number}", *_checked_tree(found, n_features, f"Tree {number} of {name}")]
        lines += ["", ""]
    return "\n".join([*lines, _END, "", *_checked_rest(rest)]) + "\n"


def _checked_header(header: dict[str, str], head: str, name: str) -> list[str]:
    whole = {key: _integers(header[key], 1)[0] for key in _WHOLE}
    n_features = whole["max_feature_idx"] + 1
    classes = whole["num_class"]
    if not 1 <= classes <= 100_000 or whole["num_tree_per_iteration"] != classes:
        raise ModelError(f"{name} must hold trees for its classes.", got=f"{classes} classes")
    if not 1 <= n_features <= 10_000_000 or len(header["feature_names"].split()) != n_features:
        raise ModelError(f"{name} must name its {n_features} columns.", got="others")
    objective = header.get("objective", "")
    said = re.search(r"num_class:(\S*)", objective)
    fits = said is None or said[1] == str(classes)
    if (objective and not _OBJECTIVE.fullmatch(objective)) or not fits:
        raise ModelError(f"{name} must have an objective of LightGBM.", got=objective[:60])
    infos = header.get("feature_infos", "none " * n_features).split()
    if len(infos) != n_features:
        raise ModelError(f"{name} must describe its {n_features} columns.", got=f"{len(infos)}")
    lines = ["tree", "version=v4", *(f"{key}={value}" for key, value in whole.items())]
    lines += [f"objective={objective}"] if objective else []
    lines += ["average_output"] if "average_output" in head.splitlines() else []
    return [*lines, f"feature_names={header['feature_names']}", f"feature_infos={' '.join(infos)}"]


def _checked_tree(tree: dict[str, str], n_features: int, where: str) -> list[str]:
    leaves, sets = (int(_integers(tree.get(k, "0"), 1)[0]) for k in ("num_leaves", "num_cat"))
    if leaves < 1 or sets < 0 or tree.get("is_linear", "0") != "0":
        raise ModelError(f"{where} must have leaves that are values.", got=f"{leaves} leaves")
    sizes = dict.fromkeys(_OF_LEAVES, leaves) | dict.fromkeys(_OF_NODES, leaves - 1)
    kept = {"num_leaves": str(leaves), "num_cat": str(sets)}
    for key, size in sizes.items():
        if key in tree or key in _NEEDED:
            values = tree.get(key, "").split()
            if leaves == 1 and size == 0:  # LightGBM writes some of them for a lone leaf
                values = []
            if len(values) != size or not all(map(_NUMBER.fullmatch, values)):
                raise ModelError(f"{where} must have {size} numbers as {key}.", got="others")
            kept[key] = " ".join(values)
    if leaves > 1:
        kinds = _integers(kept["decision_type"], leaves - 1)
        left, right, split = (
            _integers(kept[key], leaves - 1)
            for key in ("left_child", "right_child", "split_feature")
        )
        check_tree(left, right, split, n_features, leaves, where)
        kept |= _checked_categories(tree, kinds, kept["threshold"], sets, where)
    shrinkage = tree.get("shrinkage", "1")
    if not _NUMBER.fullmatch(shrinkage):
        raise ModelError(f"{where} must have a number as shrinkage.", got=shrinkage[:40])
    kept |= {"is_linear": "0", "shrinkage": shrinkage}
    return [f"{key}={value}" for key, value in kept.items()]


def _checked_categories(
    tree: dict[str, str], kinds: NDArray[np.int64], thresholds: str, sets: int, where: str
) -> dict[str, str]:
    if not sets:
        if (kinds & 1).any():
            raise ModelError(f"{where} must keep its categories.", got="none")
        return {}
    bounds = _integers(tree["cat_boundaries"], sets + 1)
    words = _integers(tree["cat_threshold"], None)
    check_pieces(bounds[:-1], np.diff(bounds), len(words), where)
    chosen = np.array(thresholds.split(), dtype=np.float64)[(kinds & 1) == 1]
    if bounds[0] != 0 or ((chosen < 0) | (chosen >= sets) | (chosen != np.rint(chosen))).any():
        raise ModelError(f"{where} must keep its categories.", got="a set that is not there")
    if ((words < 0) | (words >= 2**32)).any():
        raise ModelError(f"{where} must keep its categories.", got="no bits")
    return {key: tree[key] for key in ("cat_boundaries", "cat_threshold")}


def _checked_rest(rest: str) -> Iterable[str]:
    """The parameters, which the library only keeps, and pandas' categories, which Python reads."""
    lines = rest.splitlines()
    parameters = [line for line in lines if _PARAMETER.fullmatch(line)]
    if parameters:
        yield from ("parameters:", *parameters, "end of parameters", "")
    yield from (line for line in lines if line.startswith(_CATEGORIES))


def _integers(text: str, size: int | None) -> NDArray[np.int64]:
    found: Any = np.array(text.split(), dtype=np.int64)
    if size is not None and len(found) != size:
        raise ModelError(f"Expected {size} whole numbers.", got=f"{len(found)}")
    return np.asarray(found)


def entries(text: str) -> dict[str, str]:
    """Lines ``key=value`` of the text format, each key once."""
    pairs = [line.split("=", 1) for line in text.splitlines() if "=" in line]
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ModelError("A LightGBM file must say everything once.", got="a key twice")
    return found
