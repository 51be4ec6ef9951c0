"""A column in a real Spark on this machine; docs/integrations/spark.md among it."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession
from pyspark.sql.functions import pandas_udf

from documents import find_snippets, tidy
from riseq.controls import Controls
from riseq.hub import find_default_model
from riseq.integrations.spark import simplify_column
from riseq.types import InputError

Rows = list[tuple[str, list[str]]]
STRINGS = "question string, context array<string>"
MESSAGES = "question string, context array<struct<role:string,content:string>>"
CONFIG: dict[str, Any] = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "8",  # several batches a task
    "spark.sql.shuffle.partitions": "4",
    "spark.log.level": "ERROR",
    # A small and short life.
    "spark.ui.enabled": "false",
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}

pytestmark = pytest.mark.xdist_group("spark")


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17, and there is none here")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        interrupt = signal.getsignal(signal.SIGINT)
        session = SparkSession.builder.master("local[2]").config(map=CONFIG).getOrCreate()
        yield session
        session.stop()
        signal.signal(signal.SIGINT, interrupt)  # Spark puts its own there, and leaves it


def read(frame: Any, column: str = "text") -> list[Any]:
    return [row[column] for row in frame.collect()]


def test_a_column_is_what_the_engine_gives(spark: SparkSession, model: Path, rows: Rows, texts: list[str]) -> None:
    frame = spark.createDataFrame(rows, STRINGS)
    result = simplify_column(frame, model=model)
    assert result.columns == ["question", "context", "text"]
    assert read(result) == texts
    questions = [question for question, _ in rows]
    assert read(simplify_column(frame, output="kept", strength=0.0, model=model), "kept") == questions
    assert read(simplify_column(frame, context=None, model=model, controls=Controls(n_best=2))) == questions


def test_chat_messages_nulls_and_bad_rows(spark: SparkSession, model: Path, rows: Rows, texts: list[str]) -> None:
    said = [(question, [("user", text) for text in context]) for question, context in rows[:6]]
    frame = spark.createDataFrame([*said, (None, None), ("Why?", [(None, "No role.")])], MESSAGES)
    assert read(simplify_column(frame, model=model, skip_bad=True)) == [*texts[:6], None, None]
    with pytest.raises(PythonException, match=r"context\[0\]\['role'\] is a NoneType"):
        simplify_column(frame, model=model).collect()


def test_every_process_loads_one_engine(spark: SparkSession, model: Path, rows: Rows) -> None:
    frame = spark.createDataFrame(rows, STRINGS).repartition(4)

    @pandas_udf("string")  # type: ignore[untyped-decorator]
    def tell(column: pd.Series) -> pd.Series:
        from riseq.integrations import load_engine

        info = load_engine.cache_info()
        return column.map(lambda _: f"{os.getpid()} {info.misses} {info.hits}")

    for _ in range(2):
        simplify_column(frame, model=model).collect()
    # The processes stay, and say what they have done since the first test: all of it with one model.
    told = {tuple(map(int, line.split())) for line in read(frame.withColumn("told", tell("question")), "told")}
    used = {process: (loads, uses) for process, loads, uses in told if loads}
    assert used
    assert all(loads == 1 for loads, _ in used.values())
    assert sum(uses for _, uses in used.values()) > 4


def test_wrong_columns_are_told_before_the_work(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("a", "b")], "question string, context string")
    with pytest.raises(InputError, match="no column 'asked', expected one of: question, context"):
        simplify_column(frame, question="asked")
    with pytest.raises(InputError, match="the column 'context' has the type string, expected arrays"):
        simplify_column(frame)
    with pytest.raises(InputError, match="protect is a str"):
        simplify_column(frame, context=None, protect="Alien")
    with pytest.raises(InputError, match="max_passes is 0"):
        simplify_column(frame, context=None, max_passes=0)


def test_the_pages_snippet_prints_what_is_said(spark: SparkSession, root: Path) -> None:
    if find_default_model() is None:
        pytest.skip("no model ships with this checkout")
    page = (root / "docs" / "integrations" / "spark.md").read_text(encoding="utf-8")
    (snippet,) = (one for one in find_snippets(page) if one.language == "python")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(snippet.code, {})
    assert snippet.output is not None
    assert tidy(printed.getvalue().rstrip("\n")) == tidy(snippet.output)
