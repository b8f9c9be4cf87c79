"""Models behind an HTTP address: KServe v2, or JSON described by a template."""

import base64
import io
import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fireassay.classifiers import answers as answer_forms
from fireassay.classifiers.answers import Form, choose_output
from fireassay.classifiers.backends.http_transport import Transport
from fireassay.classifiers.base import BLOCK_ROWS, BaseClassifier
from fireassay.core.arrays import is_frame
from fireassay.core.errors import DataError, ModelError, ParameterError, ProbabilityError
from fireassay.core.hashing import sha256
from fireassay.core.validation import check_integer

# Where the rows go; records are objects by column names, PNGs base64 images; each in singular for
# requests of one row.
_PLACES: Final = "{rows}, {records}, {pngs}, {row}, {record}, {png}"
_PLACE: Final = re.compile(r"\{(rows?|records?|pngs?)\}")
_QUOTE: Final = re.compile(r'(?<!\\)"')
_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[(\d+|\*)\]")


@dataclass(frozen=True)
class Template:
    """A request with a place for the rows, and the path of the scores in the answer."""

    request: str = '{"instances": {rows}}'
    answer: str = "predictions"

    def __post_init__(self) -> None:
        try:
            json.loads(_PLACE.sub("[]", self.request))
        except json.JSONDecodeError as failure:
            raise ParameterError(
                "The 'request' of a server must be JSON with {rows} or {row} in it, e.g. "
                '{"inputs": {rows}}.',
                got=f"{self.request!r} ({failure})",
            ) from failure
        if len(_PLACE.findall(self.request)) != 1:
            raise ParameterError(
                f"The 'request' must have one of {_PLACES} in it, once.",
                got=f"{self.request!r}",
            )
        self._steps()

    @property
    def one_by_one(self) -> bool:
        """Whether every row is a request of its own."""
        return not _PLACE.findall(self.request)[0].endswith("s")

    @property
    def kind(self) -> str:
        """What a row is in the request: row, record or png."""
        return str(_PLACE.findall(self.request)[0].rstrip("s"))

    def rows(self, block: Any, white: float) -> list[Any]:
        """A block of rows as the request holds them; ``white`` is the largest pixel."""
        if self.kind == "png":
            return [_base64_png(image, white) for image in np.asarray(block)]
        if self.kind == "record":
            return _records(block)
        if is_frame(block):
            return [list(row.values()) for row in _records(block)]
        return block if isinstance(block, list) else block.tolist()

    def body(self, rows: list[Any]) -> bytes:
        """The request for some rows; for one row if the template says so."""
        row = rows[0] if self.one_by_one else rows
        content = json.dumps(row, allow_nan=False)
        before = _PLACE.split(self.request)[0]
        if len(_QUOTE.findall(before)) % 2:  # the place is inside a text
            content = json.dumps(row if isinstance(row, str) else content)[1:-1]
        return _PLACE.sub(lambda _: content, self.request).encode()

    def found(self, answer: Any) -> Any:
        """What lies at the path, one entry per row."""
        value = _at(answer, self._steps(), "$")
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (json.JSONDecodeError, RecursionError) as failure:
                raise ProbabilityError(
                    f"Text at {self.answer!r} in a server's answer must be JSON with numbers.",
                    got=repr(value[:80]),
                ) from failure
        return [value] if self.one_by_one else value

    def _steps(self) -> list[str | int]:
        path = self.answer.strip().removeprefix("$")
        found = list(_STEP.finditer(path))
        if "".join(step.group() for step in found) != path:
            raise ParameterError(
                "The 'answer' of a server must be a path such as outputs[0].data.",
                got=repr(self.answer),
            )
        steps = (step.groups() for step in found)
        return [key or (index if index == "*" else int(index)) for key, index in steps]


def _at(value: Any, steps: list[str | int], here: str) -> Any:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if step == "*" and isinstance(value, list):
        return [_at(item, rest, f"{here}[{i}]") for i, item in enumerate(value)]
    if isinstance(step, int) and isinstance(value, list) and step < len(value):
        return _at(value[step], rest, f"{here}[{step}]")
    if isinstance(step, str) and isinstance(value, dict) and step in value:
        return _at(value[step], rest, f"{here}.{step}")
    there = f"a list of {len(value)}" if isinstance(value, list) else type(value).__name__
    if isinstance(value, dict):
        there = f"the keys {', '.join(map(repr, list(value)[:8]))}"
    raise ModelError(
        f"A server's answer must have {step!r} at {here}.",
        got=there,
        do="Say where the scores are: answer= (in TOML: [model.http] answer).",
    )


