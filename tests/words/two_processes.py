"""What each of two processes does in ``test_rotated``; they import it by its name."""

from __future__ import annotations

import os
import signal

import numpy as np
import torch

from lessons_lib.core import TrainingDiverged
from lessons_lib.words import Word2Vec
from lessons_lib.words.rotated import train_rotated

WORDS = 240                                       # on a circle; those that are near meet in texts
SETTINGS = {"dim": 20, "min_count": 1, "sample": 0, "epochs": 1}


def texts(n=1500):
    rng = np.random.default_rng(0)
    places = rng.uniform(0, WORDS, (n, 1)) + rng.normal(0, 12, (n, 24))
    return [[f"w{int(x) % WORDS}" for x in row] for row in places]


TEXTS = texts()
FEW = TEXTS[:400]


def joined(rank, port):
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank,
                                         world_size=2)


def stopped(rank, port, answers, folder, tree, kill, resume):
    """Train three epochs, each saved by process 0; process 1 is killed at the end of epoch
    ``kill``."""
    joined(rank, port)
    objective = "hierarchical_softmax" if tree else "negative_sampling"
    settings = SETTINGS | {"epochs": 3, "objective": objective}

    def saved(model):
        if rank == 0:
            model.save(folder)
        elif len(model.history_) == kill:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        model = train_rotated(Word2Vec.load(folder) if resume else Word2Vec(**settings), FEW,
                              resume=resume, on_epoch=saved)
    except RuntimeError:                          # the other one has gone
        answers.put((rank, None))
        return
    answers.put((rank, (model.vectors_.tokens, model.vectors_.matrix, model.output_,
                        model.history_.tolist())))
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def work(rank, port, answers):
    joined(rank, port)

    def trained(data, **settings):
        model = train_rotated(Word2Vec(**SETTINGS | settings), data)
        return (model.vectors_.tokens, model.vectors_.matrix, model.output_,
                model.history_.tolist(), model.counts_)

    result = {"few": trained(FEW), "again": trained(FEW),
              "tree": trained(FEW, objective="hierarchical_softmax"),
              "whole": [trained(TEXTS, seed=seed) for seed in (0, 1)]}
    try:
        trained(FEW, learning_rate=1e6)
    except TrainingDiverged as error:
        result["diverged"] = str(error)
    answers.put((rank, result))
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
