// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OwnedFetches.h.

#include "OwnedFetches.h"
#include "../Counts.h"
#include "../Values.h"
#include "Affine/IslTools.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>

using namespace rcache;

TextRange rcache::intervalOf(const KernelModel &M, const SharedAccess &S) {
  unsigned Top = S.Stmt;
  while (M.stmt(Top).Parent >= 0 &&
         !M.stmt(static_cast<unsigned>(M.stmt(Top).Parent)).HasBarrier)
    Top = static_cast<unsigned>(M.stmt(Top).Parent);
  TextRange In = M.stmt(Top).Range;
  if (M.stmt(Top).Parent < 0)
    return In;
  bool Behind = false;
  for (unsigned C :
       M.stmt(static_cast<unsigned>(M.stmt(Top).Parent)).Children) {
    const Stmt &St = M.stmt(C);
    Behind |= C == Top;
    if (St.HasBarrier) {
      if (Behind)
        break;
      In.Begin = M.stmt(Top).Range.Begin;
    } else if (Behind)
      In.End = std::max(In.End, St.Range.End);
    else
      In.Begin = std::min(In.Begin, St.Range.Begin);
  }
  return In;
}

bool rcache::standsInSlots(const KernelModel &M, const SharedAccess &S,
                           bool Own) {
  for (int Q = static_cast<int>(S.Stmt); Q >= 0; Q = M.stmt(Q).Parent) {
    const Stmt &St = M.stmt(static_cast<unsigned>(Q));
    if (St.HasBarrier) {
      if (St.CondRange.contains(S.Range) || St.HeaderRange.contains(S.Range))
        return false;
      continue;
    }
    switch (St.K) {
    case Stmt::Block:
    case Stmt::Leaf:
    case Stmt::Decl:
    case Stmt::If:
    case Stmt::Return:
      continue;
    default:
      if (!Own)
        return false;
    }
  }
  return true;
}

bool rcache::isSameInRounds(const KernelModel &M, const SharedAccess &S,
                            const Nullable<isl::pw_aff> &Element) {
  if (S.K != SharedAccess::Read || Element.is_null() ||
      !(isConstant(Element) ||
        isConstant(isl::pw_aff(Element).sub(symbolValue(M.Ctx->ctx(), "tx")))))
    return false;
  for (int Q = static_cast<int>(S.Stmt); Q >= 0; Q = M.stmt(Q).Parent) {
    const Stmt &L = M.stmt(static_cast<unsigned>(Q));
    if (L.HasBarrier)
      break;
    if (L.K == Stmt::Switch)
      return false;
    if (!L.isLoop())
      continue;
    if (L.HeaderRange.contains(S.Range) || L.CondRange.contains(S.Range) ||
        llvm::any_of(M.SharedAccesses, [&](const SharedAccess &W) {
          return W.Array == S.Array && W.K != SharedAccess::Read &&
                 L.Range.contains(W.Range);
        }))
      return false;
  }
  return true;
}

/// All that is stored, always a whole element, has been in memory before or is made
/// of no products.
static bool holdsCopies(const KernelModel &M, unsigned Array) {
  auto Is = [&](auto &Self, const ValueRef &V) -> bool {
    if (!V)
      return false;
    if (V->K == Value::Select)
      return llvm::all_of(V->Operands,
                          [&](const ValueRef &O) { return Self(Self, O); });
    return V->K == Value::Load ||
           (V->K == Value::Unknown && endsRounded(V, M)) ||
           (!M.Multiplies && V->Type == M.Arrays[Array].CanonicalType);
  };
  return llvm::all_of(M.SharedAccesses, [&](const SharedAccess &S) {
    return S.Array != Array || S.K == SharedAccess::Read ||
           (S.K == SharedAccess::Write && Is(Is, S.Stored));
  });
}

