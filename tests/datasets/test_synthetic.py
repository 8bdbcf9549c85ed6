"""The synthetic language keeps every promise: topics, frequencies, synonyms, senses, word order,
graded pairs, and the seed; and the planes have the shapes and the density they say."""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from lessons_lib.core import PROJECT
from lessons_lib.datasets import (
    SyntheticLanguage, bent_log_density, synthetic_language, synthetic_plane)
from lessons_lib.datasets.synthetic import (
    CLASSES, FRAMES, LETTERS, _class_shares, _draw, _row_keys)

FUNCTION = {"determiner", "preposition"}
NO_PAIRS = {"n_pairs": 0, "n_triplets": 0}
SMALL = {"n_topics": 3, "n_documents": 60, "n_words": 200, "n_synonym_sets": 9, "n_polysemous": 4,
         "n_pairs": 30, "n_triplets": 10}


@pytest.fixture(scope="module")
def language() -> SyntheticLanguage:
    return synthetic_language(0)


@pytest.fixture(scope="module")
def dense() -> SyntheticLanguage:
    """Few words, many sentences: enough occurrences of each word to compare its contexts."""
    sizes = {"n_topics": 3, "n_words": 240, "n_documents": 4000, "n_synonym_sets": 15}
    return synthetic_language(1, **sizes, n_polysemous=6, coherence=1.0, **NO_PAIRS)


def digest(made: SyntheticLanguage) -> str:
    """A checksum of everything in it."""
    arrays = [made.word_probability, made.topic_word, made.doc_topic, made.concept, made.token_ids,
              made.offsets, made.sentence_offsets, made.token_topic, made.token_sense,
              made.pairs.score]
    texts = [made.words, made.word_class, made.synonyms, sorted(made.polysemous.items()),
             made.texts, made.pairs.sentence1, made.pairs.sentence2, made.pairs.columns,
             made.triplets.premise, made.triplets.entailment, made.triplets.contradiction]
    data = b"".join(a.tobytes() for a in arrays) + repr(texts).encode()
    return hashlib.sha256(data).hexdigest()


def class_of(made: SyntheticLanguage) -> dict[str, str]:
    return dict(zip(made.words, made.word_class, strict=True))


def ids_of(made: SyntheticLanguage) -> dict[str, int]:
    return {word: i for i, word in enumerate(made.words)}


def words_in(sentence: str) -> list[str]:
    return sentence.rstrip(".").split()


def total_variation(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a / a.sum() - b / b.sum()).sum() / 2)


def expected_variation(p: np.ndarray, *sizes: float) -> float:
    """Total variation to expect of samples of these sizes, of p or of each other."""
    return float(np.sqrt(2 * p * (1 - p) * sum(1 / n for n in sizes) / np.pi).sum() / 2)


# --------------------------------------------------------------------------- frequencies and topics


@pytest.mark.parametrize("exponent", [0.7, 1.0, 1.2])
def test_word_frequencies_follow_zipfs_law_with_the_chosen_exponent(exponent):
    made = synthetic_language(2, zipf_exponent=exponent, n_documents=1500, **NO_PAIRS)
    rank = np.log(np.arange(1, 1001))
    slope = np.polyfit(rank, np.log(made.word_probability), 1)[0]
    assert slope == pytest.approx(-exponent, abs=0.03)
    seen = np.sort(np.bincount(made.token_ids, minlength=1000))[::-1]
    slope = np.polyfit(rank[:300], np.log(seen[:300]), 1)[0]
    assert slope == pytest.approx(-exponent, abs=0.07)


def test_words_are_drawn_from_the_topic_that_their_token_names(language):
    for k, expected in enumerate(language.topic_word):
        here = language.token_ids[language.token_topic == k]
        seen = np.bincount(here, minlength=len(expected))
        assert (seen[expected == 0] == 0).all()
        assert total_variation(seen, expected) < 1.15 * expected_variation(expected, seen.sum())


@pytest.mark.parametrize("coherence", [0.0, 0.9])
def test_topics_of_a_document_have_its_proportions(coherence):
    made = synthetic_language(3, coherence=coherence, n_documents=1500, **NO_PAIRS)
    lengths = np.diff(made.offsets)
    counts = np.zeros_like(made.doc_topic)
    np.add.at(counts, (np.repeat(np.arange(len(made)), lengths), made.token_topic), 1)
    # tokens that share a sentence's topic are one draw: the effective size of a cluster sample
    sentences = np.diff(np.searchsorted(made.sentence_offsets, made.offsets))
    draws = lengths / (1 + coherence**2 * (lengths / sentences - 1))
    variance = made.doc_topic * (1 - made.doc_topic) / draws[:, None]
    likely = variance > 1e-4
    z = (counts / lengths[:, None] - made.doc_topic)[likely] / np.sqrt(variance[likely])
    assert abs(z.mean()) < 0.05 and np.mean(z**2) == pytest.approx(1.0, abs=0.15)


