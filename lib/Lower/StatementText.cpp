// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StatementText.h.

#include "StatementText.h"
#include "Kernel.h"
#include "Plan/Values.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

//===--- Text with edits ---===//

Code StatementText::apply(TextRange R, Edits E) const {
  for (Edit &X : E) { // a deletion may reach into the white space around
    X.Range.Begin = std::max(X.Range.Begin, R.Begin);
    X.Range.End = std::min(X.Range.End, R.End);
  }
  // Outer edits hide inner ones.
  llvm::stable_sort(E, [](const Edit &A, const Edit &B) {
    if (A.Range.Begin != B.Range.Begin)
      return A.Range.Begin < B.Range.Begin;
    if (A.Range.empty() != B.Range.empty()) // what ends here comes first
      return A.Range.empty();
    return A.Range.End > B.Range.End;
  });
  Code Out;
  unsigned Pos = R.Begin;
  for (const Edit &X : E) {
    if (X.Range.Begin < Pos)
      continue;
    // (`c ? x :s[t]` has no blank in front of what becomes `::rcache::..`.)
    const bool Joins = X.Range.Begin > 0 && M.Text[X.Range.Begin - 1] == ':' &&
                       X.Text.begins("::");
    Out += Source.copy({Pos, X.Range.Begin}) + (Joins ? " " : "") + X.Text;
    Pos = std::max(Pos, X.Range.End);
  }
  if (Pos < R.End)
    Out += Source.copy({Pos, R.End});
  return Out;
}

Code StatementText::copy(TextRange R, Place At,
                         const std::set<unsigned> &Skip) const {
  return copy(R, At, Skip, {});
}

Code StatementText::copyRegion(const Region &Rg, Place At,
                               const std::set<unsigned> &Skip,
                               llvm::ArrayRef<std::pair<TextRange, std::string>> Without) const {
  const TextRange R = {M.stmt(Rg.All.front()).Range.Begin,
                       M.stmt(Rg.All.back()).Range.End};
  std::vector<unsigned> Left;
  for (unsigned C : Rg.All)
    if (!Skip.count(C) && !D.Dead.count(C))
      Left.push_back(C);
  Edits E;
  for (const auto &[Old, New] : Without)
    if (!Old.empty() || !New.empty())
      E.push_back({Old, New});
  if (Left.size() == 1)
    At.Alone = static_cast<int>(Left[0]);
  if (Left.size() == 1 && M.stmt(Left[0]).K == Stmt::Block) {
    const TextRange B = M.stmt(Left[0]).Range;
    if (M.Text[B.Begin] == '{' && M.Text[B.End - 1] == '}')
      E.insert(E.end(), {{{B.Begin, B.Begin + 1}, ""}, {{B.End - 1, B.End}, ""}});
  }
  return copy(R, At, Skip, std::move(E));
}

Code StatementText::copy(TextRange R, Place At, const std::set<unsigned> &Skip,
                         Edits E) const {
  const auto Loaded = [&](unsigned K) { // as a vector
    const TextRange Read = M.GlobalAccesses[P.VectorReads[K].Access].Range;
    return At.InSlots && R.contains(Read) && !inDead(Read);
  };
  // What is put around something larger that ends with it ends behind it.
  for (unsigned K = 0; K < P.VectorReads.size(); ++K)
    if (const unsigned End = M.GlobalAccesses[P.VectorReads[K].Access].Range.End; Loaded(K))
      E.push_back({{End, End}, ")"});
  for (const Stmt &St : M.Stmts) {
    if (!R.contains(St.Range))
      continue;
    if (Skip.count(St.Id) || (D.Dead.count(St.Id) && St.Id != 0)) {
      if (parentIsBlock(St))
        E.push_back({deletion(St.Range), ""});
      else
        E.push_back({St.Range, ";"});
      continue;
    }
    editStatement(St, At, E);
  }
  if (At.InSlots)
    editApart(R, At, E);
  editReads(R, At, E);
  editOwned(R, At, E);
  for (unsigned K = 0; K < P.VectorReads.size(); ++K) {
    const unsigned Begin = M.GlobalAccesses[P.VectorReads[K].Access].Range.Begin;
    const std::string Run = Code::generated(readName(M, P, K));
    if (Loaded(K))
      E.push_back({{Begin, Begin}, "(" + Run + "_all ? " + Run + Code::slot() + " : "});
  }
  for (const BuiltinUse &B : M.Builtins)
    if (R.contains(B.Range))
      E.push_back({B.Range, N.builtin(B.K, B.Axis)});
  return apply(R, std::move(E));
}

