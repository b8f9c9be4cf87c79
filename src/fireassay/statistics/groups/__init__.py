"""Bounds and counts for rows that belong together: patients, devices, documents."""
