// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Reformat.h.

#include "Reformat.h"
#include "clang/Format/Format.h"
#include "clang/Tooling/Core/Replacement.h"

using namespace rcache;

std::string rcache::reformatted(const std::string &Code,
                                const std::string &FileName) {
  using namespace clang;
  format::FormatStyle Style = format::getLLVMStyle();
  auto Found = format::getStyle("file", FileName, "LLVM", Code);
  if (Found)
    Style = *Found;
  else
    llvm::consumeError(Found.takeError());
  Style.SortIncludes = {};
  // Statements that were taken out leave empty lines behind.
  Style.KeepEmptyLines.AtStartOfBlock = false;
  std::vector<tooling::Range> All{{0, static_cast<unsigned>(Code.size())}};
  auto Changed = tooling::applyAllReplacements(
      Code, format::reformat(Style, Code, All, FileName));
  if (Changed)
    return *Changed;
  llvm::consumeError(Changed.takeError());
  return Code;
}
