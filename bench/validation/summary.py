#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what run.sh measured.

usage: summary.py RESULTS.json          the table and the verdict
       summary.py --collect FOLDER      FOLDER/*.report to report.json, declines.txt
       summary.py --join RAW REPORT RESULTS DEVICE COMPILER
Exit status: 1 when results differ or a program failed.
"""
import datetime
import glob
import json
import math
import os
import statistics
import sys


def same_name(name):
    return name.replace(" ", "")


def collect(folder):
    kernels = []
    version = ""
    for path in sorted(glob.glob(os.path.join(folder, "*.report"))):
        program = os.path.basename(path)[: -len(".report")]
        # Files are told from the project's folder on, wherever that is.
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        with open(path) as f:
            report = json.loads(f.read().replace(root + "/", ""))
        version = report.get("version", "")
        for file in report["files"]:
            for k in file["kernels"]:
                if k["verdict"] == "not-shared":
                    continue
                entry = {
                    "program": program,
                    "name": same_name(k["name"]),
                    "verdict": k["verdict"],
                    "line": k["line"],
                    "launches": k.get("launches", {}),
                    "declines": k.get("declines", []),
                    "notes": k.get("notes", []),
                    "summary": k.get("summary", ""),
                }
                if "plan" in k:
                    plan = k["plan"]
                    entry["predicted"] = plan.get("predictedSpeedup", plan.get("measuredSpeedup"))
                    entry["byBlocks"] = plan.get("predictedByBlocks", [])
                    entry["coarsening"] = plan["coarsening"]
                    choice = k.get("choice", {})
                    entry["predictedUnaligned"] = choice.get("unalignedSpeedup")
                    if "chosen" in choice:
                        chosen = choice["candidates"][choice["chosen"]]
                        entry["limit"] = chosen.get("limit", "")
                        entry["originalLimit"] = choice["original"].get("limit", "")
                        entry["form"] = chosen.get("form", "")
                kernels.append(entry)
        os.remove(path)
    with open(os.path.join(folder, "report.json"), "w") as f:
        json.dump({"version": version, "kernels": kernels}, f, indent=1)
    with open(os.path.join(folder, "declines.txt"), "w") as f:
        for k in kernels:
            for d in k["declines"]:
                detail = d.get("detail") or ""
                f.write(f"{k['program']}.cu:{d.get('line', k['line'])} {k['name']}: {d['code']}: {d['text']}"
                        f"{' (' + detail + ')' if detail else ''}; {d.get('advice', '')}\n")
    rewritten = [k for k in kernels if k["verdict"] == "rewritten"]
    for k in rewritten:
        print(f"{k['program'] + ' ' + k['name']:<50} {k.get('predicted') or 0:5.2f}x  {k['summary'][:90]}")
    print(f"{len(rewritten)} of {len(kernels)} kernels are rewritten")


def join(raw, report, results, device, compiler):
    with open(report) as f:
        report = json.load(f)
    rows, failures = {}, []
    with open(raw) as f:
        for line in f:
            what = line.split()
            if what[0] == "failed":
                failures.append(" ".join(what[1:]))
                continue
            program, form, _, name, size, ms, h, launches, taken, unaligned, blocks = what[1:]
            row = rows.setdefault((program, same_name(name), size), {"original": [], "rewritten": [], "hashes": set()})
            row[form].append(float(ms))
            row["hashes"].add(h)
            if form == "original":
                row["blocks"] = int(blocks) / max(1, int(launches))
            else:
                row["launches"], row["taken"], row["unaligned"] = int(launches), int(taken), int(unaligned)
    by_name = {(k["program"], k["name"]): k for k in report["kernels"]}
    measurements = []
    for (program, name, size), row in rows.items():
        k = by_name.get((program, name)) or by_name.get((program, name.split("<")[0])) or {}
        if not k:
            failures.append(f"{program} {name}: not in the tool's report")
        m = {"program": program, "name": name, "size": size, "verdict": k.get("verdict", "unknown"),
             "originalMs": row["original"], "rewrittenMs": row["rewritten"], "same": len(row["hashes"]) == 1}
        if row["rewritten"]:
            m["launches"], m["rewrittenLaunches"] = row["launches"], row["taken"]
            m["unalignedLaunches"] = row["unaligned"]
        if k.get("verdict") == "rewritten":
            m["predicted"] = k.get("predicted")
            if m.get("unalignedLaunches"):
                m["predicted"] = k.get("predictedUnaligned") or m["predicted"]
            m["limit"] = k.get("limit")
            if row.get("blocks"):
                m["blocks"] = round(row["blocks"])
                m["predictedOfGrid"] = of_grid(k, m)
        measurements.append(m)
    with open(results, "w") as f:
        json.dump({"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "device": device,
                   "compiler": compiler, "tool": report.get("version"), "command": "bench/validation/run.sh measure",
                   "failures": failures, "kernels": report["kernels"], "measurements": measurements}, f, indent=1)


def of_grid(kernel, launch):
    """What the report says of grids of the launch's blocks, a straight line between those that
    it names; None where it does not tell."""
    known = [(math.log(k["blocks"]), k["speedup"]) for k in kernel.get("byBlocks", [])]
    if not known:
        return None
    at = min(max(math.log(launch["blocks"]), known[0][0]), known[-1][0])
    speedup = known[-1][1]
    for (b0, s0), (b1, s1) in zip(known, known[1:]):
        if b0 <= at < b1:
            speedup = s0 + (s1 - s0) * (at - b0) / (b1 - b0)
            break
    if launch.get("unalignedLaunches") and kernel.get("predictedUnaligned") and kernel.get("predicted"):
        speedup *= kernel["predictedUnaligned"] / kernel["predicted"]
    return speedup


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def show(results):
    with open(results) as f:
        r = json.load(f)
    print(f"{r['date']}, {r['device']}, {r['compiler']}, rcache {r['tool']}")
    print(f"{'program':<18} {'kernel':<26} {'size':>12} {'original':>9} {'rewritten':>9} {'measured':>8} "
          f"{'predicted':>9} {'ratio':>6}")
    pairs, bad = [], list(r["failures"])
    # What a launch takes that does next to nothing: no prediction is about that.
    floor = min((min(m["originalMs"]) / max(1, m.get("launches", 1)) for m in r["measurements"] if m["originalMs"]),
                default=0)
    for m in r["measurements"]:
        if m["verdict"] != "rewritten" or not (m["originalMs"] and m["rewrittenMs"]):
            continue
        original, rewritten = statistics.median(m["originalMs"]), statistics.median(m["rewrittenMs"])
        m["speedup"] = original / rewritten
        # A launch for which the launch function takes the original is predicted to gain nothing.
        m["left"] = m["rewrittenLaunches"] == 0
        claim = m.get("predictedOfGrid") or m["predicted"] or float("nan")
        least = min(original, floor * max(1, m["launches"]))
        claim = original / (least + (original - least) / claim)
        m["claim"] = 1.0 if m["left"] else claim
        spread = max(max(t) / min(t) for t in (m["originalMs"], m["rewrittenMs"]))
        marks = "".join([" original runs" if m["left"] else "",
                         f" {m['rewrittenLaunches']} of {m['launches']} launches"
                         if 0 < m["rewrittenLaunches"] < m["launches"] else "",
                         f" (runs differ by {spread - 1:.0%})" if spread > 1.05 else "",
                         "" if m["same"] else " DIFFERS"])
        print(f"{m['program'][:18]:<18} {m['name'][:26]:<26} {m['size']:>12} {original:9.4f} {rewritten:9.4f} "
              f"{m['speedup']:7.2f}x {m['claim']:8.2f}x {m['speedup'] / m['claim']:6.2f}{marks}")
        pairs.append(m)
    bad += [f"{m['program']} {m['name']} {m['size']}: results differ" for m in r["measurements"] if not m["same"]]

    taken = [m for m in pairs if not m["left"]]
    slower = [m for m in pairs if m["speedup"] < 0.98]
    near = [m for m in taken if abs(m["claim"] / m["speedup"] - 1) <= 0.25]
    near_all = [m for m in pairs if abs(m["claim"] / m["speedup"] - 1) <= 0.25]
    kernels = {(k["program"], k["name"]): k for k in r["kernels"]}
    rewritten = [k for k in kernels.values() if k["verdict"] == "rewritten"]
    never = {(m["program"], m["name"]) for m in pairs} - {(m["program"], m["name"]) for m in taken}
    print()
    print(f"kernels: {len(kernels)}, rewritten: {len(rewritten)}, of these never taken at these sizes: {len(never)}")
    print(f"launches of rewritten kernels: {len(taken)} run the rewritten form, "
          f"{len(pairs) - len(taken)} are left to the original")
    print(f"below 0.98x: {len(slower)}" + "".join(
        f"\n    {m['program']} {m['name']} {m['size']}: {m['speedup']:.2f}x, predicted {m['claim']:.2f}x" for m in slower))
    if taken:
        print(f"predictions within 25%: {len(near)} of {len(taken)} ({len(near) / len(taken):.0%}) where the rewritten "
              f"form runs, {len(near_all)} of {len(pairs)} ({len(near_all) / len(pairs):.0%}) with launches left at 1.00x")
        print(f"geometric means where the rewritten form runs: measured {mean([m['speedup'] for m in taken]):.2f}x, "
              f"predicted {mean([m['claim'] for m in taken]):.2f}x, "
              f"ratio {mean([m['speedup'] / m['claim'] for m in taken]):.2f}")
    for b in bad:
        print(f"FAILED: {b}")
    return 1 if bad else 0


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--collect":
        collect(sys.argv[2])
    elif len(sys.argv) == 7 and sys.argv[1] == "--join":
        join(*sys.argv[2:])
    elif len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        return show(sys.argv[1])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
