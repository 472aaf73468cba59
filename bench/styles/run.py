#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs in the styles of public code: each kernel's time, original beside the default choice.

    bench/styles/run.py rewrite RCACHE-REWRITE FOLDER [OPTION...]
                                                         rewrites the programs into FOLDER
                                                         (--gpu=H100: predicted for it)
    bench/styles/run.py time FOLDER                      times both there (GPU, nvcc, ncu)
    bench/styles/run.py count FOLDER                     counts instructions (GPU, nvcc, ncu)

Times are ncu's, microseconds, all launches of a kernel added up; caches are flushed before
each. *by rewritten*: how many launches took the rewritten form. Instructions are those of warps
for 32 threads of the original's grid, so that both programs' are for the same outputs; *issue*:
issue slots taken while an SM was active, percent; *warps*: resident on an SM.
"""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))


def rewrite(tool, folder, *options):
    os.makedirs(folder, exist_ok=True)
    for name in sorted(os.listdir(HERE)):
        if name.endswith((".cu", ".h")):
            shutil.copy(os.path.join(HERE, name), folder)
    for name in sorted(os.listdir(folder)):
        stem, ext = os.path.splitext(name)
        if ext == ".cu" and not stem.endswith("_rc"):
            path = os.path.join(folder, stem)
            subprocess.run([tool, path + ".cu", "-q", "--self-check=off", "-o", path + "_rc.cu",
                            "--report=" + path + ".json", *options], check=True)


def build(path):
    return subprocess.run(["nvcc", "-O3", "-std=c++17", "-arch=sm_90", "-w", path + ".cu", "-o",
                           path + ".exe"]).returncode == 0


def bare(name):
    """A kernel's name without type, arguments and namespaces that have no name."""
    name = re.sub(r"^void |<unnamed>::|\(anonymous namespace\)::", "", name)
    return re.match(r"[\w:]+", name).group(0)


def measured(path, *options):
    """The rows of ncu's table, each kernel's name without arguments."""
    ncu = subprocess.run(["ncu", *options, "--clock-control", "none", "--csv", path + ".exe"],
                         capture_output=True, text=True)
    lines = [line for line in ncu.stdout.splitlines() if line.startswith('"')]
    for row in csv.DictReader(io.StringIO("\n".join(lines))):
        yield bare(row["Kernel Name"]), row


def times(path, *options):
    """Kernel -> [microseconds, launches, those of a rewritten form]."""
    scale = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3}
    out = {}
    for name, row in measured(path, *options, "--metrics", "gpu__time_duration.sum"):
        new = re.match(r"(.*?)_rc(_\w+)?$", name)
        of = out.setdefault(new.group(1) if new else name, [0, 0, 0])
        of[0] += float(row["Metric Value"].replace(",", "")) * scale[row["Metric Unit"]]
        of[1] += 1
        of[2] += bool(new)
    return out


METRICS = {"instructions": "smsp__inst_executed.sum",
           "issue": "smsp__issue_active.avg.pct_of_peak_sustained_active",
           "resident": "sm__warps_active.avg.per_cycle_active",
           "blocks": "launch__grid_size", "threads": "launch__block_size"}


def counted(path):
    """Kernel -> its metrics, of all launches; 'new': of a rewritten form."""
    out = {}
    for name, row in measured(path, "--print-units", "base", "--metrics",
                              ",".join(METRICS.values())):
        new = re.match(r"(.*?)_rc(_\w+)?$", name)
        of = out.setdefault(new.group(1) if new else name, {"new": False, "launches": {}})
        of["new"] |= bool(new)
        what = next(k for k, v in METRICS.items() if v == row["Metric Name"])
        of["launches"].setdefault(row["ID"], {})[what] = float(row["Metric Value"].replace(",", ""))
    return out


def count(folder):
    print(f"{'file':6} {'kernel':28} {'original':>10} {'issue':>6} {'warps':>6} "
          f"{'rewritten':>10} {'issue':>6} {'warps':>6}")
    for stem, path in built(folder):
        before, after = counted(path), counted(path + "_rc")
        for name, old in before.items():
            if name not in after or not after[name]["new"]:
                continue
            launches = old["launches"].values()
            warps = sum(x["blocks"] * x["threads"] / 32 for x in launches)
            line = f"{stem:6} {name[:28]:28}"
            for of in (launches, after[name]["launches"].values()):
                line += (f" {sum(x['instructions'] for x in of) / warps:10.1f}"
                         f" {sum(x['issue'] for x in of) / len(of):6.0f}"
                         f" {sum(x['resident'] for x in of) / len(of):6.1f}")
            print(line, flush=True)


def predictions(path):
    out = {}
    for report in json.load(open(path + ".json"))["files"]:
        for kernel in report["kernels"]:
            speedup = (kernel.get("plan") or {}).get("predictedSpeedup")
            if speedup:
                out.setdefault(bare(kernel["name"]), []).append(f"{speedup:.2f}")
    return out


def built(folder):
    """Compiles the programs: their names and paths."""
    stems = sorted(f[:-len("_rc.cu")] for f in os.listdir(folder) if f.endswith("_rc.cu"))
    paths = [os.path.join(folder, s) for s in stems]
    with ThreadPoolExecutor() as pool:
        if not all(pool.map(build, paths + [p + "_rc" for p in paths])):
            sys.exit("a program does not compile")
    return zip(stems, paths)


def time(folder):
    print(f"{'file':6} {'kernel':28} {'original':>10} {'rewritten':>10} {'ratio':>6} "
          f"{'predicted':>10}  by rewritten")
    for stem, path in built(folder):
        before, after, predicted = times(path), times(path + "_rc"), predictions(path)
        for name, (old, _, _) in before.items():
            if name in after:
                new, launches, rewritten = after[name]
                print(f"{stem:6} {name[:28]:28} {old:10.1f} {new:10.1f} {old / new:6.2f} "
                      f"{'/'.join(predicted.get(name, ['-'])[:2]):>10}  {rewritten} of {launches}",
                      flush=True)


if __name__ == "__main__":
    if len(sys.argv) >= 4 and sys.argv[1] == "rewrite":
        rewrite(*sys.argv[2:])
    elif len(sys.argv) == 3 and sys.argv[1] == "time":
        time(sys.argv[2])
    elif len(sys.argv) == 3 and sys.argv[1] == "count":
        count(sys.argv[2])
    else:
        sys.exit(__doc__)
