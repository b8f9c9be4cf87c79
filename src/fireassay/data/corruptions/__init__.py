"""Corruptions of images and tables, in five severities."""

from fireassay.data.corruptions.corrupt import corrupt, corruption_kinds

__all__ = ["corrupt", "corruption_kinds"]
