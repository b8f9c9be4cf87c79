"""A stream of answers in the field: alarms, bounds, a page."""
