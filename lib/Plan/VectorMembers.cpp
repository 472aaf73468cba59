// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See VectorMembers.h. An access is divided where saying its place several times
// does what saying it once did: nothing is set there, and nothing in shared memory
// is read.

#include "rcache/VectorMembers.h"
#include "BodyText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace rcache;

namespace {

class Divider {
public:
  explicit Divider(const KernelModel &M) : M(M) {}

  std::optional<OtherBody> run() {
    for (const SharedAccess &S : M.SharedAccesses)
      if (S.AllMembers && !divide(S))
        return std::nullopt;
    auto R = Edits.body();
    if (R)
      R->Note = "vectors in shared memory are planned by their elements";
    return R;
  }

private:
  const KernelModel &M;
  BodyText Edits{M};
  unsigned Names = 0;

  static const std::string &typeOf(const SharedAccess &S) {
    return S.Stored->Type;
  }

  llvm::StringRef textAt(unsigned Begin) const {
    return llvm::StringRef(M.Text).drop_front(Begin);
  }

  /// Can the place \p S be named again and again, on one line?
  bool repeatable(const SharedAccess &S) const {
    const std::string Text = M.text(S.Range);
    return Text.find("//") == std::string::npos &&
           Text.find("/*") == std::string::npos &&
           Text.find('#') == std::string::npos &&
           llvm::none_of(M.Effects,
                         [&](const Effect &E) { return S.Range.contains(E.At); }) &&
           llvm::none_of(M.SharedAccesses, [&](const SharedAccess &In) {
             return &In != &S && S.Range.contains(In.Range);
           });
  }

  std::string place(const SharedAccess &S) const {
    std::string Text = M.text(S.Range);
    std::replace(Text.begin(), Text.end(), '\n', ' ');
    return "(" + Text + ")";
  }

  bool divide(const SharedAccess &S) {
    if (S.Range.empty() || !S.Stored || !M.Structs.count(typeOf(S)) || !repeatable(S))
      return false;
    if (S.K == SharedAccess::Read)
      return Edits.replace(S.Range, value(S));
    return S.K == SharedAccess::Write && set(S);
  }

  /// As many lines as there were.
  std::string value(const SharedAccess &S) const {
    std::string Text = typeOf(S) + "{";
    for (const StructMember &Of : M.Structs.at(typeOf(S)))
      Text += (Text.back() == '{' ? "" : ", ") + place(S) + "." + Of.Name;
    return Text + "}" + Edits.newLines(S.Range);
  }

  /// `v[i] = value;`, a statement of its own.
  bool set(const SharedAccess &S) {
    const Stmt &In = M.stmt(S.Stmt);
    const TextRange To = {In.Range.Begin, S.StoredRange.Begin};
    if (In.K != Stmt::Leaf || S.StoredRange.empty() || !To.contains(S.Range) ||
        textAt(S.StoredRange.End).ltrim().take_front(1) != ";" ||
        M.text(To).find('#') != std::string::npos)
      return false;
    std::string Value = variable(S), Before = "{ ";
    if (Value.empty()) {
      Value = M.freshName("value" + (Names ? std::to_string(Names + 1) : ""));
      ++Names;
      Before += "const " + typeOf(S) + " " + Value + " = ";
      if (!Edits.replace({S.StoredRange.End, In.Range.End},
                         "; " + members(S, Value) + "}"))
        return false;
      return Edits.replace(To, Edits.newLines(To) + Before);
    }
    return Edits.replace(In.Range, Edits.newLines(In.Range) + Before +
                                       members(S, Value) + "}");
  }

  /// The variable of the vector's type whose value is written; "": it is none.
  std::string variable(const SharedAccess &S) const {
    for (const VarUse &U : M.VarUses)
      if (U.Range == S.StoredRange && M.Vars[U.Var].Type == typeOf(S) &&
          M.Vars[U.Var].ArrayExtents.empty())
        return M.Vars[U.Var].Name;
    return "";
  }

  std::string members(const SharedAccess &S, const std::string &Value) const {
    std::string Text;
    for (const StructMember &Of : M.Structs.at(typeOf(S)))
      Text += place(S) + "." + Of.Name + " = " + Value + "." + Of.Name + "; ";
    return Text;
  }
};

} // namespace

std::optional<OtherBody> rcache::vectorMembers(const KernelModel &M) {
  return Divider(M).run();
}
