// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See rcache/FixedArguments.h. The original runs its loops with bounds of run
// time, so what a compiler makes of a number that is a constant (a division by
// 4 is a product, which a sum is fused with) must not come into it: such uses
// keep the parameter, and where a variable would carry the value there, nothing
// is done.

#include "rcache/FixedArguments.h"
#include "BodyText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <set>

using namespace rcache;

namespace {

/// Bounds of loops that are unrolled; of those whose counter is doubled or
/// halved.
constexpr int64_t MostRounds = 64, MostDoubled = 4096;

bool isIn(const std::vector<TextRange> &All, TextRange R) {
  return llvm::any_of(All, [&](TextRange A) { return A.contains(R); });
}

class Writer {
public:
  explicit Writer(const KernelModel &M) : M(M) {}

  std::optional<OtherBody> run() {
    findValues();
    if (Values.empty() || !findReached() || !sayWhichElements() ||
        (M.Multiplies && !isOfIntegers() && decidesInRounds()))
      return std::nullopt;
    for (const VarUse &U : M.VarUses) {
      const auto It = Values.find(U.Var);
      if (It == Values.end() || U.ForNumbers || isIn(Kept, U.Range))
        continue;
      if (U.Range.empty() || !M.BodyRange.contains(U.Range) ||
          !Edits.replace(U.Range, number(U.Var, It->second)))
        return std::nullopt;
    }
    auto R = Edits.body();
    if (!R)
      return std::nullopt;
    for (const auto &[V, Value] : Values) {
      R->Form.Fixed.push_back({M.Vars[V].Name, Value});
      R->Note += (R->Note.empty() ? "launches that pass " : " and ") +
                 M.Vars[V].Name + " = " + std::to_string(Value);
    }
    R->Note += " run the rewritten kernel";
    return R;
  }

private:
  const KernelModel &M;
  BodyText Edits{M};
  std::map<unsigned, int64_t> Values; ///< of parameters, by index in M.Vars
  std::set<unsigned>
      Reached; ///< these and variables whose values follow from them
  std::vector<TextRange> Kept; ///< where parameters keep their names

  /// Parameters that each launch which tells gives the same small value.
  void findValues() {
    for (size_t P = 0; P < M.Params.size(); ++P) {
      const KernelParam &Param = M.Params[P];
      // (Scoped enumerations are compared with no number.)
      llvm::StringRef Type = Param.CanonicalType;
      Type.consume_front("const ");
      if (!Type.consume_front("unsigned "))
        Type.consume_front("signed ");
      if (!Param.IsInteger || Param.MemberOf >= 0 || Param.VarId < 0 ||
          !llvm::is_contained(
              {"int", "short", "long", "long long", "char", "bool"}, Type))
        continue;
      const unsigned Id = static_cast<unsigned>(Param.VarId);
      const Var &V = M.Vars[Id];
      if (V.Assigned || V.AddressTaken || V.IsReference)
        continue;
      std::set<int64_t> Seen;
      for (const LaunchSite &L : M.Launches)
        if (P < L.ArgValues.size())
          Seen.insert(L.ArgValues[P].begin(), L.ArgValues[P].end());
      if (Seen.size() == 1 &&
          std::abs(*Seen.begin()) <=
              (boundsDoubled(Id) ? MostDoubled : MostRounds))
        Values[Id] = *Seen.begin();
    }
  }

  /// Do loops name \p V, or what is declared as made of it, and only such as double or
  /// halve what they count?
  bool boundsDoubled(unsigned V) const {
    std::set<unsigned> Made = {V};
    const auto Names = [&](TextRange R) {
      return llvm::any_of(M.VarUses, [&](const VarUse &U) {
        return Made.count(U.Var) && R.contains(U.Range);
      });
    };
    for (unsigned I = 0; I < M.Vars.size(); ++I) // (in the order of the text)
      if (!M.Vars[I].IsParam && !M.Vars[I].Assigned && !M.Vars[I].InitRange.empty() &&
          Names(M.Vars[I].InitRange))
        Made.insert(I);
    bool Any = false;
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::For && Names(S.HeaderRange)) {
        Any = true;
        if (!S.Factor)
          return false;
      }
    return Any;
  }

  /// Does \p R name what is reached, but for numbers?
  bool namesReached(TextRange R) const {
    return llvm::any_of(M.VarUses, [&](const VarUse &U) {
      return !U.ForNumbers && Reached.count(U.Var) && R.contains(U.Range) &&
             !isIn(Kept, U.Range);
    });
  }

  /// Is \p V of a type that may hold an integer?
  static bool mayHold(const Var &V) {
    llvm::StringRef T = V.Type;
    return V.ArrayExtents.empty() && !T.contains('*') && !T.contains("float") &&
           !T.contains("double") && !T.contains("half");
  }

  bool onlyForNumbers(unsigned V) const {
    return llvm::all_of(
        M.VarUses, [&](const VarUse &U) { return U.Var != V || U.ForNumbers; });
  }

