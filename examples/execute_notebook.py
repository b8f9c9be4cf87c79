"""Run a notebook's cells in one process and write what they show into it: no server needed.

python examples/execute_notebook.py examples/first_report.ipynb
"""

import ast
import json
import sys
from pathlib import Path


def execute(path):
    """The notebook with the outputs of its cells; the last line of a cell is what it shows."""
    book = json.loads(Path(path).read_text(encoding="utf-8"))
    names = {"__name__": "notebook"}
    number = 0
    for cell in book["cells"]:
        if cell["cell_type"] != "code":
            continue
        number += 1
        cell["execution_count"] = number
        shown = run("".join(cell["source"]), names)
        cell["outputs"] = [] if shown is None else [output(shown, number)]
    return book


def run(source, names):
    """The value of the last expression of a cell, or None."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)  # the notebook's own code
    return (
        None if last is None else eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    )


def output(value, number):
    """What a notebook shows of a value."""
    data = {"text/plain": str(value)}
    if hasattr(value, "_repr_mimebundle_"):
        data |= value._repr_mimebundle_()
    elif hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_()
    return {
        "output_type": "execute_result",
        "execution_count": number,
        "metadata": {},
        "data": data,
    }


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print("usage: python examples/execute_notebook.py NOTEBOOK.ipynb …")
    for name in sys.argv[1:]:
        text = json.dumps(execute(name), indent=1, ensure_ascii=False)
        Path(name).write_text(f"{text}\n", encoding="utf-8")
        print(f"executed: {name}")
