"""The reference agent: `harry ask` and `harry chat`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from harry_mcp.settings.section import Positive, Section

Effort = Literal["low", "medium", "high"]


class AgentSection(Section):
    """Who writes the answers, and how much each may take. Prices are dollars for a million tokens.

    The address of the API, its retries and its breaker are those of HARRY_CLAUDE__*.
    """

    server: str = Field(
        default="",
        description="The MCP server that is asked: a command, or an http(s) address. Empty: `harry serve` of this "
        "installation.",
    )
    token: SecretStr = Field(
        default=SecretStr(""),
        description="Bearer token for a server at an address. It is sent over https, or to this machine, and nowhere "
        "else.",
    )
    model: str = Field(
        default="claude-sonnet-5-5",
        min_length=1,
        description="Writes the answers. Set its prices with it, or the cost line and the cap are wrong.",
    )
    code_model: str = Field(
        default="claude-opus-5-5",
        min_length=1,
        description="Writes the answers to questions that are mostly about code. The name of the other one for one "
        "model only.",
    )
    effort: Effort = Field(
        default="low",
        description="How hard the models think. The passages are found already; higher is slower and costs more.",
    )
    max_tokens: int = Field(
        default=4000,
        ge=16,
        le=64_000,
        description="Tokens of one turn, thinking included. Too few cut answers off, which are then continued.",
    )
    continuations: int = Field(
        default=2, ge=0, le=10, description="How often an answer that was cut off is continued before it stays so."
    )
    turns: int = Field(
        default=6, ge=1, le=50, description="Turns of the model for one answer. Fewer stop it while it looks things up."
    )
    tool_calls: int = Field(
        default=12,
        ge=0,
        le=200,
        description="Tool calls of the model for one answer. 0: the first search is all.",
    )
    seconds: float = Field(
        default=120.0, gt=0, description="Time for one answer. Beyond it the best passages are quoted instead."
    )
    tool_seconds: float = Field(
        default=60.0, gt=0, description="Time for one tool call. A first search waits for the database to start."
    )
    connect_seconds: float = Field(default=30.0, gt=0, description="Time for the server to answer for the first time.")
    busy_seconds: float = Field(
        default=5.0,
        ge=0,
        description="The longest wait that a busy server may ask for. Beyond it people are told when to ask again.",
    )
    cost_cap: float = Field(
        default=0.50,
        ge=0,
        description="Dollars for one answer. No turn is begun beyond it, and passages are quoted instead. 0: no cap.",
    )
    hits: int = Field(
        default=5, ge=1, le=50, description="Passages that are asked for. More cost more and distract the model."
    )
    quotes: int = Field(default=3, ge=1, le=10, description="Passages that are quoted where no model writes.")
    quote_characters: int = Field(
        default=600, ge=80, le=5000, description="Longest quote. Shorter ones lose the steps behind the first."
    )
    evidence_characters: int = Field(
        default=40_000, ge=1000, description="Characters of passages, or of one tool result, that the model is given."
    )
    history: int = Field(
        default=6, ge=0, le=50, description="Earlier turns that go with a question. Fewer forget what it follows up on."
    )
    history_characters: Positive = Field(default=1500, description="Longest part of an earlier turn that goes with it.")
    price_input: float = Field(default=2.0, ge=0, description="Price of the model's input.")
    price_cache_write: float = Field(default=2.5, ge=0, description="Price of its input that is written to the cache.")
    price_cache_read: float = Field(default=0.2, ge=0, description="Price of its input that is read from the cache.")
    price_output: float = Field(default=10.0, ge=0, description="Price of its output.")
    code_price_input: float = Field(default=4.0, ge=0, description="Price of the code model's input.")
    code_price_cache_write: float = Field(default=5.0, ge=0, description="Price of its input written to the cache.")
    code_price_cache_read: float = Field(default=0.2, ge=0, description="Price of its input read from the cache.")
    code_price_output: float = Field(default=20.0, ge=0, description="Price of the code model's output.")
