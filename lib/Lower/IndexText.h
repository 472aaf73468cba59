// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads whose places have cases, as text: see Plan/IndexForm.h.

#ifndef RCACHE_LOWER_INDEXTEXT_H
#define RCACHE_LOWER_INDEXTEXT_H

#include "Plan/IndexForm.h"
#include "ValueText.h"
#include "llvm/ADT/ArrayRef.h"

namespace rcache {

/// Texts of \p Values for what is in their domains and O.Context; the declarations of
/// variables that they share are added to \p Variables.
llvm::Expected<std::vector<std::string>>
indexFormTexts(llvm::ArrayRef<FormedValue> Values, const Names &N,
               const ValueTextOptions &O, std::string &Variables);

} // namespace rcache

#endif // RCACHE_LOWER_INDEXTEXT_H
