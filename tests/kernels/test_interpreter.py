"""The interpreter's switch: it has to come before Triton, and what Triton decided is what
counts."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys

import pytest

from lessons_lib.core import PROJECT
from lessons_lib.kernels.interpreter import broken_triton, interpreting

needs_triton = pytest.mark.skipif(importlib.util.find_spec("triton") is None,
                                  reason="Triton has no wheel for this system")


def fresh(code: str) -> str:
    """What a new Python prints that has no switch set."""
    clean = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True,
                          env=clean)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@needs_triton
def test_interpret_switches_on_before_triton_and_twice_does_nothing():
    code = """
import torch
from lessons_lib import kernels
assert not kernels.interpreting()
kernels.interpret(); kernels.interpret()
assert kernels.interpreting()
x = torch.eye(4)
with kernels.trace() as t:
    value = kernels.uniformity(x, backend="triton")
assert t.runs[0].device == "interpreter"
print(abs(value.item() - kernels.uniformity(x).item()) < 1e-6, kernels.backends()[0].available)
"""
    assert fresh(code) == "True True"


@needs_triton
def test_after_triton_was_loaded_as_a_compiler_the_switch_is_refused():
    code = """
import os, triton.language
from lessons_lib import kernels
from lessons_lib.core import BackendUnavailable
try:
    kernels.interpret()
except BackendUnavailable as error:
    print("first, in a fresh Python" in str(error), "TRITON_INTERPRET" in os.environ)
os.environ["TRITON_INTERPRET"] = "1"
print(kernels.interpreting())
"""
    assert fresh(code).split() == ["True", "False", "False"]


@needs_triton
@pytest.mark.parametrize("value", ["1", "true", "True", "ON", "on", "0", "false", "", "2"])
def test_before_triton_is_loaded_the_variable_is_read_as_triton_would_read_it(value, monkeypatch):
    from triton import knobs

    monkeypatch.setenv("TRITON_INTERPRET", value)
    monkeypatch.delitem(sys.modules, "triton.language.standard", raising=False)
    assert interpreting() == bool(knobs.runtime.interpret)


def test_a_triton_that_cannot_be_loaded_is_named_with_its_error(monkeypatch):
    def fails(name: str) -> None:
        raise OSError("libcuda.so.1: cannot open shared object file")

    monkeypatch.setattr("lessons_lib.kernels.dispatch.importlib.import_module", fails)
    broken_triton.cache_clear()
    try:
        assert re.search(r"cannot be loaded \(OSError: .*libcuda", broken_triton())
    finally:
        broken_triton.cache_clear()
