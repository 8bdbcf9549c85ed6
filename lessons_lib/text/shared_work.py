"""Work on parts by the workers of a Dask client: merged in a tree, or in turn, as a stream.

It needs of a client only ``submit``, and so of Dask nothing. Used by `text.shards` and
`contextual.encode_to`.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["in_turn", "merged"]

AHEAD = 16                               # parts on their way while one is waited for


def merged(client: Any, work: Callable[..., Any], parts: Iterable[Any],
           merge: Callable[[Any, Any], Any], *, shared: Any = None) -> Any:
    """What ``work`` makes of the parts, on the workers of a client, merged in a tree.

    Parameters
    ----------
    client : distributed.Client
    work : function of a part, and of ``shared`` unless it is None
        Both sides must be picklable, and results that are lost are worked out again.
    parts : iterable, one at least
    merge : function of two results, of neighbours in their order
    shared : object
        Sent to each worker once.

    Returns
    -------
    object
        ``merge(merge(r0, r1), merge(r2, r3))`` and so on.

    Raises
    ------
    ValueError
        No parts; and what ``work`` and ``merge`` raise.
    """
    common = () if shared is None else (_given(client, shared),)
    results = [client.submit(work, part, *common, pure=False) for part in parts]
    if not results:
        raise ValueError("parts holds 0 parts; expected >= 1")
    while len(results) > 1:
        pairs = [results[i : i + 2] for i in range(0, len(results), 2)]
        results = [client.submit(merge, *pair, pure=False) if len(pair) == 2 else pair[0]
                   for pair in pairs]
    return results[0].result()


def in_turn(client: Any, work: Callable[..., Any], parts: Iterable[Any],
            shared: Any) -> Iterator[tuple[Any, Any]]:
    """Each part, in order, with the task that works on it, whose ``result()`` waits for it.

    Parts are read, and travel to the workers, at most 16 ahead, so that a stream of any length can
    be worked on; client, work and shared as of `merged`.
    """
    common, waiting = _given(client, shared), deque()
    for part in parts:
        waiting.append((part, client.submit(work, part, common, pure=False)))
        if len(waiting) > AHEAD:
            yield waiting.popleft()
    yield from waiting


def _given(client: Any, shared: Any) -> Any:
    """Something sent to each worker once: as the result of a task and not scattered, for Dask can
    make it again when its worker has gone. It warns of large ones, which an encoder may well be.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        return client.submit(_Given(shared), pure=False)


@dataclass(frozen=True, eq=False)
class _Given:
    """A task whose result is what it holds."""

    value: Any

    def __call__(self) -> Any:
        return self.value
