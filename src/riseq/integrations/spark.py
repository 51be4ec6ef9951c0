"""A column of self-contained questions in Spark, made conversational by a pandas UDF."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from riseq.extras import needs_extra
from riseq.integrations import RowEditor
from riseq.types import InputError

with needs_extra("spark", __name__):
    import pandas as pd
    from pyspark.sql import DataFrame
    from pyspark.sql.functions import array, col, pandas_udf
    from pyspark.sql.types import ArrayType, StringType


def simplify_column(
    df: DataFrame,
    question: str = "question",
    context: str | None = "context",
    output: str = "text",
    *,
    model: str | Path | None = None,
    **settings: Any,
) -> DataFrame:
    """Return ``df`` with the column ``output``: each ``question`` as it is asked after the dialogue in ``context``.

    ``context`` is a column of arrays, of strings or of chat messages with role and content, oldest first; null is an
    empty one, and None says that there is none. A null question stays null. Every Python process of an executor loads
    one engine and keeps it; ``model`` is a folder that all of them see. With ``skip_bad`` a row that cannot be used
    becomes null, where else the job ends. That and all other ``settings`` are ``RowEditor``'s.
    """
    editor = RowEditor(model, **settings)
    for name, kind, expected in ((question, StringType, "strings"), (context, ArrayType, "arrays")):
        if name is None:
            continue
        if name not in df.columns:
            raise InputError(f"no column {name!r}, expected one of: {', '.join(df.columns)}")
        found = df.schema[name].dataType
        if not isinstance(found, kind):
            raise InputError(f"the column {name!r} has the type {found.simpleString()}, expected {expected}")

    @pandas_udf("string")  # type: ignore[untyped-decorator]
    def edit(batches: Iterator[tuple[pd.Series, pd.Series]]) -> Iterator[pd.Series]:
        for questions, contexts in batches:
            known = questions.astype(object).where(questions.notna(), None)
            yield pd.Series(editor.edit(known, contexts), dtype=object)

    dialogue = array().cast("array<string>") if context is None else col(context)
    return df.withColumn(output, edit(col(question), dialogue))
