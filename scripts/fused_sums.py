#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which sums are fused with which products: the original against its rewritten form.

    scripts/fused_sums.py [--rewrite PROGRAM] [--machine-code] FILE.cu... [-- FLAGS]

Rewrites each file (--rewritten: they are rewritten ones), has nvcc make PTX of the
result, and compares for each kernel with a rewritten form how its sums are computed:
`add(x, x)`, `fma(x, p3, x)` (p3: the kernel's parameter 3; x: anything else). What ptxas
fuses of what PTX leaves apart is added by its rule (docs/soundness.md):
a product without a rounding mode whose uses are all sums.

    same       the same forms, and of each as many an output as of the others
    same set   the same forms; their numbers differ, as where loops are unrolled
               farther or borders have code of their own
    DIFFERS    a form that one of them has and the other has not (status 1)
    no sums    nothing to be fused

--machine-code: FADD, FMUL and FFMA that ptxas makes (sm_90) beside what the rule says:
a test of the rule. Two products of loaded values in one sum look alike either way;
executing both (rcache-check, --self-check) tells them apart.
"""

import argparse
import bisect
import collections
import os
import re
import struct
import subprocess
import sys
import tempfile

SUM = re.compile(r"(add|sub)(\.ftz)?\.(f32|f64|f16|f16x2|bf16|bf16x2)$")
PRODUCT = re.compile(r"mul(\.ftz)?\.(f32|f64|f16|f16x2|bf16|bf16x2)$")
# What ptxas makes branches of.
SLOW = re.compile(r"(div|sqrt|rcp)\.rn|div\.full|rsqrt\.approx\.f64")
FMA = re.compile(r"fma\.rn(\.ftz)?(\.sat)?\.(f32|f64|f16|f16x2|bf16|bf16x2)$")
COPY = re.compile(r"(mov\.(f32|f64|b16|b32|b64)|neg(\.ftz)?\.(f32|f64|f16|f16x2|bf16|bf16x2))$")


class Instruction:
    def __init__(self, op, operands, guarded):
        self.op, self.operands, self.guarded = op, operands, guarded
        self.fused = None  # which operand ptxas fuses

    def writes(self):
        return not re.match(r"(st|red|bra|bar|barrier|ret|exit)\b", self.op)


def split(text):
    """Operands, as `[a+4]`, `{b, c}` and names."""
    out, depth, word = [], 0, ""
    for c in text:
        depth += (c in "[{(") - (c in "]})")
        if c == "," and depth == 0:
            out.append(word.strip())
            word = ""
        else:
            word += c
    return out + [word.strip()] if word.strip() else out


def kernels(ptx):
    """(name, parameters, instructions) of each entry."""
    for m in re.finditer(r"\.entry\s+(\w+)\s*\(([^)]*)\)[^{;]*\{", ptx):
        params = re.findall(r"(\w+_param_\d+)", m[2])
        depth, end = 1, m.end()
        while depth:  # braces of inline asm, too
            depth += (ptx[end] == "{") - (ptx[end] == "}")
            end += 1
        body = re.sub(r"//[^\n]*", "", ptx[m.end() : end - 1])
        statements = [s.strip() for s in re.split(r";|(?<=:)\n", body)]
        out = []
        for s in statements:
            while label := re.match(r"(\$\w+):\s*", s):
                s = s[label.end() :]
            s = s.lstrip("{} \n\t") if s[:1] in ("{", "}") else s
            guard = re.match(r"@!?%\w+\s+", s)
            if guard:
                s = s[guard.end() :]
            if not s or s.startswith("."):
                continue
            op, _, rest = re.sub(r"\s+", " ", s).partition(" ")
            out.append(Instruction(op, split(rest), bool(guard)))
        yield m[1], params, out


class Kernel:
    def __init__(self, params, code):
        self.params = {p: i for i, p in enumerate(params)}
        self.code = code
        self.defs, self.uses = collections.defaultdict(list), collections.defaultdict(list)
        for i in code:
            read = i.operands[1:] if i.writes() else i.operands
            if i.writes() and i.operands:
                for r in re.findall(r"%\w+", i.operands[0]):
                    self.defs[r].append(i)
            for o in read:
                for r in re.findall(r"%\w+", o):
                    self.uses[r].append(i)
        self.fuse()

    def root(self, r):
        """The register that r is a copy of, or its negation."""
        for _ in range(64):
            d = self.defs.get(r, [])
            if len(d) != 1 or d[0].guarded or not COPY.match(d[0].op):
                return r
            if not re.fullmatch(r"%\w+", d[0].operands[1]):
                return r
            r = d[0].operands[1]
        return r

    def product(self, r):
        d = self.defs.get(r, [])
        return d[0] if len(d) == 1 and PRODUCT.match(d[0].op) and not d[0].guarded else None

    def all_uses(self, r):
        for u in self.uses[r]:
            if COPY.match(u.op) and not u.guarded and len(self.defs[u.operands[0]]) == 1:
                yield from self.all_uses(u.operands[0])
            else:
                yield u

    def fuse(self):
        """What ptxas does."""

        at = {id(i): n for n, i in enumerate(self.code)}
        slow = [n for n, i in enumerate(self.code) if SLOW.match(i.op)]

        def together(p, u):
            """In one block of machine code, as far as slow paths go; or with a factor
            that instructions name."""
            if any(self.leaf(o) != "x" or not o.startswith("%") for o in p.operands[1:3]):
                return True
            n = bisect.bisect(slow, at[id(p)])
            return n == len(slow) or slow[n] > at[id(u)]

        def may(r):
            p = self.product(r)
            return p and all(
                SUM.match(u.op) and not u.guarded and together(p, u)
                for u in self.all_uses(r)
            )

        lost = set()
        for i in self.code:
            if not SUM.match(i.op):
                continue
            sides = [self.root(o) for o in i.operands[1:3]]
            for k in (0, 1):
                if may(sides[k]) and sides[k] not in lost:
                    i.fused = k + 1
                    if may(sides[1 - k]):
                        lost.add(sides[1 - k])
                    break
        for i in self.code:
            if i.fused and self.root(i.operands[i.fused]) in lost:
                i.fused = None

    def leaf(self, o):
        r = self.root(o)
        d = self.defs.get(r, [])
        if len(d) == 1 and d[0].op.startswith("ld.param"):
            at = re.match(r"\[(\w+)(\+\d+)?\]", d[0].operands[1])
            if at and at[1] in self.params:
                return f"p{self.params[at[1]]}{at[2] or ''}"
        return "x"

    def forms(self):
        """How often each form of sum is there."""
        out = collections.Counter()
        for i in self.code:
            kind = i.op.rsplit(".", 1)[-1]
            if FMA.match(i.op):
                a, b, c = (self.leaf(o) for o in i.operands[1:4])
                out[f"{kind} fma({', '.join(sorted((a, b)))}, {c})"] += 1
            elif SUM.match(i.op) and i.fused:
                p = self.product(self.root(i.operands[i.fused]))
                a, b = (self.leaf(o) for o in p.operands[1:3])
                c = self.leaf(i.operands[3 - i.fused])
                out[f"{kind} fma({', '.join(sorted((a, b)))}, {c})"] += 1
            elif SUM.match(i.op):
                # x + x is a product by two, and exact, as x + 0.
                a, b = (self.leaf(o) for o in i.operands[1:3])
                zero = any(re.fullmatch("0[fd][08]0+", o) for o in i.operands)
                if i.operands[1] != i.operands[2] and not zero:
                    out[f"{kind} add({', '.join(sorted((a, b)))})"] += 1
        return out

    def counts(self):
        fused = sum(1 for i in self.code if i.fused)
        gone = {self.root(i.operands[i.fused]) for i in self.code if i.fused}
        number = lambda p: sum(1 for i in self.code if p.match(i.op))
        rn = lambda p: sum(1 for i in self.code if re.match(p, i.op))
        return {
            "FADD": number(SUM) + rn(r"(add|sub)\.rn") - fused,
            "FMUL": number(PRODUCT) + rn(r"mul\.rn") - len(gone),
            "FFMA": number(FMA) + fused,
        }


OPCODES = {
    0x020: "FMUL", 0x021: "FADD", 0x023: "FFMA",
    0x028: "FMUL", 0x029: "FADD", 0x02B: "FFMA",
    0x032: "FMUL", 0x030: "FADD", 0x031: "FFMA",
}  # fmt: skip


def machine_code(cubin):
    """FADD, FMUL and FFMA (or their forms for double and half) of each kernel, sm_7x and later."""
    data = open(cubin, "rb").read()
    (at,) = struct.unpack_from("<Q", data, 0x28)
    size, number, names = struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * size) for i in range(number)]
    for s in sections:
        begin = sections[names][4] + s[0]
        name = data[begin : data.index(b"\0", begin)].decode()
        if name.startswith(".text."):
            found = collections.Counter()
            for i in range(s[4], s[4] + s[5], 16):
                op = struct.unpack_from("<Q", data, i)[0] & 0x1FF
                if op in OPCODES:
                    found[OPCODES[op]] += 1
            yield name[6:], found


def demangled(names):
    out = subprocess.run(
        ["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True
    )
    return dict(zip(names, out.stdout.split("\n")))


def key(name):
    """`ns::k<float>` without what a static kernel has around it, and whether it is
    a rewritten one."""
    name = name.split("(")[0].split(" ")[-1] if "<" not in name else re.sub(r"\(.*", "", name)
    name = name.replace("void ", "").strip()
    name = re.sub(r"__nv_static_\w*?__(?=\w+_rc)", "", name)
    m = re.match(r"(.*?)_rc\w*?(<.*)?$", name)
    return ((m[1] + (m[2] or ""), True)) if m else (name, False)


def parameters(name):
    """`int, float*` of `void k<(bool)1>(int, float*)`."""
    at, depth = len(name) - 1, 0
    for at in range(len(name) - 1, -1, -1):
        depth += (name[at] == ")") - (name[at] == "(")
        if depth == 0:
            break
    return name[at + 1 :].rstrip(") ")


def compare(source, args, flags):
    with tempfile.TemporaryDirectory() as folder:
        new = source
        if not args.rewritten:
            new = os.path.join(folder, "rewritten.cu")
            done = subprocess.run(
                [args.rewrite, source, "-o", new, "--force", "--self-check=off", "--", *flags],
                capture_output=True, text=True,
            )  # fmt: skip
            if done.returncode or not os.path.exists(new):
                return [("", "not rewritten", done.stderr.strip().split("\n")[-1])]
        here = ["-I", os.path.dirname(os.path.abspath(source))]
        compiler = [args.nvcc, f"-arch={args.arch}", "-O3", "-std=c++17", "-w"]
        compiler += ["-DRCACHE_ANY_LAUNCH", *here, *flags, new]
        ptx = os.path.join(folder, "ptx")
        done = subprocess.run([*compiler, "-ptx", "-o", ptx], capture_output=True, text=True)
        if done.returncode:
            return [("", "NOT COMPILED", done.stderr.strip().split("\n")[0])]
        found = {n: Kernel(p, c) for n, p, c in kernels(open(ptx).read())}
        made = {}
        if args.machine_code:
            cubin = os.path.join(folder, "cubin")
            subprocess.run([*compiler, "-cubin", "-o", cubin], check=True, capture_output=True)
            made = dict(machine_code(cubin))
    plain = demangled(list(found))
    originals = collections.defaultdict(list)
    for n in found:
        if not key(plain[n])[1]:
            originals[key(plain[n])[0]].append(n)
    out = []
    for n in found:
        name, rewritten = key(plain[n])
        # Of overloads the one whose parameters the rewritten kernel's begin with.
        own = parameters(plain[n])
        fits = [o for o in originals[name] if own.startswith(parameters(plain[o]))]
        if not rewritten or not fits:
            continue
        original = max(fits, key=lambda o: len(parameters(plain[o])))
        a, b = found[original].forms(), found[n].forms()
        ratios = {b[f] / a[f] for f in a if f in b}
        if not a and not b:
            verdict = "no sums"
        elif set(a) != set(b):
            verdict = "DIFFERS"
        else:
            verdict = "same" if len(ratios) == 1 else "same set"
        detail = ""
        if verdict == "DIFFERS" or args.verbose:
            only = lambda x, y: ", ".join(f"{c} {f}" for f, c in sorted(x.items()) if args.verbose or f not in y)
            detail = f"original: {only(a, b) or 'none'}; rewritten: {only(b, a) or 'none'}"
        for label, k in (("original", original), ("rewritten", n)):
            if args.machine_code and a + b:
                by_rule = found[k].counts()
                detail += f"\n    {label}: by the rule {by_rule}, ptxas {dict(made.get(k, {}))}"
        out.append((name, verdict, detail))
    return out


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rewrite", default="build/bin/rcache-rewrite")
    parser.add_argument("--rewritten", action="store_true")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--machine-code", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("files", nargs="+")
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    args, flags = parser.parse_args(words[:at]), words[at + 1 :]
    total = collections.Counter()
    for source in args.files:
        for name, verdict, detail in compare(source, args, flags):
            total[verdict] += 1
            print(f"{os.path.basename(source)}: {name}: {verdict}{': ' if detail else ''}{detail}", flush=True)
    print(", ".join(f"{n} {v}" for v, n in sorted(total.items())))
    return 1 if total["DIFFERS"] or total["NOT COMPILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
