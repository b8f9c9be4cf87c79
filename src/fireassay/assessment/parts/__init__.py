"""The parts of an assessment: one file each, one row each in table.py."""
