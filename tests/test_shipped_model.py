"""Where the model that ships is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from riseq import hub
from riseq.systems import registry


def test_the_packaged_model_comes_first_then_the_checkouts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "src" / "riseq"
    package.mkdir(parents=True)
    monkeypatch.setattr(hub, "_PACKAGE", package)
    assert hub.find_default_model() is None
    (tmp_path / "models" / "default").mkdir(parents=True)
    assert hub.find_default_model() is None, "any folder called models is not riseq's"
    (tmp_path / "pyproject.toml").touch()
    assert hub.find_default_model() == tmp_path / "models" / "default"
    (package / "models" / "default").mkdir(parents=True)
    assert hub.find_default_model() == package / "models" / "default"


@pytest.mark.parametrize(("folder", "name"), [(None, "rule"), (Path("models"), "rise")])
def test_the_default_system_is_rise_where_a_model_ships(
    monkeypatch: pytest.MonkeyPatch, folder: Path | None, name: str
) -> None:
    monkeypatch.setattr(registry, "find_default_model", lambda: folder)
    assert registry.default_system_name() == name