/// What is read from arrays that left shared memory.
void StatementText::editReads(TextRange R, Place At, Edits &E) const {
  for (unsigned I = 0; I < M.SharedAccesses.size(); ++I) {
    const SharedAccess &A = M.SharedAccesses[I];
    if (!R.contains(A.Range) || !isRegister(A) || A.K != SharedAccess::Read ||
        inDead(A.Range))
      continue;
    putElement(I, At, E);
  }
}

/// Where access \p I finds its element, in place of it.
void StatementText::putElement(unsigned I, Place At, Edits &E) const {
  const SharedAccess &A = M.SharedAccesses[I];
  const auto First = D.ReadFirst.find(I);
  auto T = At.InSlots && First != D.ReadFirst.end()
               ? llvm::Expected<Code>(readFirst(I, First->second))
               : F.readText(I);
  if (T)
    E.push_back({A.Range, At.InSlots && Q.isHiddenAlone(A) ? apart(*T)
                                                           : std::move(*T)});
  else if (Error.empty())
    Error = llvm::toString(T.takeError());
  else
    llvm::consumeError(T.takeError());
}

/// What the slot has read before, in this round of the loop.
Code StatementText::readFirst(unsigned I, const Division::TileRead &Read) const {
  Code T = F.readFirst(I);
  if (Read.Loop >= 0)
    T += "[" + F.roundOf(M.stmt(static_cast<unsigned>(Read.Loop))) + " % " +
         std::to_string(Read.Rounds) + "]";
  return T + Code::slot();
}

/// Writes to arrays that the warp owns. What is stored ends rounded, as shared
/// memory would have it: in a register a product would meet the next sum.
void StatementText::editOwned(TextRange R, Place At, Edits &E) const {
  for (unsigned I = 0; I < M.SharedAccesses.size(); ++I) {
    const SharedAccess &A = M.SharedAccesses[I];
    if (!R.contains(A.Range) || A.K == SharedAccess::Read || inDead(A.Range) ||
        !P.owned(A.Array))
      continue;
    putElement(I, At, E);
    if (!losesRounding(A, M))
      continue;
    const bool Single = M.Arrays[A.Array].CanonicalType == "float";
    const TextRange V = A.StoredRange;
    if (A.Stored && A.Stored->Rounded == Value::Arithmetic) {
      E.push_back({{V.Begin, V.Begin}, Single ? "__fadd_rn(" : "__dadd_rn("});
      E.push_back({{V.End, V.End}, Single ? ", -0.0f)" : ", -0.0)"});
      continue;
    }
    // A sum makes one value of all that is no number.
    Helpers.insert("rounded");
    E.push_back({{V.Begin, V.Begin}, "::rcache::device::rounded("});
    E.push_back({{V.End, V.End}, ")"});
  }
}

void StatementText::editStatement(const Stmt &St, Place At, Edits &E) const {
  if (!St.LeftOut.empty())
    E.push_back({St.LeftOut, St.LeftOut == St.Range ? "{}" : ""});
  if (const PairedInterval *Pair = P.paired(St.Range);
      Pair && llvm::is_contained(Pair->Met, St.Id))
    E.push_back({St.CondRange, "true"});
  if (St.K == Stmt::Return && At.InSlots)
    E.push_back({St.Range, D.ActiveFlags
                               ? "{\n" + N("active") + Code::slot() +
                                     " = false;\ncontinue;\n}"
                               : "continue;"});
  if (St.K == Stmt::For && llvm::is_contained(P.UnrolledLoops, St.Id))
    editLoop(St, At, E);
  if (St.K == Stmt::Decl || St.K == Stmt::Leaf)
    editDeclaration(St, At, E);
  if (St.K == Stmt::Leaf)
    editStore(St, At, E);
}

/// What each slot has to multiply by itself: factors, and what it reads from
/// arrays that stay in shared memory.
void StatementText::editApart(TextRange R, Place At, Edits &E) const {
  for (TextRange Factor : M.Apart)
    hide(Factor, At, E, R);
  for (const SharedAccess &A : M.SharedAccesses)
    if (Q.isHiddenAlone(A) && !isRegister(A) && !inDead(A.Range))
      hide(A.Range, At, E, R);
}