/// Registers are declared where the array was, or where the kernel begins if that is
/// outside: what they hold must outlive every round of a loop.
static bool declaredOnce(const KernelModel &M, const SharedArray &Arr) {
  if (Arr.Dynamic)
    for (const SharedArray &O : M.Arrays)
      if (&O != &Arr && O.Dynamic)
        return false; // the same memory
  return Arr.AtFileScope || llvm::any_of(M.stmt(0).Children, [&](unsigned C) {
    return M.stmt(C).Range == Arr.DeclRange;
  });
}

std::string rcache::whyNotOwned(const KernelModel &M, unsigned Array) {
  const SharedArray &Arr = M.Arrays[Array];
  const std::string Name = "'" + Arr.Name + "'";
  if (Arr.Volatile)
    return Name + " is volatile";
  if (!declaredOnce(M, Arr))
    return Name +
           " is not declared once for the whole kernel, alone in its memory";
  if (!isNumber(Arr.CanonicalType) && !holdsCopies(M, Array))
    return "elements of " + Name + " are of type '" + Arr.CanonicalType +
           "' and computed: their parts might keep more than memory would";
  // nvcc (13.0) counts such a register beyond its range, which memory wraps.
  if ((Arr.CanonicalType == "signed char" || Arr.CanonicalType == "char" ||
       Arr.CanonicalType == "short") &&
      llvm::any_of(M.Effects, [&](const Effect &E) {
        return E.K == Effect::SetsShared && E.Array == int(Array) &&
               (M.text(E.At) == "++" || M.text(E.At) == "--");
      }))
    return "elements of " + Name + " are counted up as '" + Arr.CanonicalType +
           "': a register might keep more than memory would";
  return "";
}

bool rcache::doesNothingElse(const KernelModel &M, TextRange In,
                             bool MayStore) {
  for (const Stmt &S : M.Stmts)
    if (In.contains(S.Range) && S.K != Stmt::Block && S.K != Stmt::Leaf &&
        S.K != Stmt::Decl && S.K != Stmt::If)
      return false;
  for (const Effect &E : M.Effects) {
    if (!In.contains(E.Range))
      continue;
    const bool OfItsOwn =
        E.K == Effect::SetsVariable && E.Var >= 0 &&
        In.contains(M.Vars[static_cast<size_t>(E.Var)].DeclRange);
    const bool Stores =
        MayStore && E.K == Effect::SetsMemory && !E.Target.empty();
    if (!OfItsOwn && !Stores && E.K != Effect::SetsShared)
      return false;
  }
  return llvm::none_of(M.GlobalAccesses, [&](const GlobalAccess &G) {
    return In.contains(G.Range) && G.K != GlobalAccess::Read &&
           !(MayStore && G.K == GlobalAccess::Write);
  });
}

/// Does variable \p Var keep its value from \p Since to the end of \p In, however
/// often the loops around \p In, but not around \p Since, run?
static bool keeps(const KernelModel &M, unsigned Var, TextRange Since,
                  TextRange In) {
  TextRange Between = {Since.Begin, In.End};
  for (const Stmt &L : M.Stmts)
    if (L.isLoop() &&
        L.Range.contains(In) && !L.Range.contains(Since))
      Between.End = std::max(Between.End, L.Range.End);
  return llvm::none_of(M.VarUses, [&](const VarUse &U) {
    return U.Write && U.Var == Var && Between.contains(U.Range);
  });
}

/// Can variable \p V be declared again in \p In, and mean what it would mean for
/// another thread?
static bool mayDeclare(const KernelModel &M, unsigned Var, TextRange In) {
  const rcache::Var &V = M.Vars[Var];
  if (V.IsParam || V.Assigned || V.AddressTaken || V.IsReference ||
      !V.ArrayExtents.empty() || !V.OnlyDeclarator || !V.HasInit ||
      V.InitRange.empty() || (V.Depends & (DepShared | DepGlobal)) ||
      V.DeclRange.Begin > In.Begin || M.stmt(V.DeclStmt).K != Stmt::Decl)
    return false;
  for (const Effect &E : M.Effects)
    if (V.DeclRange.contains(E.Range))
      return false;
  for (const GlobalAccess &G : M.GlobalAccesses)
    if (V.DeclRange.contains(G.Range))
      return false;
  return llvm::all_of(M.VarUses, [&](const VarUse &U) {
    if (!V.InitRange.contains(U.Range))
      return true;
    const rcache::Var &X = M.Vars[U.Var];
    return X.Repeatable ||
           (!(X.Depends & (DepThread | DepShared | DepGlobal)) &&
            !X.AddressTaken && keeps(M, U.Var, V.DeclRange, In));
  });
}

