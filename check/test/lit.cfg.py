# Tests of rcache-check: real programs, run and judged.
import os

import lit.formats

config.name = "rcache-check"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".cu", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join(
    [config.llvm_tools_dir, config.environment.get("PATH", "")]
)
# Most of what a small program takes is to parse the toolkit's headers.
config.environment["RCACHE_CACHE"] = os.path.join(config.test_exec_root, "headers")
for name in ("CUDA_PATH", "CUDA_HOME", "GLIBC_TUNABLES"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

check = config.rcache_check
if config.cuda_path:
    check += " --cuda-path=" + config.cuda_path
    config.available_features.add("cuda-toolkit")
    if os.access(os.path.join(config.cuda_path, "bin", "nvcc"), os.X_OK):
        config.available_features.add("nvcc")
config.substitutions += [
    ("%check", check),
    ("%bare", config.rcache_check), # as %check, without a toolkit
    ("%cuda", config.cuda_path),
    # The exit status is part of the interface: "%status 3 command".
    ("%status", "sh " + os.path.join(config.test_source_root, "status.sh")),
]
