"""MTEB beside our own harness: its tasks, its scores and its JSON, over sets that lie here.

A task takes its texts from memory where MTEB would fetch them, so that no network is needed. Names
and revisions of model and data say that this is no official run. Used by ``lessons evaluate
--mteb``. [muennighoff2023mteb]
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..core import BackendUnavailable, Encoder, write_json, write_text
from ..datasets import RetrievalSet
from ..locking import install_line
from .pair_sets import PairSet, pair_sets
from .question_sets import titled
from .sts import _check_encoder

__all__ = ["ORGANISATION", "check_package", "mteb_scores"]

ORGANISATION = "lessons_lib-local"               # in place of the publisher of a model


def check_package() -> Any:
    """The package mteb. Raises BackendUnavailable with the line that installs it."""
    try:
        import mteb
    except ImportError as error:
        raise BackendUnavailable(f"--mteb needs the package mteb, which is not installed "
                                 f"({error}): {install_line('mteb')}") from error
    return mteb


def mteb_scores(encoder: Encoder, datasets: Any, folder: Path, *,
                questions: Mapping[str, RetrievalSet] | None = None,
                batch_size: int = 256) -> dict[str, float]:
    """Score an encoder by MTEB on graded sentence pairs and on questions, and write its JSON.

    Parameters
    ----------
    encoder : Encoder
    datasets : str, list of str or SentencePairs, or dict of str to SentencePairs
        As of `evaluate`; an empty dict for none.
    folder : path
        Of the results: ``ORGANISATION__name/revision/TASK.json``, as MTEB lays them out.
    questions : mapping of str to RetrievalSet, optional
        As `question_set` makes them.
    batch_size : int >= 1, default 256

    Returns
    -------
    dict of str to float
        MTEB's main score of each set: Spearman of the cosines in [-1, 1], all pairs of a set
        together (our protocol "all"), or nDCG@10 in [0, 1].

    Raises
    ------
    BackendUnavailable
        The package is not installed.
    TypeError, ValueError
        As `evaluate`.
    OSError
        The folder cannot be made.

    Notes
    -----
    Equal to `evaluate`, but for ties: ours takes cosines as equal that agree to twelve digits, in
    MTEB rounding noise orders them. For bags of words that moves Spearman by about 0.0001.
    """
    mteb = check_package()
    _check_encoder(encoder)
    tasks = {pairs.name: _pair_task(pairs) for pairs in pair_sets(datasets, split=None)
             } if datasets else {}
    tasks |= {name: _question_task(name, asked) for name, asked in (questions or {}).items()}
    model, scores = _model(encoder), {}
    meta = model.mteb_model_meta
    place = folder / meta.name.replace("/", "__") / meta.revision
    try:                                          # before the minutes that the scores take
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise type(error)(error.errno, f"cannot write {place}: {error.strerror}. Nothing was "
                                       "measured by MTEB. LESSONS_OUTPUT moves the folder"
                          ) from error
    for name, task in tasks.items():
        with _quietly():
            result = mteb.evaluate(model, task, cache=None, co2_tracker=False,
                                   show_progress_bar=False,
                                   encode_kwargs={"batch_size": batch_size,
                                                  "show_progress_bar": False}).task_results[0]
        draft = place / f".{task.metadata.name}.json"
        try:
            result.to_disk(draft)
            write_text(place / f"{task.metadata.name}.json", draft.read_text("utf-8"))
        finally:
            draft.unlink(missing_ok=True)
        write_json(place / "model_meta.json", json.loads(json.dumps(meta.to_dict(), default=str)))
        scores[name] = float(result.get_score())
    return scores


@contextmanager
def _quietly() -> Iterator[None]:
    """Without what MTEB warns of, and without the bars of the tables that it makes of texts."""
    from datasets.utils import (are_progress_bars_disabled, disable_progress_bars,
                                enable_progress_bars)

    shown = not are_progress_bars_disabled()
    disable_progress_bars()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            yield
    finally:
        if shown:
            enable_progress_bars()


def _plain(name: str) -> str:
    """A name without what a path or a model's name may not hold."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "nameless"


