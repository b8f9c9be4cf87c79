"""A bundle holds where it is moved; twenty ways of tampering are found."""

import hashlib
import json
import shutil
import zipfile

import pytest

from fireassay.assessment.run.bundle import MANIFEST, bundle_run, verify_bundle
from fireassay.core import DataError, Estimate, Evidence
from fireassay.report import Report

GATES = {"max": {"accuracy.error": 0.1}, "min": {}}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    error = Estimate(0.04, 0.02, 0.06, 0.95, 500, "Clopper-Pearson")
    part = Evidence(
        "accuracy", "Right on 96 %.", sentence="Right on 96 %.", estimates={"error": error}
    )
    Report([part], "Sepsis alarm").to_json(folder / "result.json")
    (folder / "gates.json").write_text(json.dumps(GATES))
    made = folder / "evidence.zip"
    return made, bundle_run(folder, made)


def held(path, **more):
    return all(finding.holds for finding in verify_bundle(path, **more))


def read(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, contents, *, listed=False):
    """Put files back; ``listed``: the forger mends the manifest's hashes as well."""
    if listed:
        manifest = json.loads(contents[MANIFEST])
        manifest["files"] = {
            n: hashlib.sha256(c).hexdigest() for n, c in contents.items() if n != MANIFEST
        }
        contents[MANIFEST] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)


def edited(contents, name, old, new):
    assert old in contents[name]
    return {**contents, name: contents[name].replace(old, new)}


def test_a_bundle_holds_after_it_was_moved(bundle, tmp_path):
    made, digest = bundle
    moved = shutil.copy(made, tmp_path / "elsewhere.zip")
    assert held(moved, sha256=digest)


def test_the_same_run_gives_the_same_bytes(bundle, tmp_path):
    made, digest = bundle
    assert bundle_run(made.parent, tmp_path / "again.zip") == digest


EDITS = {
    "a value": ("result.json", b"0.04,", b"0.01,"),
    "an end of an interval": ("result.json", b"0.06,", b"0.05,"),
    "n": ("result.json", b"500", b"900"),
    "the title": ("result.json", b"Sepsis", b"Other"),
    "a sentence": ("result.json", b'"sentence": "Right on 96 %."', b'"sentence": "Right on 99 %."'),
    "a status": ("result.json", b'"done"', b'"failed"'),
    "a limit": ("gates.json", b"0.1", b"0.2"),
    "the page": ("report.html", b"6", b"7"),
    "a package's version": ("environment.json", b'"python"', b'"python2"'),
    "the bill of materials": ("bom.json", b"0.04", b"0.01"),
}


@pytest.mark.parametrize("kind", EDITS)
def test_an_edited_file_is_found(bundle, tmp_path, kind):
    write(tmp_path / "b.zip", edited(read(bundle[0]), *EDITS[kind]))
    assert not held(tmp_path / "b.zip")


# With the manifest's hashes mended, what does not follow from the other documents is found.
MENDED = {
    "a value": EDITS["a value"],
    "an end of an interval": EDITS["an end of an interval"],
    "a sentence": EDITS["a sentence"],
    "a status": EDITS["a status"],
    "a limit": ("gates.json", b"0.1", b"0.01"),
    "the bill of materials": EDITS["the bill of materials"],
    "a sentence of the page": ("report.html", b"96", b"99"),
    "the verdict": (MANIFEST, b'"status": "pass"', b'"status": "fail"'),
}


@pytest.mark.parametrize("kind", MENDED)
def test_an_edited_file_with_a_mended_manifest_is_found(bundle, tmp_path, kind):
    write(tmp_path / "b.zip", edited(read(bundle[0]), *MENDED[kind]), listed=True)
    assert not held(tmp_path / "b.zip")


def test_a_missing_file_is_found(bundle, tmp_path):
    contents = read(bundle[0])
    del contents["bom.json"]
    write(tmp_path / "b.zip", contents)
    assert not held(tmp_path / "b.zip")


def test_a_file_that_is_not_listed_is_found(bundle, tmp_path):
    write(tmp_path / "b.zip", {**read(bundle[0]), "extra.txt": b"hello"})
    assert not held(tmp_path / "b.zip")


def test_a_whole_forgery_is_found_by_the_senders_hash_alone(bundle, tmp_path):
    made, digest = bundle
    write(tmp_path / "b.zip", read(made))  # the same documents in another archive
    assert held(tmp_path / "b.zip")
    assert not held(tmp_path / "b.zip", sha256=digest)


@pytest.mark.parametrize("name", ["../evil.py", "/etc/x", "a/b.json", "..\\evil"])
def test_names_outside_the_bundle_are_refused(bundle, tmp_path, name):
    write(tmp_path / "b.zip", {**read(bundle[0]), name: b"x"})
    with pytest.raises(DataError, match="plain file names"):
        verify_bundle(tmp_path / "b.zip")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_file_that_is_there_twice_is_refused(bundle, tmp_path):
    write(tmp_path / "b.zip", read(bundle[0]))
    with zipfile.ZipFile(tmp_path / "b.zip", "a") as archive:
        archive.writestr("result.json", b"{}")
    with pytest.raises(DataError, match="each file once"):
        verify_bundle(tmp_path / "b.zip")


def test_a_bomb_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(5):
            archive.writestr(f"{number}.json", bytes(60 * 2**20))
    with pytest.raises(DataError, match="256 MB"):
        verify_bundle(tmp_path / "b.zip")


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04" + bytes(40)])
def test_what_is_no_bundle_is_refused(tmp_path, content):
    (tmp_path / "b.zip").write_bytes(content)
    with pytest.raises(DataError, match="bundle"):
        verify_bundle(tmp_path / "b.zip")


def test_a_cut_file_is_refused(bundle, tmp_path):
    whole = bundle[0].read_bytes()
    (tmp_path / "b.zip").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError):
        verify_bundle(tmp_path / "b.zip")
