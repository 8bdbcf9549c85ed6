"""The synthetic language keeps every promise: topics, frequencies, synonyms, senses, word order, graded pairs, and the seed."""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from lessons_lib.core import PROJECT
from lessons_lib.datasets.synthetic import LanguageSettings, SyntheticLanguage, synthetic_language
from lessons_lib.datasets.synthetic import FRAMES, LETTERS
from lessons_lib.datasets.synthetic import _class_shares as class_shares, _draw as draw, _row_keys as row_keys

FUNCTION = {"determiner", "preposition"}
SMALL = {"n_topics": 3, "n_documents": 60, "n_words": 200, "n_synonym_sets": 9, "n_polysemous": 4, "n_pairs": 30, "n_triplets": 10}


@pytest.fixture(scope="module")
def language() -> SyntheticLanguage:
    return synthetic_language(0)


@pytest.fixture(scope="module")
def dense() -> SyntheticLanguage:
    """Few words, many sentences: enough occurrences of each word to compare the company it keeps."""
    return synthetic_language(1, n_topics=3, n_words=240, n_documents=4000, n_synonym_sets=15, n_polysemous=6, coherence=1.0, n_pairs=0, n_triplets=0)


def digest(language: SyntheticLanguage) -> str:
    """A checksum of everything in it."""
    arrays = [language.word_probability, language.topic_word, language.doc_topic, language.concept, language.token_ids, language.offsets,
              language.sentence_offsets, language.token_topic, language.token_sense, language.pairs.score]
    texts = [language.words, language.word_class, language.synonyms, sorted(language.polysemous.items()), language.texts]
    texts += [language.pairs.sentence1, language.pairs.sentence2, language.pairs.columns, language.triplets.premise, language.triplets.entailment,
              language.triplets.contradiction]
    return hashlib.sha256(b"".join(a.tobytes() for a in arrays) + repr(texts).encode()).hexdigest()


def class_of(language: SyntheticLanguage) -> dict[str, str]:
    return dict(zip(language.words, language.word_class, strict=True))


def total_variation(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a / a.sum() - b / b.sum()).sum() / 2)


def chance_variation(a: np.ndarray, b: np.ndarray) -> float:
    """Expected total variation between two samples (counts) of one distribution."""
    p = (a + b) / (a + b).sum()
    return float(np.sqrt(2 * p * (1 - p) * (1 / a.sum() + 1 / b.sum()) / np.pi).sum() / 2)


# ------------------------------------------------------------------------------------------------ frequencies and topics


@pytest.mark.parametrize("exponent", [0.7, 1.0, 1.2])
def test_word_frequencies_follow_zipfs_law_with_the_chosen_exponent(exponent):
    made = synthetic_language(2, zipf_exponent=exponent, n_documents=1500, n_pairs=0, n_triplets=0)
    rank = np.arange(1, 1001)
    assert np.polyfit(np.log(rank), np.log(made.word_probability), 1)[0] == pytest.approx(-exponent, abs=0.03)
    seen = np.sort(np.bincount(made.token_ids, minlength=1000))[::-1]
    slope = np.polyfit(np.log(rank[:300]), np.log(seen[:300]), 1)[0]
    assert slope == pytest.approx(-exponent, abs=0.07)


def test_every_distribution_sums_to_one_and_topics_average_to_the_word_probabilities(language):
    for table in (language.topic_word, language.doc_topic):
        np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-12)
        assert (table >= 0).all()
    np.testing.assert_allclose(language.topic_word.mean(axis=0), language.word_probability, atol=1e-15)


def test_words_are_drawn_from_the_topic_that_their_token_names(language):
    V = len(language.words)
    for k, expected in enumerate(language.topic_word):
        seen = np.bincount(language.token_ids[language.token_topic == k], minlength=V)
        assert (seen[expected == 0] == 0).all()
        noise = np.sqrt(2 * expected * (1 - expected) / (np.pi * seen.sum())).sum() / 2     # of a sample of this size
        assert total_variation(seen, expected) < 1.15 * noise