def test_few_topics_per_document_when_the_concentration_is_small():
    few, many = (
        synthetic_language(0, **SMALL | {"topic_concentration": a, "n_documents": 400}).doc_topic
        for a in (0.05, 5.0))
    assert few.max(axis=1).mean() > 0.85 and many.max(axis=1).mean() < 0.65


def test_function_words_are_as_frequent_in_every_topic_and_content_words_belong_to_few(language):
    of_class = class_of(language)
    for word, row in zip(language.words, language.topic_word.T, strict=True):
        topics = np.flatnonzero(row)
        if of_class[word] in FUNCTION:
            np.testing.assert_allclose(row, row[0], rtol=1e-12)
            assert row[0] > 0
        else:
            assert topics.tolist() == list(language.polysemous.get(word, topics[:1]))


# -------------------------------------------------------------------------- synonyms, senses, order


def contexts(made: SyntheticLanguage, target: int) -> np.ndarray:
    """Counts of one other meaning per occurrence of this word, from the same sentence: nearly
    independent draws from its contexts."""
    content = np.array([c not in FUNCTION for c in made.word_class])
    counts = np.zeros(len(made.words))
    for at in np.flatnonzero(made.token_ids == target).tolist():
        s = np.searchsorted(made.sentence_offsets, at, side="right")
        ids = made.token_ids[made.sentence_offsets[s - 1] : made.sentence_offsets[s]]
        others = made.concept[ids[content[ids]]]
        others = others[others != made.concept[target]]  # a synonym beside it says nothing
        if len(others):
            counts[others[at % len(others)]] += 1
    return counts


def test_synonyms_have_one_distribution_of_contexts_and_words_of_their_cell_do_not(dense):
    frequency = np.bincount(dense.token_ids, minlength=len(dense.words))
    ids, sizes = ids_of(dense), np.bincount(dense.concept)
    cells = list(zip(dense.word_class, dense.topic_word.argmax(axis=0), strict=True))
    alone = [i for i in np.flatnonzero((sizes[dense.concept] == 1) & (frequency > 300)).tolist()
             if dense.words[i] not in dense.polysemous]
    same, different = [], []
    for first, second in ((ids[a], ids[b]) for a, b, *_ in dense.synonyms):
        a = contexts(dense, first)
        others = [i for i in alone if cells[i] == cells[first]][:3]
        for other, ratios in [(second, same), *((i, different) for i in others)]:
            b = contexts(dense, other)
            by_size = expected_variation((a + b) / (a + b).sum(), a.sum(), b.sum())
            ratios.append(total_variation(a, b) / by_size)
    assert len(same) == 15 and len(different) > 20
    assert max(same) < 1.3 and np.mean(same) < 1.08  # what two samples of one distribution show
    assert np.median(different) > 1.6 and min(different) > max(np.mean(same), 1.08)


def test_synonyms_share_topic_class_and_concept_and_nobody_else_has_their_concept(language):
    number, share = ids_of(language), language.word_probability
    assert len(language.synonyms) == 40 and {len(s) for s in language.synonyms} == {2, 3}
    for members in language.synonyms:
        ids = [number[w] for w in members]
        (of_class,) = {language.word_class[i] for i in ids}
        assert of_class not in FUNCTION
        assert len({tuple(np.flatnonzero(language.topic_word[:, i])) for i in ids}) == 1
        like_them = np.flatnonzero(language.concept == language.concept[ids[0]])
        assert sorted(like_them.tolist()) == sorted(ids)
        assert not set(members) & set(language.polysemous)
    unequal = [share[number[s[0]]] / share[number[s[-1]]] for s in language.synonyms]
    assert max(unequal) > 4


def test_plain_counting_finds_synonyms_among_the_nearest_of_a_thousand_words(language):
    sentence = np.repeat(np.arange(len(language.sentences)), np.diff(language.sentence_offsets))
    places = (sentence, language.token_ids)
    table = sparse.csr_matrix((np.ones(len(sentence)), places))
    together = (table.T @ table).toarray()
    np.fill_diagonal(together, 0)
    by_word = together.sum(axis=0)
    vectors = np.log1p(together.sum() * together / np.outer(by_word, by_word))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines, ids = vectors @ vectors.T, ids_of(language)
    ranks = [(cosines[ids[a]] > cosines[ids[a], ids[b]]).sum() for a, b, *_ in language.synonyms]
    assert np.median(ranks) <= 15  # by chance: about 500


