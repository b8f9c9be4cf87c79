"""Names of packages that are there before their modules are loaded."""

import subprocess
import sys

import fireassay.networks


def test_a_package_lists_names_whose_modules_are_not_loaded():
    assert "Cnn" in dir(fireassay.networks)
    code = (
        "import sys, fireassay.statistics as s; assert 'wilson' in dir(s); "
        "assert 'fireassay.statistics.counts' not in sys.modules; assert s.wilson(0, 0) == (0, 1); "
        "assert 'fireassay.statistics.counts' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
