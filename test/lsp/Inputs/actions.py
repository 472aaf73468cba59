# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code actions: what is offered, and that applying one gives the text that the
command line writes.

    actions.py FOLDER -- COMPILER-FLAGS...

FOLDER is an empty folder for the files.
"""

import os
import subprocess
import sys

from client import Client, LspError, apply_edits, position_of, text_at, uri

folder, flags = sys.argv[1], sys.argv[3:]
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "kernels.cu")) as f:
    TEXT = f.read()


def command_line(text, *options):
    """What rcache-rewrite makes of a text."""
    path = os.path.join(folder, "reference.cu")
    with open(path, "w") as f:
        f.write(text)
    return subprocess.run(
        ["rcache-rewrite", "-q", path, *options, "--", *flags],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


def edits_of(action, path, versioned):
    edit = action["edit"]
    if not versioned:
        assert list(edit) == ["changes"] and list(edit["changes"]) == [uri(path)]
        return edit["changes"][uri(path)]
    (document,) = edit["documentChanges"]
    assert document["textDocument"]["uri"] == uri(path)
    return document["edits"]


def main():
    path = os.path.join(folder, "unsaved.cu")  # never written
    with Client(["rcache-lsp", "--patience=60000", "--", *flags]) as c:
        c.open(path, TEXT)

        def actions(needle, nth=0, only=None, text=TEXT):
            return c.request(
                "textDocument/codeAction",
                c.actions_at(path, position_of(text, needle, nth), only),
            )

        # In the kernel and on its launch: the same actions.
        found = actions("smooth")
        titles = [a["title"] for a in found]
        print("offered:", *titles, sep="\n  ")
        assert titles[0] == "Rewrite smooth with the register cache"
        assert found[0]["isPreferred"] is True
        assert all(a["kind"] == "refactor.rewrite" for a in found)
        assert [a["title"] for a in actions("float sum")] == titles
        assert [a["title"] for a in actions("smooth<<<")] == titles

        # Each gives what the command line gives, launch included.
        expected = {
            titles[0]: command_line(TEXT, "--kernel=smooth"),
        }
        for factor in (2, 4, 8):
            expected[titles[0] + ", coarsening %d" % factor] = command_line(
                TEXT, "--kernel=smooth", "--coarsen=%d" % factor
            )
        assert len(set(titles)) == len(titles)
        # A factor that is missing would have changed nothing further.
        for title, text in expected.items():
            if title not in titles:
                assert text in (TEXT, expected[titles[0]]), title + " is not offered"
        assert len(titles) > 1, "no variants"
        for action in found:
            new = apply_edits(TEXT, edits_of(action, path, False))
            assert new == expected[action["title"]], action["title"]
            assert "smooth<<<" not in new.split("void run")[1]

        # Kinds that include it, and others.
        assert actions("smooth", only=["refactor"]) == found
        assert actions("smooth", only=["quickfix", "refactor.rewrite"]) == found
        assert actions("smooth", only=["quickfix"]) == []
        assert actions("smooth", only=["refactor.extract"]) == []

        # Nothing for kernels that stay, and outside of kernels.
        assert actions("gather") == []
        assert actions("scale") == []
        assert actions("#define") == []

        # The text in the editor counts, not the file; positions are those of it.
        start = position_of(TEXT, "RADIUS 3")
        end = dict(start, character=start["character"] + len("RADIUS 3"))
        c.change(path, ({"start": start, "end": end}, "RADIUS 2 // 😀"))
        changed = TEXT.replace("RADIUS 3", "RADIUS 2 // 😀")
        smaller = actions("smooth", text=changed)
        new = apply_edits(changed, edits_of(smaller[0], path, False))
        assert new == command_line(changed, "--kernel=smooth")
        assert new != expected[titles[0]]

        # Ranges of messages cover the name, whatever stands before it.
        (message,) = [
            d for d in c.diagnostics(path, 2) if d["code"] == "rewritable"
        ]
        assert text_at(changed, message["range"]) == "smooth"

        # The rewritten text can be asked again: nothing to do any more.
        c.change(path, expected[titles[0]])
        again = actions("smooth(", text=expected[titles[0]])
        assert again == [], again
        codes = [d["code"] for d in c.diagnostics(path, 3)]
        assert codes and "parse-error" not in codes and "rewritable" not in codes, codes
        assert c.end() == 0

    # A kernel from a header is offered at its launch; the header stays.
    cut = TEXT.index("void run")
    with open(os.path.join(folder, "kernels.h"), "w") as f:
        f.write(TEXT[:cut])
    launches = '#include "kernels.h"\n' + TEXT[cut:]
    with Client(["rcache-lsp", "--patience=60000", "--", *flags]) as c:
        path = os.path.join(folder, "launches.cu")
        c.open(path, launches)
        found = c.request(
            "textDocument/codeAction",
            c.actions_at(path, position_of(launches, "<<<")),
        )
        (message,) = [d for d in c.diagnostics(path) if d["code"] == "rewritable"]
        assert text_at(launches, message["range"]) == "smooth"
        new = apply_edits(launches, edits_of(found[0], path, False))
        assert new == command_line(launches, "--kernel=smooth")
        assert c.end() == 0

    # Of two kernels with one name, in a namespace and not, only one is meant.
    start = TEXT.index("/* µ")
    kernel = TEXT[start : TEXT.index("__global__ void gather")]
    inner = "namespace ns {\n" + kernel.replace("2 * RADIUS", "RADIUS") + "}\n"
    twins = TEXT[:start] + inner + TEXT[start:].replace(
        "  gather<<<", "  ns::smooth<<<(n + 255) / 256, 256>>>(in, out, n);\n  gather<<<"
    )
    with Client(["rcache-lsp", "--patience=60000", "--", *flags]) as c:
        path = os.path.join(folder, "twins.cu")
        c.open(path, twins)
        for nth, name in ((0, "ns::smooth"), (1, "smooth")):
            found = c.request(
                "textDocument/codeAction",
                c.actions_at(path, position_of(twins, "smooth", nth)),
            )
            assert found[0]["title"] == "Rewrite %s with the register cache" % name
            new = apply_edits(twins, edits_of(found[0], path, False))
            assert new == command_line(twins, "--kernel=::" + name)
            assert ("ns::smooth<<<" in new) == (name == "smooth")
        assert c.end() == 0

    # Two kernels: each alone, and both together; edits with the version.
    two = TEXT.replace("void gather", "void unused") + TEXT[
        TEXT.index("/* µ") : TEXT.index("__global__ void gather")
    ].replace("smooth", "soften").replace("2 * RADIUS", "RADIUS")
    two += "void more(float *a, float *b, int n) { soften<<<n / 256, 256>>>(a, b, n); }\n"
    two = two.replace("  gather<<<n / 256, 256>>>(in, out);\n", "")
    versioned = {"workspace": {"workspaceEdit": {"documentChanges": True}}}
    with Client(["rcache-lsp", "--patience=60000", "--", *flags], versioned) as c:
        path = os.path.join(folder, "with space é.cu")
        c.open(path, two)
        found = c.request(
            "textDocument/codeAction", c.actions_at(path, position_of(two, "soften"))
        )
        print("offered:", *[a["title"] for a in found], sep="\n  ")
        by_title = {a["title"]: a for a in found}
        alone = by_title["Rewrite soften with the register cache"]
        assert alone["edit"]["documentChanges"][0]["textDocument"]["version"] == 1
        assert apply_edits(two, edits_of(alone, path, True)) == command_line(
            two, "--kernel=soften"
        )
        both = by_title["Rewrite all kernels of the file with the register cache"]
        assert apply_edits(two, edits_of(both, path, True)) == command_line(two)
        try:
            c.request("textDocument/codeAction", c.actions_at("/no/such.cu", {"line": 0, "character": 0}))
            assert False, "a document that is not open"
        except LspError as error:
            assert error.code == -32602
        assert c.end() == 0


main()
print("done")
