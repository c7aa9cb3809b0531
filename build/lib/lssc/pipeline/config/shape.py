"""Validates config against its schema, in one line per problem."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lssc.parts.params import text_hint
from lssc.parts.registry import suggest
from lssc.pipeline.config.plain import brief, place

SCHEMA = Path(__file__).parent / "schema.yaml"


def shape_problems(config: Mapping[str, Any], schema: Path = SCHEMA) -> list[str]:
    """One line per violation of a schema, by a config or by another file of plain data."""
    errors = sorted(_validator(schema).iter_errors(config), key=lambda e: [str(p) for p in e.absolute_path])
    return [line for error in errors for line in _shape_lines(error)]


@functools.cache
def _validator(schema: Path) -> Any:
    import yaml
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    # JSON counts 3.0 as an integer; `range(3.0)` fails.
    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    return extend(Draft202012Validator, type_checker=types)(yaml.safe_load(schema.read_bytes()))


def _shape_lines(error: Any) -> list[str]:
    """One schema error in plain lines."""
    where = place(error.absolute_path)
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = [key for key in error.instance if key not in known]
        return [f"{place([*error.absolute_path, key])}: unknown key; {suggest(key, known)}" for key in unknown]
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return [f"{place([*error.absolute_path, key])}: missing" for key in missing]
    if "propertyNames" in error.absolute_schema_path or error.validator == "pattern":
        return [f"{where or 'top level'}: {error.instance!r} is not allowed; {error.schema['description']}"]
    return [f"{where or 'top level'}: {brief(error.instance)} {_rule(error)}"]


def _rule(error: Any) -> str:
    """What the schema wants instead."""
    value = error.validator_value
    match error.validator:
        case "type":
            if not isinstance(value, str):
                return "must be a number, text, true or false"
            hint = text_hint({"integer": int, "boolean": bool}.get(value), error.instance)
            return f"must be {_TYPES[value]}{hint}"
        case "minimum":
            return f"must be at least {value}"
        case "minItems" | "minLength" | "minProperties" if value < 2:
            return "must not be empty"
        case "minItems" | "maxItems" if value < 3:
            return f"must have {value} entries"
        case "maxItems" | "maxProperties":
            return f"must have at most {value} entries"
        case "maxLength":
            return f"must have at most {value} characters"
        case "maximum":
            return f"must be at most {value:,}"
        case "uniqueItems":
            return "must not repeat a value"
        case "enum":
            return f"must be one of {', '.join(map(str, value))}"
        case "anyOf":
            return "must be a name, or a mapping with a name and parameters"
    return f"is not allowed: {error.message}"


_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}
