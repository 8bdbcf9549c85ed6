"""Square roots of distributions."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from lessons_lib.core import Encoder
from lessons_lib.text import Corpus
from lessons_lib.topics import PLSA, Hellinger


def test_roots_of_distributions_have_length_one_and_their_cosine_is_the_overlap():
    p, q = np.random.default_rng(0).dirichlet(np.ones(5), size=2)
    roots = Hellinger().transform(np.stack([p, q]))
    assert_allclose(np.linalg.norm(roots, axis=1), 1.0)
    assert_allclose(roots[0] @ roots[1], np.sqrt(p * q).sum())


def test_a_model_and_the_roots_are_one_encoder():
    texts = ["cats and dogs and cats", "stocks and bonds", "dogs and cats", "bonds fell"]
    model = PLSA(2).fit(Corpus.from_texts(texts))
    encoder = model | Hellinger()
    assert isinstance(encoder, Encoder) and encoder.name == "pLSA + Hellinger" and encoder.dim == 2
    assert_allclose(encoder.encode(texts) ** 2, model.encode(texts), atol=1e-6)
