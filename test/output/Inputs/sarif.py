# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks what the SARIF standard asks of a log and a shape alone does not show: each
result names a rule by index and id, has a message, and a place in an artifact.

sarif.py LOG...
"""

import json
import sys

for name in sys.argv[1:]:
    with open(name) as f:
        log = json.load(f)
    assert log["version"] == "2.1.0" and "sarif-schema-2.1.0" in log["$schema"], name
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "rcache-rewrite"
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert run["results"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"], result
        assert result["message"]["text"]
        (place,) = result["locations"]
        region = place["physicalLocation"]["region"]
        assert region["startLine"] >= 1 and region["startColumn"] >= 1
        artifact = run["artifacts"][place["physicalLocation"]["artifactLocation"]["index"]]
        assert artifact["location"]["uri"]