bool rcache::namesTheSame(const KernelModel &M, TextRange In,
                          std::vector<unsigned> *Declared) {
  if (Declared)
    for (const VarUse &U : M.VarUses)
      if (In.contains(U.Range) && !M.Vars[U.Var].Repeatable &&
          !In.contains(M.Vars[U.Var].DeclRange) &&
          (M.Vars[U.Var].Depends & DepThread) &&
          !llvm::is_contained(*Declared, U.Var) && mayDeclare(M, U.Var, In))
        Declared->push_back(U.Var);
  return llvm::all_of(M.VarUses, [&](const VarUse &U) {
    const Var &V = M.Vars[U.Var];
    const bool Local = !V.IsParam && In.contains(V.DeclRange);
    if (Local || !In.contains(U.Range))
      return !Local || In.contains(U.Range);
    return !U.Write && (V.Repeatable ||
                        (Declared && llvm::is_contained(*Declared, U.Var)) ||
                        (!V.IsReference && V.ArrayExtents.empty() &&
                         !(V.Depends & (DepThread | DepShared | DepGlobal))));
  });
}

isl::pw_aff rcache::bitsOf(const isl::pw_aff &X, int64_t Mask) {
  // Bit b of x is floor(x / 2^b) mod 2.
  isl::pw_aff All = constantValue(X.ctx(), 0);
  for (int64_t Bit = 1; Bit > 0 && Bit <= Mask; Bit *= 2)
    if (Mask & Bit)
      All = All.add(
          floorMod(floorDiv(X, Bit), 2).scale(static_cast<long>(Bit)));
  return All;
}

isl::pw_aff rcache::flipped(const isl::pw_aff &X, int64_t Mask) {
  return X.add(constantValue(X.ctx(), Mask)).sub(bitsOf(X, Mask).scale(2L));
}

isl::pw_aff rcache::flipped(isl::ctx Ctx, int64_t Mask) {
  return flipped(symbolValue(Ctx, "tx"), Mask);
}

Nullable<isl::pw_aff> rcache::byCounter(const Counters &Count, unsigned Stmt,
                                        const isl::pw_aff &V,
                                        const isl::set &Domain) {
  std::vector<std::string> Ids = involvedIds(V);
  llvm::append_range(Ids, involvedIds(Domain));
  llvm::erase_if(Ids,
                 [&](const std::string &Id) { return Count.loopOf(Id) < 0; });
  std::vector<std::pair<Counters::Values, int64_t>> Numbers;
  for (const Counters::Values &At : Count.at(Stmt, Ids)) {
    const isl::set D = atCounts(Domain, At);
    if (D.is_empty())
      continue;
    const auto Number = constantUnder(atCounts(V, At), D);
    if (!Number)
      return {};
    Numbers.emplace_back(At, *Number);
  }
  for (const std::string &Id : Ids) {
    std::map<int64_t, int64_t> Points;
    const bool Alone = llvm::all_of(Numbers, [&](const auto &N) {
      const auto It = N.first.find(Id);
      return It != N.first.end() &&
             Points.emplace(It->second, N.second).first->second == N.second;
    });
    if (Alone && !Points.empty())
      return through(V.ctx(), Id, Points);
  }
  return {};
}

