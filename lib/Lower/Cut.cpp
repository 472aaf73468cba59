// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Cut.h.

#include "Cut.h"
#include "IndexText.h"
#include "Plan/Assumptions.h"
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
    InLoop = inLoop();
    for (const LoopCut::Refill &R : P.Cut->Refills)
      if (llvm::Error E = refill(R))
        return std::move(E);
    if (llvm::Error E = clamped())
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
  Nullable<isl::set> InLoop; ///< inLoop()
  /// Of each home, and of those that are set in front of the first round as well and
  /// those that are not: loads whose indices have cases, with their index in AtStart.
  std::map<std::pair<Home, bool>, std::vector<std::pair<unsigned, FormedValue>>> Cases;

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

  /// Where the value of \p H has to be: in each slot, in the thread, or (nullopt)
  /// nowhere.
  llvm::Expected<std::optional<Home>> homeOf(const Stmt::Held &H) const {
    if (D.DeadVars.count(H.Var))
      return std::optional<Home>();
    const Home Where = D.VarHome[H.Var];
    if (Where != Home::Expanded && Where != Home::Uniform)
      return llvm::createStringError("'" + M.Vars[H.Var].Name +
                                     "' does not live across the loop");
    return std::optional<Home>(Where);
  }

  /// `variable = value;`
  Code assigned(const Stmt::Held &H, const std::string &Value) const {
    const Var &Of = M.Vars[H.Var];
    Code T = Code::named(H.Var) + Of.Name;
    if (H.Element >= 0)
      T += subscripts(Of, H.Element);
    T += " = ";
    if (H.Root >= 0)
      T += M.Params[static_cast<size_t>(H.Root)].Name + " + (" + Value + ")";
    else
      T += Value;
    return T + ";\n";
  }

  ValueTextOptions optionsFor(Home Where) const {
    ValueTextOptions O;
    O.Symbols = N.symbols(Where == Home::Expanded ? Names::Of::Slot
                                                  : Names::Of::FirstSlot);
    O.Context = P.Context;
    return O;
  }

  llvm::Error refill(const LoopCut::Refill &R) {
    const Stmt::Held &H = (*Loop.AtStart)[R.Held];
    auto Where = homeOf(H);
    if (!Where || !*Where)
      return Where.takeError();
    if (auto V = H.Root < 0 ? formedLoad(H.V, InLoop) : std::nullopt) {
      Cases[{**Where, R.First}].push_back({R.Held, std::move(*V)});
      return llvm::Error::success();
    }
    auto Value = valueText(H.V, N, optionsFor(**Where));
    if (!Value)
      return Value.takeError();
    of(**Where) += (R.First ? "" : "if (blockIdx.z != 0)\n") + assigned(H, *Value);
    return llvm::Error::success();
  }

  /// What holds in the rounds of the loop, of threads too.
  isl::set inLoop() const {
    const isl::set Threads =
        makeAssumptions(M, P.Map.Block, P.Map.BlockMultiple).Context;
    return (P.Context.is_null() ? Threads : Threads.intersect(P.Context))
        .intersect(Loop.IterDomain);
  }

  Code &of(Home Where) {
    return Where == Home::Expanded ? Out.OfSlot : Out.OfThread;
  }

  /// The loads at clamped places, `p[(z * h + clamp(y)) * w + clamp(x)]`, of which
  /// planes one behind the other share all but the plane.
  llvm::Error clamped() {
    for (const auto &[How, Loads] : Cases) {
      const auto [Where, First] = How;
      std::vector<FormedValue> Values;
      for (const auto &[Held, V] : Loads)
        Values.push_back(V);
      std::string Variables;
      ValueTextOptions O = optionsFor(Where);
      O.Context = InLoop;
      auto Texts = indexFormTexts(Values, N, O, Variables);
      if (!Texts)
        return Texts.takeError();
      Code Body = Variables;
      for (size_t I = 0; I < Loads.size(); ++I)
        Body += assigned((*Loop.AtStart)[Loads[I].first], (*Texts)[I]);
      of(Where) += (First ? "{\n" : "if (blockIdx.z != 0) {\n") + Body + "}\n";
    }
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
