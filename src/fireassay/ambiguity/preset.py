"""How the autoencoders are built and trained: the paper's way, or the fast one."""

from dataclasses import dataclass

from fireassay.core.registry import Registry

_FEW_FEATURES = 256
_WIDE, _NARROW = 128, 64
_LONG, _SHORT = 700, 200


@dataclass(frozen=True)
class Preset:
    """Everything that decides how a stack of autoencoders is trained.

    Attributes:
        hidden: Units of the two hidden layers of the encoder and decoder; None: 128, or 64 for up
            to 256 features.
        discriminator_hidden: Units of the two hidden layers of the discriminator.
        components: Principal components the encoder sees; None: the features themselves.
        epochs, steps: Length of the training: in passes over the largest pair, or (if 0) in steps;
            None: 700, or 200 for up to 256 features.
        batch: Rows per autoencoder and step.
        warm_up: First steps, in which the codes are pulled to the mean of their class instead of
            being made to fool the discriminator.
        aligned_styles: In the warm-up, the codes are also pulled to a height that says how far a
            row is along the direction in which both classes vary most: between two classes then lie
            things of one style.
        mismatch_negatives: Also teach the discriminator that a prior sample with the wrong label is
            fake.
        balanced: Each batch has equally many rows of both classes.
        encoder_rate, decoder_rate, discriminator_rate, fooling_rate: Adam's step for each part;
            "fooling" is the encoder's step against the discriminator.
        decay: Let the steps fall to zero in the last two thirds of the training.
        code_noise, style_noise: Standard deviation of noise on the codes before they are decoded,
            along the line between the classes and across it. Between the classes the decoder then
            learns a mixture of both. Noise across that line would mix styles and blur the images.
        beta1: Adam's first decay rate.
        dropout: Share of hidden units dropped while training.
        start_at_mean: Decoders begin with the mean of their pair, so that background is black from
            the start.
        relative_acceptance: Judge an autoencoder by what a pair classifier reaches where that is
            below 0.95.
        latent_sd: Height of the confined latent space: this many standard deviations up and down.
        summary: What it is, in a few words.

    >>> import dataclasses
    >>> quick = dataclasses.replace(PRESETS["fast"], name="quick", steps=100)
    >>> quick.total_steps(rows_of_largest_pair=500, features=64)
    100
    """

    name: str
    hidden: int | None = None
    discriminator_hidden: int = 64
    components: int | None = 64
    steps: int | None = None
    epochs: int = 0
    batch: int = 64
    warm_up: int = 60
    aligned_styles: bool = True
    mismatch_negatives: bool = True
    balanced: bool = True
    encoder_rate: float = 1e-3
    decoder_rate: float = 3e-3
    discriminator_rate: float = 2e-3
    fooling_rate: float = 2e-3
    decay: bool = True
    code_noise: float = 1.0
    style_noise: float = 0.3
    beta1: float = 0.5
    dropout: float = 0.0
    start_at_mean: bool = True
    relative_acceptance: bool = True
    latent_sd: float = 3.0
    summary: str = "settings of one's own"

    def units(self, features: int) -> int:
        """Units of a hidden layer of the encoder and decoder."""
        if self.hidden is not None:
            return self.hidden
        return _WIDE if features > _FEW_FEATURES else _NARROW

    def total_steps(self, rows_of_largest_pair: int, features: int) -> int:
        """Training steps for data of this size."""
        if self.epochs:
            return self.epochs * -(-rows_of_largest_pair // self.batch)
        if self.steps is not None:
            return self.steps
        return _LONG if features > _FEW_FEATURES else _SHORT


FAST = Preset("fast", summary="small networks on principal components, balanced batches")
PAPER = Preset(
    "paper",
    hidden=128,
    discriminator_hidden=128,
    components=None,
    epochs=80,
    batch=1000,
    warm_up=0,
    aligned_styles=False,
    mismatch_negatives=False,
    balanced=False,
    decoder_rate=1e-3,
    discriminator_rate=1e-3,
    fooling_rate=1e-3,
    decay=False,
    code_noise=0.0,
    style_noise=0.0,
    beta1=0.9,
    dropout=0.1,
    start_at_mean=False,
    relative_acceptance=False,
    latent_sd=5.0,
    summary="as published: larger networks on all features, 80 epochs",
)
PRESETS = Registry("preset", (FAST, PAPER))


def check_preset(preset: str | Preset) -> Preset:
    """A preset by its name, or the user's own."""
    return preset if isinstance(preset, Preset) else PRESETS[preset]
