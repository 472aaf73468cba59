#!/usr/bin/env python3
# Says of each kernel that was asked for: all bits equal, and of 'chosen' that its sums are
# fused with other products.
import json, sys

names = [a.split("=", 1)[1] for a in sys.argv if a.startswith("--kernel=")]
print(json.dumps({
    "device-code": "nvcc's",
    "messages": "",
    "kernels": [{"kernel": n, "symbol": "", "by-rewritten": 7, "compared": 7, "raced": 0,
                 "left-out": 0, "ran": [n + "_rc"],
                 "verdict": "other-sums" if n == "chosen" else "equivalent",
                 "message": "the rewritten form has fma(x, x, x)" if n == "chosen" else ""}
                for n in names]}))
