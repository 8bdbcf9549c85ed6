"""Plain data between two processes: what goes in comes out, and nothing else gets through."""

from __future__ import annotations

import io
import json
import math
import struct
import time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from lessons_lib.classroom.sandbox import wire
from lessons_lib.classroom.sandbox.wire import Other, WireError, pack, receive, send, unpack


def there_and_back(value):
    stream = io.BytesIO()
    send(stream, {"value": pack(value)})
    stream.seek(0)
    return unpack(receive(stream)["value"])


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-2**300, 2**300) | st.floats(allow_nan=False)
    | st.text(max_size=8), lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner)
    | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3), max_leaves=12)


@given(plain)
def test_builtin_values_come_back_equal_and_of_the_same_type(value):
    found = there_and_back(value)
    assert found == value and type(found) is type(value)


@given(st.sampled_from(["f8", "f4", "f2", "i8", "i1", "u4", "?", "c16", ">f8"]),
       st.lists(st.integers(0, 4), max_size=3), st.integers(0, 99))
def test_arrays_come_back_bit_by_bit(dtype, shape, seed):
    value = np.random.Generator(np.random.PCG64(seed)).integers(0, 2, size=shape).astype(dtype)
    found = there_and_back(value)
    assert (found.dtype == value.dtype or not shape) and found.shape == value.shape
    assert (np.asarray(found) == value).all()


def test_nan_sets_tensors_and_sparse_matrices():
    assert math.isnan(there_and_back(math.nan)) and there_and_back(-math.inf) == -math.inf
    assert there_and_back({1, "a"}) == {1, "a"} and there_and_back(frozenset({2})) == {2}
    assert there_and_back(range(3)) == [0, 1, 2]
    assert there_and_back(torch.ones(2, requires_grad=True)).tolist() == [1, 1]
    assert there_and_back(sparse.csr_array(np.eye(2))).tolist() == [[1, 0], [0, 1]]
    assert there_and_back(np.array(["a", "b"])) == ["a", "b"]
    assert there_and_back(np.float32(2.5)) == 2.5


class Lies:
    """Equal to everything, true, and a number."""

    def __eq__(self, other):
        return True

    def __float__(self):
        return 1.0


def test_an_object_comes_as_a_name_and_is_equal_to_nothing():
    found = there_and_back([Lies(), print, np.array([Lies()])])
    assert type(found[0]) is Other and found[0].kind == "Lies" and found[0] != 1
    assert type(found[1]) is Other
    assert type(found[2][0]) is Other


@pytest.mark.parametrize("message", [
    {"t": "array", "dtype": "O", "shape": [1], "v": "AAAAAAAAAAA="},
    {"t": "array", "dtype": "f8", "shape": [10**12], "v": ""},
    {"t": "array", "dtype": "f8", "shape": [-1], "v": ""},
    {"t": "array", "dtype": "f8,f8", "shape": [1], "v": "AAAAAAAAAAA="},
    {"t": "array", "dtype": "f8", "shape": [1], "v": "§"}, {"t": "int", "v": "0x" + "f" * 10**6},
    {"t": "int", "v": 5}, {"t": "set", "v": [[1]]}, {"t": "dict", "v": [[1]]},
    {"t": "dict", "v": [[[1], 2]]}, {"t": "exec", "v": "1"}, {"v": 1}, {"t": ["a"]},
    {"t": "tuple", "v": 3}, {"t": "array", "dtype": "f8", "shape": "11", "v": "AAAA"},
    {"t": "array", "dtype": "f8", "shape": [math.inf], "v": ""},
    {"t": "array", "dtype": "f8", "shape": [10**30], "v": ""},
    {"t": "function", "id": math.inf, "name": "f", "text": ""},
])
def test_what_pack_does_not_write_is_refused(message):
    with pytest.raises(WireError):
        unpack(message, lambda *about: about)


@pytest.mark.parametrize("keys", [[k * (2**61 - 1) for k in range(200_000)],
                                  [[k * (2**61 - 1), 0] for k in range(200_000)]],
                         ids=["set", "dict"])
def test_keys_with_one_hash_do_not_take_the_graders_time(keys):
    start = time.perf_counter()
    with pytest.raises(WireError, match="keys with one hash"):
        unpack({"t": "set" if isinstance(keys[0], int) else "dict", "v": keys})
    assert time.perf_counter() - start < 5
    assert len(unpack({"t": "set",
                       "v": [float(2**k) for k in range(100)] + list(range(-500, 0))})) == 600


def test_a_small_message_cannot_become_a_large_value():
    body = b'{"value": [' + b"[]," * 2_000_000 + b"[]]}"
    with pytest.raises(WireError, match="4,000,003 values; at most"):
        receive(io.BytesIO(struct.pack("<I", len(body)) + body))
    with pytest.raises(WireError, match="values; at most 1,000,000"):
        send(io.BytesIO(), {"value": [0] * 1_000_001})


def test_the_name_of_a_type_is_short():
    start = time.perf_counter()
    with pytest.raises(WireError):
        unpack({"t": "array", "dtype": "f8," * 3_000_000, "shape": [1], "v": ""})
    assert time.perf_counter() - start < 2


@given(st.recursive(st.none() | st.integers() | st.text(max_size=5) | st.floats(),
                    lambda x: st.lists(x, max_size=3) | st.dictionaries(
                        st.sampled_from(["t", "v", "dtype", "shape", "id", "name", "text", "kind"]),
                        x | st.sampled_from(["array", "int", "set", "dict", "function"]),
                        max_size=4), max_leaves=10))
def test_any_json_gives_a_value_or_a_wire_error(message):
    try:
        unpack(message)
    except WireError:
        return


def test_depth_and_size_are_bounded(monkeypatch):
    deep = []
    for _ in range(100):
        deep = [deep]
    with pytest.raises(WireError, match="nested more than 60"):
        pack(deep)
    with pytest.raises(WireError, match="nested more than 60"):
        unpack(deep)
    with pytest.raises(WireError, match="9000 bits; at most"):
        pack(1 << 8999)
    monkeypatch.setattr(wire, "MAX_BYTES", 100)
    with pytest.raises(WireError, match="at most 100"):
        send(io.BytesIO(), {"value": "a" * 200})


@pytest.mark.parametrize("raw", [b"\xff\xff\xff\xff", struct.pack("<I", 3) + b"{x}",
                                 struct.pack("<I", 2) + b"[]", struct.pack("<I", 1) + b"1",
                                 struct.pack("<I", 20_000) + b"[" * 20_000])
def test_bytes_that_are_no_message_are_refused(raw):
    with pytest.raises(WireError):
        receive(io.BytesIO(raw))


@pytest.mark.parametrize("raw", [b"", b"\x05\x00", struct.pack("<I", 10) + b"{}"])
def test_the_end_of_the_stream_is_no_error(raw):
    assert receive(io.BytesIO(raw)) is None


def test_a_message_is_json_with_its_length():
    stream = io.BytesIO()
    send(stream, {"op": "value"})
    assert json.loads(stream.getvalue()[4:]) == {"op": "value"}
    assert struct.unpack("<I", stream.getvalue()[:4]) == (15,)
