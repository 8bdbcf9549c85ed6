"""``lessons neighbours``, ``similar``, ``map``: what an encoder makes of a reader's own texts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..core import check_int, output_folder, shown
from ..lesson.side_by_side import knows_no_word, main_axes, unit_vectors, vocabulary_of
from .encoding import encoder_named
from .options import argument, option, unset
from .show import plain, show_table
from .training import read_texts

__all__ = ["map_texts", "neighbours", "similar"]

COMMON_WORDS = 10_000                            # of the course's vectors, the most frequent first
NEAR = 30                                        # pairs whose grades tell what a cosine means
MOST_TEXTS, FEWEST_TEXTS = 5_000, 3              # on a map
NAMED_POINTS = 40                                # texts that stand beside their points
OTHER_LANGUAGE = ("For another language train on texts of it (`lessons train word2vec`) and give "
                  "the folder with --encoder")

Encoder = Annotated[str, option("as in `lessons evaluate`")]


def _tell_strange(encoder: Any, texts: list[str]) -> None:
    """Say on standard error which texts an encoder can only guess at."""
    vocabulary = vocabulary_of(encoder)
    strange = [text for text in texts if knows_no_word(vocabulary, text)]
    if strange:
        more = f" and {len(strange) - 3} more" if len(strange) > 3 else ""
        named = ", ".join(shown(text) for text in strange[:3])
        print(plain(f"{named}{more}: {encoder.name} has learned no word of it, so its vector says "
                    f"little. {OTHER_LANGUAGE}"), file=sys.stderr)


def _known(encoder: Any, texts: list[str]) -> np.ndarray:
    """Vectors of texts that a reader typed. Raises ValueError where one has none."""
    rows = unit_vectors(encoder, texts)
    for text, row in zip(texts, rows, strict=True):
        if not row.any():
            raise ValueError(f"{shown(text)} has no vector: {encoder.name} knows nothing in it. "
                             f"{OTHER_LANGUAGE}")
    _tell_strange(encoder, texts)
    return rows


def neighbours(
    text: Annotated[str, argument("a word, or a sentence in quotes")],
    encoder: Encoder = "lesson-bag",
    among: Annotated[list[str] | None, unset(
        "text files (one text in a line) or datasets of texts; default: for a word the "
        f"{COMMON_WORDS:,} most frequent words of the course's vectors, for a sentence those of "
        "course-sts")] = None,
    top: Annotated[int, option("how many")] = 10,
    encoding: Annotated[str, option("of the text files")] = "utf-8",
) -> None:
    """Show what lies nearest to a word or a sentence, by an encoder."""
    from ..datasets import load

    check_int("top", top)
    if among:
        others = [line.strip() for line in read_texts(among, encoding=encoding)]
    elif len(text.split()) == 1:
        others = list(load("course-vectors"))[:COMMON_WORDS]
    else:
        pairs = load("course-sts")
        others = [*pairs.sentence1, *pairs.sentence2]
    others = [other for other in dict.fromkeys(others) if other and other.lower() != text.lower()]
    if not others:
        raise ValueError(f"among={shown(among)} holds no other text; expected one in each line")
    encodes = encoder_named(encoder)
    (query,) = _known(encodes, [text])
    rows = unit_vectors(encodes, others)
    cosines = rows @ query
    nearest = [i for i in np.argsort(-cosines, kind="stable") if rows[i].any()][:top]
    show_table(f"Nearest to {text} by {encodes.name}, of {len(others):,}", ["cosine", "text"],
               [[f"{cosines[i]:.2f}", others[i]] for i in nearest], right=("cosine",))


def similar(
    texts: Annotated[list[str], typer.Argument(help="two or more texts, each in quotes")],
    encoder: Encoder = "lesson-bag",
) -> None:
    """Show the cosine of two texts and what people say of pairs with such a cosine; of more texts,
    all cosines.
    """
    from ..datasets import load

    if len(texts) < 2:
        raise ValueError(f"texts={shown(texts)}; expected two or more, each in quotes")
    encodes = encoder_named(encoder)
    rows = _known(encodes, texts)
    cosines = rows @ rows.T
    if len(texts) > 2:
        pairs = sorted(((cosines[i, j], i, j) for j in range(len(texts)) for i in range(j)),
                       key=lambda pair: -pair[0])
        show_table(f"Cosines by {encodes.name}", ["cosine", "first", "second"],
                   [[f"{cosine:.2f}", texts[i], texts[j]] for cosine, i, j in pairs],
                   right=("cosine",))
        return
    graded = load("course-sts")
    first, second = (unit_vectors(encodes, list(column))
                     for column in (graded.sentence1, graded.sentence2))
    theirs = (first * second).sum(axis=1)
    cosine = cosines[0, 1]
    near = np.argsort(np.abs(theirs - cosine), kind="stable")[:NEAR]
    print(f"cosine {cosine:.2f} by {encodes.name}")
    print(f"That is higher than the cosine of {100 * (theirs < cosine).mean():.0f} % of the "
          f"course's {len(theirs)} graded pairs. People gave the {NEAR} pairs nearest to it "
          f"{np.asarray(graded.score)[near].mean():.1f} of {graded.scale[1]:g} points on average.")


def map_texts(
    file: Annotated[str, typer.Argument(help="a text file, one text in a line, or a dataset of "
                                             "texts")],
    encoder: Encoder = "lesson-bag",
    out: Annotated[Path | None, unset("a page, ending in .html; default: map.html in your output "
                                      "folder")] = None,
    encoding: Annotated[str, option("of the text file")] = "utf-8",
) -> None:
    """Draw texts as points on a page that opens offline: near points, similar texts."""
    import plotly.graph_objects as go

    from ..core import write_text
    from ..plots.explore import explorer

    page = out or output_folder() / "map.html"
    if page.suffix != ".html":
        raise ValueError(f"out={str(out)!r} is no page; expected a name that ends in .html")
    texts = list(dict.fromkeys(filter(None, (line.strip() for line in
                                             read_texts([file], encoding=encoding)))))
    if len(texts) > MOST_TEXTS:
        raise ValueError(f"{file} holds {len(texts):,} texts; a map shows at most {MOST_TEXTS:,}. "
                         "Take a part of them")
    encodes = encoder_named(encoder)
    rows = unit_vectors(encodes, texts)
    nameless = [text for text, row in zip(texts, rows, strict=True) if not row.any()]
    texts = [text for text, row in zip(texts, rows, strict=True) if row.any()]
    rows = rows[rows.any(axis=1)]
    if nameless:
        print(plain(f"{len(nameless):,} left out, of which {encodes.name} knows nothing, such as "
                    f"{shown(nameless[0])}. {OTHER_LANGUAGE}"), file=sys.stderr)
    if len(texts) < FEWEST_TEXTS:
        raise ValueError(f"{file} holds {len(texts)} texts with a vector; expected at least "
                         f"{FEWEST_TEXTS} lines that differ")
    _tell_strange(encodes, texts)
    x, y = _plane(rows).T
    named = len(texts) <= NAMED_POINTS
    trace = go.Scatter(x=x, y=y, mode="markers+text" if named else "markers",
                       text=[_escaped(text, 40) for text in texts] if named else None,
                       hovertext=[_escaped(text, 300) for text in texts], hoverinfo="text",
                       textposition="top center", marker={"size": 9 if named else 6})
    title = f"{len(texts):,} texts by {encodes.name}: near points, similar texts"
    figure = explorer([trace], title=title, height=720)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    write_text(page, figure.to_html(include_plotlyjs=True, full_html=True))
    print(f"{page}: {len(texts):,} texts. Open it in a browser; it needs no network")


def _escaped(text: str, most: int) -> str:
    """A text that plotly shows as it is: it reads HTML."""
    import html

    return html.escape(text if len(text) <= most else f"{text[:most - 1]}…")


def _plane(rows: np.ndarray) -> np.ndarray:
    """Places in the plane: neighbours kept near by t-SNE; of few texts, the two main axes."""
    if len(rows) < 10:
        return main_axes(rows)
    from sklearn.manifold import TSNE

    return TSNE(perplexity=min(30, (len(rows) - 1) / 3), init="pca", metric="cosine",
                random_state=0).fit_transform(rows.astype(np.float32))
