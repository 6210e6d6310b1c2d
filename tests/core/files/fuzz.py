"""Mutated model files by the thousand: each must load as the same model or be refused with one of our errors.

Run ``python -m tests.core.files.fuzz --count 20000 --seed 0``.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.progress import track

from pellucid.core.files import ModelFileError, load
from pellucid.core.files.container import UNSEALED, seal
from pellucid.core.files.saving import model_bytes
from tests.core.files.sample_models import sample_files

SECONDS = 2.0
MEMORY = 2**24
MEMORY_PER_BYTE = 64
HOSTILE = (
    None, True, 0, -1, 1, 2**31, 2**62, 2**70, 0.5, -0.0, 1e308, "", "nan", "Pipeline", "Lasso", "os.system",
    "\x00", "й" * 50, "\ud800", [], {}, [[]], {"list": []}, {"array": "C"}, {"array": "F"}, {"dict": [[1, 2]]},
    ["float64", "inf"], {"object": ["a"]}, {"str": ["a" * 1000] + [""] * 1000}, [0, 2**40],
)  # fmt: skip


def flip_bits(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 8])):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def truncate(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content))]


def splice(content: bytes, rng: random.Random) -> bytes:
    """Overwrite, insert, drop or repeat a stretch of bytes."""
    start = rng.randrange(len(content))
    stop = min(len(content), start + rng.choice([1, 8, 64, 1000]))
    other = rng.choice([b"", rng.randbytes(stop - start), content[start:stop] * 2, b"\x00" * 8, b"[" * 5000])
    return content[:start] + other + content[stop:]


def lie_about_header(content: bytes, rng: random.Random) -> bytes:
    length = rng.choice([0, 1, 2, 8, len(content), 2**24, 2**31, 2**63, 2**64 - 1, rng.randrange(2 * len(content))])
    return length.to_bytes(8, "little") + content[8:]


def forge_document(content: bytes, rng: random.Random) -> bytes:
    """Change the document and seal it again: the checksum is right, the schema must object."""
    header, data = split(content)
    document = json.loads(header["__metadata__"]["pellucid"])
    for _ in range(rng.choice([1, 1, 2, 4])):
        _change_a_node(document, rng)
    document["sha256"] = UNSEALED
    header["__metadata__"]["pellucid"] = json.dumps(document, separators=(",", ":"))
    return join(header, data)


def forge_table(content: bytes, rng: random.Random) -> bytes:
    """Change the table of arrays or their bytes and seal the file again."""
    header, data = split(content)
    names = [name for name in header if name != "__metadata__"]
    for _ in range(rng.choice([1, 1, 2])):
        row = header[rng.choice(names)] if names else {}
        choice = rng.randrange(6)
        if choice == 0:
            row["dtype"] = rng.choice(["F64", "F32", "F16", "BOOL", "I64", "I32", "U8", "C64", None, 3])
        elif choice == 1:
            row["shape"] = rng.choice([[], [0], [-1], [2**62, 4], [2**31] * 8, [1] * 100, "3", [1.5], row.get("shape")])
        elif choice == 2:
            row["data_offsets"] = rng.choice([[0, 0], [0, len(data)], [8, 2**62], [5, 1], [-8, 0], [0], None])
        elif choice == 3:
            header[rng.choice(["coef_", "extra", "й", *names])] = dict(row)
        elif choice == 4 and names:
            header[rng.choice(names)] = header[rng.choice(names)]
        else:
            data = bytearray(data)
            for _ in range(min(len(data), 16)):
                data[rng.randrange(len(data))] = rng.randrange(256)
    document = json.loads(header["__metadata__"]["pellucid"]) | {"sha256": UNSEALED}
    header["__metadata__"]["pellucid"] = json.dumps(document, separators=(",", ":"))
    return join(header, bytes(data))


HONEST = (flip_bits, flip_bits, truncate, splice, lie_about_header)
FORGED = (forge_document, forge_document, forge_table)


def split(content: bytes) -> tuple[dict, bytes]:
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def join(header: dict, data: bytes) -> bytes:
    raw = json.dumps(header, separators=(",", ":")).encode()
    return seal(len(raw).to_bytes(8, "little") + raw + data)


def _change_a_node(document: object, rng: random.Random) -> None:
    places = list(_places(document))
    parent, key = rng.choice(places)
    choice = rng.randrange(4)
    if choice == 0 and isinstance(parent, dict):
        del parent[key]
    elif choice == 1 and isinstance(parent, dict):
        parent[rng.choice(["extra", "coef_", "__class__", "class"])] = rng.choice(HOSTILE)
    elif choice == 2:
        other, other_key = rng.choice(places)
        parent[key] = json.loads(json.dumps(other[other_key])) if other_key in _keys(other) else None
    else:
        parent[key] = json.loads(json.dumps(rng.choice(HOSTILE)))


def _keys(node: object) -> Sequence:
    return node if isinstance(node, dict) else range(len(node))


def _places(node: object):
    if isinstance(node, (dict, list)):
        for key in _keys(node):
            yield node, key
            yield from _places(node[key])


def judge(content: bytes, original: bytes, path: Path) -> str:
    """Return what became of the file: an error's name, 'same' or 'different but valid'."""
    path.write_bytes(content)
    tracemalloc.start()
    start = time.perf_counter()
    try:
        model = load(path)
    except ModelFileError as error:
        outcome = type(error).__name__
        if len(str(error)) > 1500:
            raise AssertionError(f"message must be short, got {len(str(error))} characters") from error
    else:
        outcome = "same" if model_bytes(model) == original else "different but valid"
    seconds, peak = time.perf_counter() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    if seconds > SECONDS or peak > MEMORY + MEMORY_PER_BYTE * len(content):
        raise AssertionError(f"load must be quick and small, took {seconds:.2f} s and {peak} bytes")
    return outcome


def fuzz(count: int, seed: int, rounds: Callable = range, originals: Sequence[bytes] = ()) -> Counter:
    """Return how many of ``count`` mutated files had each outcome; anything unexpected is raised with its seed."""
    originals = originals or sample_files()
    counts: Counter = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutated.safetensors"
        for i in rounds(count):
            rng = random.Random(f"{seed}-{i}")
            original = rng.choice(originals)
            mutate = rng.choice(HONEST + FORGED)
            content = mutate(original, rng)
            try:
                outcome = "untouched" if content == original else judge(content, original, path)
                if mutate in HONEST and outcome in ("same", "different but valid"):
                    raise AssertionError(f"an altered file must be refused, was {outcome}")
            except Exception as error:
                raise AssertionError(f"seed {seed}-{i}, {mutate.__name__}: {type(error).__name__}: {error}") from error
            counts[f"{'honest' if mutate in HONEST else 'forged'}: {outcome}"] += 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts = fuzz(options.count, options.seed, lambda n: track(range(n), description="Mutating files"))
    for outcome, number in sorted(counts.items()):
        sys.stdout.write(f"{number:7d}  {outcome}\n")


if __name__ == "__main__":
    main()
