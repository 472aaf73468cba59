#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes every candidate of the suite, without rcache: exhaustive search's half.

usage: candidates.py FOLDER [--arch sm_90] [--nvcc PATH]

Each program of this folder is written once for each bound on the blocks of an SM
that changes the registers its kernel may have, once more with spilling to shared
memory where ptxas spills, and is listed with some of -maxrregcount. FOLDER/list has
a line each: kind, candidate, file, flags, then registers and spilled bytes of ptxas.
run.sh in FOLDER builds and times them.
"""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
KERNEL = {  # the kernel that is timed, and the threads of its block
    "chemistry": ("sourceTerm", 128), "cholesky": ("factor", 64), "euler3d": ("flux", 192),
    "fdtd3d": ("fdtd", 256), "fir": ("fir", 128), "lbm": ("collide", 256), "lstm": ("cell", 128),
    "md5": ("md5", 256), "md_forces": ("forces", 256), "nbody": ("gravity", 128),
    "raytri": ("trace", 192), "sha256": ("mine", 256),
}
PRAGMA = '\n  asm volatile(".pragma \\"enable_smem_spilling\\";");'
WARPS, REGISTERS, UNIT, BLOCKS = 64, 65536, 8, 32  # of an SM


def hinted(text, kernel, threads, blocks, spilling):
    bounds = f"__launch_bounds__({threads}" + (f", {blocks}) " if blocks else ") ")
    at = re.search(r"__global__ void (%s)\(" % kernel, text)
    text = text[: at.start(1)] + bounds + text[at.start(1):]
    if spilling:
        at = text.index("{", text.index(")", at.end()))
        text = text[: at + 1] + PRAGMA + text[at + 1:]
    return text


def report(nvcc, arch, path, kernel, flags=()):
    done = subprocess.run([nvcc, "-std=c++17", "-cubin", f"-arch={arch}", "-Xptxas", "-v", "-w", *flags, "-o",
                           "/dev/null", str(path)], capture_output=True, text=True)
    m = re.search(r"entry function '\S*%d%s\S*'.*?(\d+) bytes spill stores, (\d+) bytes spill loads.*?Used (\d+) reg.*?$"
                  % (len(kernel), kernel), done.stderr, re.S | re.M)
    return (int(m[3]), int(m[1]), int(m[2])) if done.returncode == 0 and m else None


def limits(threads):
    """Bounds on the blocks of an SM, one for each number of registers they leave."""
    seen, out = set(), []
    warps = (threads + 31) // 32
    for blocks in range(1, min(WARPS // warps, BLOCKS) + 1):
        limit = min(255, REGISTERS // (blocks * warps * 32) // UNIT * UNIT)
        if limit >= 24 and limit not in seen:
            seen.add(limit)
            out.append(blocks)
    return out


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--arch", default="sm_90")
    p.add_argument("--nvcc", default="nvcc")
    o = p.parse_args()
    o.folder.mkdir(parents=True, exist_ok=True)
    (o.folder / "timing.h").write_text((HERE / "timing.h").read_text())
    (o.folder / "run.sh").write_text((HERE / "run.sh").read_text())
    jobs = []

    def add(kind, name, text, flags=()):
        path = o.folder / f"{kind}.{name}.cu"
        path.write_text(text)
        jobs.append((kind, name, path, flags))

    for kind, (kernel, threads) in KERNEL.items():
        text = (HERE / f"{kind}.cu").read_text()
        add(kind, "original", text)
        for regs in (48, 64, 128):
            add(kind, f"maxrregcount{regs}", text, (f"-maxrregcount={regs}",))
        add(kind, "bounds0", hinted(text, kernel, threads, 0, False))
        for blocks in limits(threads):
            for spilling in (False, True):
                add(kind, f"bounds{blocks}" + ("s" if spilling else ""),
                    hinted(text, kernel, threads, blocks, spilling))
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda j: report(o.nvcc, o.arch, j[2], KERNEL[j[0]][0], j[3]), jobs))
    told = {(j[0], j[1]): r for j, r in zip(jobs, found)}
    lines, seen = [], set()
    for (kind, name, path, flags), said in zip(jobs, found):
        plain = told.get((kind, name[:-1])) if name.endswith("s") else None
        same = name.startswith("bounds") and not plain and (kind, said) in seen
        if said is None or same or (plain and not plain[1]):
            path.unlink()
            continue
        if name.startswith("bounds"):
            seen.add((kind, said))
        lines.append(" ".join([kind, name, path.name, ",".join(flags) or "-", *map(str, said)]))
    (o.folder / "list").write_text("\n".join(lines) + "\n")
    print(len(lines), "candidates")


main()
