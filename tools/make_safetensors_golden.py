#!/usr/bin/env python3
"""Writes the files in tests/golden that tests/safetensors_test.cpp reads, with Python's own library.

Needs numpy and safetensors 0.8 or newer. The test has the same names and numbers written down.
"""
import pathlib

import numpy as np
from safetensors import TensorSpec, serialize
from safetensors.numpy import save

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"


def plain():
    """The dtypes Fovea writes: names and sizes chosen to show the order, the escapes, the padding."""
    controls = "".join(map(chr, range(32)))
    tensors = {
        "encoder/0/query/weight": np.arange(12, dtype=np.float32).reshape(3, 4) / 8,
        "encoder/0/query/bias": np.array([-0.0, np.inf, np.nan], np.float32),
        "b": np.arange(3, dtype=np.int32) - 1,
        "a": np.array([[2**31 - 1], [-(2**31)]], np.int32),
        "Z": np.array([1 / 3, 5e-324], np.float64),
        "scalar": np.array(2.5, np.float32),
        "scalar64": np.array(-7.25, np.float64),
        "none": np.zeros((0,), np.float32),
        "no rows": np.zeros((0, 5, 2), np.float64),
        "no columns": np.zeros((4, 0), np.int32),
        "six axes": np.arange(64, dtype=np.float32).reshape(2, 2, 2, 2, 2, 2),
        "": np.array([9], np.int32),
        "größe \u6ce8\u610f \U0001f440": np.array([1, 2], np.float32),
        'quote " back \\ slash / ' + controls + "\x7f\u0080\u2028": np.array([3], np.float32),
    }
    metadata = {"format": "pt", "note": "längs \n \"quer\"", "aim": ""}
    # The library's order of the metadata is random; one that is not sorted is the harder case.
    while True:
        data = save(tensors, metadata=metadata)
        if data.find(b'"format"') < data.find(b'"note"') < data.find(b'"aim"'):
            return data


def every_dtype():
    """One array of each dtype, and some that cannot be loaded."""
    arrays = {
        "f16": np.array([1.5, -2.0, 65504, 2.0**-24, np.inf], np.float16),
        "i64": np.array([2**31 - 1, -(2**31)], np.int64),
        "i64 large": np.array([1, 2**31], np.int64),
        "i16": np.array([-32768, 32767], np.int16),
        "i8": np.array([-128, 127], np.int8),
        "u64": np.array([0, 2**31 - 1], np.uint64),
        "u64 large": np.array([2**64 - 1], np.uint64),
        "u32": np.array([7, 2**31 - 1], np.uint32),
        "u32 large": np.array([2**32 - 1], np.uint32),
        "u16": np.array([0, 65535], np.uint16),
        "u8": np.array([0, 255], np.uint8),
        "bool": np.array([True, False, True]),
        "c64": np.array([1 + 2j], np.complex64),
        "seven axes": np.ones((1, 1, 1, 1, 1, 1, 2), np.float32),
    }
    raw = {
        "bf16": ("bfloat16", np.array([0x3FC0, 0xC000, 0x0001, 0x7F80], np.uint16)),
        "f8": ("float8_e4m3fn", np.array([1, 2], np.uint8)),
    }
    named = {name: (array.dtype.name, array) for name, array in arrays.items()} | raw
    return serialize(
        {
            name: TensorSpec(
                dtype=dtype, shape=list(array.shape), data_ptr=array.ctypes.data, data_len=array.nbytes
            )
            for name, (dtype, array) in named.items()
        }
    )


(GOLDEN / "safetensors_plain.safetensors").write_bytes(plain())
(GOLDEN / "safetensors_every_dtype.safetensors").write_bytes(every_dtype())
