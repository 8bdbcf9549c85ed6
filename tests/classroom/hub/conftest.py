"""A hub of two students, written once: its copy of the course takes a second."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from lessons_lib.classroom.hub import Hub, write_hub


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str]]]:
    """The folder of a hub for Anna and Bo, and the passwords."""
    folder = tmp_path_factory.mktemp("hub") / "class"
    yield folder, write_hub(Hub(("anna", "bo"), port=8123, memory_gb=1.5, idle_minutes=20, hours=3),
                            folder)
    # or pytest could not remove it
    for path in (folder / "course", *(folder / "course").rglob("*")):
        path.chmod(path.stat().st_mode | stat.S_IWUSR)