@pytest.mark.parametrize("coherence", [0.0, 0.9])
def test_topics_of_a_document_have_its_proportions(coherence):
    made = synthetic_language(3, coherence=coherence, n_documents=1500, n_pairs=0, n_triplets=0)
    document = np.repeat(np.arange(len(made)), np.diff(made.offsets))
    counts = np.zeros_like(made.doc_topic)
    np.add.at(counts, (document, made.token_topic), 1)
    lengths = np.diff(made.offsets)[:, None]
    # tokens that share a sentence's topic are one draw: the effective number of draws of a cluster sample
    draws = lengths / (1 + coherence**2 * (lengths / _sentences(made)[:, None] - 1))
    variance = made.doc_topic * (1 - made.doc_topic) / draws
    likely = variance > 1e-4
    z = (counts / lengths - made.doc_topic)[likely] / np.sqrt(variance[likely])
    assert abs(z.mean()) < 0.05
    assert np.mean(z**2) == pytest.approx(1.0, abs=0.15)


def _sentences(made: SyntheticLanguage) -> np.ndarray:
    return np.diff(np.searchsorted(made.sentence_offsets, made.offsets))


def test_a_bag_of_words_follows_the_mixture_of_its_topics(language):
    document = np.repeat(np.arange(len(language)), np.diff(language.offsets))
    lengths = np.diff(language.offsets)
    expected = (language.doc_topic.T @ lengths) @ language.topic_word            # counts of the whole corpus
    seen = np.bincount(language.token_ids, minlength=len(language.words))
    assert document.max() == len(language) - 1 and expected.sum() == pytest.approx(seen.sum())
    frequent = expected > 200
    np.testing.assert_allclose(seen[frequent] / expected[frequent], 1, atol=0.35)
    assert np.corrcoef(seen, expected)[0, 1] > 0.999


def test_few_topics_per_document_when_the_concentration_is_small():
    few, many = (synthetic_language(0, **SMALL | {"topic_concentration": a, "n_documents": 400}).doc_topic.max(axis=1).mean() for a in (0.05, 5.0))
    assert few > 0.85 and many < 0.65


def test_function_words_are_equally_frequent_in_every_topic_and_content_words_belong_to_few(language):
    for word, row in zip(language.words, language.topic_word.T, strict=True):
        if class_of(language)[word] in FUNCTION:
            np.testing.assert_allclose(row, row[0], rtol=1e-12)
            assert row[0] > 0
        else:
            assert np.flatnonzero(row).tolist() == list(language.polysemous.get(word, np.flatnonzero(row)[:1]))


# ------------------------------------------------------------------------------------------------ synonyms, senses, order


def contexts(language: SyntheticLanguage, word: str) -> np.ndarray:
    """Counts of one other meaning per occurrence of this word, from the same sentence: nearly independent draws from its contexts."""
    target = language.words.index(word)
    content = np.array([c not in FUNCTION for c in language.word_class])
    counts = np.zeros(len(language.words))
    for at in np.flatnonzero(language.token_ids == target).tolist():
        s = np.searchsorted(language.sentence_offsets, at, side="right")
        ids = language.token_ids[language.sentence_offsets[s - 1] : language.sentence_offsets[s]]
        others = language.concept[ids[content[ids]]]
        others = others[others != language.concept[target]]        # a synonym beside the word says nothing about its company
        if len(others):
            counts[others[at % len(others)]] += 1
    return counts


def test_synonyms_have_one_distribution_of_contexts_and_other_words_of_their_topic_and_class_do_not(dense):
    frequency = np.bincount(dense.token_ids, minlength=len(dense.words))
    number = {word: i for i, word in enumerate(dense.words)}
    alone = [w for w in dense.words if np.count_nonzero(dense.concept == dense.concept[number[w]]) == 1 and w not in dense.polysemous]
    same, different = [], []
    for first, second, *_ in dense.synonyms:
        a = contexts(dense, first)
        like_second = [w for w in alone if dense.word_class[number[w]] == dense.word_class[number[first]]
                       and dense.topic_word[:, number[w]].argmax() == dense.topic_word[:, number[first]].argmax() and frequency[number[w]] > 300]
        for other, ratios in [(second, same), *((w, different) for w in like_second[:3])]:
            b = contexts(dense, other)
            ratios.append(total_variation(a, b) / chance_variation(a, b))
    assert len(same) == 15 and len(different) > 20
    assert max(same) < 1.3 and np.mean(same) < 1.08                  # what two samples of one distribution show
    assert np.median(different) > 1.6 and min(different) > max(np.mean(same), 1.08)