/// Hides \p Hidden, if it stands in \p R.
void StatementText::hide(TextRange Hidden, Place At, Edits &E,
                         TextRange R) const {
  if (!R.contains(Hidden) || !Wrapping.insert(Hidden.Begin).second)
    return;
  // In front of the edits of the same range.
  E.insert(E.begin(), {Hidden, apart(copy(Hidden, At))});
  Wrapping.erase(Hidden.Begin);
}

/// \p T, hidden from the compiler, for this slot alone.
Code StatementText::apart(const Code &T) const {
  Helpers.insert("apart");
  return "::rcache::device::apart(" + T + ", " +
         (P.slots() > 1 ? slotNumber() : "0") + ")";
}

/// Deletes a statement, with the rest of its line if that is empty.
TextRange StatementText::deletion(TextRange R) const {
  unsigned E = R.End;
  while (E < M.Text.size() && (M.Text[E] == ' ' || M.Text[E] == '\t'))
    ++E;
  if (E < M.Text.size() && M.Text[E] == '\n')
    R.End = E;
  unsigned B = R.Begin;
  while (B > 0 && (M.Text[B - 1] == ' ' || M.Text[B - 1] == '\t'))
    --B;
  if (B > 0 && M.Text[B - 1] == '\n' && R.End == E)
    R.Begin = B - 1;
  return R;
}

//===--- Declarations ---===//

/// A declaration of which some variables live elsewhere is written anew.
void StatementText::editDeclaration(const Stmt &St, Place At, Edits &E) const {
  Code T;
  bool Anew = false;
  for (unsigned V = 0; V < M.Vars.size(); ++V) {
    const Var &Vr = M.Vars[V];
    if (Vr.IsParam || Vr.DeclStmt != St.Id || !(Vr.DeclRange == St.Range))
      continue;
    // In slot code, some are declared at the top of the slot loop or before it.
    const bool Elsewhere =
        (At.InSlots && (D.VarHome[V] == Home::Repeated || D.Hoisted.count(V))) ||
        (D.DeadVars.count(V) && !hasEffects(Vr.InitRange));
    Anew |= Elsewhere || D.VarHome[V] == Home::Expanded;
    Code One;
    if (D.VarHome[V] == Home::Expanded)
      One = perSlotInit(V, At);
    else if (!Elsewhere)
      One = declaration(V, At);
    T += (T.empty() || One.empty() ? "" : "\n") + One;
  }
  if (!Anew)
    return;
  if (T.empty() && parentIsBlock(St))
    E.push_back({deletion(St.Range), ""});
  else
    E.push_back({St.Range, T.empty() ? ";" : T});
}

Code StatementText::declaredName(unsigned V) const {
  return (M.Vars[V].HasInit ? Code::given(V) : "") + Code::declared(V) +
         M.Vars[V].Name;
}

Code StatementText::declaration(unsigned V, Place At) const {
  const Var &Vr = M.Vars[V];
  const Code Name = declaredName(V);
  Code T = (Vr.IsConst || D.VarHome[V] == Home::Repeated ? "const " : "") +
           Vr.Type + " " + Name;
  // `const float *` is a pointer to const: a const pointer has it behind.
  if (!Vr.Type.empty() && Vr.Type.back() == '*')
    T = Vr.Type + (Vr.IsConst ? "const " : "") + Name;
  for (int64_t E : Vr.ArrayExtents)
    T += "[" + std::to_string(E) + "]";
  if (Vr.HasInit)
    T += (Vr.Form == Var::Equals ? " = " : "") + initText(Vr, At);
  return T + ";";
}

/// What \p V is initialised with, to stand behind its name or its type.
Code StatementText::initText(const Var &V, Place At) const {
  if (V.HasInit && V.InitRange.empty())
    cannotDeclare(V);
  const Code T = copy(V.InitRange, At);
  return V.Form == Var::Parens ? "(" + T + ")" : T;
}

void StatementText::cannotDeclare(const Var &V) const {
  if (NotAnew.empty())
    NotAnew = "'" + V.Name + "' would have to be declared in other words";
}

/// The value of a variable with one element a slot, where it was declared.
Code StatementText::perSlotInit(unsigned V, Place At) const {
  const Var &Vr = M.Vars[V];
  if (!Vr.Expandable)
    cannotDeclare(Vr);
  if (!Vr.HasInit)
    return "";
  if (!Vr.ArrayExtents.empty())
    return Code::given(V) + arrayInit(V, At);
  return Code::given(V) + Vr.Name + Code::slot() + " = " +
         (Vr.Form == Var::Equals ? "" : Vr.Type) + initText(Vr, At) + ";";
}

