// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SplitMembers.h. An array is divided where each place that names it is one
// of its accesses: a member of an element, an element that is copied to another
// one or set as a whole, or an element whose value is used.

#include "rcache/SplitMembers.h"
#include "ArrayText.h"
#include "BodyText.h"
#include "Support/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <map>

using namespace rcache;

namespace {

bool isWord(char C) { return isNameChar(C); }

class Splitter {
public:
  explicit Splitter(const KernelModel &M) : M(M) {}

  std::optional<OtherBody> run() {
    for (unsigned A = 0; A < M.Arrays.size(); ++A)
      if (hasWrittenMember(A) && !split(A))
        return std::nullopt;
    auto R = Edits.body();
    if (R)
      R->Note =
          "each member of the structs in shared memory is planned as an array "
          "of its own";
    return R;
  }

private:
  const KernelModel &M;
  BodyText Edits{M};

  /// Empty: of no struct that is known.
  llvm::ArrayRef<StructMember> membersOf(const SharedArray &Arr) const {
    const auto It = M.Structs.find(Arr.CanonicalType);
    return It == M.Structs.end() ? llvm::ArrayRef<StructMember>()
                                 : llvm::ArrayRef(It->second);
  }

  llvm::StringRef textAt(unsigned Begin) const {
    return llvm::StringRef(M.Text).drop_front(Begin);
  }

  std::string memberName(const SharedArray &Arr, llvm::StringRef Member) const {
    return Arr.Name + "_" + Member.str();
  }

  /// The member that is named behind an element, and where its name ends.
  const StructMember *memberBehind(const SharedAccess &S, unsigned &End) const {
    const llvm::StringRef Rest = textAt(S.Range.End);
    llvm::StringRef Name = Rest.ltrim();
    if (!Name.consume_front("."))
      return nullptr;
    Name = Name.ltrim().take_while(isWord);
    End = static_cast<unsigned>(Name.end() - M.Text.data());
    for (const StructMember &Of : membersOf(M.Arrays[S.Array]))
      if (Name == Of.Name)
        return &Of;
    return nullptr;
  }

  bool hasWrittenMember(unsigned A) const {
    unsigned End = 0;
    return !membersOf(M.Arrays[A]).empty() &&
           llvm::any_of(M.SharedAccesses, [&](const SharedAccess &S) {
             return S.Array == A && S.K != SharedAccess::Read &&
                    memberBehind(S, End);
           });
  }

  bool split(unsigned A) {
    const SharedArray &Arr = M.Arrays[A];
    if (Arr.Volatile || Arr.Dynamic || Arr.AtFileScope || !isAlone(Arr))
      return false;
    for (const StructMember &Of : membersOf(Arr))
      if (M.freshName(memberName(Arr, Of.Name)) != memberName(Arr, Of.Name))
        return false;
    size_t Places = 1;
    for (const SharedAccess &S : M.SharedAccesses)
      if (S.Array == A) {
        ++Places;
        if (!textAt(S.Range.Begin).starts_with(Arr.Name) || !access(S))
          return false;
      }
    return Places == occurrences(M, Arr.Name) && declare(Arr);
  }

  /// Is nothing else declared with it? (The type may be: `__shared__ struct {}
  /// m;`)
  bool isAlone(const SharedArray &Arr) const {
    return llvm::none_of(M.Arrays,
                         [&](const SharedArray &Other) {
                           return &Other != &Arr &&
                                  Other.DeclRange == Arr.DeclRange;
                         }) &&
           M.text(Arr.DeclRange).find(',') == std::string::npos &&
           (Arr.Alone || !nameOf(Arr));
  }

  /// One array a member, each with the extents of all.
  bool declare(const SharedArray &Arr) {
    llvm::StringRef Extents = llvm::StringRef(M.Text).slice(
        Arr.DeclaratorRange.Begin, Arr.DeclaratorRange.End);
    if (!Extents.consume_front(Arr.Name))
      return false;
    std::string Text = Edits.newLines(Arr.DeclRange);
    for (const StructMember &Of : membersOf(Arr)) {
      Text += "__shared__ " + Of.Type + " " + memberName(Arr, Of.Name) +
              Extents.str();
      for (int64_t E : Of.Extents)
        Text += "[" + std::to_string(E) + "]";
      Text += "; ";
    }
    return Edits.replace(Arr.DeclRange, std::move(Text));
  }

  /// `st[i]` as the element of a member's array.
  std::string element(const SharedAccess &S, llvm::StringRef Member) const {
    const SharedArray &Arr = M.Arrays[S.Array];
    return memberName(Arr, Member) + M.text(S.Range).substr(Arr.Name.size());
  }

  bool access(const SharedAccess &S) {
    unsigned End = 0;
    const SharedArray &Arr = M.Arrays[S.Array];
    if (const StructMember *Of = memberBehind(S, End))
      return Edits.replace({S.Range.Begin, End}, element(S, Of->Name));
    if (llvm::any_of(membersOf(Arr), [](const StructMember &Of) {
          return !Of.Extents.empty();
        }))
      return false;
    if (S.K == SharedAccess::Write)
      return setWhole(S);
    if (S.K != SharedAccess::Read ||
        textAt(S.Range.End).ltrim().starts_with("."))
      return false;
    const Stmt &In = M.stmt(S.Stmt);
    for (const SharedAccess &W : M.SharedAccesses) // see setWhole
      if (W.Array == S.Array && W.K == SharedAccess::Write &&
          In.Range.contains(W.Range) && W.StoredRange == S.Range)
        return true;
    return nameOf(Arr) && Edits.replace(S.Range, value(S));
  }

  /// Can the elements' type be named?
  static bool nameOf(const SharedArray &Arr) {
    return llvm::all_of(Arr.ElemType,
                        [](char C) { return isWord(C) || C == ':'; });
  }

  std::string value(const SharedAccess &S) const {
    std::string Text = M.Arrays[S.Array].ElemType + "{";
    for (const StructMember &Of : membersOf(M.Arrays[S.Array]))
      Text += (Text.back() == '{' ? "" : ", ") + element(S, Of.Name);
    return Text + "}";
  }

  /// `st[t] = v;`, a statement of its own.
  bool setWhole(const SharedAccess &S) {
    const SharedArray &Arr = M.Arrays[S.Array];
    const Stmt &In = M.stmt(S.Stmt);
    if (In.K != Stmt::Leaf || In.Range.Begin != S.Range.Begin ||
        S.StoredRange.empty() ||
        textAt(S.StoredRange.End).ltrim().take_front(1) != ";")
      return false;
    const SharedAccess *From = nullptr;
    for (const SharedAccess &R : M.SharedAccesses)
      if (&R != &S && In.Range.contains(R.Range)) {
        if (R.Array != S.Array || !(R.Range == S.StoredRange))
          return false;
        From = &R;
      }
    std::string Text = Edits.newLines(In.Range) + "{ ", Value = "value";
    if (!From) {
      Value = M.freshName(Value);
      if (!nameOf(Arr))
        return false;
      Text += "const " + Arr.ElemType + " " + Value + " = " +
              M.text(S.StoredRange) + "; ";
    }
    for (const StructMember &Of : membersOf(Arr))
      Text += element(S, Of.Name) + " = " +
              (From ? element(*From, Of.Name) : Value + "." + Of.Name) + "; ";
    return Edits.replace(In.Range, Text + "}");
  }
};

} // namespace

std::optional<OtherBody> rcache::splitMembers(const KernelModel &M) {
  return Splitter(M).run();
}
