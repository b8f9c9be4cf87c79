"""The MNIST row of the reliability paper's Table 1 on the authors' own network and autoencoder.

    FIREASSAY_DATA=FOLDER python studies/reliability_authors_mnist.py --work FOLDER [--cells N]

Reads FOLDER/reasdl/mnist_mlp.npz and vae_mnist.npz (from their public repository) and FOLDER/mnist.
All cells are made and those that the published rule calls always wrong are counted; of the others
``--cells`` are drawn, and again as many by density. Journalled. Writes
studies/results/reliability_authors_mnist.json.
"""

from commands import data_folder, executor, options, write

from fireassay.data import DataSet, mnist
from fireassay.papers.authors_latent import Floats, run


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--cells", type=int, default=4_000, help="Drawn for each of ACU and E.")
    chosen = parser.parse_args()
    parts = [_rows(mnist(part), 2_000 if chosen.quick else None) for part in ("train", "test")]
    found = run(
        data_folder() / "reasdl", *parts, executor(chosen), 100 if chosen.quick else chosen.cells
    )
    write(chosen, "reliability_authors_mnist", found)


def _rows(data: DataSet, most: int | None) -> tuple[Floats, object]:
    return data.X[:most].reshape(-1, 784).astype("float32"), data.labels[:most]


if __name__ == "__main__":
    main()
