"""Settings for all tests."""

import signal

from hypothesis import settings

# A loaded machine is not a failure: what is slow is told by benchmarks.
settings.register_profile("fireassay", deadline=None)
settings.load_profile("fireassay")

# Started in the background of a shell (nohup make test &), interrupts are ignored, and every child
# would inherit that: the programs under test are started as a terminal does.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