/// An array with one a slot gets the initialiser's elements one by one.
Code StatementText::arrayInit(unsigned V, Place At) const {
  const Var &Vr = M.Vars[V];
  const std::string From = N(Vr.Name + "_init");
  std::string Extents, Index, Loops;
  for (size_t Dim = 0; Dim < Vr.ArrayExtents.size(); ++Dim) {
    const std::string Number = std::to_string(Vr.ArrayExtents[Dim]);
    const std::string I = N("i" + std::to_string(Dim));
    Extents += "[" + Number + "]";
    Index += "[" + I + "]";
    Loops += "#pragma unroll\nfor (int " + I + " = 0; " + I + " < " + Number +
             "; ++" + I + ")\n";
  }
  return "{\n" + constantOf(Vr.Type) + From + Extents + " = " +
         initText(Vr, At) + ";\n" + Loops + Code::named(V) + Vr.Name + Index +
         " = " + From + Index + ";\n}";
}

bool StatementText::hasEffects(TextRange R) const {
  for (const VarUse &U : M.VarUses)
    if (U.Write && R.contains(U.Range))
      return true;
  for (const GlobalAccess &G : M.GlobalAccesses)
    if (G.K != GlobalAccess::Read && R.contains(G.Range))
      return true;
  return false;
}

//===--- Loops ---===//

/// An unrolled loop: the pragma and, where registers need it, a counter that
/// is a constant in each round.
void StatementText::editLoop(const Stmt &St, Place At, Edits &E) const {
  E.push_back({{St.Range.Begin, St.HeaderRange.Begin}, "\n#pragma unroll\n"});
  auto Round = N.roundOf(M.Symbols[static_cast<size_t>(St.IterSymbol)]);
  if (!Round)
    return;
  const unsigned I = static_cast<unsigned>(St.IterVar);
  const Var &V = M.Vars[I];
  const int64_t Step = *St.Step,
                Last = *St.ConstFirst + (*St.ConstTripCount - 1) * Step;
  const Code Value =
      isNamed(St) ? "const " + V.Type + " " + declaredName(I) + " = (" +
                        copy(V.InitRange, At) + ") + " + *Round + ";\n"
                  : Code(Code::given(I) + Code::declared(I));
  E.push_back({St.HeaderRange,
               "for (int " + *Round + " = " + std::to_string(*St.ConstFirst) +
                   "; " + *Round + (Step > 0 ? " <= " : " >= ") +
                   std::to_string(Last) + "; " +
                   (Step == 1 ? "++" + *Round
                              : *Round + " += " + std::to_string(Step)) +
                   ") {\n" + Value + counted(St)});
  E.push_back({{St.Range.End, St.Range.End}, "\n}"});
}

/// Does anything but register indices name the variable of \p Loop in its body?
bool StatementText::isNamed(const Stmt &Loop) const {
  for (const VarUse &U : M.VarUses) {
    if (static_cast<int>(U.Var) != Loop.IterVar ||
        Loop.HeaderRange.contains(U.Range) || !Loop.Range.contains(U.Range))
      continue;
    if (llvm::none_of(M.SharedAccesses, [&](const SharedAccess &A) {
          return A.Range.contains(U.Range) && isRegister(A);
        }))
      return true;
  }
  return false;
}

Code StatementText::counted(const Stmt &Loop) const {
  Code T;
  for (size_t I = 0; I < M.Effects.size(); ++I)
    if (M.Effects[I].K == Effect::SetsVariable &&
        M.Effects[I].Var == Loop.IterVar &&
        Loop.HeaderRange.contains(M.Effects[I].At))
      T += Code::effect(I);
  return T;
}

//===--- Stores ---===//

/// `out[g] = v;` whose slots are stored together.
void StatementText::editStore(const Stmt &St, Place At, Edits &E) const {
  for (unsigned K = 0; K < P.VectorStores.size(); ++K) {
    const GlobalAccess *Stored = nullptr;
    for (unsigned I = 0; I < M.GlobalAccesses.size(); ++I)
      if (P.VectorStores[K].holds(I) && M.GlobalAccesses[I].Stmt == St.Id)
        Stored = &M.GlobalAccesses[I];
    if (!Stored)
      continue;
    const std::string B = Code::generated(collectedName(M, P, K));
    const bool Braces =
        !parentIsBlock(St) && At.Alone != static_cast<int>(St.Id);
    E.push_back(
        {St.Range,
         (Braces ? "{\n" : "") + B + Code::slot() + " = " +
             copy(Stored->StoredRange, At) + ";" + Source.set(Stored->Range) +
             (At.StoresLate ? "" : "\n" + B + "_on" + Code::slot() + " = true;") +
             (Braces ? "\n}" : "")});
  }
}

