"""The command line, called as from a shell."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lessons_lib import cli


@pytest.fixture
def lessons(monkeypatch, capsys) -> Callable[..., tuple[int, str, str]]:
    """``lessons("data", "list")``: its exit status, what it said, and what it said aside."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["lessons", *map(str, arguments)])
        code = cli.main()
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err, out + err
        return code, out, err

    return call
