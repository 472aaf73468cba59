// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of --prove: expressions of both versions at one launch shape.

#include "Say.h"
#include "Trials.h"

#include "Expr.h"

#include <cstdio>
#include <cstring>

namespace rcache::check {

/// Runs a symbolic version; the expression and the bits of every element of
/// every buffer and variable that the original touches.
std::vector<std::pair<uint32_t, uint64_t>> Trials::express(Version &V,
                                                            const Shape &S,
                                                            Order Threads) {
  struct Piece {
    char *P;
    size_t Size;
    unsigned Unit;
  };
  std::vector<Piece> Pieces;
  restore();
  size_t R = 0;
  for (size_t I = 0; I < Params.size(); ++I) {
    if (Params[I].Kind != Param::Pointer)
      continue;
    const Discovery &D = Found[R++];
    if (D.Low >= D.High)
      continue;
    size_t E = std::max<uint64_t>(1, Params[I].ElementSize);
    unsigned Unit = E == 1 || E == 2 || E == 4 || E == 8 ? E
                    : E % 4 == 0                         ? 4
                                                         : 1;
    // Whole elements, counted from the pointer.
    int64_t First = int64_t(D.Low) - int64_t(Buffers[I].Offset);
    First = First < 0 ? -((-First + Unit - 1) / Unit) : First / Unit;
    char *P = Buffers[I].Base + Buffers[I].Offset + First * int64_t(Unit);
    size_t Size = Buffers[I].Base + D.High - P;
    Size = (Size + Unit - 1) / Unit * Unit;
    exprLeaves(P, Size, Unit, I < K.ParamNames.size() ? K.ParamNames[I] : "",
               First);
    Pieces.push_back({P, Size, Unit});
  }
  for (const VariableInfo &X : Summary.Variables) {
    auto It = V.Program->program().Globals.find(X.Mangled);
    if (It == V.Program->program().Globals.end() ||
        !VariableValues.count(X.Mangled))
      continue;
    unsigned Unit = X.ElementSize;
    if (X.Kind == ElementKind::Float && Unit <= 8)
      exprLeaves(It->second.Base, It->second.Size, Unit, It->second.Name, 0);
    if (!X.Constant && Unit && Unit <= 8)
      Pieces.push_back({It->second.Base, It->second.Size, Unit});
  }
  exprClearProblem();
  Problem = launch(V, S, Threads) ? "" : "the launch does not come to its end";
  if (Problem.empty())
    Problem = exprProblem();
  std::vector<std::pair<uint32_t, uint64_t>> Out;
  for (const Piece &X : Pieces)
    for (size_t At = 0; At + X.Unit <= X.Size; At += X.Unit) {
      uint32_t Id = exprAt(X.P + At, X.Unit);
      uint64_t Bits = 0;
      memcpy(&Bits, X.P + At, X.Unit);
      Out.push_back({Id, Id ? 0 : Bits});
    }
  for (const Piece &X : Pieces)
    exprForget(X.P, X.Size);
  return Out;
}

/// One row of the proof table. Both versions run in two opposite orders of the
/// threads: for all data includes data that would show a race.
void Trials::prove(const Shape &S, unsigned Trial, bool Differs) {
  auto Expressed = [&](Version &V, const char *Which, std::string &Why) {
    auto One = express(V, S, Order::Forward);
    std::string Problem = this->Problem;
    const bool Same =
        !Problem.empty() || express(V, S, Order::Reverse) == One;
    if (Problem.empty() && Same)
      Problem = this->Problem;
    if (Why.empty() && !Problem.empty())
      Why = std::string("in the ") + Which + ", " + Problem;
    return std::make_pair(One, Same);
  };
  std::string Why;
  auto [A, Ordered] = Expressed(SymbolicA, "original", Why);
  if (!Ordered && !Differs) { // says nothing, as if the data had shown it
    ++Undefined;
    return;
  }
  auto [B, SameB] = Expressed(SymbolicB, "rewritten program", Why);
  if (Why.empty() && !SameB)
    Why = "the result of the rewritten program depends on the order of threads "
          "or blocks";
  if (Why.empty() && A.size() != B.size())
    Why = "the programs have different variables";
  for (size_t I = 0; Why.empty() && I < A.size(); ++I)
    if (A[I] != B[I])
      Why = std::string("the expressions differ") +
            (Differs ? "" : " though the values agree") +
            ":\n    original:  " + exprText(A[I].first) +
            "\n    rewritten: " + exprText(B[I].first);
  bool Yes = Why.empty() && !Differs;
  ++(Yes ? Proved : NotProved);
  const std::string Row =
      std::string(Differs ? "different" : Yes ? "proved" : "not proved") + ": " +
      K.Name + ": " + describe(S, Trial) + (Yes ? "" : ": ") + Why + "\n";
  if (L.Json)
    check::say("%s", Row.c_str());
  else
    fputs(Row.c_str(), stdout);
  fflush(stdout);
}

} // namespace rcache::check
