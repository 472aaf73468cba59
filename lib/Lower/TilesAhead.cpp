// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plan::Ahead as text. In front of the loop where elements come from, as addresses,
// and the copies of one round; the first tile is sent for. At the staging barrier:
//
//     rc_tile ^= 1u;
//     ::rcache::device::copies_arrive();
//     __syncthreads();
//     rc_send(t + 1, rc_tile ^ 1u);
//
// The uses read tile rc_tile.

#include "Affine/IslTools.h"
#include "Fill.h"
#include "Plan/Solve.h"
#include "Plan/Staging.h"
#include "Plan/Values.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

/// The type of the parameter `rc_round`, which is the loop's counter: what the launch
/// asks of the loop's bounds lets 32 bits have a sign.
static std::string roundType(const KernelModel &M, const Stmt &Loop) {
  const Symbol &Counter = M.Symbols[static_cast<size_t>(Loop.IterSymbol)];
  return Counter.Bits > 32 ? Counter.Type : "int";
}

/// All symbols, with the loop's counter being the parameter `rc_round`.
CxxNames Fill::roundSymbols() const {
  CxxNames All = N.symbols();
  const Stmt &Loop = M.stmt(P.Ahead->Loop);
  All[M.Symbols[static_cast<size_t>(Loop.IterSymbol)].Id] =
      CxxAtom(N("round"), true, roundType(M, Loop));
  for (const Symbol &S : M.Symbols)
    if (S.K == Symbol::Opaque && !S.Factors.empty())
      All[S.Id].Text = (S.Bits > 32 ? "(long long)" : "") + Names::productText(S, All);
  return All;
}

/// Where the elements of a round come from; null: they are zeros.
llvm::Expected<Code> Fill::sourceLambda(const ArrayPlan &A,
                                        const Restaged &R) const {
  ValueTextOptions O;
  O.Symbols = roundSymbols();
  addElementNames(O.Symbols, A, N);
  O.Context = askedOf(A);
  std::string Params =
      "const " + roundType(M, M.stmt(P.Ahead->Loop)) + " " + N("round");
  for (unsigned Axis = 0; Axis < 3; ++Axis)
    if (R.PerBlock[Axis])
      Params += std::string(", const unsigned int ") +
                N(std::string("block_") + "xyz"[Axis]);
  for (const std::string &Id : A.Stage.ElemIds)
    Params += ", const int " + N(Id);
  ArrayPlan Sources = A;
  for (StagePiece &S : Sources.Stage.Pieces) {
    if (S.V->K == Value::Load)
      continue;
    Value Null;
    Null.K = Value::Uniform;
    Null.Text = "nullptr";
    S.V = std::make_shared<const Value>(std::move(Null));
  }
  O.LoadText = [&](const Value *V) {
    auto I = valueText(V->Operands[0], N, O, /*AsIndex=*/true);
    if (I)
      return V->Text + " + (" + *I + ")";
    llvm::consumeError(I.takeError());
    return std::string();
  };
  auto Body = stageBody(Sources, O, /*WithForms=*/false);
  if (!Body)
    return Body;
  return "const auto " + groupName(A) + "_from = [=](" + Params + ") -> const " +
         M.Arrays[A.Array].ElemType + " * {\n" + *Body + "};\n";
}

namespace {

/// What the arguments have to be for vectors of Width elements to begin at multiples
/// of Width along a row, and to be staged as a whole or not at all.
class VectorTerms {
public:
  VectorTerms(const KernelModel &M, const ArrayPlan &A, int64_t Width)
      : M(M), Last(A.Stage.ElemIds.back()), Width(Width) {}

  std::set<std::string> Multiples; ///< texts of parameters: of Width

  /// Do the elements of \p Load follow one another along a row?
  bool address(const isl::pw_aff &Index) {
    const auto L = linearForm(Index, always(Index.ctx()));
    if (!L || L->Const % Width)
      return false;
    const auto Own = L->Terms.find(Last);
    return Own != L->Terms.end() && Own->second == 1 && others(*L);
  }