def test_synonyms_share_topic_class_and_concept_and_nobody_else_has_their_concept(language):
    number = {word: i for i, word in enumerate(language.words)}
    assert len(language.synonyms) == 40 and {len(s) for s in language.synonyms} == {2, 3}
    for members in language.synonyms:
        ids = [number[w] for w in members]
        assert len({language.word_class[i] for i in ids}) == 1 and language.word_class[ids[0]] not in FUNCTION
        assert len({tuple(np.flatnonzero(language.topic_word[:, i])) for i in ids}) == 1
        assert sorted(np.flatnonzero(language.concept == language.concept[ids[0]]).tolist()) == sorted(ids)
    assert len({w for s in language.synonyms for w in s} & set(language.polysemous)) == 0


def test_plain_counting_finds_synonyms_among_the_nearest_of_a_thousand_words(language):
    sentence = np.repeat(np.arange(len(language.sentences)), np.diff(language.sentence_offsets))
    table = sparse.csr_matrix((np.ones(len(sentence)), (sentence, language.token_ids)), shape=(sentence[-1] + 1, len(language.words)))
    together = (table.T @ table).toarray()
    np.fill_diagonal(together, 0)
    vectors = np.log1p(together.sum() * together / np.outer(together.sum(axis=0), together.sum(axis=1)))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    number = {word: i for i, word in enumerate(language.words)}
    ranks = [int((vectors @ vectors[number[a]] > vectors[number[a]] @ vectors[number[b]]).sum()) for a, b, *_ in language.synonyms]
    assert np.median(ranks) <= 15                                    # by chance: about 500


def test_synonyms_of_unequal_frequency_exist(language):
    share = dict(zip(language.words, language.word_probability, strict=True))
    assert max(share[s[0]] / share[s[-1]] for s in language.synonyms) > 4


def test_the_sense_of_a_polysemous_word_is_its_topic_and_both_senses_are_used(language):
    assert len(language.polysemous) == 16
    for word, (first, second) in language.polysemous.items():
        here = language.token_ids == language.words.index(word)
        assert set(language.token_topic[here].tolist()) == {first, second}
        np.testing.assert_array_equal(language.token_sense[here], (language.token_topic[here] == second).astype(int))
        k = language.topic_word[[first, second], language.words.index(word)]
        assert k.max() / k.min() < 1.6
    one_sense = ~np.isin(language.token_ids, [language.words.index(w) for w in language.polysemous])
    assert (language.token_sense[one_sense] == -1).all()


def test_sentences_keep_to_the_grammar_so_that_order_carries_the_word_class(language):
    letter = dict(zip(("determiner", "preposition", "noun", "verb", "adjective"), LETTERS, strict=True))
    classes = np.array([letter[c] for c in language.word_class])
    frames = Counter("".join(classes[language.token_ids[a:b]]) for a, b in
                     zip(language.sentence_offsets[:-1], language.sentence_offsets[1:], strict=True))
    assert set(frames) == set(FRAMES)
    for frame, share in FRAMES.items():
        assert frames[frame] / frames.total() == pytest.approx(share, abs=0.01)
    seen = np.bincount([LETTERS.index(c) for c in classes[language.token_ids]], minlength=len(LETTERS))
    np.testing.assert_allclose(seen / seen.sum(), class_shares(), atol=0.005)


