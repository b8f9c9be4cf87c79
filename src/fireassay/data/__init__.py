"""Data sets: files of many kinds, built-in sets, splits that keep duplicates together."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.data.builtin import breast_cancer as breast_cancer
    from fireassay.data.builtin import cifar10 as cifar10
    from fireassay.data.builtin import cifar100 as cifar100
    from fireassay.data.builtin import digits as digits
    from fireassay.data.builtin import fashion_mnist as fashion_mnist
    from fireassay.data.builtin import mnist as mnist
    from fireassay.data.builtin import two_moons as two_moons
    from fireassay.data.codebook import Codebook as Codebook
    from fireassay.data.codebook import ColumnCodes as ColumnCodes
    from fireassay.data.corruptions import CORRUPTIONS as CORRUPTIONS
    from fireassay.data.corruptions import Corruption as Corruption
    from fireassay.data.corruptions import corrupt as corrupt
    from fireassay.data.corruptions import corruption_kinds as corruption_kinds
    from fireassay.data.csv_file import safe_cell as safe_cell
    from fireassay.data.csv_file import write_csv as write_csv
    from fireassay.data.dataset import DataSet as DataSet
    from fireassay.data.files import column_names as column_names
    from fireassay.data.files import load as load
    from fireassay.data.idx import load_idx as load_idx
    from fireassay.data.pixel_range import NaturalRange as NaturalRange
    from fireassay.data.pixel_range import check_comparable as check_comparable
    from fireassay.data.predictions import Predictions as Predictions
    from fireassay.data.predictions import predictions_of as predictions_of
    from fireassay.data.predictions import read_predictions as read_predictions
    from fireassay.data.rows import KINDS as KINDS
    from fireassay.data.rows import Rows as Rows
    from fireassay.data.splits import CopiedRows as CopiedRows
    from fireassay.data.splits import copied_rows as copied_rows
    from fireassay.data.splits import find_duplicates as find_duplicates
    from fireassay.data.splits import find_overlap as find_overlap
    from fireassay.data.splits import split as split
    from fireassay.data.table_encoder import TableEncoder as TableEncoder
    from fireassay.data.tables import from_frame as from_frame
    from fireassay.data.unit_square import unit_square as unit_square
    from fireassay.data.unit_square import unit_square_density as unit_square_density
    from fireassay.data.unit_square import unit_square_label as unit_square_label
    from fireassay.data.unit_square import unit_square_pmi as unit_square_pmi

lazy_names(__name__)