Nullable<isl::pw_aff> rcache::maskOf(const SharedAccess &S,
                                     const Assumptions &A, int64_t Threads,
                                     const Counters &Count,
                                     const isl::set &Domain) {
  if (S.IndexValues.size() != 1 || !S.IndexValues[0])
    return {};
  const Value &V = *S.IndexValues[0];
  const isl::ctx Ctx = Domain.ctx();
  if (V.K == Value::Affine) {
    const isl::pw_aff E = A.fix(V.Aff);
    const auto Mask = isConstant(bindConst(E, "tx", 0));
    if (Mask && *Mask > 0 && *Mask < Threads &&
        equalUnder(E, flipped(Ctx, *Mask), Domain))
      return constantValue(Ctx, *Mask);
    return {};
  }
  if (V.K != Value::Op || V.Opcode != Value::Xor)
    return {};
  for (unsigned Own : {0, 1}) {
    const ValueRef &T = V.Operands[Own], &J = V.Operands[1 - Own];
    if (T && J && T->K == Value::Affine && J->K == Value::Affine &&
        !dependsOn(J->Aff, "tx") &&
        equalUnder(A.fix(T->Aff), symbolValue(Ctx, "tx"), Domain)) {
      const isl::pw_aff Mask = A.fix(J->Aff);
      const auto Fitted = Mask.n_piece() > 1
                              ? byCounter(Count, S.Stmt, Mask, Domain)
                              : Nullable<isl::pw_aff>();
      return Fitted.is_null() ? Mask : isl::pw_aff(Fitted);
    }
  }
  return {};
}

isl::set rcache::slotsOf(const Mapping &Map, const isl::set &Domain,
                         const std::vector<std::string> &Ids,
                         llvm::ArrayRef<Counters::Values> Visits) {
  const isl::ctx Ctx = Domain.ctx();
  const isl::pw_aff Thread = symbolValue(Ctx, "tx");
  isl::set S = substitute(Domain, {{"tx", Map.threadOfSlot(Ctx, 0)}});
  // The thread of slot 0: a lane, or the first of its neighbours.
  const int64_t Last = Map.Stride[0] == 1 ? 32 * int64_t(Map.Factor[0]) : 32;
  S = S.intersect(inRange(Thread, constantValue(Ctx, 0),
                          constantValue(Ctx, Last)));
  if (Map.Stride[0] == 1)
    S = S.intersect(Thread
                        .mod(static_cast<long>(Map.Factor[0]))
                        .eq_set(constantValue(Ctx, 0)));
  std::vector<std::string> Others;
  for (const std::string &Id : involvedIds(S))
    if (Id != "sx" && !llvm::is_contained(Ids, Id))
      Others.push_back(Id);
  S = projectOut(S, Others);
  isl::set Known =
      inRange(symbolValue(Ctx, "sx"), constantValue(Ctx, 0),
              constantValue(Ctx, int64_t(Map.Factor[0])));
  // (Each value by itself would be said in as many words.)
  for (const std::string &Id : Ids) {
    int64_t Lo = INT64_MAX, Hi = INT64_MIN;
    for (const Counters::Values &V : Visits)
      if (const auto It = V.find(Id); It != V.end()) {
        Lo = std::min(Lo, It->second);
        Hi = std::max(Hi, It->second);
      }
    if (Lo <= Hi)
      Known = Known.intersect(inRange(symbolValue(Ctx, Id),
                                      constantValue(Ctx, Lo),
                                      constantValue(Ctx, Hi + 1)));
  }
  return simplify(S, Known);
}

double rcache::shufflesOf(const Mapping &Map, const Owned::Fetch &F,
                          int64_t By, const Counters::Values &V) {
  if (F.K == Owned::Fetch::At)
    return 1; // the same for all slots
  const int64_t Slots = Map.Factor[0];
  double All = 0;
  for (int64_t S = 0; S < Slots; ++S) {
    if (bindConst(atCounts(F.Slots, V), "sx", S).is_empty())
      continue;
    if (Map.Stride[0] == 32 || Slots == 1)
      All += By % 32 != 0;
    else if (F.K == Owned::Fetch::Flipped)
      All += By >= Slots;
    else
      All += S + By >= Slots || S + By < 0;
  }
  return All;
}

