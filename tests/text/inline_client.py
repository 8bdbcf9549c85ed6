"""What stands in for a Dask client where Dask is not installed: every task runs at once and here,
and what it is given and gives back is pickled, as on its way to a worker."""

from __future__ import annotations

import pickle


class _Done:
    def __init__(self, value):
        self.value = value

    def result(self):
        return self.value


class InlineClient:
    """The part of ``distributed.Client`` that shards need."""

    def __init__(self):
        self.tasks = 0

    def submit(self, task, *given, pure=True):
        assert pure is False                     # else Dask would hash all texts
        self.tasks += 1
        values = [x.value if isinstance(x, _Done) else pickle.loads(pickle.dumps(x)) for x in given]
        return _Done(pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(task))(*values))))
