# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Validates JSON files against a JSON schema of those words that ours uses; any
other word of the schema is an error. A field that the schema does not name is an
error too, though readers have to allow it: what is written is published.

validate.py SCHEMA FILE...
"""

import json
import sys

TYPES = {"string": str, "boolean": bool, "array": list, "object": dict}
IGNORED = {"$schema", "title", "description", "$defs"}


def check(value, schema, where, root):
    for word in schema:
        if word not in IGNORED | {"type", "properties", "required", "items", "enum", "const", "$ref", "minItems", "maxItems"}:
            raise SystemExit("the schema has '%s', which is not understood" % word)
    if "$ref" in schema:
        return check(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], where, root)
    kind = schema.get("type")
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "number":
        assert number, where
    elif kind == "integer":
        assert number and value == int(value), where
    elif kind:
        assert isinstance(value, TYPES[kind]), "%s is no %s" % (where, kind)
    if "enum" in schema:
        assert value in schema["enum"], "%s: %r" % (where, value)
    if "const" in schema:
        assert value == schema["const"], "%s: %r" % (where, value)
    if isinstance(value, list):
        assert schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)), where
        for i, item in enumerate(value):
            check(item, schema["items"], "%s[%d]" % (where, i), root)
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            assert name in value, "%s has no %s" % (where, name)
        for name, inner in value.items():
            assert name in schema["properties"], "%s.%s is not in the schema" % (where, name)
            check(inner, schema["properties"][name], where + "." + name, root)


with open(sys.argv[1]) as f:
    schema = json.load(f)
for name in sys.argv[2:]:
    with open(name, encoding="utf-8") as f:
        text = f.read()
    if name.endswith(".html"):
        text = text.split('<script type="application/json" id="report">', 1)[1].split("</script>", 1)[0]
    try:
        check(json.loads(text), schema, name, schema)
    except AssertionError as e:
        sys.exit(str(e))