def test_a_coherent_sentence_has_one_topic_and_without_coherence_tokens_are_independent(dense):
    sentence = np.repeat(np.arange(len(dense.sentences)), np.diff(dense.sentence_offsets))
    np.testing.assert_array_equal(dense.token_topic, dense.token_topic[dense.sentence_offsets[:-1]][sentence])
    loose = synthetic_language(1, **SMALL | {"coherence": 0.0, "n_documents": 3000, "topic_concentration": 100.0})
    agree = np.mean(loose.token_topic[:-1] == loose.token_topic[1:])
    assert agree == pytest.approx(1 / 3, abs=0.02)


# ------------------------------------------------------------------------------------------------ words and texts


def test_words_are_distinct_lower_case_pronounceable_and_no_english_stop_words(language):
    large = synthetic_language(5, n_words=8000, n_documents=1, n_pairs=0, n_triplets=0)
    for made in (language, large):
        assert len(set(made.words)) == len(made.words)
        assert not set(made.words) & ENGLISH_STOP_WORDS
        assert all(re.fullmatch("(?:[bdklmnprstvz][aeiou]){1,4}[bdklmnprstvzt]?", word) for word in made.words)
        ending = {"noun": "o", "verb": "et", "adjective": "i"}
        assert all(word.endswith(ending.get(c, "")) for word, c in zip(made.words, made.word_class, strict=True))
        assert all((len(word) <= 3) == (c in FUNCTION) for word, c in zip(made.words, made.word_class, strict=True))


def test_texts_sentences_tokens_and_offsets_tell_the_same_story(language):
    assert len(language) == len(language.documents) == len(language.texts) == len(language.doc_topic) == 2000
    assert [re.findall(r"\w+", text) for text in language.texts] == language.documents
    assert " ".join(language.sentences) == " ".join(language.texts)
    lengths = [language.offsets[-1], language.sentence_offsets[-1], len(language.token_ids), len(language.token_topic)]
    assert lengths == [sum(map(len, language.documents))] * 4
    per_document = np.array([text.count(".") for text in language.texts])
    assert (per_document.min(), per_document.max()) == language.settings.sentences_per_document
    assert language.documents[7] == [language.words[i] for i in language.token_ids[language.offsets[7] : language.offsets[8]]]


def test_nothing_in_it_can_be_changed_by_accident(language):
    for array in (language.token_ids, language.topic_word, language.doc_topic, language.pairs.score):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        language.seed = 3


# ------------------------------------------------------------------------------------------------ pairs and triplets


def meanings(language: SyntheticLanguage, sentence: str) -> Counter[int]:
    classes, number = class_of(language), {word: i for i, word in enumerate(language.words)}
    return Counter(int(language.concept[number[w]]) for w in sentence.rstrip(".").split() if classes[w] not in FUNCTION)


def oracle(language: SyntheticLanguage, first: str, second: str) -> float:
    """A bag of words that knows synonyms and topics: overlap of meanings, a little for the same topic, less for the same function words."""
    a, b = meanings(language, first), meanings(language, second)
    topic = [language.topic_word[:, list(m)].sum(axis=1) for m in (a, b)]
    same_topic = float(topic[0] @ topic[1] / np.linalg.norm(topic[0]) / np.linalg.norm(topic[1]))
    function = [Counter(w for w in s.rstrip(".").split() if class_of(language)[w] in FUNCTION) for s in (first, second)]
    same_function = (function[0] & function[1]).total() / max(f.total() for f in function)
    return (a & b).total() / max(a.total(), b.total()) + 0.1 * same_topic + 0.01 * same_function


def test_scores_order_pairs_as_an_oracle_that_knows_synonyms_does_except_for_swapped_roles(language):
    pairs = language.pairs
    kinds = np.array(pairs.columns["kind"])
    predicted = np.array([oracle(language, a, b) for a, b in zip(pairs.sentence1, pairs.sentence2, strict=True)])
    unswapped = kinds != "role swap"
    assert spearmanr(predicted[unswapped], pairs.score[unswapped]).statistic > 0.97
    assert spearmanr(predicted, pairs.score).statistic < 0.9                     # no bag of words sees who does what to whom
    for kind in ("role swap", "synonyms", "function words"):
        np.testing.assert_allclose(predicted[kinds == kind], 1.11, atol=0.03)


