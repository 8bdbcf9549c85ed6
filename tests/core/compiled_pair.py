"""What two processes that compile at the same moment do, and what a third finds then.
Arguments: whose cache ("numba" or "ours"); the folder of the module ``corner``, whose function
returns ``x[0, 1]``; the layout of the array ("C" or "F", or "both": only load). Prints what the
function returns and how often it was loaded.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

whose, folder, layout = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
sys.path.insert(0, str(folder))
import corner as loaded  # noqa: E402


def said(word: str) -> None:
    """Tell the other process that one has got so far."""
    (folder / word).touch()


def wait_for(word: str) -> None:
    """Until the other process has got so far."""
    until = time.monotonic() + 120
    while not (folder / word).exists():
        assert time.monotonic() < until, word
        time.sleep(0.01)


def around(name: str, before: Callable[[], None], after: Callable[[], None]) -> None:
    """Do something before and after a method of the cache's files."""
    files = type(loaded.corner._cache._cache_file)
    method = getattr(files, name)

    def wrapped(self, *arguments):
        before()
        found = method(self, *arguments)
        after()
        return found

    setattr(files, name, wrapped)


if layout != "both":
    other = {"C": "F", "F": "C"}[layout]

    def together() -> None:
        """Both have compiled, neither has saved."""
        said(f"compiled {layout}")
        wait_for(f"compiled {other}")

    if whose == "ours":
        around("save", together, lambda: None)
    else:  # both read the index; it is C's first, then F's; the file F's, then C's

        def read() -> None:
            if sys._getframe(2).f_code.co_name == "save":
                together()

        around("_load_index", lambda: None, read)
        around(
            "_save_index",
            lambda: layout == "F" and wait_for("index C"),
            lambda: said(f"index {layout}"),
        )
        around(
            "_save_data",
            lambda: layout == "C" and wait_for("data F"),
            lambda: said(f"data {layout}"),
        )
for each in "CF" if layout == "both" else layout:
    print(loaded.corner(np.array([[1, 2, 3], [4, 5, 6]], order=each)), end=" ")
print(sum(loaded.corner.stats.cache_hits.values()))
