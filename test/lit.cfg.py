# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How the tests of this folder are run. Run them with scripts/test.sh, or with
#   lit build/test          (or a folder or file below)
#
# .lit_test_times.txt here is for the first run in a build folder: what takes longest
# begins first, so that no core waits for the last test.
#
# Features:
#   cuda-toolkit   the toolkit's headers and nvcc are there
#   rcache-check   the CPU runner was built
#   rcache-lsp, nvim, emacs   for the editor tests
#   chromium       for the tests of pages
#   zsh            for its completion
#   npm-packages   those of editors/vscode are installed
#   asan           built with AddressSanitizer
#   slow           RCACHE_SLOW_TESTS is set (scripts/test.sh --slow): further forms of
#                  what is tried anyway
#
# Substitutions:
#   %rewrite       rcache-rewrite without a toolkit: put flags of your own behind
#                  `%mock`, as in  %rewrite %s -o %t.cu -- %mock -DX=1
#   %mock          compiler flags that replace the toolkit by Inputs/cuda.h
#   %nvcc          nvcc for the oldest architecture that all tests may assume. What
#                  `rcache-check diff` takes nvcc's code of has been compiled by it:
#                  its device side, as with -ptx, a third of the time of -c
#   %compile       the same as far as PTX, for what is to compile with its host side
#   %clang-cuda    clang as a CUDA compiler, compile only
#   %cuda          the toolkit's folder
#   %src           the project's folder

import os
import shutil

import lit.formats

config.name = "rcache"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".cu", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.rcache_build_dir, "test")

# What the tool finds by itself must not depend on who runs the tests.
for name in ("CUDA_PATH", "CUDA_HOME", "CUDA_ROOT", "CPATH", "RCACHE_SELF_CHECK"):
    config.environment.pop(name, None)
# Executing each result would take longer than the tests; where it is the subject
# (test/selfcheck), tests ask for it.
config.environment["RCACHE_SELF_CHECK"] = "off"
# Most of what rcache-check takes for a small program is to parse the toolkit's headers.
config.environment["RCACHE_CACHE"] = os.path.join(
    config.rcache_build_dir, "check", "test", "headers"
)
for name in ("HOME", "LSAN_OPTIONS", "UBSAN_OPTIONS", "CCACHE_DIR", "GLIBC_TUNABLES"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# LLVM runs the parse on a thread with an alternate signal stack of its own, which
# ASan would take for its and unmap.
config.environment["ASAN_OPTIONS"] = os.environ.get(
    "ASAN_OPTIONS", "detect_leaks=0:use_sigaltstack=0"
)

bin_dir = os.path.join(config.rcache_build_dir, "bin")
config.environment["PATH"] = os.pathsep.join(
    [bin_dir, config.llvm_tools_dir, config.environment["PATH"]]
)


def find_toolkit():
    """The folder of the toolkit whose nvcc runs, or None."""
    candidates = [os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME")]
    nvcc = shutil.which("nvcc")
    if nvcc:
        candidates.append(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))))
    candidates.append("/usr/local/cuda")
    for path in candidates:
        if path and os.path.exists(os.path.join(path, "include", "cuda_runtime.h")):
            return path
    return None


mock = "-nocudainc -nocudalib -include %s/Inputs/cuda.h" % config.test_source_root
config.substitutions.append(("%rewrite", "rcache-rewrite"))
config.substitutions.append(("%mock", mock))
config.substitutions.append(
    ("%clangxx", os.path.join(config.llvm_tools_dir, "clang++"))
)
config.substitutions.append(("%src", config.rcache_source_dir))
config.substitutions.append(("%build", config.rcache_build_dir))
config.substitutions.append(("%python", config.python))

toolkit = find_toolkit()
if toolkit:
    config.available_features.add("cuda-toolkit")
    nvcc = os.path.join(toolkit, "bin", "nvcc")
    config.substitutions.append(("%nvcc", nvcc + " -arch=sm_90"))
    config.substitutions.append(
        ("%compile", nvcc + " -gencode arch=compute_90,code=compute_90")
    )
    config.substitutions.append(
        (
            "%clang-cuda",
            os.path.join(config.llvm_tools_dir, "clang++")
            + " -x cuda --cuda-gpu-arch=sm_90 --cuda-path=%s -isystem %s/include/cccl"
            " -Wno-unknown-cuda-version -I%s/include"
            % (toolkit, toolkit, config.rcache_source_dir),
        )
    )
    config.substitutions.append(("%cuda", toolkit))
    config.substitutions.append(
        (
            "%cmake-args",
            "-Drcache_DIR=%s -DCMAKE_CUDA_COMPILER=%s -DCMAKE_CUDA_ARCHITECTURES=90"
            % (config.rcache_build_dir, nvcc),
        )
    )

for program in ("rcache-check", "rcache-fuzz", "rcache-lsp"):
    if os.path.exists(os.path.join(bin_dir, program)):
        config.available_features.add(program)
for program in ("nvim", "emacs", "cmake", "ninja", "make", "man", "zsh"):
    if shutil.which(program):
        config.available_features.add(program)
if any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
    config.available_features.add("chromium")
if shutil.which("npm") and os.path.exists(
    os.path.join(config.rcache_source_dir, "editors", "vscode", "node_modules", "typescript")
):
    config.available_features.add("npm-packages")
if os.environ.get("RCACHE_SLOW_TESTS"):
    config.available_features.add("slow")
if "address" in config.rcache_sanitize:
    config.available_features.add("asan")
