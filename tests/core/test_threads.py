"""One thread inside, the user's setting outside, however users nest."""

import threading

from threadpoolctl import threadpool_info, threadpool_limits

from fireassay.core.threads import one_blas_thread, one_thread


def blas_threads():
    return {entry["num_threads"] for entry in threadpool_info() if entry["user_api"] == "blas"}


def test_the_last_of_several_users_restores_the_setting():
    with threadpool_limits(limits=2):
        before = blas_threads()
        inside = threading.Event()

        def other():
            with one_blas_thread():
                inside.set()

        thread = threading.Thread(target=other)
        with one_blas_thread():
            thread.start()
            assert inside.wait(10)
            thread.join()
            assert blas_threads() == {1}, "this user still needs the limit"
            with one_blas_thread():
                assert blas_threads() == {1}
            assert blas_threads() == {1}
        assert blas_threads() == before


def test_torch_is_limited_too_and_restored():
    import pytest

    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with one_thread(), one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
