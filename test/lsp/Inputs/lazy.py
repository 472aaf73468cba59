# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Actions whose edits come when they are chosen, work in progress, links to the
documentation, the page of --explain, and headers.

    lazy.py FOLDER DOCS -- COMPILER-FLAGS...
"""

import json
import os
import subprocess
import sys

from client import Client, LspError, apply_edits, position_of, uri

folder, docs, flags = sys.argv[1], sys.argv[2], sys.argv[4:]
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "kernels.cu")) as f:
    ONE = f.read()
# A second kernel that can be rewritten.
TEXT = ONE + ONE[ONE.index("__global__ void smooth"):ONE.index("__global__ void gather")].replace("smooth", "soften")
TEXT += "void more(float *a, float *b, int n) { soften<<<n / 256, 256>>>(a, b, n); }\n"
CAPABILITIES = {
    "window": {"workDoneProgress": True},
    "workspace": {"workspaceEdit": {"documentChanges": True}},
    "textDocument": {"codeAction": {"dataSupport": True, "resolveSupport": {"properties": ["edit"]}}},
}


def command_line(text, *options):
    path = os.path.join(folder, "reference.cu")
    with open(path, "w") as f:
        f.write(text)
    return subprocess.run(["rcache-rewrite", "-q", path, *options, "--", *flags], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def lazy_actions(path):
    # With a patience of nothing: who sees progress waits.
    with Client(["rcache-lsp", "--patience=1", "--docs=" + docs, "--", *flags], CAPABILITIES) as c:
        assert c.capabilities["codeActionProvider"]["resolveProvider"] is True
        c.open(path, TEXT)
        found = c.request("textDocument/codeAction", c.actions_at(path, position_of(TEXT, "smooth", 0)))
        titles = [a["title"] for a in found]
        print("offered:", *titles, sep="\n  ")
        assert all("edit" not in a and a["data"]["file"] == path for a in found)
        for title, options in (("Rewrite smooth with the register cache", ["--kernel=::smooth"]),
                               ("Rewrite smooth with the register cache, coarsening 2", ["--kernel=::smooth", "--coarsen=2"])):
            whole = c.request("codeAction/resolve", found[titles.index(title)])
            (document,) = whole["edit"]["documentChanges"]
            assert document["textDocument"] == {"uri": uri(path), "version": 1}
            assert apply_edits(TEXT, document["edits"]) == command_line(TEXT, *options), title
        whole = c.request("codeAction/resolve", next(a for a in found if "all kernels" in a["title"]))
        assert apply_edits(TEXT, whole["edit"]["documentChanges"][0]["edits"]) == command_line(TEXT)

        # No two entries give the same text, before the variants are known and after.
        again = c.request("textDocument/codeAction", c.actions_at(path, position_of(TEXT, "smooth", 0)))
        assert set(a["title"] for a in again) <= set(titles), again
        for listed in (found, again):
            edits = []
            for action in listed:
                try:
                    edits.append(json.dumps(c.request("codeAction/resolve", action)["edit"]))
                except LspError as e:
                    assert listed is found and "cannot have" in str(e), e
            assert len(set(edits)) == len(edits) > 2, titles

        # Nothing that was offered for another text is applied to this one.
        c.change(path, TEXT + "\n")
        try:
            c.request("codeAction/resolve", found[0])
            sys.exit("an old action was completed")
        except LspError as e:
            assert e.code == -32801, e
        # An action that is complete, or of somebody else, comes back as it is.
        assert c.request("codeAction/resolve", {"title": "t", "kind": "x"}) == {"title": "t", "kind": "x"}
        for wrong in ({}, [], {"title": 3}):
            try:
                c.request("codeAction/resolve", wrong)
                sys.exit("%r was taken" % wrong)
            except LspError as e:
                assert e.code == -32602, e

        # Work in progress: created, begun, ended, each token once.
        c.request("textDocument/hover", {"textDocument": {"uri": uri(path)}, "position": {"line": 0, "character": 0}})
        messages = c.notifications
        progress = [m["params"] for m in messages if m["method"] == "$/progress"]
        made = [m["params"]["token"] for m in messages if m["method"] == "window/workDoneProgress/create"]
        begun = [p["token"] for p in progress if p["value"]["kind"] == "begin"]
        ended = [p["token"] for p in progress if p["value"]["kind"] == "end"]
        assert begun == made and len(set(begun)) == len(begun) and set(ended) <= set(begun), progress

        # Declines link to their page.
        listed = c.diagnostics(path, 2)
        linked = [d for d in listed if "codeDescription" in d]
        assert linked and all(d["code"] != "rewritable" for d in linked)
        for d in linked:
            page = d["codeDescription"]["href"]
            assert page.startswith("file://") and os.path.exists(page[len("file://"):]), page

        # The page of --explain is that of the text in the editor.
        page = c.request("rcache/explain", {"textDocument": {"uri": uri(path)}})["html"]
        data = json.loads(page.split('id="report">', 1)[1].split("</script>", 1)[0])
        assert data["files"][0]["source"] == TEXT + "\n"
        assert any(k["verdict"] == "rewritten" for k in data["files"][0]["kernels"])
        c.change(path, "int f(")
        try:
            c.request("rcache/explain", {"textDocument": {"uri": uri(path)}})
            sys.exit("a text with errors was explained")
        except LspError as e:
            assert e.code == -32803 and "error" in str(e), e


def from_the_build():
    """Without --docs, a program in its build folder links to the source tree; a file that
    rcache-rewrite wrote has one hint, however many kernels."""
    path = os.path.join(folder, "written.cu")
    with Client(["rcache-lsp", "--", *flags], CAPABILITIES) as c:
        c.open(path, command_line(TEXT))
        listed = [d for d in c.diagnostics(path, 1) if d["code"] == "already-rewritten"]
        assert len(listed) == 1, listed
        page = listed[0]["codeDescription"]["href"]
        assert os.path.samefile(page[len("file://"):], os.path.join(docs, "declines", "already-rewritten.md")), page


def headers():
    """A header without a command is analysed in a source that includes it."""
    root = os.path.join(folder, "project")
    os.makedirs(os.path.join(root, "inc"), exist_ok=True)
    header, source = os.path.join(root, "inc", "kernels.cuh"), os.path.join(root, "main.cu")
    kernel = ("__global__ void k(const real *__restrict__ in, real *__restrict__ out, int n) {\n"
              "  __shared__ real s[128 + 4];\n  int g = blockIdx.x * 128 + threadIdx.x;\n  s[threadIdx.x] = in[g];\n"
              "  if (threadIdx.x < 4)\n    s[threadIdx.x + 128] = in[g + 128];\n  __syncthreads();\n  real sum = 0;\n"
              "  for (int i = 0; i <= 4; ++i)\n    sum += s[threadIdx.x + i];\n  out[g] = sum;\n}\n")
    with open(header, "w") as f:
        f.write("#error \"read from the disk\"\n")
    with open(source, "w") as f:
        f.write("typedef float real;\n#include \"inc/kernels.cuh\"\n"
                "void run(const real *in, real *out, int n) { k<<<n / 128, 128>>>(in, out, n); }\n")
    with open(os.path.join(root, "compile_commands.json"), "w") as f:
        json.dump([{"directory": root, "file": source, "arguments": ["clang++", *flags, "-c", source]}], f)
    with Client(["rcache-lsp"], CAPABILITIES) as c:
        c.open(header, kernel)
        (told,) = c.diagnostics(header)
        assert told["code"] == "rewritable" and "in 'main.cu'" in told["message"], told
        assert told["range"]["start"] == {"line": 0, "character": 16}, told
        # Headers are not edited: the kernel is written into the source.
        assert c.request("textDocument/codeAction", c.actions_at(header, position_of(kernel, "sum", 0))) == []


path = os.path.join(folder, "unsaved.cu")
lazy_actions(path)
from_the_build()
headers()
print("done")
