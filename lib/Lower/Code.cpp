// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Code.h.

#include "Code.h"
#include "Support/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace rcache;

namespace {

struct Mark {
  char Kind = 0;
  unsigned Number = 0;
  size_t End = 0; ///< behind the mark
};

/// The mark at \p I, where \1 stands.
Mark markAt(llvm::StringRef Text, size_t I) {
  Mark K;
  K.Kind = Text[I + 1];
  const size_t E = Text.find('\2', I);
  (void)Text.slice(I + 2, E).getAsInteger(10, K.Number);
  K.End = E + 1;
  return K;
}

/// The name that begins at \p I.
llvm::StringRef nameAt(llvm::StringRef Text, size_t I) {
  return Text.substr(I).take_while(isNameChar);
}

} // namespace

std::string Code::mark(char Kind, size_t Number) {
  return std::string("\1") + Kind + std::to_string(Number) + "\2";
}

std::string Code::plain(llvm::StringRef Text) {
  std::string Out;
  for (size_t I = 0; I < Text.size();) {
    const size_t Next = std::min(Text.find('\1', I), Text.size());
    Out += Text.slice(I, Next);
    I = Next < Text.size() ? markAt(Text, Next).End : Next;
  }
  return Out;
}

std::set<unsigned> Code::variables(const KernelModel &M) const {
  std::set<unsigned> Vars;
  for (size_t I = Marked.find('\1'); I != std::string::npos;
       I = Marked.find('\1', I + 1)) {
    const Mark K = markAt(Marked, I);
    if (K.Kind == 'U')
      Vars.insert(M.VarUses[K.Number].Var);
    else if (K.Kind == 'N')
      Vars.insert(K.Number);
  }
  return Vars;
}

bool Code::names(llvm::StringRef Name) const {
  for (size_t I = Marked.find('\1'); I != std::string::npos;
       I = Marked.find('\1', I + 1)) {
    const Mark K = markAt(Marked, I);
    if (K.Kind == 'G' && nameAt(Marked, K.End) == Name)
      return true;
  }
  return false;
}

std::string Code::print(const KernelModel &M, const Place &At) const {
  std::string Out;
  for (size_t I = 0; I < Marked.size();) {
    const size_t Next = std::min(Marked.find('\1', I), Marked.size());
    Out.append(Marked, I, Next - I);
    if (Next == Marked.size())
      break;
    const Mark K = markAt(Marked, Next);
    I = K.End;
    if (K.Kind == 'K') {
      Out += At.Subscripts;
      continue;
    }
    if (K.Kind == 'G')
      continue;
    Out.append(Marked, Next, K.End - Next);
    if (K.Kind != 'U' && K.Kind != 'N')
      continue;
    const unsigned Var = K.Kind == 'U' ? M.VarUses[K.Number].Var : K.Number;
    if (!At.PerSlot(Var))
      continue;
    Out += M.Vars[Var].Name + At.Subscripts;
    I += M.Vars[Var].Name.size();
  }
  return Out;
}

SourceCode::SourceCode(const KernelModel &M) : M(M) {
  for (unsigned V = 0; V < M.Vars.size(); ++V)
    if (!M.Vars[V].IsParam && !M.Vars[V].NameRange.empty())
      Anchors.push_back(
          {M.Vars[V].NameRange.Begin,
           (M.Vars[V].HasInit ? Code::given(V) : "") + Code::declared(V)});
  for (unsigned I = 0; I < M.Effects.size(); ++I)
    Anchors.push_back({M.Effects[I].At.Begin, Code::effect(I)});
  for (unsigned I = 0; I < M.VarUses.size(); ++I)
    Anchors.push_back({M.VarUses[I].Range.Begin, Code::use(I)});
  llvm::stable_sort(Anchors,
                    [](auto &A, auto &B) { return A.first < B.first; });
}

Code SourceCode::copy(TextRange R) const {
  std::string Out;
  unsigned Pos = R.Begin;
  for (auto It = llvm::lower_bound(
           Anchors, R.Begin, [](auto &A, unsigned At) { return A.first < At; });
       It != Anchors.end() && It->first < R.End; ++It) {
    Out += M.text({Pos, It->first}) + It->second;
    Pos = It->first;
  }
  return Out + M.text({Pos, R.End});
}

Code SourceCode::set(TextRange Target) const {
  for (unsigned I = 0; I < M.Effects.size(); ++I)
    if (M.Effects[I].Target == Target)
      return Code::effect(I);
  return {};
}
