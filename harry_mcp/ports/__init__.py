"""What the loop asks of the outside, where money or a network begins. Adapters live in ``providers``, and those of
vectors in ``storage`` too."""

from harry_mcp.ports.embedding import DocumentEmbedder, Embedder, Vectors
from harry_mcp.ports.language import ChatModel, Completion, LanguageModel, Shape
from harry_mcp.ports.ranking import FusionRanker, Reranker
from harry_mcp.ports.services import Loadable, Notifier, WebSearch
from harry_mcp.ports.vectors import Narrowing, Nearest, VectorIndex, VectorPoint, VectorStore

__all__ = [
    "ChatModel",
    "Completion",
    "DocumentEmbedder",
    "Embedder",
    "FusionRanker",
    "LanguageModel",
    "Loadable",
    "Narrowing",
    "Nearest",
    "Notifier",
    "Reranker",
    "Shape",
    "VectorIndex",
    "VectorPoint",
    "VectorStore",
    "Vectors",
    "WebSearch",
]
