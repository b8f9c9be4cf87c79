"""A real model in ten minutes: which way up is this line of text? (RapidOCR's direction classifier)

pip install --no-deps rapidocr-onnxruntime
python examples/gallery/text_direction.py FOLDER
"""

import importlib.util
import shutil
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

MODEL = "models/ch_ppocr_mobile_v2.0_cls_infer.onnx"
HEIGHT, WIDTH = 48, 192
ORDER = ("upright", "turned")  # the package calls them 0 and 180


def package_file(package, inside):
    """A file of an installed package, found without importing it."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise SystemExit(f"pip install --no-deps {package.replace('_', '-')} first")
    return Path(found.origin).parent / inside


def line(rng, words):
    """A line of words, as the package prepares it: three channels in [-1, 1], padded with 0."""
    text = " ".join(rng.choice(words, int(rng.integers(1, 4))))
    font = ImageFont.load_default(int(rng.integers(24, 40)))  # Pillow's own, the same everywhere
    left, top, right, bottom = map(round, font.getbbox(text))
    ink, paper = sorted(rng.integers(0, 256, 2).tolist())
    margin = int(rng.integers(2, 8))
    size = (right - left + 2 * margin, bottom - top + 2 * margin)
    page = Image.new("L", size, paper if paper - ink > 60 else 255)
    ImageDraw.Draw(page).text((margin - left, margin - top), text, fill=min(ink, 120), font=font)
    turned = bool(rng.random() < 0.5)
    if turned:
        page = page.rotate(180)
    width = min(WIDTH, max(1, round(HEIGHT * page.width / page.height)))
    pixels = np.asarray(page.resize((width, HEIGHT)), dtype=np.float32)
    pixels = np.clip(pixels + rng.normal(0, rng.uniform(0, 25), pixels.shape), 0, 255)
    row = np.zeros((3, HEIGHT, WIDTH), dtype=np.float32)
    row[:, :, :width] = pixels / 127.5 - 1
    return row, ORDER[turned]


def main(folder, rows=400):
    rng = np.random.default_rng(0)
    words = [
        w for w in np.unique(__doc__.replace("(", " ").replace(")", " ").split()) if len(w) > 2
    ]
    found = [line(rng, words) for _ in range(rows)]
    folder.mkdir(parents=True, exist_ok=True)
    X, y = np.stack([row for row, _ in found]), np.array([label for _, label in found])
    np.savez(folder / "test.npz", X=X, y=y)
    shutil.copy(package_file("rapidocr_onnxruntime", MODEL), folder / "direction.onnx")
    print(f"{len(y)} lines in {folder}/test.npz, the model in {folder}/direction.onnx")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "text-direction"))
