"""What is wrong with a setting, and what to set, in words for a person."""

from __future__ import annotations

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

# What the library puts before the words of our own checks.
_LIBRARY = ("Value error, ", "Assertion failed, ")


def fault(error: ValidationError, settings: type[BaseModel], *, prefix: str, nested: str) -> str:
    """The first fault: which setting, what is wrong with its value, and what to do."""
    first = error.errors(include_input=False, include_url=False)[0]
    path = [str(part) for part in first["loc"]]
    words = str(first["msg"])
    for start in _LIBRARY:
        words = words.removeprefix(start)
    words = words.replace("Input should be", "it should be", 1).rstrip(".")
    name = nested.join(path).upper()
    if path and path[0] not in (info.validation_alias for info in settings.model_fields.values()):
        name = prefix + name
    field = _field(settings, path)
    if field is None:  # a fault of several settings of a section together
        return f"The settings {name}{nested}* cannot be used: {words}. Correct them, or leave them out."
    return f"{name} cannot be used: {words}. Correct it, or leave it out{_default(field)}."


def _field(model: type[BaseModel], path: list[str]) -> FieldInfo | None:
    """The setting under a path; None when that is a whole section."""
    info: FieldInfo | None = None
    for place, part in enumerate(path):
        info = next((info for name, info in model.model_fields.items() if part in (name, info.validation_alias)), None)
        inner = info.annotation if info else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return info
        if place == len(path) - 1:
            return None
        model = inner
    return info


def _default(field: FieldInfo) -> str:
    """What holds when it is left out, where that can be said in a word."""
    value: object = field.default
    if isinstance(value, bool):
        return f" for {str(value).lower()}"
    if isinstance(value, (int, float)) or (isinstance(value, str) and value and len(value) <= 40):
        return f" for {value}"
    return ""