  /// Does \p D hold for all elements of a vector or for none?
  bool whole(const isl::set &D) {
    bool All = true;
    D.foreach_basic_set([&](isl::basic_set B) {
      if (!dependsOn(isl::set(B), Last))
        return;
      const auto Each = inequalitiesOf(B);
      All &= Each && llvm::all_of(*Each, [&](const Linear &L) {
               return !L.Terms.count(Last) || bound(L);
             });
    });
    return All;
  }

private:
  const KernelModel &M;
  const std::string &Last;
  const int64_t Width;

  /// Terms but that of the row's coordinate.
  bool others(const Linear &L) {
    return llvm::all_of(L.Terms, [&](const auto &T) {
      return T.first == Last || T.second % Width == 0 || divides(T.first);
    });
  }

  /// Is \p Id a multiple of Width if a parameter is? Then that is asked for.
  bool divides(const std::string &Id) {
    const int I = M.symbolIndex(Id);
    std::vector<std::string> Factors = productFactors(Id);
    if (I >= 0) {
      const Symbol &S = M.Symbols[static_cast<size_t>(I)];
      if (S.K == Symbol::Param) {
        Multiples.insert(S.Text);
        return true;
      }
      Factors = S.Factors;
    }
    return llvm::any_of(Factors, [&](const std::string &F) { return divides(F); });
  }

  /// `rest - last + c >= 0` with c = -1 modulo Width, `last + rest + c >= 0` with
  /// c = 0, the rest multiples of Width.
  bool bound(const Linear &L) {
    const int64_t Own = L.Terms.at(Last), At = (L.Const % Width + Width) % Width;
    return others(L) &&
           ((Own == -1 && At == Width - 1) || (Own == 1 && At == 0));
  }
};

} // namespace

std::optional<std::set<std::string>> Fill::vectorsAsk(const ArrayPlan &A,
                                                      const Restaged &R) const {
  const int64_t Width = 16 / M.Arrays[A.Array].ElemBytes;
  if (Width < 2 || R.Extent.back() % Width || R.Pad % Width)
    return std::nullopt;
  VectorTerms Terms(M, A, Width);
  std::set<std::string> All;
  for (const StagePiece &S : A.Stage.Pieces) {
    if (!Terms.whole(simplify(S.Domain, askedOf(A))))
      return std::nullopt;
    if (S.V->K != Value::Load)
      continue;
    if (S.V->Operands[0]->K != Value::Affine || !Terms.address(S.V->Operands[0]->Aff))
      return std::nullopt;
    All.insert("::rcache::device::on_word<16>(" + S.V->Text + ")");
  }
  for (const std::string &Text : Terms.Multiples)
    All.insert(Text + " % " + std::to_string(Width) + " == 0");
  return All;
}

/// A loop that sends for the elements of array \p A: in vectors, or one by one.
Code Fill::sendFor(const ArrayPlan &A, const Restaged &R, bool Vectors) {
  const SharedArray &Of = M.Arrays[A.Array];
  const int64_t Width = Vectors ? 16 / Of.ElemBytes : 1;
  const int64_t All = R.elements(P.Map.Blocks) / Width, Threads = P.Map.lanes();
  const std::string At = N("at"), I = N("i");
  const RestagedPlace X = placeOf(A, R, At);
  Helpers.insert("at_most");
  Code Arguments = N("round");
  for (const std::vector<Code> &Some : {X.Blocks, X.Coordinates})
    for (const Code &C : Some)
      Arguments += ", " + C;
  const int64_t Rounds = (All + Threads - 1) / Threads;
  const bool Always = llvm::all_of(A.Stage.Pieces, [](const StagePiece &S) {
    return S.V->K == Value::Load;
  });
  Helpers.insert("copy_ahead");
  // One by one they are too many for each to have its address in registers.
  Code T = std::string(Vectors ? "#pragma unroll" : "#pragma unroll 4") +
           "\nfor (int " + I + " = 0; " + I + " < " + std::to_string(Rounds) +
           "; ++" + I + ") {\nconst unsigned int " + At + " = " +
           (Vectors ? "(threadIdx.x + " + I + " * " + std::to_string(Threads) + ") * " +
                          std::to_string(Width)
                    : "threadIdx.x + " + I + " * " + std::to_string(Threads)) +
           ";\n";
  if (All % Threads)
    T += "if (" + At + " < " + std::to_string(All * Width) + ")\n";
  return T + "::rcache::device::" +
         (Always ? "copy_ahead<" : "copy_ahead_or_zero<") +
         std::to_string(Width * Of.ElemBytes) + ">(&" + tileName(A) + "[" + N("tile") + "]" +
         X.Subscripts + ", " + groupName(A) + "_from(" + Arguments + "));\n}\n";
}

