"""The gallery: real models from public packages, from pip install to a report."""

import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = {
    "text-direction": (
        "text_direction.py",
        "rapidocr-onnxruntime",
        ["--model", "direction.onnx", "--data", "test.npz", "--bounds", "-1", "1"],
        0.85,
    ),
    "file-types": (
        "file_types.py",
        "magika",
        ["--model", "file_types.onnx", "--data", "test.npz"],
        0.9,
    ),
    "affairs-table": (
        "affairs_table.py",
        "lightgbm",
        ["--model", "affairs_model:predict", "--data", "test.csv", "--label", "answer"],
        0.65,
    ),
    "languages": (
        "languages.py",
        "py3langid",
        ["--model", "languages_model:predict", "--data", "test.csv", "--label", "language"],
        0.5,
    ),
}


# Packages that the tests have anyway: these pages run without any installing.
HERE = {"affairs-table": ("lightgbm", "statsmodels")}


@pytest.mark.parametrize("page", PAGES)
def test_pages_name_their_script_and_commands(page):
    script, package, words, _ = PAGES[page]
    text = (ROOT / "docs" / "gallery" / f"{page}.md").read_text()
    assert f"examples/gallery/{script}" in text
    assert package in text
    assert " ".join(["fireassay init", *words[:4]]) in text
    assert (ROOT / "examples" / "gallery" / script).is_file()
    assert f"{page}.md" in (ROOT / "docs" / "gallery" / "index.md").read_text()


def test_the_page_of_packages_names_every_model_of_its_script():
    script = (ROOT / "examples" / "gallery" / "packages.py").read_text()
    page = (ROOT / "docs" / "gallery" / "packages.md").read_text()
    shown = dict(re.findall(r"^\| ([\w-]+) \|.*\| (\d+) \| [a-z ]+ \| [\d.]+ \|$", page, re.M))
    assert len(shown) >= 10
    for package in shown:
        assert f'    "{package}": (' in script
    assert sum(lines != "0" for lines in shown.values()) <= 2


def test_every_example_has_its_command_and_its_picture():
    page = (ROOT / "docs" / "gallery" / "examples.md").read_text()
    sections = page.split("\n## ")[1:]
    shown = [re.search(r"^python (examples/\w+\.py)", section, re.M)[1] for section in sections]
    assert sorted(shown) == sorted(
        f"examples/{script.name}" for script in (ROOT / "examples").glob("*.py")
    )
    for section, example in zip(sections, shown, strict=True):
        chart = re.search(rf"<!-- chart: {example} \w+ [\w ]+ -->", section)
        image = re.search(r"!\[.+\]\(\.\./(.+)\)", section)
        assert chart or (ROOT / "docs" / image[1]).is_file(), example


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An interpreter that has the packages of the gallery besides those of this one."""
    if os.environ.get("FIREASSAY_GALLERY") != "1":
        pytest.skip("installs packages: set FIREASSAY_GALLERY=1")
    folder = tmp_path_factory.mktemp("gallery")
    venv.create(folder, with_pip=True)
    place = next(folder.glob("lib/python*/site-packages"))
    here = next(p for p in map(Path, sys.path) if (p / "numpy").is_dir())
    (place / "beside.pth").write_text(f"{here}\n{ROOT / 'src'}\n")
    found = folder / "bin" / "python"
    wanted = [package for page, (_, package, _, _) in PAGES.items() if page not in HERE]
    done = subprocess.run(
        [found, "-m", "pip", "install", "-q", "--no-deps", *wanted, "babel"],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        pytest.skip(f"the packages cannot be installed here: {done.stderr[-200:]}")
    return found


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", [page for page in PAGES if page not in HERE])
def test_a_real_model_from_the_package_to_the_report(page, installed, tmp_path):
    assert walk(page, installed, tmp_path) > PAGES[page][-1]


@pytest.mark.slow
@pytest.mark.extras
@pytest.mark.parametrize("page", HERE)
def test_a_real_model_of_packages_that_are_here(page, tmp_path):
    for package in HERE[page]:
        pytest.importorskip(package)
    assert walk(page, sys.executable, tmp_path) > PAGES[page][-1]


def walk(page, python, tmp_path):
    """From the script to the report, as the page says: the least that its accuracy may be."""
    script, _, words, _ = PAGES[page]

    def call(*command, code=0):
        done = subprocess.run([python, *command], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    call(ROOT / "examples" / "gallery" / script, tmp_path)
    program = ("-m", "fireassay")
    if page == "text-direction":
        assert "--classes upright,turned" in call(*program, "init", *words, code=2)
        words = [*words, "--classes", "upright,turned"]
    said = call(*program, "init", *words)
    assert "classes" in said  # so few rows seldom settle their order; the run does
    call(*program, "plan")
    call(*program, "run", "--only", "accuracy", "--only", "reliability", "--quiet")
    call(*program, "report")
    found = json.loads((tmp_path / "fireassay-run" / "result.json").read_text())
    return found["parts"]["accuracy"]["estimates"]["accuracy"]["low"]
