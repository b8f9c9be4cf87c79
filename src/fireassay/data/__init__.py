"""Data sets: files of many kinds, built-in sets, splits that keep duplicates together."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.data.builtin import (
        breast_cancer,
        cifar10,
        cifar100,
        digits,
        fashion_mnist,
        mnist,
        two_moons,
    )
    from fireassay.data.codebook import Codebook, ColumnCodes
    from fireassay.data.corruptions import CORRUPTIONS, Corruption, corrupt, corruption_kinds
    from fireassay.data.csv_file import safe_cell, write_csv
    from fireassay.data.dataset import DataSet
    from fireassay.data.files import column_names, load
    from fireassay.data.idx import load_idx
    from fireassay.data.pixel_range import NaturalRange, check_comparable
    from fireassay.data.predictions import Predictions, predictions_of, read_predictions
    from fireassay.data.rows import KINDS, Rows
    from fireassay.data.splits import (
        CopiedRows,
        copied_rows,
        find_duplicates,
        find_overlap,
        split,
    )
    from fireassay.data.table_encoder import TableEncoder
    from fireassay.data.tables import from_frame
    from fireassay.data.unit_square import (
        unit_square,
        unit_square_density,
        unit_square_label,
        unit_square_pmi,
    )

__all__ = [
    "CORRUPTIONS",
    "KINDS",
    "Codebook",
    "ColumnCodes",
    "CopiedRows",
    "Corruption",
    "DataSet",
    "NaturalRange",
    "Predictions",
    "Rows",
    "TableEncoder",
    "breast_cancer",
    "check_comparable",
    "cifar10",
    "cifar100",
    "column_names",
    "copied_rows",
    "corrupt",
    "corruption_kinds",
    "digits",
    "fashion_mnist",
    "find_duplicates",
    "find_overlap",
    "from_frame",
    "load",
    "load_idx",
    "mnist",
    "predictions_of",
    "read_predictions",
    "safe_cell",
    "split",
    "two_moons",
    "unit_square",
    "unit_square_density",
    "unit_square_label",
    "unit_square_pmi",
    "write_csv",
]

lazy_names(__name__)
