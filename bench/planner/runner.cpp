// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs benchmark programs that were built as shared libraries (main renamed to
// bench_main) one after the other in one process: starting CUDA once instead
// of once a program is most of the time saved.
//
// usage: runner LABEL=LIBRARY...    `# LABEL` is printed before each one's lines

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <string>

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    const char *equals = std::strchr(argv[i], '=');
    if (!equals)
      return 2;
    std::string label(argv[i], equals - argv[i]);
    std::printf("# %s\n", label.c_str());
    std::fflush(stdout);
    void *library = dlopen(equals + 1, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    auto entry = reinterpret_cast<int (*)(int, char **)>(
        dlsym(library, "_Z10bench_mainiPPc"));
    if (!entry) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    char *arguments[] = {argv[0], &label[0], nullptr};
    if (int status = entry(2, arguments))
      return status;
    std::fflush(stdout);
  }
  return 0;
}
