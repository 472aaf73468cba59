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
#include "Plan/Staging.h"
#include "Plan/Values.h"

using namespace rcache;

static std::string str(int64_t V) { return std::to_string(V); }
static const char Axes[] = "xyz";

/// All symbols, with the loop's counter being the parameter `rc_round`.
CxxNames Fill::roundSymbols() const {
  CxxNames All = N.symbols();
  const Stmt &Loop = M.stmt(P.Ahead->Loop);
  All[M.Symbols[static_cast<size_t>(Loop.IterSymbol)].Id] =
      CxxAtom(N("round"), true, "int");
  for (const Symbol &S : M.Symbols) // factors are listed before their products
    if (S.K == Symbol::Opaque && S.Factors.size() == 2)
      All[S.Id].Text = (S.Bits > 32 ? "(long long)" : "") +
                       All[S.Factors[0]].Text + " * " + All[S.Factors[1]].Text;
  return All;
}

/// Where the elements of a round come from; null: they are zeros.
llvm::Expected<Code> Fill::sourceLambda(const ArrayPlan &A,
                                        const Restaged &R) const {
  ValueTextOptions O;
  O.Symbols = roundSymbols();
  addElementNames(O.Symbols, A, N);
  O.Context = askedOf(A);
  std::string Params = "const int " + N("round");
  for (unsigned Axis = 0; Axis < 3; ++Axis)
    if (R.PerBlock[Axis])
      Params += std::string(", const unsigned int ") +
                N(std::string("block_") + Axes[Axis]);
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

/// A loop that sends for the elements of array \p A, in vectors of 16 bytes.
Code Fill::sendFor(const ArrayPlan &A, const Restaged &R) {
  const SharedArray &Of = M.Arrays[A.Array];
  int64_t Width = 16 / Of.ElemBytes;
  if (R.Extent.back() % Width || R.Pad % Width)
    Width = 1;
  const int64_t All = R.elements(P.Map.Blocks) / Width, Threads = P.Map.lanes();
  const std::string At = N("at"), I = N("i"), V = N("v"), From = N("from");
  const RestagedPlace X = placeOf(R, At);
  Code Arguments = N("round");
  for (const std::vector<Code> &Some : {X.Blocks, X.Coordinates})
    for (const Code &C : Some)
      Arguments += ", " + C;
  const int64_t Rounds = (All + Threads - 1) / Threads;
  Helpers.insert("copy_ahead");
  Code T = "#pragma unroll\nfor (int " + I + " = 0; " + I + " < " + str(Rounds) +
           "; ++" + I + ") {\nconst unsigned int " + At + " = (threadIdx.x + " +
           I + " * " + str(Threads) + ") * " + str(Width) + ";\n";
  if (All % Threads)
    T += "if (" + At + " >= " + str(All * Width) + ")\nbreak;\n";
  T += "const " + Of.ElemType + " *" + From + "[" + str(Width) +
       "];\n#pragma unroll\nfor (int " + V + " = 0; " + V + " < " + str(Width) +
       "; ++" + V + ")\n" + From + "[" + V + "] = " + groupName(A) + "_from(" +
       Arguments + (Width > 1 ? " + " + V : "") + ");\n";
  return T + "::rcache::device::copy_ahead(&" + groupName(A) + "[" + N("tile") +
         "]" + X.Subscripts + ", " + From + ");\n}\n";
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
    Sends += sendFor(A, R);
  }
  ValueTextOptions O;
  O.Symbols = roundSymbols();
  O.Context = P.Context;
  auto Cond = conditionText(Loop.Cond, N, O);
  if (!Cond)
    return Cond;
  auto First = affineText(Loop.Init, N, O);
  if (!First)
    return First;
  return "// Elements of a round's tiles are copied while those of the round before "
         "are used.\n" +
         T + "const auto " + N("send") + " = [&](const int " + N("round") +
         ", const unsigned int " + N("tile") + ") {\nif (" + *Cond + ") {\n" +
         Sends + "}\n};\nunsigned int " + N("tile") + " = 1u;\n" + N("send") +
         "(" + *First + ", 0u);\n";
}

Code Fill::tilesArrive() const {
  return N("tile") + " ^= 1u;\n::rcache::device::copies_arrive();\n";
}

Code Fill::nextTiles() const {
  const Stmt &Loop = M.stmt(P.Ahead->Loop);
  const unsigned V = static_cast<unsigned>(Loop.IterVar);
  return N("send") + "(" + Code(Code::named(V) + M.Vars[V].Name) + " + " +
         str(*Loop.Step) + ", " + N("tile") + " ^ 1u);\n";
}
