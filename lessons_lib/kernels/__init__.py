"""Kernels: the formula, the fast processor path and, where it pays, a Triton kernel, proved equal.

``ll.kernels.uniformity(x)`` picks the implementation by the device of x. Tensors and arrays go in,
tensors come out; nothing here knows lessons, models or data. Taught in ``15_gpu_kernels``; the
operations in the lessons that need them.
"""

from .alignment import alignment
from .allocation import peak_allocated
from .cosent import cosent
from .dispatch import BACKENDS, interpreting, use_backend
from .document_update import DocumentState, document_update
from .glove_step import GloveState, glove_step
from .info_nce import info_nce
from .interpreter import Backend, backends, interpret
from .knn import knn
from .lda_sweep import LdaState, lda_sweep
from .maxsim import maxsim
from .mean_cosine import mean_cosine
from .mean_covariance import Moments, mean_covariance
from .pool import pool
from .ranks import ranks, spearman_resamples
from .segment_moments import SegmentMoments, segment_moments
from .segment_moments.similarity import intra_sentence_similarity, self_similarity
from .stepping import can_step, kernel_text, watch
from .subword_update import SubwordState, subword_update
from .tracing import Trace, trace
from .uniformity import uniformity
from .window_update import WindowState, window_update

__all__ = ["BACKENDS", "Backend", "DocumentState", "GloveState", "LdaState", "Moments",
           "SegmentMoments", "SubwordState", "Trace", "WindowState", "alignment", "backends",
           "can_step", "cosent", "document_update", "glove_step", "info_nce", "interpret",
           "interpreting", "intra_sentence_similarity", "kernel_text", "knn", "lda_sweep", "maxsim",
           "mean_cosine", "mean_covariance", "peak_allocated", "pool", "ranks", "segment_moments",
           "self_similarity", "spearman_resamples", "subword_update", "trace", "uniformity",
           "use_backend", "watch", "window_update"]