# BYTES are texts.
_DATATYPES = {
    "FP32": np.float32, "FP64": np.float64, "FP16": np.float16, "INT64": np.int64,
    "INT32": np.int32, "UINT8": np.uint8, "BYTES": object,
}  # fmt: skip


class HttpClassifier(BaseClassifier):
    """A model behind ``url``: KServe v2 if it ends in ``/infer``, else JSON by `Template`."""

    # At most ``batch_size`` rows in a request and ``concurrency`` requests at a time. Blocks are
    # not filled up: rows may cost money. Rows sent again after a failure are delivered again.
    # The ``sha256`` identifies the address: nobody can hash what is behind it.

    pads_blocks = False
    counts_requests = True
    takes_objects = True

    def __init__(
        self,
        url: str,
        *,
        request: str | None = None,
        answer: str | None = None,
        concurrency: int = 1,
        batch_size: Any = "auto",
        **options: Any,
    ) -> None:
        self.concurrency = check_integer(concurrency, "concurrency", low=1, high=64)
        self._per_request = BLOCK_ROWS if batch_size in ("auto", None) else batch_size
        check_integer(self._per_request, "batch_size", low=1)
        sending = {f.name: options.pop(f.name) for f in fields(Transport) if f.name in options}
        super().__init__(batch_size=self._per_request * self.concurrency, **options)
        self._transport = Transport(url, **sending)
        told = {"request": request, "answer": answer}
        self._template = Template(**{k: v for k, v in told.items() if v is not None})
        kserve = self._transport.shown.rstrip("/").endswith("/infer")
        self._is_kserve = kserve and request is None and answer is None
        if self._template.one_by_one:
            self._per_request = 1
        if self._template.kind == "record":
            self.rows_as = "frame"
        self._input: tuple[str, str] | None = None
        self._need_classes("server")

    def _raw(self, block: NDArray[Any]) -> Any:
        step = self._per_request
        pieces = [block[start : start + step] for start in range(0, len(block), step)]
        ask = partial(self._kserve if self._is_kserve else self._templated, here=self._here())
        if len(pieces) == 1:
            return ask(pieces[0])
        with ThreadPoolExecutor(min(self.concurrency, len(pieces))) as pool:
            return self._joined(list(pool.map(ask, pieces)), [len(piece) for piece in pieces])

    def _templated(self, block: NDArray[Any], here: dict[str, int]) -> Any:
        white = 1.0 if self.bounds is None else max(1.0, self.bounds[1])
        body = self._template.body(self._template.rows(block, white))
        return self._template.found(self._post(body, len(block), here))

    def _joined(self, answers: list[Any], sizes: list[int]) -> Any:
        """Answers of several requests as one; named columns by their names."""
        both = zip(answers, sizes, strict=True)
        forms = [answer_forms.opened(answer, self.output, n) for answer, n in both]
        names, kind = forms[0].names, forms[0].output
        parts = [_in_the_order_of(form, names) for form in forms]
        try:
            array = np.concatenate([np.asarray(part) for part in parts])
        except ValueError as different:
            raise self._unexpected("the same columns each time", str(different)) from different
        if names is not None:
            return dict(zip(names, array.T, strict=True))
        return {"logits": array} if kind == "logits" != self.output else array

    def _kserve(self, block: NDArray[Any] | list[Any], here: dict[str, int]) -> Any:
        if self._input is None:
            self._input = self._input_of_model()
        name, datatype = self._input
        if not isinstance(block, np.ndarray):
            if datatype != "BYTES" or not isinstance(block, list):
                raise DataError(f"The server's input takes {datatype}.", got="texts or a table")
            block = np.array(block, dtype=object)
        elif datatype == "BYTES":
            raise DataError("The server's input takes texts.", got="rows of numbers")
        rows = block.astype(_DATATYPES.get(datatype, np.float32))
        tensor = {"name": name, "shape": list(rows.shape), "datatype": datatype}
        sent = {"inputs": [tensor | {"data": rows.ravel().tolist()}]}
        answer = self._post(json.dumps(sent, allow_nan=False).encode(), len(block), here)
        outputs = answer.get("outputs") if isinstance(answer, dict) else None
        keys = {"name", "shape", "data"}
        if not isinstance(outputs, list) or not all(
            isinstance(o, dict) and keys <= o.keys() for o in outputs
        ):
            raise self._unexpected('{"outputs": [{"name", "shape", "datatype", "data"}]}', answer)
        shapes = {str(o["name"]): o["shape"] for o in outputs}
        chosen = choose_output(shapes, labels=self.output == "labels", source=self._transport.shown)
        output = next(o for o in outputs if str(o["name"]) == chosen)
        try:
            return np.asarray(output["data"]).reshape(output["shape"])
        except (TypeError, ValueError) as failure:
            raise self._unexpected("data that fit their shape", output["shape"]) from failure

    def _input_of_model(self) -> tuple[str, str]:
        """The name and type of the model's input, from its metadata if the server has them."""
        address = self._transport.url.partition("?")[0].rstrip("/").removesuffix("/infer")
        try:
            metadata = _parsed(self._transport.request("GET", address))
        except ModelError:
            return "input-0", "FP32"  # metadata are optional; the request itself will speak
        inputs = metadata.get("inputs") if isinstance(metadata, dict) else None
        if not isinstance(inputs, list) or not inputs:
            return "input-0", "FP32"
        if len(inputs) > 1:
            raise ModelError(
                "A classifier on a server must have one input.",
                got=", ".join(str(i.get("name")) for i in inputs if isinstance(i, dict)),
            )
        datatype = str(inputs[0].get("datatype", "FP32"))
        if datatype not in _DATATYPES:
            known = ", ".join(_DATATYPES)
            raise ModelError(f"A server's input must be one of {known}.", got=datatype)
        return str(inputs[0].get("name", "input-0")), datatype

    def _post(self, body: bytes, rows: int, here: dict[str, int]) -> Any:
        """The answer to one request; its rows are counted each time that they go out."""
        sending = partial(self._deliver, rows, here)
        try:
            return _parsed(self._transport.request("POST", self._transport.url, body, sending))
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as failure:
            raise ModelError(
                f"The server {self._transport.shown} must answer with JSON.",
                got=type(failure).__name__,
            ) from failure

    def _unexpected(self, expected: str, got: Any) -> ModelError:
        keys = ", ".join(map(str, got)) if isinstance(got, dict) else repr(got)
        return ModelError(
            f"The server {self._transport.shown} must answer with {expected}.", got=keys[:200]
        )

    def _content_hash(self) -> str:
        plain = self._template == Template()
        how = () if plain else (self._template.request, self._template.answer)
        return sha256("server", self._transport.shown, *how)

    def _described(self) -> str:
        return repr(self._transport.shown)


