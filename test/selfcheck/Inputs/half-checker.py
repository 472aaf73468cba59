#!/usr/bin/env python3
# Says of each kernel that was asked for: all equal, but for blocks of 512 threads.
import json, sys

names = [a.split("=", 1)[1] for a in sys.argv if a.startswith("--kernel=")]
print(json.dumps({
    "device-code": "nobody's",
    "messages": "",
    "kernels": [{"kernel": n, "symbol": "", "verdict": "equivalent", "by-rewritten": 7,
                 "compared": 7, "raced": 0, "left-out": 0, "message": "",
                 "ran": [n + "_rc", n + "_rc_block128"]} for n in names]}))