def test_each_kind_of_pair_is_the_edit_that_its_score_stands_for(language):
    rows = zip(language.pairs.sentence1, language.pairs.sentence2, language.pairs.score, language.pairs.columns["kind"], strict=True)
    for first, second, score, kind in rows:
        a, b = meanings(language, first), meanings(language, second)
        words = [s.rstrip(".").split() for s in (first, second)]
        assert first != second
        if kind == "other topic":
            assert score == 0 and not a & b
        elif kind == "replaced":
            assert len(words[0]) == len(words[1]) and score == pytest.approx(1 + 3 * (a & b).total() / a.total())
        elif kind == "role swap":
            assert score == 3 and Counter(words[0]) == Counter(words[1])
        else:
            assert a == b and score == (5 if kind == "synonyms" else 4.5)
            assert len(words[0]) - len(words[1]) == (kind == "function words")


def test_grades_cover_the_scale_evenly_and_repeat_rarely(language):
    counts = Counter(language.pairs.columns["kind"])
    assert counts == {"synonyms": 100, "function words": 100, "replaced": 200, "role swap": 100, "other topic": 100}
    assert (language.pairs.score.min(), language.pairs.score.max()) == (0, 5)
    assert len(set(zip(language.pairs.sentence1, language.pairs.sentence2, strict=True))) > 590


def test_triplets_entail_by_meaning_and_contradict_by_verb_or_role(language):
    triplets, classes = language.triplets, class_of(language)
    assert len(triplets) == 300
    for premise, entailed, against, kind in zip(triplets.premise, triplets.entailment, triplets.contradiction, triplets.columns["kind"], strict=True):
        assert not meanings(language, entailed) - meanings(language, premise)
        assert not any(classes[w] == "adjective" for w in entailed.rstrip(".").split())
        verb = [next(w for w in s.rstrip(".").split() if classes[w] == "verb") for s in (premise, against)]
        if kind == "role swap":
            assert verb[0] == verb[1] and premise != against and sorted(premise.rstrip(".").split()) == sorted(against.rstrip(".").split())
        else:
            assert verb[0] != verb[1] and premise.replace(verb[0], "") == against.replace(verb[1], "")


# ------------------------------------------------------------------------------------------------ determinism and settings


def test_the_seed_decides_everything_and_the_hash_seed_of_python_nothing():
    code = "\n".join(["from __future__ import annotations", "import hashlib", "from lessons_lib.datasets.synthetic import synthetic_language",
                      inspect.getsource(digest), f"print(digest(synthetic_language(11, **{SMALL})))"])
    found = [subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": str(n), "PYTHONPATH": str(PROJECT)}, cwd=PROJECT,
                            capture_output=True, text=True, check=True, timeout=120).stdout.strip() for n in (1, 2)]
    assert found == [digest(synthetic_language(11, **SMALL))] * 2
    assert digest(synthetic_language(12, **SMALL)) != found[0]


def test_pairs_and_documents_have_streams_of_their_own():
    one = synthetic_language(4, **SMALL)
    other = synthetic_language(4, **SMALL | {"n_pairs": 7, "n_triplets": 0})
    assert one.texts == other.texts and len(other.pairs) == 7 and len(other.triplets) == 0
    longer = synthetic_language(4, **SMALL | {"n_documents": 90})
    assert longer.words == one.words and longer.pairs.sentence1 == one.pairs.sentence1


def test_global_random_state_is_neither_read_nor_written():
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = digest(synthetic_language(4, **SMALL))
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    assert digest(synthetic_language(4, **SMALL)) == first


@given(st.integers(0, 2**40), st.integers(2, 6), st.integers(120, 200), st.integers(1, 8), st.floats(0.0, 1.05), st.floats(0.0, 1.0))
def test_any_language_is_consistent(seed, n_topics, words_per_topic, n_scenes, exponent, coherence):
    n_words = n_topics * words_per_topic
    made = synthetic_language(seed, n_topics=n_topics, n_words=n_words, n_documents=5, n_scenes=n_scenes, zipf_exponent=exponent, coherence=coherence,
                              n_synonym_sets=2, n_polysemous=2, n_pairs=12, n_triplets=4)
    assert made.topic_word.shape == (n_topics, n_words) and (made.word_probability > 0).all()
    np.testing.assert_allclose(made.topic_word.sum(axis=1), 1)
    assert (made.topic_word[made.token_topic, made.token_ids] > 0).all()
    assert len(made.pairs) == 12 and len(set(made.words)) == n_words


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6).filter(any), min_size=1, max_size=5),
       st.floats(0, 1, exclude_max=True), st.data())
