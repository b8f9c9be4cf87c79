"""What exists only to repeat the tables and figures of the five papers; users need none of it."""

__all__: list[str] = []