def test_the_sense_of_a_polysemous_word_is_its_topic_and_both_senses_are_used(language):
    assert len(language.polysemous) == 16
    one_sense = np.ones(len(language.token_ids), dtype=bool)
    for word, (first, second) in language.polysemous.items():
        i = language.words.index(word)
        here = language.token_ids == i
        one_sense &= ~here
        assert set(language.token_topic[here].tolist()) == {first, second}
        sense = (language.token_topic[here] == second).astype(int)
        np.testing.assert_array_equal(language.token_sense[here], sense)
        shares = language.topic_word[[first, second], i]
        assert shares.max() / shares.min() < 1.6
    assert (language.token_sense[one_sense] == -1).all()


def test_sentences_keep_to_the_grammar_so_that_order_carries_the_word_class(language):
    letter = dict(zip(CLASSES, LETTERS, strict=True))
    letters = np.array([letter[c] for c in language.word_class])[language.token_ids]
    offsets = language.sentence_offsets.tolist()
    frames = Counter("".join(letters[a:b]) for a, b in pairwise(offsets))
    assert set(frames) == set(FRAMES)
    for frame, share in FRAMES.items():
        assert frames[frame] / frames.total() == pytest.approx(share, abs=0.01)
    seen = [np.mean(letters == one) for one in LETTERS]
    np.testing.assert_allclose(seen, _class_shares(), atol=0.005)


def test_a_coherent_sentence_has_one_topic_and_without_coherence_tokens_are_independent(dense):
    sentence = np.repeat(np.arange(len(dense.sentences)), np.diff(dense.sentence_offsets))
    of_sentence = dense.token_topic[dense.sentence_offsets[:-1]]
    np.testing.assert_array_equal(dense.token_topic, of_sentence[sentence])
    changed = {"coherence": 0.0, "n_documents": 3000, "topic_concentration": 100.0}
    topic = synthetic_language(1, **SMALL | changed).token_topic
    assert np.mean(topic[:-1] == topic[1:]) == pytest.approx(1 / 3, abs=0.02)


# --------------------------------------------------------------------------------- words and texts


def test_words_are_distinct_lower_case_pronounceable_and_no_english_stop_words(language):
    endings = {"noun": "o", "verb": "et", "adjective": "i"}
    for made in (language, synthetic_language(5, n_words=8000, n_documents=1, **NO_PAIRS)):
        assert len(set(made.words)) == len(made.words)
        assert not set(made.words) & ENGLISH_STOP_WORDS
        for word, c in zip(made.words, made.word_class, strict=True):
            assert re.fullmatch("(?:[bdklmnprstvz][aeiou]){1,4}[bdklmnprstvzt]?", word)
            assert word.endswith(endings.get(c, "")) and (len(word) <= 3) == (c in FUNCTION)


def test_texts_sentences_tokens_and_offsets_tell_the_same_story_and_cannot_be_changed(language):
    sizes = {len(language), len(language.documents), len(language.texts), len(language.doc_topic)}
    assert sizes == {2000}
    assert [re.findall(r"\w+", text) for text in language.texts] == language.documents
    assert " ".join(language.sentences) == " ".join(language.texts)
    n = sum(map(len, language.documents))
    assert language.offsets[-1] == language.sentence_offsets[-1] == n
    assert len(language.token_ids) == len(language.token_topic) == n
    per_document = [text.count(".") for text in language.texts]
    limits = (min(per_document), max(per_document))
    assert limits == language.settings.sentences_per_document
    ids = language.token_ids[language.offsets[7] : language.offsets[8]]
    assert language.documents[7] == [language.words[i] for i in ids]
    arrays = (language.token_ids, language.topic_word, language.doc_topic, language.pairs.score)
    assert not any(array.flags.writeable for array in arrays)
    with pytest.raises(AttributeError):
        language.seed = 3


# ------------------------------------------------------------------------------ pairs and triplets


@pytest.fixture(scope="module")
def meanings(language):
    """The concepts of a sentence's content words."""
    ids = ids_of(language)
    concept = {w: int(language.concept[ids[w]]) for w, c in class_of(language).items()
               if c not in FUNCTION}
    return lambda text: Counter(concept[w] for w in words_in(text) if w in concept)


