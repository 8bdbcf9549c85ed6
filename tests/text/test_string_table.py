"""Strings as bytes behave as Python's str do: same order, same equality, same content."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.text.string_table import Strings, StringTable, hashes_of

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
# Long common beginnings, NULs at the end, line ends: what a prefix key or zero padding confuses
heads = st.sampled_from(["", "a", "a" * 8, "abcdefgh" * 4, "abcdefgh" * 5, "\0", "我爱"])
tricky = st.builds(lambda head, tail: head + tail, heads, st.text("ab\0\n我", max_size=4))


@given(st.lists(st.one_of(any_text, tricky), unique=True))
def test_sorting_bytes_is_sorting_strings(strings):
    packed = Strings.of(strings)
    assert packed.to_list(packed.sorted_order()) == sorted(strings)


@given(st.lists(st.one_of(any_text, tricky)))
def test_packing_and_unpacking_is_a_round_trip(strings):
    packed = Strings.of(strings)
    assert packed.to_list() == strings
    backwards = np.arange(len(strings))[::-1]
    assert packed.to_list(backwards) == strings[::-1]


@given(st.lists(st.lists(st.one_of(any_text, tricky)), max_size=5))
def test_a_table_numbers_strings_as_a_dict_does(lists):
    table, number = StringTable(), {}
    for strings in lists:
        expected = [number.setdefault(string, len(number)) for string in strings]
        packed = Strings.of(strings)
        assert table.add(packed).tolist() == expected
    assert table.strings.to_list() == list(number)
    unknown = Strings.of([*number, "not in there"])
    expected = [*number.values(), number.get("not in there", -1)]
    assert table.find(unknown).tolist() == expected


def test_strings_with_equal_hashes_are_still_told_apart():
    strings = ["abcdefghi", "abcdefghj", "x", "y"]
    packed = Strings.of(strings)
    table = StringTable()
    hashes = hashes_of(packed)
    hashes[:2] = 7
    assert table.add(packed, hashes).tolist() == [0, 1, 2, 3]


def test_a_table_grows_past_its_first_size():
    strings = [f"token {i}" for i in range(20_000)]
    packed = Strings.of(strings)
    table = StringTable()
    assert np.array_equal(table.add(packed), np.arange(20_000))
    assert np.array_equal(table.add(packed), np.arange(20_000))
    assert len(table) == 20_000
