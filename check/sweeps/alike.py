#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does `rcache-check sums` tell texts apart that round differently, and only those?

Random kernels (loops, branches, calls, shared and constant memory) in which each sum has one
product at most, so that what nvcc fuses is known, are written twice: as they are, and with
__fmaf_rn. Then one sum of the second text is made wrong: split into product and sum, given
another sign, or another factor.

  alike.py [FIRST LAST] [--check=rcache-check]

Right texts that are "different" are lost to the rewriter (nvcc hoists, shares or folds a
product where it may); a wrong text that is "alike" is an error: status 1. Where a wrong text
gives the very PTX of the right one (the sum is not used), it is not wrong.
"""
import collections
import os
import random
import re
import subprocess
import sys
import tempfile

CALLS = ["sqrtf(fabsf(%s))", "expf(%s)", "fmaxf(%s, w)", "(1.0f / %s)"]
WRONG = {
    "split": "__fadd_rn(__fmul_rn({0}, {1}), {2})",
    "sign": "__fmaf_rn(-({0}), {1}, {2})",
    "factor": "__fmaf_rn({0}, {2}, {1})",
}


def leaf(r):
    return r.choice([f"x[g + {r.randrange(40)}]", f"s[t + {r.randrange(30)}]", "a", "b",
                     r.choice(["w", "u"]), r.choice(["0.3f", "1.5f", "-0.7f", "3.0f", "c[2]"])])


def operand(r, depth):
    """The text of a value, and the same with what is fused said."""
    if depth <= 0 or r.random() < 0.5:
        text = leaf(r)
        return text, text
    return total(r, depth - 1)


def total(r, depth):
    (a, A), (b, B), (c, C), (e, E) = (operand(r, depth) for _ in range(4))
    kind = r.randrange(6)
    if kind == 0:
        return f"({a} + {b})", f"__fadd_rn({A}, {B})"
    if kind == 1:
        return f"({a} - {b})", r.choice([f"__fadd_rn({A}, -({B}))", f"__fsub_rn({A}, {B})"])
    if kind == 2:
        return f"({a} * {b} + {c})", r.choice([f"__fmaf_rn({A}, {B}, {C})",
                                               f"__fmaf_rn(-({B}), -({A}), {C})"])
    if kind == 3:
        return f"({c} - {a} * {b})", r.choice([f"__fmaf_rn(-({A}), {B}, {C})",
                                               f"__fmaf_rn({A}, -({B}), {C})"])
    if kind == 4:
        return f"({a} * {b} - {c})", f"__fmaf_rn({A}, {B}, -({C}))"
    return f"({a} * {b} * {e} + {c})", f"__fmaf_rn(__fmul_rn({A}, {B}), {E}, {C})"


def statements(r, depth):
    plain, said = [], []
    for _ in range(r.randrange(1, 4)):
        kind = r.randrange(6) if depth else 5
        v = r.choice("ab")
        if kind == 0:
            i = "ijk"[depth]
            head = (r.choice(["", "#pragma unroll 1\n", "#pragma unroll 2\n"]) +
                    f"for (int {i} = 0; {i} < {r.choice(['n', '3', '4', '12'])}; ++{i}) {{")
            p, q = statements(r, depth - 1)
            one, two = f"x[{i} * m + t]", f"x[{i} * m + t + 5]"
            plain += [head, f"{v} = {one} * {two} + {v};"] + p + ["}"]
            said += [head, f"{v} = __fmaf_rn({two}, {one}, {v});"] + q + ["}"]
        elif kind == 1:
            p, q = statements(r, depth - 1)
            head = f"if (n > {r.randrange(9)}) {{"
            plain += [head] + p + ["}"]
            said += [head] + q + ["}"]
        else:
            e, E = total(r, 1 if kind == 2 else 2)
            call = r.choice(CALLS) if kind == 2 else "%s"
            plain.append(f"{v} = {call % e};")
            said.append(f"{v} = {call % E};")
    return plain, said


def kernel(seed):
    r = random.Random(seed)
    texts = []
    for body in statements(r, 2):
        texts.append(f"""__global__ void k{seed}(const float *x, float *y, float w, float u, int n, int m) {{
  __shared__ float s[300]; int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = x[g]; if (t < 44) s[t + 256] = x[g + 256]; __syncthreads();
  float a = x[g + 1], b = s[t + 2];
""" + "\n".join(body) + "\n  y[g] = a; y[g + 70000] = b;\n}\n")
    return texts


def arguments(text, at):
    """Of the call whose name ends in front of `at`, and where it ends."""
    depth, parts, begin = 0, [], at + 1
    for i in range(at, len(text)):
        if text[i] in "([":
            depth += 1
        elif text[i] in ")]":
            depth -= 1
            if not depth:
                return parts + [text[begin:i]], i
        elif text[i] == "," and depth == 1:
            parts.append(text[begin:i])
            begin = i + 1
    raise ValueError(text)


def wrong(text, form, r):
    calls = [m for m in re.finditer("__fmaf_rn", text)]
    if not calls:
        return text
    call = r.choice(calls)
    parts, end = arguments(text, call.end())
    return text[:call.start()] + form.format(*parts) + text[end + 1:]


def ptx(folder, name):
    out = subprocess.run(["nvcc", "-ptx", "-arch=sm_90", name, "-o", "-"], cwd=folder,
                         capture_output=True, text=True, check=True).stdout
    return {m[1]: re.sub(r"BB\d+", "BB", m[2])
            for m in re.finditer(r"entry _Z\d+(k\d+)P(.*?)\n}", out, re.S)}


def verdicts(check, folder, *names):
    out = subprocess.run([check, "sums", *names], cwd=folder, capture_output=True, text=True)
    return {m[1]: m[2] for m in re.finditer(r"(k\d+)\(.*?\.cu: (\S+?)[,\n]", out.stdout)}


def main(arguments):
    check = "rcache-check"
    for a in [a for a in arguments if a.startswith("--check=")]:
        check = os.path.abspath(a.split("=", 1)[1])
    first, last = ([int(a) for a in arguments if a.isdigit()] + [0, 239])[:2]
    pairs = [kernel(seed) for seed in range(first, last + 1)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        def write(name, texts):
            with open(os.path.join(folder, name), "w") as f:
                f.write("__constant__ float c[4];\n" + "".join(texts))
        write("plain.cu", [p for p, _ in pairs])
        write("said.cu", [q for _, q in pairs])
        for name in ("plain.cu", "said.cu"):
            found = collections.Counter(verdicts(check, folder, "plain.cu", name).values())
            print(f"{name}: " + ", ".join(f"{n} {v}" for v, n in sorted(found.items())))
        right = ptx(folder, "said.cu")
        for form, text in WRONG.items():
            r = random.Random(form)
            write("wrong.cu", [wrong(q, text, r) for _, q in pairs])
            code = ptx(folder, "wrong.cu")
            told = verdicts(check, folder, "said.cu", "wrong.cu")
            bad = [k for k, v in told.items() if v == "alike" and code[k] != right[k]]
            failed += len(bad)
            found = collections.Counter(told.values())
            print(f"one {form} wrong: " + ", ".join(f"{n} {v}" for v, n in sorted(found.items())) +
                  f"; {len(bad)} alike with other code" + (": " + " ".join(bad) if bad else ""))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