def oracle(made: SyntheticLanguage, meanings, first: str, second: str) -> float:
    """A bag of words that knows synonyms and topics: overlap of meanings, a little for the same
    topic, less for the same function words."""
    a, b = meanings(first), meanings(second)
    x, y = (made.topic_word[:, list(m)].sum(axis=1) for m in (a, b))
    same_topic = float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))
    of_class = class_of(made)
    f, g = (Counter(w for w in words_in(s) if of_class[w] in FUNCTION) for s in (first, second))
    same_function = (f & g).total() / max(f.total(), g.total())
    same = (a & b).total() / max(a.total(), b.total())
    return same + 0.1 * same_topic + 0.01 * same_function


def test_scores_order_pairs_as_an_oracle_does_except_for_swapped_roles(language, meanings):
    pairs = language.pairs
    kinds = np.array(pairs.columns["kind"])
    rows = zip(pairs.sentence1, pairs.sentence2, strict=True)
    predicted = np.array([oracle(language, meanings, *row) for row in rows])
    unswapped = kinds != "role swap"
    assert spearmanr(predicted[unswapped], pairs.score[unswapped]).statistic > 0.97
    assert spearmanr(predicted, pairs.score).statistic < 0.9  # no bag of words sees the roles
    for kind in ("role swap", "synonyms", "function words"):
        np.testing.assert_allclose(predicted[kinds == kind], 1.11, atol=0.03)


def test_each_kind_of_pair_is_the_edit_that_its_score_stands_for(language, meanings):
    pairs = language.pairs
    columns = (pairs.sentence1, pairs.sentence2, pairs.score, pairs.columns["kind"])
    for first, second, score, kind in zip(*columns, strict=True):
        a, b = meanings(first), meanings(second)
        words = words_in(first), words_in(second)
        assert first != second
        if kind == "other topic":
            assert score == 0 and not a & b
        elif kind == "replaced":
            kept = (a & b).total() / a.total()
            assert len(words[0]) == len(words[1]) and score == pytest.approx(1 + 3 * kept)
        elif kind == "role swap":
            assert score == 3 and Counter(words[0]) == Counter(words[1])
        else:
            assert a == b and score == (5 if kind == "synonyms" else 4.5)
            assert len(words[0]) - len(words[1]) == (kind == "function words")


def test_grades_cover_the_scale_evenly_and_repeat_rarely(language):
    pairs = language.pairs
    kinds = dict.fromkeys(("synonyms", "function words", "role swap", "other topic"), 100)
    assert Counter(pairs.columns["kind"]) == kinds | {"replaced": 200}
    assert (pairs.score.min(), pairs.score.max()) == (0, 5)
    assert len(set(zip(pairs.sentence1, pairs.sentence2, strict=True))) > 590


def test_triplets_entail_by_meaning_and_contradict_by_verb_or_role(language, meanings):
    triplets, classes = language.triplets, class_of(language)
    assert len(triplets) == 300
    columns = (triplets.premise, triplets.entailment, triplets.contradiction)
    for premise, entailed, against, kind in zip(*columns, triplets.columns["kind"], strict=True):
        assert not meanings(entailed) - meanings(premise)
        assert not any(classes[w] == "adjective" for w in words_in(entailed))
        one, other = (next(w for w in words_in(s) if classes[w] == "verb")
                      for s in (premise, against))
        if kind == "role swap":
            assert one == other and premise != against
            assert sorted(words_in(premise)) == sorted(words_in(against))
        else:
            assert one != other and premise.replace(one, "") == against.replace(other, "")


# ------------------------------------------------------------------------------------- determinism


def test_the_seed_decides_everything_and_hash_seed_and_global_random_state_nothing():
    code = "\n".join([
        "from __future__ import annotations", "import hashlib",
        "from lessons_lib.datasets import synthetic_language", inspect.getsource(digest),
        f"print(digest(synthetic_language(11, **{SMALL})))"])
    run = {"cwd": PROJECT, "capture_output": True, "text": True, "check": True, "timeout": 120}
    for n in ("1", "2"):
        env = os.environ | {"PYTHONHASHSEED": n, "PYTHONPATH": str(PROJECT)}
        printed = subprocess.run([sys.executable, "-c", code], env=env, **run).stdout.strip()
        np.random.seed(int(n))  # noqa: NPY002
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        assert printed == digest(synthetic_language(11, **SMALL))
        np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert printed != digest(synthetic_language(12, **SMALL))


