"""Models that are named by module and object."""

import pytest

from fireassay.classifiers.import_path import import_object, is_import_path
from fireassay.core.errors import ModelError


def test_a_file_s_name_is_answered_with_the_module_s():
    with pytest.raises(ModelError, match=r"Write 'models\.ours:net'"):
        import_object("models/ours.py:net")


def test_a_drive_is_no_package():
    assert is_import_path("hospital.models:sepsis")
    assert not is_import_path("C:/models/m.onnx")


def test_a_method_of_compiled_code_gets_an_object_first():
    assert import_object("collections:Counter.most_common")(1) == []
    assert import_object("collections:deque.count")("a") == 0
