"""Corruptions of images and tables, in five severities."""

from fireassay.data.corruptions.corrupt import CORRUPTIONS, Corruption, corrupt, corruption_kinds

__all__ = ["CORRUPTIONS", "Corruption", "corrupt", "corruption_kinds"]
