"""The ``[model]`` table of the configuration file: which model, and how to talk to it."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from fireassay.core import ParameterError
from fireassay.data.handed import Handed
from fireassay.data.pixel_range import as_normalisation


class Section(BaseModel):
    """A table of the file: unknown keys are errors, values are checked."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class HttpSection(Section):
    """How to talk to a model behind an address: ``[model.http]``."""

    request: str | None = Field(
        default=None,
        description='The request as JSON with {rows} (or {row}: one by one), e.g. {"inputs": '
        "{rows}}; {records} are objects by column names, {pngs} base64 images.",
    )
    answer: str | None = Field(
        default=None, description="Where the scores are in the answer, e.g. outputs[0].scores."
    )
    token_env: str | None = Field(
        default=None, description="Name of the environment variable with the bearer token."
    )
    timeout_s: float | None = Field(default=None, gt=0, description="Seconds for one request.")
    retries: int | None = Field(default=None, ge=0, description="Attempts after a failure.")
    ca_file: str | None = Field(
        default=None, description="Certificates (PEM) of a server that has signed its own."
    )
    concurrency: int | None = Field(
        default=None, ge=1, le=64, description="Requests under way at a time."
    )


class ModelSection(Section):
    """Which model, and how to talk to it."""

    path: str = Field(
        description="A file (.onnx, .skops), an http(s) address, or package.module:name."
    )
    output: Literal["probabilities", "logits", "labels"] = Field(
        default="probabilities", description="What the model returns."
    )
    classes: tuple[str | int, ...] | None = Field(
        default=None, description="Class labels in the order of the model's columns."
    )
    bounds: tuple[float, float] | None = Field(
        default=None, description="Smallest and largest allowed input value."
    )
    mean: tuple[float, ...] | None = Field(
        default=None,
        description="Images that were normalised: the mean of each channel (of 0 to 1, or of "
        "0 to 255) that was taken away. Attacks and corruptions then work on natural images.",
    )
    std: tuple[float, ...] | None = Field(
        default=None, description="And what each channel was divided by."
    )
    rows: Literal["texts", "array", "frame", "categories", "each"] | None = Field(
        default=None,
        description="How rows are handed to the model: texts (a list), array, frame, "
        "categories (a frame with names as categories), or each (a function of one text).",
    )
    layout: Literal["channels first", "channels last", "time first"] | None = Field(
        default=None, description="Where the model takes the channels of images or series."
    )
    pixels: Literal["unit", "bytes", "normalised"] | None = Field(
        default=None,
        description="Pixels as the model takes them: unit (0 to 1), bytes (0 to 255), or "
        "normalised by mean and std.",
    )
    batch_size: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Rows sent to the model at once (left out: the adapter's choice)."
    )
    device: str | None = Field(default=None, description="For torch models: cpu, cuda, …")
    stochastic: bool = Field(
        default=False, description="Whether the deployed model answers at random, as meant."
    )
    price: Annotated[float, Field(ge=0)] | None = Field(
        default=None, description="What a row costs, in money: no row is then asked twice."
    )
    repeats: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="Rows asked twice, to see that answers repeat (left out: 32)."
    )
    http: HttpSection = Field(
        default=HttpSection(), description="For addresses: how to ask and where the answer is."
    )

    @property
    def rows_asked_twice(self) -> int:
        """As told; else 32, and none where a row has a price."""
        usual = 0 if self.price else 32
        return usual if self.repeats is None else self.repeats

    @property
    def handed(self) -> Handed:
        """How rows are handed to the model."""
        return Handed(self.rows, self.layout, self.pixels)

    @property
    def normalisation(self) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
        """Mean and standard deviation of the channels, if they were given."""
        return None if self.mean is None or self.std is None else (self.mean, self.std)

    @model_validator(mode="after")
    def _normalised_or_bounded(self) -> Self:
        try:
            as_normalisation(self.mean, self.std, self.bounds)
        except ParameterError as error:
            raise ValueError(str(error)) from error
        return self
