"""Whether the labelled rows look like independent draws: looked at once in a run."""

from fireassay.assessment.context import Context
from fireassay.core import Assumption
from fireassay.statistics import AlikeRows, alike_rows, near_duplicates


def alike_test_rows(context: Context) -> AlikeRows | None:
    """What `alike_rows` says of the test rows; None where groups are named."""
    data = context.test
    if data.groups is not None:
        return None

    def look() -> AlikeRows:
        rows = data.X if data.rows.is_plain else data.view()  # a view of all is a copy of all
        return alike_rows(rows, data.y, context.seed)

    found: AlikeRows = context.once("alike rows", data.sha256, look)
    return found


def independent_draws(context: Context) -> Assumption:
    """Rows that are alike contradict; that there are none shows nothing about how they came."""
    data, alike = context.test, alike_test_rows(context)
    if alike is not None:
        what, many, check = "rows", alike.many, str(alike)
    else:
        near = near_duplicates(data.view(), context.seed, data.groups)
        what, many = "groups", near.many
        check = f"{near.count} of {near.looked_at} rows nearly repeat a row of another group."
    return Assumption(
        f"The labelled {what} are independent draws of what the model meets.",
        "contradicted" if many else "untestable",
        check if many else f"{check} How they were drawn is not in the data.",
        f"independent-{what}",
    )
