"""Rows that prove a number: chosen, described, stored."""