def test_words_documents_and_pairs_have_streams_of_their_own_and_may_be_few():
    one = synthetic_language(4, **SMALL)
    other = synthetic_language(4, **SMALL | {"n_pairs": 7, "n_triplets": 0})
    assert one.texts == other.texts and len(other.pairs) == 7 and len(other.triplets) == 0
    longer = synthetic_language(4, **SMALL | {"n_documents": 90})
    assert longer.words == one.words and longer.pairs.sentence1 == one.pairs.sentence1
    least = {"n_documents": 1, "sentences_per_document": (1, 1), "n_polysemous": 0, "n_scenes": 1}
    tiny = synthetic_language(0, **SMALL | least | NO_PAIRS)
    assert len(tiny) == len(tiny.texts) == len(tiny.sentences) == 1 and tiny.polysemous == {}


@given(st.integers(0, 2**40), st.integers(2, 6), st.integers(120, 200), st.integers(1, 8),
       st.floats(0.0, 1.05), st.floats(0.0, 1.0))
def test_any_language_is_consistent(seed, n_topics, per_topic, n_scenes, exponent, coherence):
    made = synthetic_language(seed, n_topics=n_topics, n_words=n_topics * per_topic, n_documents=5,
                              n_scenes=n_scenes, zipf_exponent=exponent, coherence=coherence,
                              n_synonym_sets=2, n_polysemous=2, n_pairs=12, n_triplets=4)
    assert made.topic_word.shape == (n_topics, n_topics * per_topic)
    assert (made.word_probability > 0).all() and len(set(made.words)) == len(made.words)
    for table in (made.topic_word, made.doc_topic):
        np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-12)
        assert (table >= 0).all()
    np.testing.assert_allclose(made.topic_word.mean(axis=0), made.word_probability, atol=1e-15)
    assert (made.topic_word[made.token_topic, made.token_ids] > 0).all()
    assert len(made.pairs) == 12


weights = st.lists(st.integers(0, 5), min_size=1, max_size=6).filter(any)


@example([[1], [1, 0]], 1 - 2**-53, 1)  # 1 + uniform is rounded to 2
@given(st.lists(weights, min_size=1, max_size=5), st.floats(0, 1, exclude_max=True),
       st.integers(0, 4))
def test_a_draw_is_the_inverse_of_the_distribution_function(weights, uniform, row):
    rows = [np.array(w) / sum(w) for w in weights]
    row %= len(rows)
    place = int(_draw(_row_keys(rows), np.array([row]), np.array([uniform]))[0])
    place -= sum(map(len, rows[:row]))
    assert rows[row][place] > 0  # never an impossible one
    assert rows[row][:place].sum() - 1e-12 <= uniform <= rows[row][: place + 1].sum() + 1e-12


# ------------------------------------------------------------------------------------------ planes


def test_the_ring_has_no_point_near_its_middle_and_the_moons_are_two_half_circles():
    x = synthetic_plane("ring", 20_000)
    radius = np.linalg.norm(x, axis=1)
    assert radius.mean() == pytest.approx(2, abs=0.01) and radius.min() > 1
    assert radius.std() == pytest.approx(0.15, rel=0.05)
    assert np.cov(x.T) == pytest.approx(np.eye(2) * (4 + 0.15**2) / 2, abs=0.05)
    x = synthetic_plane("moons", 4000)
    upper, lower = (np.abs(np.linalg.norm(x - centre, axis=1) - 1) for centre in (0, [1, 0.5]))
    assert np.quantile(np.minimum(upper, lower), 0.99) < 0.3
    assert 0.4 < (upper < lower).mean() < 0.6


def test_the_bent_gaussian_has_the_density_it_says():
    x = synthetic_plane("bent", 50_000)
    entropy = np.log(2 * np.pi * np.e) + np.log(0.5)
    assert bent_log_density(x).mean() == pytest.approx(-entropy, abs=0.02)
    assert np.corrcoef(x[:, 0] ** 2, x[:, 1])[0, 1] > 0.8 and abs(np.corrcoef(x.T)[0, 1]) < 0.05
    axis = np.linspace(-8, 40, 1500)
    grid = np.stack(np.meshgrid(axis[axis < 8], axis, indexing="ij"), axis=-1).reshape(-1, 2)
    mass = np.exp(bent_log_density(grid)).sum() * (axis[1] - axis[0]) ** 2
    assert mass == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("shape", ["moons", "ring", "bent"])
def test_the_seed_decides_and_no_point_is_no_mistake(shape):
    points = synthetic_plane(shape, 50)
    assert np.array_equal(synthetic_plane(shape, 50), points)
    assert not np.array_equal(synthetic_plane(shape, 50, seed=1), points)
    assert synthetic_plane(shape, 0).shape == (0, 2)