bool rcache::namedAt(const KernelModel &M, const Counters &Count,
                     const SharedAccess &S, const std::string &Id) {
  const int Sym = M.symbolIndex(Id), Loop = Count.loopOf(Id);
  if (Sym < 0 || Loop < 0)
    return false;
  const Stmt &L = M.stmt(static_cast<unsigned>(Loop));
  if (L.IterSymbol == Sym)
    return M.countsItself(L);
  const int Var = M.Symbols[static_cast<size_t>(Sym)].VarId;
  if (Var >= 0 && L.Range.contains(S.Range) &&
      llvm::any_of(L.Carried, [&](const Stmt::Recurrence &R) {
        return R.Symbol == Sym;
      }))
    return true; // what a round begins with can be kept
  const bool Inside = L.Range.contains(S.Range);
  TextRange Since = {Inside ? M.stmt(L.Children[0]).Range.Begin : L.Range.End,
                     S.Range.Begin};
  // Of a loop in between, all rounds.
  for (int Q = M.stmt(S.Stmt).Parent; Q >= 0 && Q != Loop;
       Q = M.stmt(static_cast<unsigned>(Q)).Parent)
    if (const Stmt &In = M.stmt(static_cast<unsigned>(Q));
        In.Range.Begin >= Since.Begin &&
        In.isLoop())
      Since.End = std::max(Since.End, In.Range.End);
  return llvm::none_of(M.VarUses, [&](const VarUse &U) {
    return U.Write && static_cast<int>(U.Var) == Var &&
           Since.contains(U.Range);
  });
}

bool rcache::storesRounded(const KernelModel &M, const SharedAccess &S) {
  if (!M.Multiplies || !isRounded(M.Arrays[S.Array].CanonicalType) ||
      S.K != SharedAccess::ReadWrite)
    return true;
  return llvm::any_of(M.Effects, [&](const Effect &E) {
    if (E.K != Effect::SetsShared || !(E.Target == S.Range))
      return false;
    const std::string Operator = M.text(E.At);
    return Operator == "+=" || Operator == "-=" || Operator == "++" ||
           Operator == "--";
  });
}

bool rcache::staysInBlock(const SharedArray &Arr, const Counters &Count,
                          const SharedAccess &S, const Owned::Fetch &F,
                          const isl::set &Domain, int64_t Threads) {
  int64_t Elements = 1;
  for (const std::optional<int64_t> &E : Arr.Extents)
    Elements = E ? Elements * *E : Threads + 1;
  if (F.K != Owned::Fetch::Ahead || Elements <= Threads)
    return true;
  std::vector<std::string> Ids = involvedIds(F.By);
  llvm::append_range(Ids, involvedIds(Domain));
  const isl::ctx Ctx = Domain.ctx();
  return llvm::all_of(Count.at(S.Stmt, Ids), [&](const Counters::Values &V) {
    return symbolValue(Ctx, "tx")
        .add(atCounts(F.By, V))
        .ge_set(constantValue(Ctx, Threads))
        .intersect(atCounts(Domain, V))
        .is_empty();
  });
}

double rcache::roundsUncounted(const KernelModel &M, const Counters &Count, unsigned StmtId) {
  const double Visits = std::max<double>(1, double(Count.at(StmtId).size()));
  for (int Q = M.stmt(StmtId).Parent; Q >= 0; Q = M.stmt(static_cast<unsigned>(Q)).Parent)
    if (const Stmt &L = M.stmt(static_cast<unsigned>(Q));
        L.isLoop() && L.HasBarrier && !Count.ends(L.Id))
      return roundsOf(M, StmtId) / Visits; // the visits are some of the rounds
  return Visits > 1 ? 1 : roundsOf(M, StmtId);
}
