"""Models behind a server: KServe v2, or JSON in any shape that a template describes."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.classifiers import answer_forms
from fireassay.classifiers.answer_forms import Form
from fireassay.classifiers.base import BLOCK_ROWS, BaseClassifier
from fireassay.classifiers.http_templates import Template
from fireassay.classifiers.http_transport import Transport
from fireassay.classifiers.outputs import choose_output
from fireassay.core.errors import ModelError
from fireassay.core.hashing import sha256
from fireassay.core.validation import check_integer

_DATATYPES = {
    "FP32": np.float32,
    "FP64": np.float64,
    "FP16": np.float16,
    "INT64": np.int64,
    "INT32": np.int32,
    "UINT8": np.uint8,
}


class HttpClassifier(BaseClassifier):
    """A model behind ``url``, asked for at most ``batch_size`` rows in one request.

    An address that ends in ``/infer`` is spoken to in the KServe v2 protocol, any other gets
    ``{"instances": rows}`` and must answer ``{"predictions": rows}``, unless ``request`` and
    ``answer`` say otherwise (see `Template`). At most ``concurrency`` requests are under way at a
    time. Answers that name the classes (records, columns) name the model's. Blocks are not filled
    up, because rows may cost money. Rows sent again after a failure are counted once.

    The ``sha256`` identifies the address, not the model: nobody can hash what is behind it.
    """

    pads_blocks = False

    def __init__(
        self,
        url: str,
        *,
        token_env: str | None = None,
        timeout_s: float = 30.0,
        retries: int = 4,
        backoff_s: float = 0.5,
        max_wait_s: float = 60.0,
        max_bytes: int = 64 * 2**20,
        ca_file: str | None = None,
        request: str | None = None,
        answer: str | None = None,
        concurrency: int = 1,
        batch_size: Any = "auto",
        **options: Any,
    ) -> None:
        self.concurrency = check_integer(concurrency, "concurrency", low=1, high=64)
        self._per_request = BLOCK_ROWS if batch_size in ("auto", None) else batch_size
        check_integer(self._per_request, "batch_size", low=1)
        super().__init__(batch_size=self._per_request * self.concurrency, **options)
        self._transport = Transport(
            url, token_env, timeout_s, retries, backoff_s, max_wait_s, max_bytes, ca_file
        )
        told = {"request": request, "answer": answer}
        self._template = Template(**{k: v for k, v in told.items() if v is not None})
        kserve = self._transport.shown.rstrip("/").endswith("/infer")
        self._is_kserve = kserve and request is None and answer is None
        if self._template.one_by_one:
            self._per_request = 1
        self._input: tuple[str, str] | None = None
        if self.output == "labels" and self._classes is None:
            raise ModelError(
                "A server that returns labels needs its classes.",
                do="Pass classes=[…] to as_classifier.",
            )

    def _raw(self, block: NDArray[Any]) -> Any:
        step = self._per_request
        pieces = [block[start : start + step] for start in range(0, len(block), step)]
        ask = self._kserve if self._is_kserve else self._templated
        if len(pieces) == 1:
            return ask(pieces[0])
        with ThreadPoolExecutor(min(self.concurrency, len(pieces))) as pool:
            return self._joined(list(pool.map(ask, pieces)), [len(piece) for piece in pieces])

    def _templated(self, block: NDArray[Any]) -> Any:
        return self._template.found(self._post(self._template.body(block.tolist())))

    def _joined(self, answers: list[Any], sizes: list[int]) -> Any:
        """Answers of several requests as one; named columns by their names."""
        forms = [
            answer_forms.opened(answer, self.output, n)
            for answer, n in zip(answers, sizes, strict=True)
        ]
        names, kind = forms[0].names, forms[0].output
        parts = [_in_the_order_of(form, names) for form in forms]
        try:
            array = np.concatenate([np.asarray(part) for part in parts])
        except ValueError as different:
            raise self._unexpected("the same columns each time", str(different)) from different
        if names is not None:
            return dict(zip(names, array.T, strict=True))
        return {"logits": array} if kind == "logits" != self.output else array

    def _kserve(self, block: NDArray[Any]) -> Any:
        if self._input is None:
            self._input = self._input_of_model()
        name, datatype = self._input
        rows = block.astype(_DATATYPES.get(datatype, np.float32))
        tensor = {
            "name": name,
            "shape": list(rows.shape),
            "datatype": datatype,
            "data": rows.ravel().tolist(),
        }
        answer = self._post(json.dumps({"inputs": [tensor]}, allow_nan=False).encode())
        outputs = answer.get("outputs") if isinstance(answer, dict) else None
        if not isinstance(outputs, list) or not all(
            isinstance(o, dict) and {"name", "shape", "data"} <= o.keys() for o in outputs
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
            raise ModelError(
                f"A server's input must be one of {', '.join(_DATATYPES)}.",
                got=datatype,
                do="fireassay tests classifiers of numeric features or images, not of text.",
            )
        return str(inputs[0].get("name", "input-0")), datatype

    def _post(self, body: bytes) -> Any:
        try:
            return _parsed(self._transport.request("POST", self._transport.url, body))
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as failure:
            raise ModelError(
                f"The server {self._transport.shown} must answer with JSON.",
                got=f"{type(failure).__name__}",
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
