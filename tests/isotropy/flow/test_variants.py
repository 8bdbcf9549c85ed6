"""BERT-flow's two flows differ where their documentation says, and both learn."""

from __future__ import annotations

import numpy as np

from lessons_lib.isotropy import bert_flow
from lessons_lib.isotropy.flow import BERT_FLOW_VARIANTS, Permutation


def orders(flow) -> list[list[int]]:
    return [m.order.tolist() for m in flow.layers_.modules() if isinstance(m, Permutation)]


def test_the_program_has_three_levels_and_reverses_the_paper_two_and_shuffles():
    x = np.random.default_rng(0).normal(size=(300, 16))
    program, paper = (bert_flow(variant).fit(x) for variant in ("program", "paper"))
    assert [len(o) for o in orders(program)] == [16] * 3 + [8] * 3 + [4] * 3
    assert [len(o) for o in orders(paper)] == [16] * 3 + [8] * 3
    assert all(o == list(range(len(o)))[::-1] for o in orders(program))
    assert not any(o == list(range(len(o)))[::-1] for o in orders(paper))
    # 300 rows, 64 at a time, once
    assert program.n_steps_ == paper.n_steps_ == 5
    assert program.rate == 3.0 and program.learning_rate == 1e-3 and program.held_out == 0.0


def test_nli_data_get_small_steps_and_settings_can_be_changed_but_no_variant():
    before = {name: dict(settings) for name, settings in BERT_FLOW_VARIANTS.items()}
    flow = bert_flow("paper", data="nli", seed=4, init_size=2048)
    assert (flow.epochs, flow.learning_rate, flow.seed, flow.init_size) == (0.15, 2e-5, 4, 2048)
    assert before == BERT_FLOW_VARIANTS
