"""Kernels: one folder per operation, and in it the formula, the fast processor path and, where it pays, a Triton kernel, proved equal.

``ll.kernels.uniformity(x)`` picks the implementation by the device of x. Tensors and arrays go in, tensors come out; nothing here knows lessons, models
or data. Taught in ``15_gpu_kernels``; the operations in the lessons that need them.
"""

from .dispatch import BACKENDS, use_backend
from .interpreter import interpret, interpreting
from .tracing import Trace, trace
from .uniformity import uniformity

__all__ = ["BACKENDS", "Trace", "interpret", "interpreting", "trace", "uniformity", "use_backend"]
