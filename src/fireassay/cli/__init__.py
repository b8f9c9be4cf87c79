"""The commands: a program, not a library; what they call is public elsewhere."""

__all__: list[str] = []
