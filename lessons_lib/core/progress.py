"""Progress that reads well in a terminal, in a notebook and in a log file.

In a terminal and a notebook tqdm draws a bar with rate and time left. Where output is no terminal a
bar would become thousands of lines; there one line is written every 30 seconds.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

__all__ = ["track"]

T = TypeVar("T")
LOG_EVERY_SECONDS = 30.0


class _Loss:
    """A loss in the bar, read only when the bar is drawn: on a GPU a look waits for it."""

    def __init__(self, read: Callable[[], float]):
        self.read = read

    def __str__(self) -> str:
        now = self.read()
        return "" if math.isnan(now) else f", loss {now:.4g}"


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return bool(shell) and "IPKernelApp" in shell.config


def track(items: Iterable[T], *, total: int | None = None, label: str = "", show: bool = True,
          size: Callable[[T], int] | None = None, unit: str = "it", done: int = 0,
          loss: Callable[[], float] | None = None) -> Iterator[T]:
    """Yield items while showing how far along they are.

    Parameters
    ----------
    items : iterable
    total : int, optional
        Their number where ``len`` does not tell.
    label : str, default ""
        Words before the bar.
    show : bool, default True
        False yields silently.
    size : function of an item, optional
        How much of the total it is; None: 1 each.
    unit : str, default "it"
        Of the total, such as "tokens".
    done : int, default 0
        How much of the total was done before.
    loss : function, optional
        The loss to show, NaN where there is none yet; asked when the bar is drawn, twice a second
        at most.

    Returns
    -------
    iterator of the items
    """
    if not show:
        return iter(items)
    from tqdm.auto import tqdm

    quiet_log = not (_in_notebook() or sys.stderr.isatty())
    pace = {"mininterval": LOG_EVERY_SECONDS, "maxinterval": LOG_EVERY_SECONDS, "ascii": True
            } if quiet_log else {"mininterval": 0.5} if loss else {}
    if loss is not None:
        pace["postfix"] = _Loss(loss)              # tqdm takes any object, and asks for its text
    bar = tqdm(items if size is None else None, total=total, desc=label, leave=False,
               dynamic_ncols=not quiet_log, unit=unit, unit_scale=size is not None, initial=done,
               **pace)
    return iter(bar) if size is None else _by_size(items, bar, size)


def _by_size(items: Iterable[T], bar: Any, size: Callable[[T], int]) -> Iterator[T]:
    with bar:
        for item in items:
            yield item
            bar.update(size(item))
