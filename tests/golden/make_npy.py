# Makes npy_*.npy beside it: arrays as NumPy itself writes them, in every version of the format. Element i, counted row by
# row, is i / 2 - 1 (whole numbers: i - 1).
# Run: python3 tests/golden/make_npy.py      (the files in the tree were made with NumPy 2.4.6)
import os

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))


def halves(shape, dtype):
    count = int(numpy.prod(shape))
    return (numpy.arange(count) / 2 - 1).astype(dtype).reshape(shape)


def save(name, array, version=None):
    with open(os.path.join(HERE, f"npy_{name}.npy"), "wb") as file:
        numpy.lib.format.write_array(file, array, version=version)


save("f32", halves((2, 3), "<f4"))
save("f64_version_2", halves((2, 3), "<f8"), (2, 0))
save("f64_version_3", halves((2, 3), "<f8"), (3, 0))
save("f64_fortran", numpy.asfortranarray(halves((2, 3, 4), "<f8")))
save("f64_scalar", numpy.array(-0.5))
save("f32_empty", halves((0, 3), "<f4"))
save("i32", numpy.arange(4, dtype="<i4") - 1)
save("u8", numpy.arange(5, dtype="u1"))
save("f32_big_endian", halves((3,), ">f4"))
save("texts", numpy.array(["a", "çé", "\U0001f600\u200b<"]))
save("objects", numpy.array([1, "two"], dtype=object))
save("records", numpy.array([(1, 2.0)], dtype=[("a", "<i4"), ("b", "<f4")]))
