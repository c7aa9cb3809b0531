"""Readers on truncated, altered and lying files: one line each, nothing executed, no memory taken."""

import io
import os
import pickle
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import h5py
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lssc.data.files.points import SUFFIXES, PointsFile
from lssc.errors import InputError

FORMATS = ("npz", "csv", "parquet", "h5", "mat", "mat73")


class Trap:
    """Pickled, it would write a file when loaded."""

    def __reduce__(self):
        return os.system, ("touch executed",)


def read_quietly(path: Path) -> None:
    """Read everything; InputError with one line is the only error allowed."""
    key = "X" if path.suffix in (".npz", ".h5", ".mat") else "auto"
    for labels in ("none", "y"):
        message = ""
        try:
            file = PointsFile(path, key, labels)
            list(file.blocks())
            _ = file.labels
        except InputError as error:
            message = str(error)
        assert "\n" not in message


@pytest.mark.parametrize("kind", ["npy", *FORMATS])
@given(data=st.data())
def test_truncated_file_is_one_line(kind, data, tmp_path, write):
    content = write(tmp_path, kind).read_bytes()
    path = tmp_path / f"cut{'.mat' if kind == 'mat73' else f'.{kind}'}"
    path.write_bytes(content[: data.draw(st.integers(1, len(content) - 1))])
    read_quietly(path)


@pytest.mark.parametrize("kind", ["npy", "npz", "csv", "parquet", "h5", "mat"])
@given(data=st.data())
def test_altered_bytes_are_one_line_or_numbers(kind, data, tmp_path, write):
    content = bytearray(write(tmp_path, kind).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / f"altered.{kind}"
    path.write_bytes(content)
    read_quietly(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(content=st.binary(min_size=1, max_size=400))
@example(content=pickle.dumps(Trap()))
def test_any_bytes_are_one_line_or_numbers(suffix, content, tmp_path):
    path = tmp_path / f"any{suffix}"
    path.write_bytes(content)
    read_quietly(path)
    assert not Path("executed").exists()


@given(text=st.text(alphabet="0123456789.,;\t\n \"'xe-nan", min_size=1, max_size=80))
def test_any_text_is_one_line_or_numbers(text, tmp_path):
    path = tmp_path / "any.csv"
    path.write_text(text)
    read_quietly(path)


def npy_header(shape, descr="<f8"):
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def mat_element(kind, content):
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def mat_claim(shape, *, packed):
    head = mat_element(6, struct.pack("<II", 6, 0)) + mat_element(5, struct.pack("<ii", *shape)) + mat_element(1, b"X")
    matrix = head + struct.pack("<II", 2, shape[0] * shape[1]) + bytes(100)
    element = struct.pack("<II", 14, 2**31) + matrix if packed else mat_element(14, matrix)
    packed_element = zlib.compress(element)
    return bytes(124) + b"\x00\x01IM" + (mat_element(15, packed_element) if packed else element)


def zipped(content, method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("X.npy", content)
    return file.getvalue()


def hdf5_claim(path, **how):
    with h5py.File(path, "w") as file:
        file.create_dataset("X", shape=(125_000, 10_000), dtype="f8", **how)


CLAIMS = {
    "npy": lambda path: path.write_bytes(npy_header((125_000, 10_000)) + bytes(800)),
    "npy beyond 64 bits": lambda path: path.write_bytes(npy_header((2**40, 2**40)) + bytes(800)),
    "npz": lambda path: path.write_bytes(zipped(npy_header((125_000, 10_000)) + bytes(800))),
    "npz packed": lambda path: path.write_bytes(
        zipped(npy_header((125_000, 10_000)) + bytes(800), zipfile.ZIP_DEFLATED)
    ),
    "mat": lambda path: path.write_bytes(mat_claim((20_000, 50_000), packed=False)),
    "mat packed": lambda path: path.write_bytes(mat_claim((20_000, 50_000), packed=True)),
    "h5": hdf5_claim,
    "h5 packed": lambda path: hdf5_claim(path, chunks=(100, 100), compression="gzip"),
    "h5 external": lambda path: hdf5_claim(path, external=[("/dev/zero", 0, h5py.h5f.UNLIMITED)]),
}
READ = """
import resource, sys
from pathlib import Path
import h5py, numpy
from lssc.data.files.points import PointsFile
from lssc.errors import InputError
held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + 300 * 2**20, held + 300 * 2**20))
try:
    list(PointsFile(Path(sys.argv[1]), key="auto" if sys.argv[1].endswith("npy") else "X").blocks())
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize("claim", CLAIMS)
def test_gigabytes_claimed_in_a_header_take_no_memory(claim, tmp_path):
    path = tmp_path / f"points.{claim.split()[0]}"
    CLAIMS[claim](path)
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [line] = done.stdout.splitlines()
    assert line.startswith(f"{path}: ")
    assert "cut short" in line or "would unpack" in line


def test_zip_bomb_is_refused_before_it_unpacks(tmp_path):
    """300 MB of zeros in 300 kB: the array is there, and still refused."""
    path = tmp_path / "points.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("X.npy", "w") as file:
        file.write(npy_header((300 * 2**7, 2**10)))
        for _ in range(300):
            file.write(bytes(2**20))
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True)
    assert "would unpack" in done.stdout
    assert "save it without compression" in done.stdout


def test_hdf5_links_to_other_files_are_not_followed(tmp_path, write, problem):
    write(tmp_path, "h5")
    with h5py.File(tmp_path / "link.h5", "w") as file:
        file["X"] = h5py.ExternalLink(str(tmp_path / "points.h5"), "X")
    assert "has no array 'X'" in problem(tmp_path / "link.h5", key="X")
