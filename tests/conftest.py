"""Settings for all tests."""

from hypothesis import settings

# A loaded machine is not a failure: what is slow is told by benchmarks.
settings.register_profile("fireassay", deadline=None)
settings.load_profile("fireassay")
