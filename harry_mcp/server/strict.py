"""Plain schemas and plain refusals.

Real clients break on ``$ref`` and ``anyOf`` and strip what they do not know, and the SDK ignores arguments that a
tool does not have. So schemas are inlined, and arguments are checked here, with one sentence for each fault.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, cast

from mcp.server.mcpserver.prompts.base import Prompt
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import BaseModel, ValidationError

from harry_mcp.errors import HarryError

Schema = dict[str, Any]


def plain(schema: Mapping[str, Any]) -> Schema:
    """The schema without references and without pydantic's titles."""
    definitions = cast(dict[str, Any], schema.get("$defs", {}))
    return cast(Schema, _plain(schema, definitions, is_properties=False))


def plain_input(schema: Mapping[str, Any], defaults: Mapping[str, Any]) -> Schema:
    """The same for arguments, closed against unknown ones, with the defaults that settings give."""
    made: Schema = {**plain(schema), "additionalProperties": False}
    for name, value in defaults.items():
        field = made["properties"][name]
        # Said in words as well: some clients drop every keyword but the description.
        field["description"] = field["description"].replace(f"Default: {field['default']}.", f"Default: {value}.")
        field["default"] = value
    return made


def _plain(node: Any, definitions: Mapping[str, Any], *, is_properties: bool) -> Any:
    if isinstance(node, list):
        return [_plain(item, definitions, is_properties=False) for item in cast(list[Any], node)]
    if not isinstance(node, Mapping):
        return node
    mapping = cast(Mapping[str, Any], node)
    if "$ref" in mapping:
        target = definitions[str(mapping["$ref"]).rsplit("/", 1)[-1]]
        # What stands beside the reference (a description, say) is meant for this place and wins.
        mapping = {**target, **{key: value for key, value in mapping.items() if key != "$ref"}}
    return {
        key: _plain(value, definitions, is_properties=key == "properties" and not is_properties)
        for key, value in mapping.items()
        if key != "$defs" and (is_properties or key != "title")
    }


def refusal(tool: str, model: type[BaseModel], arguments: Mapping[str, Any]) -> str:
    """What is wrong with the arguments, in words that say what to send instead; empty when nothing is."""
    known = list(model.model_fields)
    for name in arguments:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {close[0]}?" if close else f"It takes: {', '.join(known)}."
            return f"{tool} has no argument {_short(name)}. {hint} Nothing was done; call it again without."
    try:
        model.model_validate(dict(arguments))
    except ValidationError as error:
        return " ".join(_sentence(model, fault) for fault in error.errors()[:3])
    return ""


def prompt_refusal(prompt: Prompt | None, name: str, arguments: Mapping[str, Any]) -> MCPError | None:
    """What is wrong with a request for a prompt; None when it names all that the prompt needs and nothing else."""
    if prompt is None:
        return MCPError(code=INVALID_PARAMS, message=f"Unknown prompt: {name}")
    known = {each.name: each for each in prompt.arguments or []}
    for unknown in (each for each in arguments if each not in known):
        fault = f"{name} has no argument {_short(unknown)}. It takes: {', '.join(known)}."
        return MCPError(code=INVALID_PARAMS, message=fault)
    for missing in (each for each in known.values() if each.required and each.name not in arguments):
        fault = f"{missing.name} is missing. {missing.description or ''}".strip()
        return MCPError(code=INVALID_PARAMS, message=fault)
    return None


def prompt_failure(error: BaseException) -> MCPError | None:
    """What the client is told of a prompt that failed; None for a fault of the server, whose words stay in the log.

    The SDK says of any failure, also of an argument that cannot be used, that it is one of the server.
    """
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
        if isinstance(cause, HarryError):
            return MCPError(code=INTERNAL_ERROR, message=str(cause))
        if isinstance(cause, ValidationError):
            faults = (f"{each['loc'][0]} cannot be used: {each['msg']}." for each in cause.errors()[:3])
            return MCPError(code=INVALID_PARAMS, message=" ".join(faults))
    return None


def _sentence(model: type[BaseModel], fault: Any) -> str:
    name = str(fault["loc"][0]) if fault["loc"] else ""
    field = model.model_fields.get(name)
    wanted = (field.description or "") if field is not None else ""
    if fault["type"] == "missing":
        return f"{name} is missing. {wanted}".strip()
    message = str(fault["msg"]).removeprefix("Value error, ").rstrip(".")
    sent = fault.get("input")
    shown = f" (you sent {_short(sent)})" if isinstance(sent, str | int | float | bool) else ""
    return f"{name} cannot be used{shown}: {message}. {wanted}".strip()


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