def test_a_draw_is_the_inverse_of_the_distribution_function_and_never_an_impossible_one(weights, uniform, data):
    rows = [np.array(w) / sum(w) for w in weights]
    row = data.draw(st.integers(0, len(rows) - 1))
    keys, ends = row_keys(rows)
    place = int(draw(keys, ends, np.array([row]), np.array([uniform]))[0]) - (int(ends[row]) - len(rows[row]))
    assert rows[row][place] > 0
    assert rows[row][:place].sum() <= uniform + 1e-12 and uniform <= rows[row][: place + 1].sum() + 1e-12


@pytest.mark.parametrize("seed", [-1, 1.5, None, "0"])
def test_P24_a_wrong_seed_is_named(seed):
    with pytest.raises((TypeError, ValueError), match=r"seed=.*int >= 0"):
        synthetic_language(seed)


def test_P26_an_unknown_setting_gets_the_nearest_name():
    with pytest.raises(TypeError, match="no argument 'n_topic'; did you mean 'n_topics'"):
        synthetic_language(0, n_topic=4)


@pytest.mark.parametrize(("name", "value"), [
    ("n_topics", 1), ("n_topics", 2.0), ("n_documents", 0), ("n_words", -5), ("n_scenes", 0), ("n_synonym_sets", 0), ("n_polysemous", -1),
    ("n_pairs", -1), ("n_triplets", True), ("topic_concentration", 0.0), ("topic_concentration", np.nan), ("zipf_exponent", -0.1),
    ("zipf_exponent", 1.4), ("coherence", 1.1), ("coherence", "high"), ("sentences_per_document", 5), ("sentences_per_document", (9, 3)),
    ("sentences_per_document", (0, 3)), ("sentences_per_document", (1, 2, 3))])
def test_P10_P11_P15_a_wrong_setting_is_named(name, value):
    with pytest.raises((TypeError, ValueError), match=name):
        LanguageSettings(**{name: value})


@pytest.mark.parametrize(("wrong", "names"), [
    ({"n_words": 60}, ["n_words=60", "n_topics=8", "Raise n_words"]), ({"n_topics": 60}, ["n_topics=60", "lower n_topics"]),
    ({"n_synonym_sets": 5000}, ["n_synonym_sets=5000", "at most", "n_words=1000"]), ({"n_polysemous": 900}, ["n_polysemous=900", "at most 3"]),
    ({"n_words": 70_000}, ["n_words=70000", "Lower n_words"])])
def test_P11_sizes_that_do_not_fit_name_each_other_and_the_remedy(wrong, names):
    with pytest.raises(ValueError) as error:
        synthetic_language(0, **wrong)
    assert all(name in str(error.value) for name in names)


def test_one_document_and_no_extras_are_enough():
    tiny = synthetic_language(0, **SMALL | {"n_documents": 1, "sentences_per_document": (1, 1), "n_polysemous": 0, "n_scenes": 1, "n_pairs": 0,
                                            "n_triplets": 0})
    assert len(tiny) == len(tiny.texts) == len(tiny.sentences) == 1 and tiny.polysemous == {}


@pytest.mark.parametrize("name, value", [("n_documents", 10**12), ("n_words", 10**13), ("n_scenes", 10**13), ("n_pairs", 10**12),
                                         ("n_topics", 10**13), ("sentences_per_document", (10**11, 10**11))])
def test_a_size_that_cannot_fit_into_memory_is_named_before_anything_is_made(name, value):
    with pytest.raises(ValueError, match=rf"{name}=.* needs about [\d,]+ bytes"):
        synthetic_language(**{name: value})
