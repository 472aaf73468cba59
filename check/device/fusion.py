#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ptxas still fuses: sums, products and fused operations of machine code.

usage: fusion.py CUBIN          a line for each kernel
       fusion.py --cases        small pieces of PTX through ptxas, each with what
                                its products and sums became
       fusion.py --check        the cases against what is written beside them, and
                                against cuobjdump where there is one

Reads the machine code of sm_70 to sm_90 itself (128 bits an instruction, the
operation in the lowest 9 bits), so that no disassembler is needed. Needs ptxas
(PTXAS, PATH, /usr/local/cuda/bin) for the cases. Exit status 1: a case differs.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

OPERATIONS = {
    0x020: "FMUL", 0x021: "FADD", 0x023: "FFMA",
    0x028: "DMUL", 0x029: "DADD", 0x02B: "DFMA",
    0x030: "HADD2", 0x031: "HFMA2", 0x032: "HMUL2",
}


def functions(path):
    """{name: bytes of code} of a cubin (ELF of 64 bits)."""
    data = open(path, "rb").read()
    offset = struct.unpack_from("<Q", data, 0x28)[0]
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size)
                for i in range(count)]
    table = sections[names]
    text = data[table[4]:table[4] + table[5]]
    found = {}
    for s in sections:
        name = text[s[0]:text.index(b"\0", s[0])].decode()
        if name.startswith(".text."):
            found[name[len(".text."):]] = data[s[4]:s[4] + s[5]]
    return found


def counts(code):
    result = {}
    for at in range(0, len(code), 16):
        name = OPERATIONS.get(struct.unpack_from("<Q", code, at)[0] & 0x1FF)
        if name:
            result[name] = result.get(name, 0) + 1
    return result


def show(result):
    return " ".join(f"{k}:{v}" for k, v in sorted(result.items())) or "-"


# name: (instructions on %f0.. (inputs %f1 to %f4), what ptxas made of them)
CASES = {
    "mul_add": ("mul.f32 %f5,%f1,%f2; add.f32 %f6,%f5,%f3;", "FFMA:1"),
    "mul_sub": ("mul.f32 %f5,%f1,%f2; sub.f32 %f6,%f5,%f3;", "FFMA:1"),
    "sub_mul": ("mul.f32 %f5,%f1,%f2; sub.f32 %f6,%f3,%f5;", "FFMA:1"),
    "rn_mul_add": ("mul.rn.f32 %f5,%f1,%f2; add.f32 %f6,%f5,%f3;", "FADD:1 FMUL:1"),
    "mul_rn_add": ("mul.f32 %f5,%f1,%f2; add.rn.f32 %f6,%f5,%f3;", "FADD:1 FMUL:1"),
    "both_rn": ("mul.rn.f32 %f5,%f1,%f2; add.rn.f32 %f6,%f5,%f3;", "FADD:1 FMUL:1"),
    "neg_between": ("mul.f32 %f5,%f1,%f2; neg.f32 %f7,%f5; add.f32 %f6,%f7,%f3;", "FFMA:1"),
    "two_products": ("mul.f32 %f5,%f1,%f2; mul.f32 %f7,%f3,%f4; add.f32 %f6,%f5,%f7;", "FFMA:1 FMUL:1"),
    "product_used_twice": ("mul.f32 %f5,%f1,%f2; add.f32 %f7,%f5,%f3; add.f32 %f8,%f5,%f4; mul.rn.f32 %f6,%f7,%f8;",
                           "FFMA:2 FMUL:1"),
    "product_stored_too": ("mul.f32 %f5,%f1,%f2; st.global.f32 [%rd1+4],%f5; add.f32 %f6,%f5,%f3;", "FADD:1 FMUL:1"),
    "over_selection": ("mul.f32 %f5,%f1,%f2; setp.gt.f32 %p1,%f4,0f00000000; selp.f32 %f7,%f5,%f4,%p1;"
                       " add.f32 %f6,%f7,%f3;", "FADD:1 FMUL:1"),
    "other_block": ("mul.f32 %f5,%f1,%f2; mov.f32 %f6,%f4; setp.gt.f32 %p1,%f4,0f00000000; @!%p1 bra END;"
                    " add.f32 %f6,%f5,%f3; st.global.f32 [%rd1+8],%f6; END:", "FADD:1 FMUL:1"),
    "by_power_of_two": ("mul.f32 %f5,%f1,0f40000000; add.f32 %f6,%f5,%f3;", "FFMA:1"),
    "twice": ("add.f32 %f5,%f1,%f1; add.f32 %f6,%f5,%f3;", "FADD:2"),
    "ftz": ("mul.ftz.f32 %f5,%f1,%f2; add.ftz.f32 %f6,%f5,%f3;", "FFMA:1"),
    "ftz_one": ("mul.ftz.f32 %f5,%f1,%f2; add.f32 %f6,%f5,%f3;", "FADD:1 FMUL:1"),
    "chain": ("mul.f32 %f5,%f1,%f2; add.f32 %f7,%f5,%f3; mul.f32 %f8,%f7,%f4; add.f32 %f6,%f8,%f1;", "FFMA:2"),
    "product_of_fma": ("mul.f32 %f5,%f1,%f2; fma.rn.f32 %f6,%f3,%f4,%f5;", "FFMA:1 FMUL:1"),
    "stored_one": ("mul.f32 %f5,%f1,%f2; mul.f32 %f7,%f3,%f4; add.f32 %f6,%f5,%f7; st.global.f32 [%rd1+8],%f5;",
                   "FFMA:1 FMUL:1"),
    "twice_beside_once": ("mul.f32 %f5,%f1,%f2; mul.f32 %f7,%f3,%f4; add.f32 %f6,%f5,%f7; add.f32 %f8,%f5,%f1;"
                          " st.global.f32 [%rd1+8],%f8;", "FADD:1 FFMA:1 FMUL:1"),
    "both_twice": ("mul.f32 %f5,%f1,%f2; mul.f32 %f7,%f3,%f4; add.f32 %f6,%f5,%f7; sub.f32 %f8,%f5,%f7;"
                   " st.global.f32 [%rd1+8],%f8;", "FFMA:2 FMUL:1"),
    "same_twice": ("mul.f32 %f5,%f1,%f1; add.f32 %f6,%f5,%f5;", "FADD:1 FMUL:1"),
    "barrier_between": ("mul.f32 %f5,%f1,%f2; bar.sync 0; add.f32 %f6,%f5,%f3;", "FFMA:1"),
    "absolute": ("mul.f32 %f5,%f1,%f2; abs.f32 %f7,%f5; add.f32 %f6,%f7,%f3;", "FADD:1 FMUL:1"),
    "other_block_parameter": ("mul.f32 %f5,%f1,%f0; setp.gt.f32 %p1,%f4,0f00000000; @!%p1 bra END;"
                              " add.f32 %f7,%f5,%f3; st.global.f32 [%rd1+8],%f7; END: mov.f32 %f6,%f4;", "FFMA:1"),
    "other_block_number": ("mul.f32 %f5,%f1,0f3F333333; setp.gt.f32 %p1,%f4,0f00000000; @!%p1 bra END;"
                           " add.f32 %f7,%f5,%f3; st.global.f32 [%rd1+8],%f7; END: mov.f32 %f6,%f4;", "FFMA:1"),
    "other_block_constant": ("ld.const.f32 %f8,[bank+4]; mul.f32 %f5,%f1,%f8; setp.gt.f32 %p1,%f4,0f00000000; @!%p1 bra END;"
                             " sub.f32 %f7,%f3,%f5; st.global.f32 [%rd1+8],%f7; END: mov.f32 %f6,%f4;", "FFMA:1"),
    "other_block_two_registers": ("mul.f32 %f5,%f1,%f2; setp.gt.f32 %p1,%f4,0f00000000; @!%p1 bra END;"
                                  " add.f32 %f7,%f5,%f3; st.global.f32 [%rd1+8],%f7; END: mov.f32 %f6,%f4;",
                                  "FADD:1 FMUL:1"),
    "two_blocks_parameter": ("mul.f32 %f5,%f1,%f0; setp.gt.f32 %p1,%f4,0f00000000; @!%p1 bra END; add.f32 %f7,%f5,%f3;"
                             " st.global.f32 [%rd1+8],%f7; END: sub.f32 %f6,%f5,%f4;", "FFMA:2"),
    "stored_elsewhere_parameter": ("mul.f32 %f5,%f1,%f0; setp.gt.f32 %p1,%f4,0f00000000; @!%p1 bra END;"
                                   " st.global.f32 [%rd1+8],%f5; END: add.f32 %f6,%f5,%f3;", "FADD:1 FMUL:1"),
    "fma_then_add": ("fma.rn.f32 %f5,%f1,%f2,%f3; add.f32 %f6,%f5,%f4;", "FADD:1 FFMA:1"),
}