//===--- Barriers ---===//

/// \p B for the lanes of a warp. (The statement's range may end with its semicolon.)
std::string StatementText::ofWarp(const Stmt &B) const {
  return M.text(B.Range).find(';') == std::string::npos ? "__syncwarp()"
                                                        : "__syncwarp();";
}

/// The loop as it is while its counter is large, and its last rounds by the first warp:
/// they begin with a number, so that a compiler unrolls them.
Code StatementText::roundsOfFirstWarp(const WarpRounds &R) const {
  const Stmt &L = M.stmt(R.Loop);
  const Var &V = M.Vars[size_t(L.FactorVar)];
  const std::string First = std::to_string(R.First),
                    Name = Code::named(size_t(L.FactorVar)) + V.Name;
  Code T = apply(L.Range, {{L.CondRange, Name + " > " + First}});
  const Edit Barrier = {M.stmt(R.Barrier).Range, ofWarp(M.stmt(R.Barrier))};
  const TextRange Loop = {L.HeaderRange.empty() ? L.Range.Begin : L.HeaderRange.Begin,
                          L.Range.End};
  T += R.Open ? "\n__syncthreads();\n" : "\n";
  T += "if (" + blockThread() + " < 32) {\n";
  if (L.K == Stmt::For && L.InitRange.contains(V.NameRange)) {
    const bool Ends = M.text(L.InitRange).find(';') != std::string::npos;
    T += "#pragma unroll\n";
    T += apply(Loop, {{L.InitRange, V.Type + " " + Name + " = " + First + (Ends ? ";" : "")},
                      Barrier});
  } else {
    Edits E = {Barrier};
    if (L.K == Stmt::For && !L.InitRange.empty())
      E.push_back({L.InitRange, ""});
    T += Name + " = " + First + ";\n#pragma unroll\n" + apply(Loop, std::move(E));
  }
  T += "\n}\n__syncthreads();";
  return parentIsBlock(L) ? T : "{\n" + T + "\n}";
}

Code StatementText::copyOfAll() const {
  const TextRange Body = {M.stmt(0).Range.Begin + 1, M.stmt(0).Range.End - 1};
  Edits E;
  for (const WarpRounds &R : P.OfFirstWarp)
    E.push_back({M.stmt(R.Loop).Range, roundsOfFirstWarp(R)});
  for (const Stmt &B : M.Stmts) {
    if (B.K != Stmt::Barrier || P.scopeOf(B.Id) == SyncScope::Block)
      continue;
    if (P.scopeOf(B.Id) == SyncScope::Warp)
      E.push_back({B.Range, ofWarp(B)});
    else if (parentIsBlock(B))
      E.push_back({deletion(B.Range), ""});
    else
      E.push_back({B.Range, ";"});
  }
  editInterleaved(Body, E);
  return apply(Body, std::move(E));
}

//===--- Questions ---===//

bool StatementText::isRegister(const SharedAccess &A) const {
  return llvm::any_of(P.Arrays, [&](const ArrayPlan &Pl) {
    return Pl.Array == A.Array && !Pl.isShared();
  });
}

bool StatementText::inDead(TextRange R) const {
  return llvm::any_of(D.Dead, [&](unsigned S) {
    return M.stmt(S).Range.contains(R);
  });
}

bool StatementText::parentIsBlock(const Stmt &St) const {
  return St.Parent >= 0 &&
         M.stmt(static_cast<unsigned>(St.Parent)).K == Stmt::Block;
}

/// The slots counted through, as an expression.
std::string StatementText::slotNumber() const {
  static const char *Slot[3] = {"s", "sy", "sz"};
  std::string T;
  unsigned Terms = 0;
  for (unsigned A = 3; A-- > 0;) {
    if (!P.hasSlots(A))
      continue;
    if (Terms++)
      T = (Terms == 2 ? T : "(" + T + ")") + " * " +
          std::to_string(P.Map.Factor[A]) + " + ";
    T += N(Slot[A]);
  }
  return T;
}
