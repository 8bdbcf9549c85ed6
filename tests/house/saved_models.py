"""What was saved by the first edition: how each kind is read, what it must give, how it goes on.

The folders lie under ``first_edition``, made once by `make_first_edition` with the code of then.
The texts here are made by arithmetic, so they are the same with any version of any generator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import lessons_lib as ll
from lessons_lib.datasets import SentencePairs

FOLDER = Path(__file__).with_name("first_edition")
SETTINGS = FOLDER / "settings.json"
WORDS = ("sea", "ships", "sail", "harbour", "waves", "café", "field", "cows", "graze", "straße",
         "walking", "talker", "unbelievable", "old", "new", "the")


# -------------------------------------------------------------------------------- the data


def drawn(n: int, high: int, seed: int) -> list[int]:
    """Whole numbers in [0, high) by a linear congruence."""
    numbers, state = [], seed + 1
    for _ in range(n):
        state = (1103515245 * state + 12345) % 2**31
        numbers.append((state >> 16) % high)
    return numbers


def sentences(n: int = 40, *, seed: int = 0) -> list[str]:
    """Different sentences of four to nine words: two worlds in turn, and words of both."""
    made: list[str] = []
    for i in range(n):
        world = i % 2 * 6
        choice = drawn(4 + i % 6, 9, 97 * i + seed)
        made.append(" ".join(WORDS[world + c if c < 6 else 7 + c - (c == 6) * 1] for c in choice))
    return [f"{text} {WORDS[i % 16]} {WORDS[i // 16 % 16]}" for i, text in enumerate(made)]


TEXTS = sentences()
TAGS = [[f"t{i % 7}"] for i in range(40)]
TOKENS = [text.split() for text in TEXTS]
PAIRS = SentencePairs(TEXTS[:20], TEXTS[20:], np.array(drawn(20, 6, 5)) * 1.0, name="pairs")
DOCUMENTS = ["\n".join(f"{text}." for text in sentences(10, seed=s)) for s in range(20)]


def table(rows: int = 60, columns: int = 5) -> np.ndarray:
    """Rows of numbers near a bent surface."""
    x = np.array(drawn(rows * columns, 1000, 3), np.float64).reshape(rows, columns) / 500 - 1
    x[:, 1] += x[:, 0] ** 2
    return x


def recipe() -> Any:
    """A pre-training of twelve steps."""
    return ll.contextual.Recipe(
        dim=8, layers=1, heads=2, feed_forward=16, row=40, batch=4, tokens=4 * 40 * 12,
        learning_rate=1e-3, warmup=0.1, dropout=0.1, seed=3)


def stream() -> Any:
    """The text of the pre-training, numbered by the tokenizer that was saved."""
    return ll.contextual.TokenStream.load(FOLDER / "token_stream")


# -------------------------------------------------------------------------------- the models


@dataclass(frozen=True)
class Saved:
    """One saved folder. Tolerances are parts of the largest number of an array.

    ``loaded`` holds right after loading: numbers from a file are the same, and what is computed
    from them differs in the last bits between processors. ``resumed`` holds after more training.
    """

    load: Callable[[Path], Any]
    outputs: Callable[[Any], dict[str, Any]]
    resume: Callable[[Any, Path], Any] | None = None
    loaded: float = 2e-6
    resumed: float = 1e-4


def encoded(model: Any) -> dict[str, Any]:
    """Vectors of texts by any encoder."""
    return {"encoded": model.encode(TEXTS[:12])}


def word_model(model: Any) -> dict[str, Any]:
    """What a method of word vectors learned."""
    return {"matrix": model.vectors_.matrix, "tokens": codes(model.vectors_.tokens),
            "history": np.asarray(model.history_)}


def codes(tokens: list[str]) -> np.ndarray:
    """Words as an array of bytes."""
    return np.frombuffer("\n".join(tokens).encode(), dtype=np.uint8)


def _fasttext(model: Any) -> dict[str, Any]:
    return word_model(model) | {"unseen": model.vector("harbours")}


def _doc2vec(model: Any) -> dict[str, Any]:
    inferred = model.infer(TEXTS[:4], epochs=3)
    return {"documents": model.document_vectors_.matrix, "words": model.vectors_.matrix,
            "inferred": inferred, "history": np.asarray(model.history_)}


def _topic_model(model: Any) -> dict[str, Any]:
    return encoded(model) | {"components": model.components_, "documents": model.doc_topic_,
                             "words": codes([word for row in model.top_words(3) for word in row])}


def _counts(model: Any) -> dict[str, Any]:
    return encoded(model) | {"columns": model.transform(TEXTS[:12]).indices}


def _search(model: Any) -> dict[str, Any]:
    return {"scores": model.scores(TEXTS[:5]), "best": np.array(model.search("ships sail", k=5))}


def _lsa(model: Any) -> dict[str, Any]:
    return encoded(model) | {"terms": model.term_vectors()}


def _cooccurrences(model: Any) -> dict[str, Any]:
    return {"matrix": model.matrix().toarray(), "n_tokens": np.array([model.n_tokens])}


def _vectors(model: Any) -> dict[str, Any]:
    near = model.most_similar("sea", topn=5)
    return {"matrix": model.matrix, "tokens": codes(model.tokens),
            "cosines": np.array([cosine for _, cosine in near])}


def _whitening(model: Any) -> dict[str, Any]:
    return {"transformed": model.transform(table()), "mean": model.mean_}


def _flow(model: Any) -> dict[str, Any]:
    x = table()
    return {"transformed": model.transform(x), "density": model.log_density(x),
            "back": model.inverse_transform(model.transform(x))}


def _corpus(model: Any) -> dict[str, Any]:
    return {"ids": np.array(model.token_ids), "offsets": np.array(model.offsets),
            "tokens": codes(list(model.vocabulary.tokens))}


def _stream(model: Any) -> dict[str, Any]:
    return {"ids": model.ids, "starts": model.starts, "held_out": np.array([model.held_out])}


def _tokenizer(model: Any) -> dict[str, Any]:
    ids = np.concatenate([np.asarray(row) for row in model.encode(TEXTS[:5])])
    return {"pieces": codes(list(model.pieces)), "ids": ids.astype(np.int64)}


def _film(model: Any) -> dict[str, Any]:
    return {"frames": model.frames, "counts": model.counts, "tokens": model.tokens}


def _trainer(model: Any) -> dict[str, Any]:
    return encoded(model) | {"steps": np.array([model.n_steps_]),
                             "loss": np.nan_to_num(np.asarray(model.history_.loss))}


def _rebuilding(model: Any) -> dict[str, Any]:
    return _trainer(model) | {"rebuilt": model.rebuilt(TEXTS[:6])}


def _kind(room: str, name: str) -> Callable[[Path], Any]:
    return lambda path: getattr(getattr(ll, room), name).load(path)


def _encoder(path: Path) -> Any:
    return ll.contextual.load_encoder(path, device="cpu")


def _more(data: Any, **settings: Any) -> Callable[[Any, Path], Any]:
    """Go on with the run on its data."""
    return lambda model, path: model.resume(data, **settings)


def _more_topics(**settings: Any) -> Callable[[Any, Path], Any]:
    """Go on with a topic model on the corpus."""
    return lambda model, path: model.resume(ll.text.Corpus.from_texts(TEXTS), **settings)


def _pretrain(model: Any, path: Path) -> Any:
    ll.contextual.pretrain(stream(), path, recipe=recipe(), resume=True, device="cpu",
                           progress=False)
    return _encoder(path)


def encode_rest(model: Any, path: Path) -> Any:
    """Finish the file of vectors that was begun."""
    return ll.contextual.encode_to(Lengths(), path / "vectors.npy", numerals(5000))


class Lengths:
    """An encoder of two whole numbers, alike on every processor."""

    name, dim = "lengths", 2

    def encode(self, texts: Any, *, batch_size: int = 256, progress: bool = False) -> np.ndarray:
        """The length of each text and its number of ones."""
        return np.array([[len(t), t.count("1")] for t in texts], np.float32).reshape(-1, 2)


def numerals(n: int) -> Iterator[str]:
    """More short texts than are encoded at a time."""
    return (f"{i} {7 * i}" for i in range(n))


TRIPLETS = (TEXTS[:12], TEXTS[12:24], TEXTS[24:36])
LABELLED = (PAIRS.sentence1, PAIRS.sentence2, ["ab"[i % 2] for i in range(20)])

MODELS: dict[str, Saved] = {
    "one_hot": Saved(_kind("counts", "OneHot"), encoded),
    "bag_of_words": Saved(_kind("counts", "BagOfWords"), _counts),
    "tfidf": Saved(_kind("counts", "TfIdf"), _counts),
    "bm25": Saved(_kind("counts", "BM25"), _search),
    "lsa": Saved(_kind("counts", "LSA"), _lsa),
    "cooccurrences": Saved(_kind("counts", "Cooccurrences"), _cooccurrences),
    "corpus": Saved(_kind("text", "Corpus"), _corpus),
    "word_vectors": Saved(_kind("vectors", "WordVectors"), _vectors),
    "compact_vectors": Saved(lambda path: ll.words.load_vectors(path / "v.safetensors"), _vectors),
    "text_vectors": Saved(lambda path: ll.words.load_vectors(path / "v.txt"), _vectors),
    "binary_vectors": Saved(lambda path: ll.words.load_vectors(path / "v.bin"), _vectors),
    "word2vec": Saved(_kind("words", "Word2Vec"), word_model),
    "word2vec_cut": Saved(ll.words.load_method, word_model, _more(TOKENS)),
    "word2vec_cbow_tree_cut": Saved(ll.words.load_method, word_model, _more(TOKENS)),
    "glove": Saved(ll.words.load_method, word_model),
    "glove_cut": Saved(_kind("words", "GloVe"), word_model, _more(TOKENS)),
    "fasttext": Saved(ll.words.load_method, _fasttext),
    "fasttext_cut": Saved(_kind("words", "FastText"), _fasttext, _more(TOKENS)),
    "mean": Saved(_kind("sentences", "MeanEncoder"), encoded),
    "mean_tfidf": Saved(_kind("sentences", "MeanEncoder"), encoded),
    "sif": Saved(_kind("sentences", "SIF"), encoded),
    "usif": Saved(_kind("sentences", "USIF"), encoded),
    "doc2vec": Saved(_kind("sentences", "Doc2Vec"), _doc2vec, loaded=1e-4),
    "doc2vec_cut": Saved(_kind("sentences", "Doc2Vec"), _doc2vec, _more(TEXTS), loaded=1e-4),
    "doc2vec_dbow_cut": Saved(_kind("sentences", "Doc2Vec"), _doc2vec,
                              _more(TEXTS, tags=TAGS), loaded=1e-4),
    "plsa": Saved(_kind("topics", "PLSA"), _topic_model, _more_topics(n_iter=5)),
    "gibbs": Saved(_kind("topics", "GibbsLDA"), _topic_model, _more_topics(n_sweeps=10)),
    "online_lda": Saved(_kind("topics", "OnlineLDA"), _topic_model, _more_topics(n_epochs=2),
                        loaded=1e-4),
    "whitening": Saved(_kind("isotropy", "Whitening"), _whitening),
    "whitening_zca": Saved(_kind("isotropy", "Whitening"), _whitening),
    "flow": Saved(_kind("isotropy", "Flow"), _flow, loaded=1e-5),
    "flow_cut": Saved(_kind("isotropy", "Flow"), _flow, _more(table()), loaded=1e-5, resumed=1e-3),
    "word_piece": Saved(_kind("contextual", "WordPiece"), _tokenizer),
    "token_stream": Saved(_kind("contextual", "TokenStream"), _stream),
    "encoder": Saved(_encoder, encoded, loaded=1e-5),
    "pretrained": Saved(_encoder, encoded, loaded=1e-5),
    "film": Saved(lambda path: ll.contextual.load_film(path.with_name("pretrained")), _film),
    "pretrained_cut": Saved(_encoder, encoded, _pretrain, loaded=1e-5, resumed=2e-3),
    "encoded_cut": Saved(lambda path: path, lambda made: {} if isinstance(made, Path) else
                         {"vectors": np.asarray(made)}, encode_rest),
    "sbert": Saved(_kind("contrastive", "SBert"), _trainer, loaded=1e-5),
    "sbert_cut": Saved(_kind("contrastive", "SBert"), _trainer, _more(TRIPLETS), loaded=1e-5,
                       resumed=2e-3),
    "sbert_softmax_cut": Saved(_kind("contrastive", "SBert"), _trainer, _more(LABELLED),
                               loaded=1e-5, resumed=2e-3),
    "cosent_cut": Saved(_kind("contrastive", "CoSent"), _trainer, _more(PAIRS), loaded=1e-5,
                        resumed=2e-3),
    "simcse": Saved(_encoder, encoded, loaded=1e-5),
    "simcse_cut": Saved(_kind("contrastive", "SimCse"), _trainer, _more(TEXTS, dev=PAIRS),
                        loaded=1e-5, resumed=2e-3),
    "auto_encoding_cut": Saved(_kind("contrastive", "AutoEncoding"), _rebuilding, _more(TEXTS),
                               loaded=1e-4, resumed=2e-3),
    "matryoshka_cut": Saved(_kind("contrastive", "Matryoshka"), _trainer, _more(TEXTS),
                            loaded=1e-5, resumed=2e-3),
}

SMALL = {"dim": 6, "min_count": 1, "epochs": 3, "window": 3}
WINDOWS = SMALL | {"sample": 0.02}                # of a text this small all would be left out
TINY = {"batch_size": 8, "steps": 6, "learning_rate": 1e-3, "evaluate_every": 2, "device": "cpu"}
FLOW = {"depth": 1, "width": 4, "batch_size": 16, "epochs": 3.0, "learning_rate": 1e-3,
        "device": "cpu"}


def _corpus_of() -> Any:
    return ll.text.Corpus.from_texts(TEXTS)


def _word_vectors() -> Any:
    return ll.words.load_method(FOLDER / "word2vec").vectors_


def start() -> Any:
    """The encoder that trainers begin with."""
    return _encoder(FOLDER / "encoder")


# Name -> a run from the beginning, which gives what was saved under that name.
FITS: dict[str, Callable[[], Any]] = {
    "word2vec": lambda: ll.words.Word2Vec(**WINDOWS).fit(TOKENS),
    "glove": lambda: ll.words.GloVe(**SMALL).fit(TOKENS),
    "fasttext": lambda: ll.words.FastText(**WINDOWS, buckets=40).fit(TOKENS),
    "mean": lambda: ll.sentences.MeanEncoder(_word_vectors()),
    "mean_tfidf": lambda: ll.sentences.MeanEncoder(_word_vectors(), "tfidf").fit(TEXTS),
    "sif": lambda: ll.sentences.SIF(_word_vectors()).fit(TEXTS),
    "usif": lambda: ll.sentences.USIF(_word_vectors(), 2, sentence_length=1.5).fit(TEXTS),
    "doc2vec": lambda: ll.sentences.Doc2Vec(**WINDOWS).fit(TEXTS),
    "one_hot": lambda: ll.counts.OneHot().fit(TEXTS),
    "bag_of_words": lambda: ll.counts.BagOfWords(ngram_range=(1, 2), min_df=2).fit(TEXTS),
    "tfidf": lambda: ll.counts.TfIdf(sublinear_tf=True).fit(TEXTS),
    "bm25": lambda: ll.counts.BM25(k1=1.5).fit(TEXTS),
    "lsa": lambda: ll.counts.LSA(4, scale="root").fit(TEXTS),
    "corpus": _corpus_of,
    "cooccurrences": lambda: ll.counts.Cooccurrences.from_corpus(_corpus_of(), 3),
    "plsa": lambda: ll.topics.PLSA(3, n_iter=5).fit(_corpus_of()),
    "gibbs": lambda: ll.topics.GibbsLDA(3, n_sweeps=15, burn_in=10, thin=2).fit(_corpus_of()),
    "online_lda": lambda: ll.topics.OnlineLDA(3, n_epochs=2, batch_size=10).fit(_corpus_of()),
    "whitening": lambda: ll.isotropy.Whitening(3).fit(table()),
    "whitening_zca": lambda: ll.isotropy.Whitening(kind="zca", beta=0.5, gamma=0.9).fit(table()),
    "flow": lambda: ll.isotropy.Flow("realnvp", **FLOW).fit(table()),
    "word_piece": lambda: ll.contextual.WordPiece.train(TEXTS * 3, size=110),
    "token_stream": lambda: ll.contextual.prepare_tokens(
        DOCUMENTS, ll.contextual.WordPiece.load(FOLDER / "word_piece"), held_out=0.2,
        data={"source": "arithmetic"}),
    "sbert": lambda: ll.contrastive.SBert(start(), objective="cosine", **TINY).fit(PAIRS),
    "simcse": lambda: ll.contrastive.SimCse(start(), **TINY).fit(TEXTS),
}


def settings_of(model: Any) -> dict[str, Any]:
    """Settings that JSON can hold, and the names of the public attributes."""
    params = model.get_params() if hasattr(model, "get_params") else {}
    plain = {name: value for name, value in params.items() if _is_plain(value)}
    names = [name for name in vars(model) if not name.startswith("_")] \
        if hasattr(model, "__dict__") and not isinstance(model, Path) else []
    return {"settings": plain, "attributes": sorted(set(names) - set(params))}


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or type(value) in (str, int, float, bool)


def arrays(outputs: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Outputs as arrays that safetensors can hold."""
    for name, value in outputs.items():
        yield f"{prefix}{name}", np.ascontiguousarray(value)
