"""One file per library that a model can come from."""
