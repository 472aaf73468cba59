#!/usr/bin/env python3
# Says of each kernel that was asked for: the program that executed it was killed.
import json, sys

names = [a.split("=", 1)[1] for a in sys.argv if a.startswith("--kernel=")]
print(json.dumps({
    "device-code": "nobody's",
    "messages": "",
    "kernels": [{"kernel": n, "symbol": "", "verdict": "could-not-run", "by-rewritten": 0,
                 "compared": 0, "raced": 0, "left-out": 0,
                 "message": "killed by signal 11 (Segmentation fault)", "ran": []}
                for n in names]}))
