#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that includes follow the arrows between the layers.

Each layer may include itself and the layers named here. Plan and Predict see
no clang headers, Affine alone (with the models that hold its values) sees isl's
exceptions. Prints every include against the rules; exit status 1 when there is one.
"""

import os
import re
import sys

LAYERS = {
    "Support": [],
    "Affine": ["Support"],
    "Driver": ["Support"],
    "Model": ["Affine", "Support"],
    "Plan": ["Model", "Affine", "Support"],
    # Judges plans, so it shares no code with what makes them.
    "Verify": ["Affine", "Support"],
    # Damages plans for tests; nothing else includes it but the pipeline.
    "Mutate": ["Plan", "Affine", "Support"],
    "Predict": ["Plan", "Affine", "Support"],
    "Tune": ["Predict", "Affine", "Support"],
    "Lower": ["Plan", "Affine", "Support"],
    "Emit": ["Lower", "Predict", "Plan", "Affine", "Support"],
    "Output": ["Support"],
    "Frontend": ["Driver", "Support"],
}
# Headers of include/rcache that a layer has no business with.
FORBIDDEN_PUBLIC = {
    "Support": {"Model.h", "Plan.h", "Pipeline.h", "ModelBuilder.h", "Affine.h"},
    "Affine": {"Plan.h", "Pipeline.h", "ModelBuilder.h"},
    "Driver": {"Model.h", "Plan.h", "Pipeline.h", "ModelBuilder.h", "Affine.h"},
    "Model": {"Plan.h", "Pipeline.h"},
    "Plan": {"ModelBuilder.h"},
    "Verify": {"ModelBuilder.h", "Pipeline.h", "Prediction.h", "SpreadOutputs.h"},
    "Mutate": {"ModelBuilder.h", "Pipeline.h"},
    "Predict": {"ModelBuilder.h"},
    "Tune": {"ModelBuilder.h", "Pipeline.h"},
    "Lower": {"ModelBuilder.h", "Pipeline.h"},
    "Emit": {"ModelBuilder.h"},
}
CLANG_ALLOWED = {"Driver", "Model", "Frontend", "Output", "Emit"}
# Emit formats what it inserts; it sees text, not trees.
CLANG_ONLY = {
    "Emit": re.compile(r"clang/(Format|Tooling/Core|Tooling/Refactoring)/"),
    # Fixes and SARIF have writers there.
    "Output": re.compile(r"clang/(Tooling|Basic)/"),
}
# What the programs see of the library, from outside. The runner of the judge and
# the fuzzer share no code with what they judge.
PROGRAMS = {
    "tool": ["Frontend", "Driver", "Predict", "Tune", "Output", "Support"],
    "check": [],
    "fuzz": [],
}
# Single headers that they see beside: what reads a command line, tells texts from data and
# finds the toolkit.
PROGRAMS_HEADERS = {
    "check": {"Driver/Programs.h", "Driver/SourceText.h", "Driver/Usage.h", "Driver/CudaInstall.h",
              "Driver/LateMacros.h"},
    "fuzz": {"Driver/Usage.h"},
}
# Of include/rcache; None: everything.
PROGRAMS_PUBLIC = {"tool": None, "check": {"Config.h"}, "fuzz": {"Config.h"}}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def includes(root, folder):
    """(place, header) of each include; headers beside the file as paths below lib."""
    for base, _, names in os.walk(folder):
        for name in sorted(names):
            if not name.endswith((".h", ".cpp", ".def")):
                continue
            path = os.path.join(base, name)
            with open(path, encoding="utf-8") as f:
                for number, line in enumerate(f, 1):
                    match = INCLUDE.match(line)
                    if not match:
                        continue
                    header = match.group(1)
                    beside = os.path.normpath(os.path.join(base, header))
                    lib = os.path.join(root, "lib") + os.sep
                    if header.startswith("..") and beside.startswith(lib):
                        header = beside[len(lib):]
                    yield "%s:%d" % (os.path.relpath(path, root), number), header


def violations(root):
    for layer in sorted(LAYERS):
        for place, header in includes(root, os.path.join(root, "lib", layer)):
            problem = judge(layer, header)
            if problem:
                yield "%s: %s" % (place, problem)
    for program in sorted(PROGRAMS):
        for place, header in includes(root, os.path.join(root, program)):
            top = header.split("/")[0]
            public = PROGRAMS_PUBLIC[program]
            if header in PROGRAMS_HEADERS.get(program, ()):
                continue
            if (top in LAYERS and top not in PROGRAMS[program]) or (
                    top == "rcache" and public is not None
                    and header[7:] not in public):
                yield "%s: %s must not include %s" % (place, program, header)


def judge(layer, header):
    top = header.split("/")[0]
    if top in LAYERS and top != layer and top not in LAYERS[layer]:
        return "%s must not include %s (%s)" % (layer, top, header)
    if top == "rcache" and header[7:] in FORBIDDEN_PUBLIC.get(layer, ()):
        return "%s must not include %s" % (layer, header)
    if top == "clang":
        if layer not in CLANG_ALLOWED:
            return "%s must not see clang (%s)" % (layer, header)
        if layer in CLANG_ONLY and not CLANG_ONLY[layer].match(header):
            return "%s must not see this part of clang (%s)" % (layer, header)
    return None


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = list(violations(root))
    for line in found:
        print(line)
    known = set(LAYERS)
    for name in sorted(os.listdir(os.path.join(root, "lib"))):
        if os.path.isdir(os.path.join(root, "lib", name)) and name not in known:
            found.append(name)
            print("lib/%s: a layer that scripts/check_layers.py does not know" % name)
    if not found:
        print("layers: every include follows the arrows")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