def _records(block: Any) -> list[dict[str, Any]]:
    """Rows of a frame by column names, what is missing as null."""
    if not is_frame(block):
        raise DataError(
            "Records need a table with column names.",
            got="texts or rows of numbers",
            do='Write {rows} into the request, or pass a data frame ([model] rows = "frame").',
        )
    rows = block.astype(object).where(block.notna(), None).to_dict("records")
    return [{str(k): v.item() if hasattr(v, "item") else v for k, v in r.items()} for r in rows]


def _base64_png(image: NDArray[Any], white: float) -> str:
    """An image with values from 0 to ``white`` as a base64 PNG."""
    from PIL import Image

    if image.ndim == 3 and image.shape[0] in (1, 3, 4) and image.shape[2] not in (1, 3, 4):
        image = np.moveaxis(image, 0, -1)
    if image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] not in (1, 3, 4)):
        raise DataError("PNGs are made of images.", got=f"rows of shape {image.shape}")
    if image.min() < 0 or image.max() > white:
        raise DataError(
            f"Pixels of a PNG must lie between 0 and {white:g}.",
            got=f"values from {image.min():g} to {image.max():g}",
            do="Say the range: bounds=(0, 255) (--bounds 0 255).",
        )
    pixels = np.rint(np.squeeze(image) * (255 / white)).astype(np.uint8)
    held = io.BytesIO()
    Image.fromarray(pixels).save(held, "PNG")
    return base64.b64encode(held.getvalue()).decode("ascii")


def _in_the_order_of(form: Form, names: tuple[Any, ...] | None) -> Any:
    if names is None or form.names is None:
        return form.array
    return answer_forms.in_order(form.array, form.names, names)


def _parsed(content: bytes) -> Any:
    return json.loads(content.decode("utf-8"))


def accepts(obj: Any) -> bool:
    """Whether a model is given as an address."""
    return isinstance(obj, str) and obj.startswith(("http://", "https://"))


adapt = HttpClassifier