  /// Variables that follow from the parameters. False: a number would.
  bool findReached() {
    for (const auto &[V, Value] : Values)
      Reached.insert(V);
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (unsigned I = 0; I < M.Vars.size(); ++I) {
        const Var &V = M.Vars[I];
        if (Reached.count(I) || V.IsParam || !mayHold(V))
          continue;
        if (!setByReached(I))
          continue;
        Changed = true;
        if (!V.Assigned && !V.AddressTaken && !V.InitRange.empty() &&
            onlyForNumbers(I))
          Kept.push_back(V.InitRange); // (is set by them no longer)
        else
          Reached.insert(I);
      }
    }
    return llvm::none_of(M.VarUses, [&](const VarUse &U) {
      return U.ForNumbers && Reached.count(U.Var) && !Values.count(U.Var);
    });
  }

  /// Is \p I set in a statement or a header that names what is reached?
  bool setByReached(unsigned I) const {
    const Var &V = M.Vars[I];
    if (namesReached(V.InitRange))
      return true;
    return llvm::any_of(M.Stmts, [&](const Stmt &S) {
      const bool Header = S.K == Stmt::For;
      if (!Header && S.K != Stmt::Leaf)
        return false;
      const TextRange R = Header ? S.HeaderRange : S.Range;
      return namesReached(R) && llvm::any_of(M.VarUses, [&](const VarUse &U) {
               return U.Var == I && U.Write && R.contains(U.Range);
             });
    });
  }

  /// Does an index or a loop name what is reached, and no condition that would
  /// be known by then?
  bool sayWhichElements() const {
    bool Says = false;
    for (const Stmt &S : M.Stmts) {
      if ((S.K == Stmt::For || S.K == Stmt::While) &&
          (S.HasSharedAccess || S.HasGlobalRead))
        Says |= namesReached(S.K == Stmt::For ? S.HeaderRange : S.CondRange);
      constexpr unsigned Differs = DepThread | DepBlock | DepShared | DepGlobal;
      if ((S.K == Stmt::If || S.K == Stmt::Switch) &&
          !(S.CondDepends & Differs) && namesReached(S.CondRange))
        return false;
    }
    for (const SharedAccess &A : M.SharedAccesses)
      Says |= namesReached(A.Range);
    return Says;
  }

  /// Are there no floating-point numbers in the kernel?
  bool isOfIntegers() const {
    const auto mayBeReal = [](llvm::StringRef Type) {
      // (What is no known integer may hold one.)
      Type.consume_front("const ");
      Type.consume_front("unsigned ");
      Type.consume_front("signed ");
      return !Type.empty() &&
             !llvm::is_contained({"int", "char", "short", "long", "long long", "bool"},
                                 Type.rtrim(" *&"));
    };
    return M.CalleeBodies.empty() &&
           llvm::none_of(M.Arrays,
                         [&](const SharedArray &A) { return mayBeReal(A.CanonicalType); }) &&
           llvm::none_of(M.Params,
                         [&](const KernelParam &P) {
                           return mayBeReal(P.IsPointer ? P.PointeeType : P.CanonicalType);
                         }) &&
           llvm::none_of(M.Vars, [&](const Var &V) {
             return llvm::StringRef(V.Type).contains("float") ||
                    llvm::StringRef(V.Type).contains("double") ||
                    llvm::StringRef(V.Type).contains("half");
           });
  }

  /// Do conditions or functions stand in a loop that would have known bounds? A compiler
  /// that unrolls it may fuse other products there than in the original's loop.
  bool decidesInRounds() const {
    return llvm::any_of(M.Stmts, [&](const Stmt &S) {
      const bool Loop = S.isLoop();
      if (!Loop || !namesReached(S.K == Stmt::For ? S.HeaderRange : S.CondRange))
        return false;
      // What fills shared memory is read again as it was rounded.
      if (llvm::none_of(M.SharedAccesses, [&](const SharedAccess &A) {
            return A.K != SharedAccess::Write && S.Range.contains(A.Range);
          }) && !setsNumbers(S))
        return false;
      const unsigned From = S.K == Stmt::For ? S.HeaderRange.End : S.Range.Begin;
      const std::string Body = M.text({From, S.Range.End});
      return Body.find('?') != std::string::npos ||
             Body.find("&&") != std::string::npos ||
             Body.find("||") != std::string::npos || !M.CalleeBodies.empty() ||
             llvm::any_of(M.Stmts, [&](const Stmt &In) {
               return (In.K == Stmt::If || In.K == Stmt::Switch ||
                       In.K == Stmt::Break || In.K == Stmt::Continue) &&
                      S.Range.contains(In.Range);
             });
    });
  }

  /// Is a variable of in front of \p Loop, but a counter, set in it?
  bool setsNumbers(const Stmt &Loop) const {
    return llvm::any_of(M.VarUses, [&](const VarUse &U) {
      return U.Write && Loop.Range.contains(U.Range) &&
             !Loop.Range.contains(M.Vars[U.Var].DeclRange) && !Reached.count(U.Var);
    });
  }

  std::string number(unsigned V, int64_t Value) const {
    std::string T = std::to_string(Value);
    if (Value < 0)
      T = "(" + T + ")";
    return M.Vars[V].Type == "int" ? T : "((" + M.Vars[V].Type + ")" + T + ")";
  }
};

} // namespace

std::optional<OtherBody> rcache::fixedArguments(const KernelModel &M) {
  // (What a sum is fused with may hang on the loops and branches as they are.)
  if (!M.Form.Fixed.empty() || M.FoldsWithArguments || !M.ProductVars.empty() || !M.SummedProducts.empty() ||
      M.UnsettledSum.In != KernelModel::SumInDoubt::None)
    return std::nullopt;
  return Writer(M).run();
}
