"""The tables of the configuration file that say what is judged: model, data, decision, limits."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from fireassay.assessment.parts.operating_point import Decision
from fireassay.core import ParameterError
from fireassay.data.csv_file import Reading
from fireassay.data.handed import Handed
from fireassay.data.pixel_range import as_normalisation
from fireassay.report.gates import Gate, parse_gates


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


class DataSection(Section):
    """Which rows: ``test`` is needed, the others open further questions."""

    test: str = Field(description="Labelled rows that the model was not trained on.")
    train: str | None = Field(default=None, description="Rows that the model was trained on.")
    operational: str | None = Field(
        default=None, description="Unlabelled rows as they occur in the field."
    )
    votes: str | None = Field(
        default=None, description="Votes of labelling functions on field rows (.npy, -1 abstains)."
    )
    groups: str | None = Field(
        default=None, description="Patient or device of each voted row (.npy), if rows repeat."
    )
    split: str | None = Field(
        default=None,
        description="The column of the test table that says test, train, or field or validation: "
        "one file for all rows.",
    )
    label: str | None = Field(default=None, description="The label column of a table.")
    categorical: tuple[str, ...] | None = Field(
        default=None, description="Columns of a table that are names, also if they look numeric."
    )
    encoding: str | None = Field(default=None, description="Of a CSV file: latin-1, cp1252.")
    header: bool | None = Field(default=None, description="Whether a CSV file names its columns.")
    na: tuple[str, ...] | None = Field(
        default=None, description='What stands for a missing value in a CSV file: ["?", "-9"].'
    )
    drop_unlabelled: bool | None = Field(default=None, description="Leave out unlabelled rows.")
    size: tuple[int, int] | None = Field(
        default=None, description="Height and width that images of several sizes are brought to."
    )
    group: str | tuple[str, ...] | None = Field(
        default=None,
        description="The column (or npz array) that says which rows belong together: a patient, "
        "a device, a video. It is no feature; intervals count groups, not rows. Of several, "
        'as ["site", "patient"], the first counts.',
    )
    largest_group: int | None = Field(
        default=None, ge=1, description="The most rows that a group can have (seen or not)."
    )
    rows_per_group: int | None = Field(
        default=None, ge=1, description="Take so many rows of each group, drawn by lot."
    )
    id: str | None = Field(default=None, description="The id column of a table.")
    ignore: tuple[str, ...] | None = Field(
        default=None, description="Columns of a table that are no features."
    )
    slices: tuple[str, ...] | None = Field(
        default=None, description="Columns of a table: accuracy is shown for each of their values."
    )
    weight: str | None = Field(
        default=None,
        description="The column of weights: how often the field has such a row, over how often "
        "the test rows have it.",
    )
    perturb: str | None = Field(
        default=None,
        description="For texts: package.module:name of a function perturb(text, rng) that gives "
        "changed texts of the same meaning; survival and supervision then can ask more.",
    )
    kind: Literal["image", "series", "table", "text", "tokens", "integer", "real"] | None = Field(
        default=None,
        description="What the rows are, where type and shape do not say it: image, series, table, "
        "text or tokens; integer or real for arrays of numbers.",
    )
    missing: bool | None = Field(
        default=None,
        description="Allow missing values (NaN) in arrays, for a model that takes them.",
    )

    @property
    def group_columns(self) -> tuple[str, ...]:
        """The columns that say what belongs together, the outermost first."""
        return (self.group,) if isinstance(self.group, str) else self.group or ()

    @property
    def reading(self) -> Reading:
        """What CSV files do not say of themselves."""
        return Reading(self.encoding, self.header, self.na or ())


class DecisionSection(Section):
    """Which answer is acted on, and what mistakes cost."""

    costs: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict,
        description='What each kind of mistake costs, by truth and answer: { "sepsis -> no sepsis" '
        '= 50, "* -> *" = 1 }. * is any class.',
    )
    threshold: Literal["argmax"] | dict[str, Annotated[float, Field(gt=0, lt=1)]] = Field(
        default="argmax",
        description='"argmax", or from which probability on a class is answered: '
        '{ "sepsis" = 0.2 }. All parts judge the decision.',
    )

    positive: str | int | None = Field(
        default=None, description="The class that sensitivity and other short names are about."
    )
    prevalence: dict[str, Annotated[float, Field(gt=0, lt=1)]] = Field(
        default_factory=dict,
        description="How frequent a class is elsewhere, for PPV and NPV there: { sepsis = 0.02 }.",
    )
    ordered: tuple[str | int, ...] = Field(
        default=(), description="All classes in an order that means something: low, mid, high."
    )

    def decision(self) -> Decision:
        """Checked as far as it can be without the model."""
        return Decision.of(self.costs, self.threshold, self.positive, self.prevalence, self.ordered)

    @model_validator(mode="after")
    def _costs_are_named(self) -> Self:
        try:
            self.decision()
        except ParameterError as error:
            raise ValueError(str(error)) from error
        return self


class GatesSection(Section):
    """Limits on numbers, judged at the unfavourable end of their interval."""

    looks: int | None = Field(
        default=None,
        ge=1,
        description="How many models will be judged on these labels: each gets its share of the "
        "error probability.",
    )
    max: dict[str, float] = Field(
        default_factory=dict,
        description="Upper limits, each by the name of its number.",
        examples=[{"accuracy.error": 0.1}],
    )
    min: dict[str, float] = Field(
        default_factory=dict,
        description="Lower limits.",
        examples=[{"accuracy.accuracy": 0.9}],
    )
    accept: dict[str, Annotated[str, Field(min_length=1)]] = Field(
        default_factory=dict,
        description="Assumptions accepted although the data contradicts them, with the reason.",
        examples=[{"independent-rows": "one row per patient, see protocol 7"}],
    )

    @property
    def as_written(self) -> tuple[Gate, ...]:
        """The limits by the names that the file has for their numbers."""
        return parse_gates({"max": self.max, "min": self.min})


class RequirementSection(Section):
    """One requirement of the argument: ``[requirements.R1]``."""

    text: str = Field(min_length=1, description="The requirement in one sentence.")
    gates: tuple[str, ...] = Field(
        min_length=1, description="Names of the limits in [gates] that support the requirement."
    )


class PredictionsSection(Section):
    """A file of predictions instead of ``[model]`` and ``[data]``; names of its columns."""

    file: str = Field(description="CSV, Parquet, JSON lines or npz.")
    truth: str | None = Field(default=None, description="Column of the truth.")
    answer: str | None = Field(default=None, description="Column of the answers.")
    probability: str | tuple[str, ...] | None = Field(
        default=None, description="Column of the probability, or one per class."
    )
    answer_confidence: str | None = Field(default=None, description="Confidence of the answer.")
    id: str | None = Field(default=None, description="Column of ids.")
    group: str | None = Field(default=None, description="Column of patients or devices.")
    time: str | None = Field(default=None, description="Column of times.")
    weight: str | None = Field(default=None, description="Column of weights.")
    slices: tuple[str, ...] | None = Field(default=None, description="Columns to slice by.")
    classes: tuple[str | int, ...] | None = Field(default=None, description="All classes.")
    indeterminate: str | None = Field(default=None, description='The answer for "cannot tell".')
    unlabelled: str | None = Field(default=None, description='The truth for "not known".')
    threshold: float | None = Field(
        default=None, gt=0, lt=1, description="Answer the positive class from here on."
    )
    per: Literal["any", "majority", "last"] | None = Field(
        default=None, description="Judge groups instead of rows."
    )
    exposure: str | None = Field(default=None, description="Column of exposure.")
    largest_group: float | None = Field(default=None, ge=1, description="Most rows of a group.")
