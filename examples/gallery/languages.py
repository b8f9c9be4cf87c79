"""A real model in ten minutes: which language is this? (py3langid, on names of countries)

pip install --no-deps py3langid && pip install babel
python examples/gallery/languages.py FOLDER
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from babel import Locale

LANGUAGES = ("de", "en", "es", "fi", "fr", "hu", "it", "nl", "pl", "pt", "sv", "tr")
MODULE = '''\
"""The model as a function of the table; its answers name the languages."""

from py3langid.langid import MODEL_FILE, LanguageIdentifier

identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
identifier.set_languages({languages})


def predict(frame):
    ranked = [identifier.rank(str(text)) for text in frame["text"]]
    return [{{name: float(p) for name, p in row}} for row in ranked]
'''


def main(folder, per_language=40):
    rng = np.random.default_rng(0)
    rows = []
    for language in LANGUAGES:
        names = [str(name) for code, name in Locale(language).territories.items() if len(code) == 2]
        rows += [
            (", ".join(rng.choice(names, 4, replace=False)), language) for _ in range(per_language)
        ]
    folder.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows, columns=["text", "language"]).to_csv(folder / "test.csv", index=False)
    (folder / "languages_model.py").write_text(MODULE.format(languages=list(LANGUAGES)))
    print(f"{len(rows)} texts in {folder}/test.csv, the model in {folder}/languages_model.py")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "languages"))
