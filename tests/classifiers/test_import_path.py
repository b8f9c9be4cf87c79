"""Models that are named by module and object."""

import pytest

from fireassay.classifiers.import_path import import_object
from fireassay.core.errors import ModelError


def test_a_file_s_name_is_answered_with_the_module_s():
    with pytest.raises(ModelError, match=r"Write 'models\.ours:net'"):
        import_object("models/ours.py:net")
