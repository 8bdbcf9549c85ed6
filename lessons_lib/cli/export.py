"""``lessons export``: a model for other programs, written whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..core import check_choice
from .encoding import check_model, contextual_encoder, names_in, word_vectors
from .options import option, unset
from .show import show_table

__all__ = ["export"]

FORMATS = ("sentence-transformers", "onnx", "word2vec", "glove")
MOST_APART = 1e-5                                # of a number of a vector, graph against encoder
ONNX_USE = """`model.onnx` takes `input_ids` and `attention_mask`, int64 (texts, tokens) of any
size, and gives `sentence_embedding`, float32 (texts, {dim}).

```python
import numpy as np
import onnxruntime
{ids}
session = onnxruntime.InferenceSession("FOLDER/model.onnx")
vectors = session.run(["sentence_embedding"],
                      {{"input_ids": ids, "attention_mask": np.ones_like(ids)}})[0]
```"""
IDS = """from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file("FOLDER/tokenizer.json")
ids = np.array([tokenizer.encode("A sentence.").ids])
"""
BAG_IDS = """from lessons_lib.contextual import load_encoder

bag = load_encoder("{name}").tokenizer         # words and their n-grams, as ids
ids = np.array(bag.rows(["A sentence."]))
"""


def export(
    encoder: Annotated[str, typer.Argument(help="as in `lessons evaluate`: lesson-bert, the folder "
                                                "of a model; word vectors for word2vec and glove")],
    to: Annotated[str, option("sentence-transformers, onnx, word2vec or glove")],
    out: Annotated[Path, option("a new folder; for word vectors a file (word2vec's binary format "
                                "where it ends in .bin)")],
    int8: Annotated[bool, option("of onnx: a graph with weights of 8 bits, too", "--int8")] = False,
    on: Annotated[str, option("datasets of sentence pairs whose scores go into the model card, "
                              "separated by commas")] = "course-sts",
    model: Annotated[str | None, unset("of course-vectors: skip-gram or glove")] = None,
) -> None:
    """Hand a model on to other programs, with a card that holds its scores. Graphs are compared
    with the encoder before anything is kept.
    """
    from ..core.files import atomic_folder

    check_choice("to", to, FORMATS)
    if int8 and to != "onnx":
        raise ValueError(f"--int8 with --to {to}: weights of 8 bits are for --to onnx")
    check_model(encoder, model)
    if to in ("word2vec", "glove"):
        _export_words(encoder, model, to, out)
        return
    names = names_in("on", on)
    encodes = contextual_encoder(encoder)
    with atomic_folder(out) as draft:
        write = _write_onnx if to == "onnx" else _write_sentence_transformer
        rows = write(encodes, draft, names, int8)
    show_table(f"{encoder}, {to}", ["model", "MB", "largest difference", "lowest cosine",
                                    *(f"Spearman, {name}" for name in names)], rows,
               right=("MB", "largest difference", "lowest cosine"))
    print(f"{out}: its README.md says how to use it")


def _export_words(source: str, model: str | None, to: str, out: Path) -> None:
    from .. import contextual, counts, sentences
    from ..vectors import WordVectors, write_binary, write_text

    if out.exists():
        what = "is a folder; name a file in it" if out.is_dir() else (
            "exists already; remove it first, or choose another name")
        raise FileExistsError(f"{out} {what}")
    of_texts = any(source in known.NAMED for known in (counts, sentences, contextual)) or any(
        (Path(source) / name).is_file() for name in ("config.json", "modules.json"))
    vectors = None if of_texts else word_vectors(source, model)
    if not isinstance(vectors, WordVectors):
        raise ValueError(f"encoder={source!r} has no word vectors, which --to {to} needs; such as "
                         "course-vectors. A contextual model goes out with --to onnx")
    if to == "word2vec" and out.suffix == ".bin":
        write_binary(vectors, out)
    else:
        write_text(vectors, out, header=to == "word2vec")
    print(f"{out}: {len(vectors):,} words x {vectors.dim}, {to}")


def _row(name: str, megabytes: float, ours: np.ndarray, vectors: np.ndarray,
         scores: Any) -> list[str]:
    norms = np.linalg.norm(ours, axis=1) * np.linalg.norm(vectors, axis=1)
    cosines = (ours * vectors).sum(axis=1)[norms > 0] / norms[norms > 0]
    return [name, f"{megabytes:.1f}", f"{np.abs(ours - vectors).max():.1e}",
            f"{cosines.min(initial=1):.4f}",
            *(f"{100 * result.spearman:.2f}" for result in scores.values())]


def _texts(names: list[str]) -> list[str]:
    """Texts of many lengths, on which a graph is compared with its encoder."""
    from ..datasets import load

    return [text for name in names for text in load(name).sentence1]


def _write_sentence_transformer(encoder: Any, folder: Path, names: list[str],
                                int8: bool) -> list[list[str]]:
    from ..contextual import load_encoder
    from ..contextual.hub_folder import write_sentence_transformer
    from ..evaluation import evaluate

    scores = evaluate(encoder, names)
    write_sentence_transformer(encoder, folder, scores)
    texts = _texts(names)
    vectors = load_encoder(folder, device="cpu").encode(texts)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
    return [_row("as read again", size, encoder.encode(texts), vectors, scores)]


def _write_onnx(encoder: Any, folder: Path, names: list[str], int8: bool) -> list[list[str]]:
    from ..contextual.hub_folder import model_card
    from ..contextual.onnx_file import OnnxEncoder, write_onnx
    from ..core import write_text
    from ..evaluation import evaluate

    graphs = write_onnx(encoder, folder, int8=int8)
    texts, scores = _texts(names), evaluate(encoder, names)
    ours, rows = encoder.encode(texts), [["encoder", "", "", "", *(
        f"{100 * result.spearman:.2f}" for result in scores.values())]]
    for place, path in enumerate(graphs):
        graph = OnnxEncoder(path, encoder)
        vectors = graph.encode(texts)
        apart = float(np.abs(ours - vectors).max())
        if place == 0 and not apart <= MOST_APART:
            raise ValueError(f"the graph gives vectors that are {apart:.1e} apart from those of "
                             f"{encoder.name}; expected <= {MOST_APART:.0e}. Nothing was written")
        rows.append(_row(path.name, path.stat().st_size / 1e6, ours, vectors,
                         evaluate(graph, names)))
    ids = IDS if encoder.reader.per_token else BAG_IDS.format(name=encoder.name)
    use = ONNX_USE.format(dim=encoder.dim, ids=ids)
    write_text(folder / "README.md", model_card(encoder, scores, library="onnx", use=use))
    return rows