def _metadata(kind: str, category: str, name: str, split: str, score: str, content: Any) -> Any:
    """What MTEB is told of a task whose texts lie here; its revision is a checksum of them."""
    from mteb.abstasks.task_metadata import TaskMetadata

    digest = hashlib.sha256(json.dumps(content).encode("utf-8", "surrogatepass")).hexdigest()
    return TaskMetadata(
        name=f"Local-{_plain(name)}", type=kind, category=category,
        description="Texts that lay on the machine; not a task of MTEB.",
        dataset={"path": f"{ORGANISATION}/{_plain(name)}", "revision": f"local-{digest[:16]}"},
        eval_splits=[split], eval_langs=["eng-Latn"], main_score=score)


def _pair_task(pairs: PairSet) -> Any:
    """MTEB's task of similarity over the pairs of one set."""
    from datasets import Dataset, DatasetDict
    from mteb.abstasks.sts import AbsTaskSTS

    columns = {"sentence1": [pairs.sentences[row] for row in pairs.left],
               "sentence2": [pairs.sentences[row] for row in pairs.right],
               "score": pairs.gold.tolist()}
    low, high = pairs.scale

    class LocalPairs(AbsTaskSTS):
        metadata = _metadata("STS", "t2t", pairs.name, pairs.split, "cosine_spearman", columns)
        min_score, max_score = low, high

        def load_data(self, *args: Any, **options: Any) -> None:
            self.dataset = DatasetDict({pairs.split: Dataset.from_dict(columns)})
            self.data_loaded = True

    return LocalPairs()


def _question_task(name: str, asked: RetrievalSet) -> Any:
    """MTEB's task of retrieval over the questions of one set."""
    from datasets import Dataset
    from mteb.abstasks.retrieval import AbsTaskRetrieval

    texts = {side: {"id": [str(i) for i in range(len(column))], "text": list(column)}
             for side, column in (("corpus", titled(asked)), ("queries", asked.question))}
    # MTEB's grades are whole numbers, as those of BEIR are
    relevant = {str(i): {str(row): round(grade) for row, grade in grades.items()}
                for i, grades in enumerate(asked.relevant)}

    class LocalQuestions(AbsTaskRetrieval):
        metadata = _metadata("Retrieval", "t2t", name, asked.split, "ndcg_at_10",
                             [texts, relevant])

        def load_data(self, *args: Any, **options: Any) -> None:
            self.dataset = {"default": {asked.split: {
                **{side: Dataset.from_dict(columns) for side, columns in texts.items()},
                "relevant_docs": relevant, "top_ranked": None}}}
            self.data_loaded = True

    return LocalQuestions()


def _model(encoder: Encoder) -> Any:
    """The encoder as MTEB calls models."""
    from mteb.models.model_meta import ModelMeta, ScoringFunction
    from sklearn.metrics.pairwise import cosine_similarity, paired_cosine_distances

    class LocalModel:
        mteb_model_meta = ModelMeta.create_empty(overwrites={
            "name": f"{ORGANISATION}/{_plain(str(encoder.name))}",
            "revision": f"not-an-official-run-{__version__}", "embed_dim": int(encoder.dim),
            "similarity_fn_name": ScoringFunction.COSINE})

        def encode(self, inputs: Any, *, batch_size: int = 256, **_: Any) -> np.ndarray:
            texts = [text for batch in inputs for text in batch["text"]]
            return np.asarray(encoder.encode(texts, batch_size=batch_size))

        def similarity(self, first: Any, second: Any) -> Any:
            return cosine_similarity(first, second)

        def similarity_pairwise(self, first: Any, second: Any) -> Any:
            return 1 - paired_cosine_distances(first, second)

    return LocalModel()
