"""The standard numbers of a classifier: what is judged, each number, its interval, its name."""
