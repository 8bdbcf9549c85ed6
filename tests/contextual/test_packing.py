"""Rows: full, begun where sentences begin, nothing left out, the same whenever asked for."""

from __future__ import annotations

import numpy as np

from lessons_lib.contextual import TokenStream, prepare_tokens
from lessons_lib.contextual.packing import CLS, SEP, Rows, row_starts


def test_a_stream_is_the_texts_with_a_mark_after_each(stream, texts, pieces):
    expected = [i for text in texts for i in (*pieces.encode([text.replace("\n", " ")])[0], SEP)]
    assert stream.ids.tolist() == expected
    assert stream.starts.sum() == sum(len(text.splitlines()) for text in texts)
    assert stream.ids[stream.held_out - 1] == SEP and 0.7 < stream.held_out / len(stream) <= 0.8
    assert stream.counts().sum() == stream.held_out


def test_a_stream_comes_back_from_its_folder(stream, tmp_path):
    stream.save(tmp_path / "tokens")
    again = TokenStream.load(tmp_path / "tokens")
    assert np.array_equal(again.ids, stream.ids) and np.array_equal(again.starts, stream.starts)
    assert (again.held_out, again.data, again.tokenizer.pieces) == (stream.held_out, stream.data,
                                                                    stream.tokenizer.pieces)


def test_empty_lines_do_no_harm_and_max_tokens_stops_after_a_document(pieces, texts):
    stream = prepare_tokens(["sea sail\n\n \nships", "", "cows graze", "field"], pieces,
                            held_out=0.3)
    assert stream.starts.sum() == 4 and (stream.ids == SEP).sum() == 4
    many = prepare_tokens(texts * 20, pieces, held_out=0.2, max_tokens=1000)
    assert len(many) < len(prepare_tokens(texts * 20, pieces, held_out=0.2)) and many.ids[-1] == SEP


def test_rows_leave_nothing_out_and_begin_at_sentences(stream):
    length = 30
    begins = row_starts(stream.starts, length)
    covered = np.zeros(len(stream) + length, bool)
    for begin in begins:
        covered[begin : begin + length] = True
    assert covered[: begins[-1] + length].all() and len(stream) - (begins[-1] + length) < length
    within = begins[~stream.starts[begins]]
    assert 0 < len(within) < len(begins)
    for begin in within:  # only in a sentence longer than a row
        assert not stream.starts[begin - length + 1 : begin + 1].any()
    starts = np.zeros(100, bool)
    starts[[0, 90]] = True
    assert row_starts(starts, 20).tolist() == [0, 20, 40, 60, 80]
    assert row_starts(starts, 30).tolist() == [0, 30, 60]


def test_every_epoch_reads_every_row_in_another_order(stream):
    rows = Rows(stream, 32, seed=5)
    n = len(rows)
    first, second = rows.beginnings(np.arange(n)), rows.beginnings(np.arange(n, 2 * n))
    assert sorted(first) == sorted(second) == rows.begins.tolist()
    assert first.tolist() != second.tolist()
    later = Rows(stream, 32, seed=5).beginnings(np.array([5 * n]))[0]
    assert rows.beginnings(np.array([n + 3, 2, 5 * n])).tolist() == [second[3], first[2], later]
    ids, segments, _ = rows(np.array([4]))          # a row is text between marks
    assert ids[0].tolist() == [CLS, *stream.ids[first[4] : first[4] + 30].tolist(), SEP]
    assert not segments.any()


def test_two_segments_are_text_that_goes_on_or_does_not(stream):
    rows = Rows(stream, 32, seed=5, next_sentence=True)
    numbers = np.arange(100, dtype=np.int64)
    ids, segments, unrelated = rows(numbers)
    begins, text = rows.beginnings(numbers), stream.ids.tolist()
    assert 0.3 < unrelated.float().mean() < 0.7
    for row, parts, random, begin in zip(ids.tolist(), segments, unrelated, begins, strict=True):
        first = int((parts == 0).sum()) - 2
        assert row[0] == CLS and row[first + 1] == SEP and row[-1] == SEP and 0 < first < 29
        assert row[1 : first + 1] == text[begin : begin + first]
        if not random:
            assert row[first + 2 : -1] == text[begin + first : begin + 29]