/// Has the loop a round `rc_round`? In its own words where they have no affine form.
llvm::Expected<Code> Fill::isRound() const {
  const Stmt &Loop = M.stmt(P.Ahead->Loop);
  if (!Loop.Cond.is_null()) {
    ValueTextOptions O;
    O.Symbols = roundSymbols();
    O.Context = P.Context;
    return conditionText(Loop.Cond, N, O);
  }
  Code Words;
  unsigned Done = Loop.CondRange.Begin;
  for (const VarUse &U : M.VarUses) {
    if (!Loop.CondRange.contains(U.Range) || U.Range.Begin < Done)
      continue;
    Words += M.text({Done, U.Range.Begin});
    Words += int(U.Var) == Loop.IterVar
                 ? Code(N("round"))
                 : Code(Code::named(U.Var) + M.text(U.Range));
    Done = U.Range.End;
  }
  return Words + M.text({Done, Loop.CondRange.End});
}

llvm::Expected<Code> Fill::firstTiles() {
  const Stmt &Loop = M.stmt(P.Ahead->Loop);
  Code T, Sends;
  for (const ArrayPlan &A : P.Arrays) {
    const auto &R = *A.as<Restaged>();
    auto From = sourceLambda(A, R);
    if (!From)
      return From;
    T += *From;
  }
  Code Vectors;
  for (const ArrayPlan &A : P.Arrays) {
    const auto &R = *A.as<Restaged>();
    const auto Ask = vectorsAsk(A, R);
    if (!Ask) {
      Sends += sendFor(A, R, false);
      continue;
    }
    const std::string Flag = N(M.Arrays[A.Array].Name + "_words");
    std::string All;
    for (const std::string &C : *Ask)
      All += (All.empty() ? "" : " && ") + C;
    Vectors += "const bool " + Flag + " = " + All + ";\n";
    Helpers.insert("on_word");
    Sends += "if (" + Flag + ") {\n" + sendFor(A, R, true) + "} else {\n" +
             sendFor(A, R, false) + "}\n";
  }
  ValueTextOptions O;
  O.Symbols = roundSymbols();
  O.Context = P.Context;
  auto Cond = isRound();
  if (!Cond)
    return Cond;
  auto First = affineText(Loop.Init, N, O);
  if (!First)
    return First;
  return "// Elements of a round's tiles are copied while those of the round before "
         "are used.\n" +
         T + Vectors + "const auto " + N("send") + " = [&](const " +
         roundType(M, Loop) + " " + N("round") + ", const unsigned int " +
         N("tile") + ") {\nif (" + *Cond + ") {\n" + Sends +
         "}\n};\nunsigned int " + N("tile") + " = 1u;\n" + N("send") + "(" +
         *First + ", 0u);\n";
}

Code Fill::tilesArrive() const {
  return N("tile") + " ^= 1u;\n::rcache::device::copies_arrive();\n";
}

Code Fill::nextTiles() const {
  const Stmt &Loop = M.stmt(P.Ahead->Loop);
  const unsigned V = static_cast<unsigned>(Loop.IterVar);
  return N("send") + "(" + Code(Code::named(V) + M.Vars[V].Name) +
         (*Loop.Step < 0 ? " - " : " + ") + std::to_string(std::abs(*Loop.Step)) + ", " +
         N("tile") + " ^ 1u);\n";
}
