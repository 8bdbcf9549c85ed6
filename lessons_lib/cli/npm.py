"""``lessons npm``: the programs that come from npm."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["npm"]


def npm(
    sets: Annotated[list[str] | None,
                    typer.Argument(help="hub, axe; default: both", show_default=False)] = None
) -> None:
    """Install what comes from npm, as locked: the proxy of the hub, and the accessibility rules of
    the tests in a browser.
    """
    from ..npm import SETS, install

    for name in sets or SETS:
        print(f"{name}: {install(name)}")
