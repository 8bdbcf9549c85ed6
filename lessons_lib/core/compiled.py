"""Loops compiled by Numba: once per machine, without the interpreter's lock, and also where nothing
may be written.

The compiled code is cached beside the source or in the user's cache folder, see `compiled_cache`.
Where neither can be written, it is compiled in memory at each start, and one notice says so. Used
by the counting kernels of lessons ``01_one_hot`` and ``02_bag_of_words``.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable

__all__ = ["compiled"]


@functools.cache
def _notice_no_cache() -> None:
    logging.getLogger("lessons_lib").warning(
        "compiled loops cannot be cached (no folder can be written); compiled at each start. "
        "NUMBA_CACHE_DIR names another folder")


def compiled(function: Callable | None = None, *, reorder: bool = False, inner: bool = False,
             inline: bool = False) -> Callable:
    """Compile a function of arrays and numbers at its first call; it runs without Python's lock.

    ``inner``: only compiled functions call it, so no way in from Python is made, which compiles
    sooner; ``inline``: it is copied into them instead.

    ``reorder`` lets sums of floats be taken in any order and products fuse with them, so that a
    loop becomes vector instructions: the same bits each time on one machine, the last digits may
    differ on another. Infinity and NaN keep their meaning.
    """
    if function is None:
        return functools.partial(compiled, reorder=reorder, inner=inner, inline=inline)
    import numba

    fastmath = {"reassoc", "contract", "nsz", "arcp"} if reorder else False
    options = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
    if inner or inline:
        return numba.njit(**options, inline="always" if inline else "never",
                          no_cpython_wrapper=inner, no_cfunc_wrapper=inner)(function)
    from .compiled_cache import OverloadCache

    dispatcher = numba.njit(**options)(function)
    try:                                       # Numba's own mixes up files of two processes
        dispatcher._cache = OverloadCache(function)
    except RuntimeError as error:              # Numba found no folder that it may write
        if "cannot cache" not in str(error):
            raise
        _notice_no_cache()
    return dispatcher
