"""Processors with narrower vectors take the same code with fewer lanes: forced here, in a process
of its own with a cache of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
import llvmlite.binding as llvm
features = dict(llvm.get_host_cpu_features())
class Narrow(dict):
    flatten = lambda self, sort=True: llvm.FeatureMap(features).flatten(sort)
narrow = Narrow(features, **{name: False for name in json.loads(sys.argv[1])})
llvm.get_host_cpu_features = lambda: narrow
import numpy as np
from lessons_lib.core.vector_code import LANES
from lessons_lib.kernels import WindowState, window_update
from lessons_lib.kernels.window_update.vectors import TALL

TREE = "hierarchical_softmax"
def trained(architecture, objective, negatives, backend):
    rng = np.random.default_rng(0)
    words = np.minimum(rng.zipf(1.5, size=300) - 1, 29)
    rows = [rng.normal(size=(30 - back, 40)) * 0.3 for back in (0, objective == TREE)]
    ends, counts = np.linspace(0, 300, 11).astype(int), np.bincount(words, minlength=30) + 1
    state = WindowState(words, ends, *rows, counts, sample=0.05)
    loss = window_update(state, architecture=architecture, objective=objective, loss_every=2,
                         negatives=negatives, learning_rate=(0.05, 0.01), backend=backend)
    return [state.inputs.numpy(), state.outputs.numpy(), np.array(loss)]

errors = []
for kind in ("negative_sampling", 5), ("negative_sampling", 9), (TREE, 5):
    for architecture in ("skip_gram", "cbow"):
        pair = [trained(architecture, *kind, backend) for backend in ("cpu", "reference")]
        errors += [np.abs(x - y).max() / np.abs(y).max() for x, y in zip(*pair)]
print(LANES, TALL, max(map(float, errors)))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("missing", "lanes"), [('["avx512f"]', 8), ('["avx512f", "avx"]', 4)])
def test_windows_are_learned_from_with_any_number_of_lanes(missing, lanes, tmp_path):
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", PROGRAM, missing]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False,
                          timeout=300)
    assert done.returncode == 0, done.stderr
    used, tall, error = map(float, done.stdout.split())
    assert used <= lanes and tall in (2, 4) and error < 5e-6
