"""Version of this package."""

__version__ = "0.3.0.dev0"
