// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Cut.h.

#include "Cut.h"
#include "ValueText.h"

using namespace rcache;

namespace {

class Writer {
public:
  Writer(const KernelModel &M, const Plan &P, const Names &N, const Division &D,
         const StatementText &Text, const Stmt &Loop)
      : M(M), P(P), N(N), D(D), Text(Text), Loop(Loop),
        Counter(static_cast<unsigned>(Loop.IterVar)), V(M.Vars[Counter]) {}

  llvm::Expected<CutText> run() {
    if (llvm::Error E = share())
      return std::move(E);
    Out.FirstRound = "const " + V.Type + " " + Text.declaredName(Counter) +
                     " = " + N("from") + ";\n";
    for (const LoopCut::Refill &R : P.Cut->Refills)
      if (llvm::Error E = refill(R))
        return std::move(E);
    head();
    return std::move(Out);
  }

private:
  const KernelModel &M;
  const Plan &P;
  const Names &N;
  const Division &D;
  const StatementText &Text;
  const Stmt &Loop;
  const unsigned Counter;
  const Var &V;
  CutText Out;

  llvm::Error share() {
    ValueTextOptions O;
    O.Symbols = N.symbols();
    auto First = affineText(Loop.Init, N, O);
    if (!First)
      return First.takeError();
    const bool Wide = M.Symbols[static_cast<size_t>(Loop.IterSymbol)].Bits > 32;
    const std::string Step =
        *Loop.Step == 1 ? "" : " * " + std::to_string(*Loop.Step) + "u";
    const std::string Unsigned = Wide ? "unsigned long long" : "unsigned int";
    const std::string From = N("from"), Rounds = N("rounds");
    Out.Share = "// The rounds of the loop that this block has.\nconst " + V.Type +
                " " + From + " = (" + V.Type + ")((" + Unsigned + ")(" + *First +
                ") + (" + Unsigned + ")(blockIdx.z * " + Rounds + ")" + Step +
                ");\nconst " + V.Type + " " + N("to") + " = (" + V.Type + ")((" +
                Unsigned + ")" + From + " + (" + Unsigned + ")" + Rounds + Step +
                ");\n";
    return llvm::Error::success();
  }

  /// Subscripts of element \p Element of \p Of, counted row by row.
  static std::string subscripts(const Var &Of, int64_t Element) {
    std::string T;
    for (size_t I = Of.ArrayExtents.size(); I-- > 0;) {
      T = "[" + std::to_string(Element % Of.ArrayExtents[I]) + "]" + T;
      Element /= Of.ArrayExtents[I];
    }
    return T;
  }

  llvm::Error refill(const LoopCut::Refill &R) {
    const Stmt::Held &H = (*Loop.AtStart)[R.Held];
    if (D.DeadVars.count(H.Var))
      return llvm::Error::success();
    const Home Where = D.VarHome[H.Var];
    if (Where != Home::Expanded && Where != Home::Uniform)
      return llvm::createStringError("'" + M.Vars[H.Var].Name +
                                     "' does not live across the loop");
    ValueTextOptions O;
    O.Symbols = N.symbols(Where == Home::Expanded ? Names::Of::Slot
                                                  : Names::Of::FirstSlot);
    O.Context = P.Context;
    auto Value = valueText(H.V, N, O);
    if (!Value)
      return Value.takeError();
    const Var &Of = M.Vars[H.Var];
    Code T = Code::named(H.Var) + Of.Name;
    if (H.Element >= 0)
      T += subscripts(Of, H.Element);
    T += " = ";
    if (H.Root >= 0)
      T += M.Params[static_cast<size_t>(H.Root)].Name + " + (" + *Value + ")";
    else
      T += *Value;
    T = (R.First ? "" : "if (blockIdx.z != 0)\n") + T + ";\n";
    (Where == Home::Expanded ? Out.OfSlot : Out.OfThread) += T;
    return llvm::Error::success();
  }

  void head() {
    Out.Head = Text.copy({Loop.Range.Begin, Loop.HeaderRange.Begin}, {}) + "for (" +
               V.Type + " " + Text.declaredName(Counter) + " = " + N("from") +
               "; (" + Text.copy(Loop.CondRange, {}) + ") && " +
               Code::named(Counter) + V.Name + " != " + N("to") + "; " +
               Text.copy(Loop.IncRange, {}) + ")";
  }
};

} // namespace

llvm::Expected<CutText> rcache::cutText(const KernelModel &M, const Plan &P,
                                        const Names &N, const Division &D,
                                        const StatementText &Text,
                                        const Stmt &Loop) {
  return Writer(M, P, N, D, Text, Loop).run();
}
