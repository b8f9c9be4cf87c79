"""Model files that follow their format but say something unusual: ONNX and skops."""

import io
import json
import zipfile
from collections.abc import Callable

import fuzz
import numpy as np
from grammar_values import Chance, archive, changed, npy, whole_npy


def onnx(chance: Chance) -> bytes:
    import onnx as library

    helper, kinds = library.helper, library.TensorProto
    dims = [chance.choice((None, 1, 6, 0)), chance.choice((4, 4, 4, 3, None))]
    nodes, tensors, last = [], [], "rows"
    for step in range(chance.randint(1, 3)):
        name = chance.choice(
            (
                "MatMul",
                "Gemm",
                "Relu",
                "Softmax",
                "Reshape",
                "Gather",
                "Slice",
                "Conv",
                "Cast",
                "TopK",
                "Squeeze",
                "Trees",
                "Linear",
                "Scaler",
                "Pad",
                "Tile",
                "Expand",
                "ArgMax",
                "Resize",
                "OneHot",
                "If",
            )
        )
        out, weight = f"v{step}", f"w{step}"
        small = [chance.choice((-9, -1, 0, 1, 2, 4, 99)) for _ in range(chance.choice((1, 2, 4)))]
        if name == "Trees":
            count = chance.randint(1, 4)
            ids = [chance.choice((0, 1, 2, 3, -1, 99, 2**40)) for _ in range(4 * count)]
            nodes.append(
                helper.make_node(
                    "TreeEnsembleClassifier",
                    [last],
                    [f"l{step}", out],
                    domain="ai.onnx.ml",
                    nodes_treeids=ids[:count],
                    nodes_nodeids=list(range(count)),
                    nodes_featureids=ids[count : 2 * count],
                    nodes_values=[0.5] * count,
                    nodes_modes=[
                        chance.choice(("BRANCH_LEQ", "LEAF", "BRANCH_GT", "X"))
                        for _ in range(count)
                    ],
                    nodes_truenodeids=ids[2 * count : 3 * count],
                    nodes_falsenodeids=ids[3 * count :],
                    class_treeids=ids[:2],
                    class_nodeids=ids[2:4],
                    class_ids=[0, chance.choice((1, 7, -1))],
                    class_weights=[0.5, 0.5],
                    classlabels_int64s=[0, 1],
                    post_transform=chance.choice(("NONE", "SOFTMAX", "PROBIT")),
                )
            )
        elif name in ("Linear", "Scaler"):
            numbers = [0.5] * chance.choice((1, 2, 4, 8, 9))
            if name == "Linear":
                nodes.append(
                    helper.make_node(
                        "LinearClassifier",
                        [last],
                        [f"l{step}", out],
                        domain="ai.onnx.ml",
                        coefficients=numbers,
                        intercepts=numbers[:2],
                        classlabels_ints=list(range(chance.choice((1, 2, 9)))),
                    )
                )
            else:
                nodes.append(
                    helper.make_node(
                        "Scaler",
                        [last],
                        [out],
                        domain="ai.onnx.ml",
                        offset=numbers,
                        scale=numbers[:4],
                    )
                )
        elif name in ("Relu", "Softmax", "Cast", "ArgMax"):
            said = {
                "Softmax": {"axis": chance.choice((0, 1, -1, 7))},
                "Cast": {"to": chance.choice((1, 7, 8, 10, 16))},
                "ArgMax": {"axis": chance.choice((0, 1, 3))},
            }
            nodes.append(helper.make_node(name, [last], [out], **said.get(name, {})))
        else:
            is_float = name in ("MatMul", "Gemm", "Conv")
            shape = [chance.choice((0, 1, 2, 3, 4)) for _ in range(chance.choice((1, 2, 2, 4)))]
            numbers = np.ones(shape, np.float32) if is_float else np.array(small, np.int64)
            tensors.append(library.numpy_helper.from_array(numbers, weight))
            more = [weight] * (2 if name in ("Slice", "OneHot", "If") else 1)
            nodes.append(helper.make_node(name, [last, *more], [out]))
        last = out
    if chance.random() < 0.6:
        nodes.append(helper.make_node("Softmax", [last], ["p"], axis=1))
        last = "p"
    rows = helper.make_tensor_value_info(
        "rows",
        chance.choice(
            (kinds.FLOAT, kinds.FLOAT, kinds.FLOAT, kinds.INT64, kinds.STRING, kinds.DOUBLE)
        ),
        dims,
    )
    answer = helper.make_tensor_value_info(
        chance.choice((last,) * 15 + ("none",)),
        kinds.FLOAT,
        chance.choice((None, [None, 3], [None, None], [2])),
    )
    graph = helper.make_graph(nodes, "g", [rows], [answer], tensors)
    sets = [
        helper.make_opsetid("", chance.choice((17,) * 16 + (11, 18, 99))),
        helper.make_opsetid("ai.onnx.ml", 3),
    ]
    model = helper.make_model(
        graph, opset_imports=sets, ir_version=chance.choice((8,) * 18 + (3, 99))
    )
    return bytes(model.SerializeToString())


def estimators() -> list[bytes]:
    import skops.io
    from sklearn.ensemble import (
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    X, y = rng.random((40, 4)).astype(np.float32), np.arange(40) % 2
    models = (
        DecisionTreeClassifier(max_depth=3),
        RandomForestClassifier(3, max_depth=2),
        GradientBoostingClassifier(n_estimators=2),
        HistGradientBoostingClassifier(max_iter=2),
        SVC(probability=False),
        LogisticRegression(),
        GaussianNB(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        MLPClassifier((3,), max_iter=5),
    )
    return [bytes(skops.io.dumps(model.fit(X, y))) for model in models]


def skops() -> Callable[[Chance], bytes]:
    with fuzz.warnings.catch_warnings():
        fuzz.warnings.simplefilter("ignore")
        sound = estimators()

    def make(chance: Chance) -> bytes:
        with zipfile.ZipFile(io.BytesIO(chance.choice(sound))) as before:
            members = {name: before.read(name) for name in before.namelist()}
        arrays = [name for name in members if name.endswith(".npy")]
        if arrays and chance.random() < 0.4:
            members[chance.choice(arrays)] = chance.choice((npy, whole_npy))(chance)
        if arrays and chance.random() < 0.3:
            members[chance.choice(arrays)] = members[chance.choice(arrays)]
        if chance.random() < 0.8:
            schema = json.loads(members["schema.json"])
            members["schema.json"] = json.dumps(changed(schema, chance)).encode()
        return archive(list(members.items()), chance)

    return make
