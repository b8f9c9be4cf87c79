import os
import threading

import pytest

from fireassay.engine.run_lock import GroupCommit


def test_one_wait_serves_all_who_wrote_before_it_began(tmp_path, monkeypatch):
    path = tmp_path / "log"
    path.write_bytes(b"")
    disk, real, waits = GroupCommit(path), os.fsync, []
    began, may_end = threading.Event(), threading.Event()

    def slow(file):
        waits.append(file)
        began.set()
        assert may_end.wait(20)
        real(file)

    disk.wait()  # opens the file
    monkeypatch.setattr(os, "fsync", slow)
    people = [threading.Thread(target=disk.wait) for _ in range(9)]
    people[0].start()
    assert began.wait(20)
    for person in people[1:]:
        person.start()
    while disk._written < 10:  # all eight have written while the first one waits
        threading.Event().wait(0.01)
    assert all(person.is_alive() for person in people)  # none is told before the disk has it
    may_end.set()
    for person in people:
        person.join()
    assert len(waits) == 2
    disk.close()


def test_a_disk_that_failed_is_not_believed_again(tmp_path, monkeypatch):
    path = tmp_path / "log"
    path.write_bytes(b"")
    disk, real = GroupCommit(path), os.fsync

    def broken(file):
        raise OSError(5, "Input/output error")

    disk.wait()
    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output"):
        disk.wait()
    monkeypatch.setattr(os, "fsync", real)
    with pytest.raises(OSError, match="Input/output"):
        disk.wait()
    disk.close()