def ptx():
    text = [".version 8.0\n.target sm_90\n.address_size 64\n.const .align 4 .b8 bank[64];\n"]
    for name, (body, _) in CASES.items():
        lines = "\n".join(f"  {i.strip()};" if not i.strip().endswith(":") else f"  {i.strip()}"
                          for i in body.replace("END", f"END_{name}").split(";") if i.strip())
        text.append(f"""
.visible .entry {name}(.param .u64 p, .param .f32 q) {{
  .reg .f32 %f<10>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  ld.param.u64 %rd2, [p]; ld.param.f32 %f0, [q];
  cvta.to.global.u64 %rd1, %rd2;
  ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+16];
  ld.global.f32 %f3, [%rd1+32]; ld.global.f32 %f4, [%rd1+48];
{lines}
  st.global.f32 [%rd1], %f6;
  ret;
}}""")
    return "".join(text)


def compile_cases(folder):
    ptxas = os.environ.get("PTXAS") or shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    source, cubin = os.path.join(folder, "cases.ptx"), os.path.join(folder, "cases.cubin")
    with open(source, "w") as f:
        f.write(ptx())
    subprocess.run([ptxas, "-arch=sm_90", source, "-o", cubin], check=True)
    return cubin


def by_cuobjdump(cubin):
    tool = shutil.which("cuobjdump") or "/usr/local/cuda/bin/cuobjdump"
    if not os.access(tool, os.X_OK):
        return None
    text = subprocess.run([tool, "-sass", cubin], check=True, capture_output=True, text=True).stdout
    found, name = {}, None
    for line in text.splitlines():
        if m := re.search(r"Function : (\S+)", line):
            name = m.group(1)
            found[name] = {}
        elif name and (m := re.search(r"\b(FMUL|FADD|FFMA|DMUL|DADD|DFMA|HADD2|HFMA2|HMUL2)\b", line)):
            found[name][m.group(1)] = found[name].get(m.group(1), 0) + 1
    return found


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 2
    if not sys.argv[1].startswith("--"):
        for name, code in sorted(functions(sys.argv[1]).items()):
            print(f"{name}: {show(counts(code))}")
        return 0
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        cubin = compile_cases(folder)
        found = {name: counts(code) for name, code in functions(cubin).items()}
        other = by_cuobjdump(cubin)
        for name, (body, want) in CASES.items():
            got = show(found[name])
            bad = sys.argv[1] == "--check" and (
                got != want or (other is not None and show(other[name]) != got))
            wrong += bad
            print(f"{name}: {got}{'   expected ' + want if bad else ''}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
