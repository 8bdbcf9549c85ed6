"""The races of whitening run on a few vectors, and their gates see a difference."""

from __future__ import annotations

import numpy as np

from lessons_lib.bench import groups, isotropy, isotropy_whitening
from lessons_lib.bench.measure import measure
from lessons_lib.isotropy import Whitening

SIZES = isotropy_whitening.Sizes(vectors=400, width=24, kept=(8, 24))


def test_both_sides_give_the_same_map_and_the_same_vectors():
    found = [measure(case, repeats=1) for case in isotropy_whitening.cases(sizes=SIZES)]
    assert [row.name for row in found] == ["Whitening.fit 400 x 24", "Whitening.fit of Moments, float32 products 400 x 24",
                                           "Whitening.transform + normalize 400 x 24, k=8", "Whitening.transform + normalize 400 x 24, k=24"]
    assert all(row.value > 0 and row.items == 400 for row in found)


def test_the_gates_see_another_map_and_other_numbers():
    x = isotropy_whitening._vectors(300, 12)
    kernel, bias = isotropy_whitening._authors_fit(x)
    white = Whitening().fit(x)
    assert isotropy_whitening._same_cosines(x, white, (kernel, bias))
    assert not isotropy_whitening._same_cosines(x, white, (kernel * np.linspace(1, 1.01, 12), bias))
    assert not isotropy_whitening._close(x, x + 2e-5) and not isotropy_whitening._close(x, x[:5])


def test_the_vectors_are_uneven_and_far_from_the_origin():
    x = isotropy_whitening._vectors(3000, 16)
    spectrum = Whitening().fit(x).spectrum_
    assert 5e3 < spectrum[0] / spectrum[-1] < 2e4 and x.dtype == np.float32
    assert np.linalg.norm(x.mean(axis=0)) > np.sqrt(spectrum.sum())


def test_the_group_has_a_name_and_its_parts_exist():
    assert "isotropy" in groups() and "isotropy_whitening" in isotropy.PARTS
