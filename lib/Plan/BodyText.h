// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel's body with some of its text replaced: what the writers of other bodies
// (OtherBody) have in common.

#ifndef RCACHE_LIB_PLAN_BODYTEXT_H
#define RCACHE_LIB_PLAN_BODYTEXT_H

#include "rcache/Model.h"
#include "rcache/SpreadOutputs.h"
#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace rcache {

class BodyText {
public:
  explicit BodyText(const KernelModel &M) : M(M) {}

  /// Replaces \p R. False: something is replaced where it begins.
  bool replace(TextRange R, std::string Text) {
    return Edits.try_emplace(R.Begin, Edit{R.End, std::move(Text)}).second;
  }

  /// The same; at one place, an insertion stands in front of what is replaced and
  /// behind earlier insertions. False: two replacements meet.
  bool insert(TextRange R, const std::string &Text) {
    auto [It, New] = Edits.try_emplace(R.Begin, Edit{R.End, Text});
    if (New)
      return true;
    Edit &E = It->second;
    if (E.End == R.Begin) {
      E.End = R.End;
      E.Text += Text;
      return true;
    }
    if (!R.empty())
      return false;
    E.Text = Text + E.Text;
    return true;
  }

  bool empty() const { return Edits.empty(); }

  /// As many lines as \p R has, without its text.
  std::string newLines(TextRange R) const {
    const std::string T = M.text(R);
    return std::string(
        static_cast<size_t>(std::count(T.begin(), T.end(), '\n')), '\n');
  }

  /// The whole body, from brace to brace; nullopt: replacements overlap, or reach
  /// beyond it.
  std::optional<std::string> written() const {
    std::string Text;
    unsigned At = M.BodyRange.Begin;
    for (const auto &[Begin, E] : Edits) {
      if (Begin < At || E.End > M.BodyRange.End)
        return std::nullopt;
      Text += M.text({At, Begin}) + E.Text;
      At = E.End;
    }
    return Text + M.text({At, M.BodyRange.End});
  }

  /// The same as another body, in the form that the kernel has; nullopt: nothing is
  /// replaced, too.
  std::optional<OtherBody> body() const {
    auto Text = Edits.empty() ? std::nullopt : written();
    if (!Text)
      return std::nullopt;
    OtherBody R;
    R.Text = std::move(*Text);
    R.Form = M.Form;
    return R;
  }

private:
  struct Edit {
    unsigned End = 0;
    std::string Text;
  };
  const KernelModel &M;
  std::map<unsigned, Edit> Edits; ///< by where they begin
};

} // namespace rcache

#endif // RCACHE_LIB_PLAN_BODYTEXT_H
