// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows whose rows are loaded one after the other and used up at once. See
// Fill.h.

#include "Fill.h"
#include "ValueText.h"

using namespace rcache;

/// The lambdas that load one row of a streamed window, and the tests that
/// choose between them.
llvm::Expected<Code> Fill::rows(const ArrayPlan &A, size_t Index) {
  const SharedArray &Arr = M.Arrays[A.Array];
  const Window &Of = *A.window();
  const std::string W = base(Index), V = N("v"), Row = N("row");
  ValueTextOptions O;
  O.Symbols = N.symbols();
  Preamble First, OfRow;
  std::string Reg = V;
  for (size_t D = 0; D < Of.First.size(); ++D) {
    auto F = affineText(Of.First[D], N, O);
    if (!F)
      return F.takeError();
    const std::string E = N(A.Stage.ElemIds[D]);
    First.number(E, *F);
    if (D == 0)
      OfRow.number(E, *F + " + " + Row);
    else if (D + 1 < Of.First.size()) {
      const std::string R = N("r" + std::to_string(D));
      OfRow.add("#pragma unroll\nfor (int " + R + " = 0; " + R + " < " +
                std::to_string(Of.Extent[D]) + "; ++" + R + ") {\n");
      OfRow.number(E, *F + " + " + R);
      Reg += "[" + R + "]";
    } else
      OfRow.number(E, *F);
  }
  std::string Ends, Extents;
  for (size_t D = 1; D < Of.Extent.size(); ++D) {
    Extents += "[" + std::to_string(Of.Extent[D]) + "]";
    Ends += D + 1 < Of.Extent.size() ? "}\n" : "";
  }
  auto R = run(A, Reg, Of.Extent.back());
  if (!R)
    return R.takeError();
  RowLoad Load;
  Load.Scalar = !R->Condition.is("true");
  Load.Fast = !R->Condition.empty();
  Code T = "// Phase: the rows of " + Arr.Name +
           " that this thread's outputs need, one at a time.\n";
  const Code Tests = formTests(*R, W, First, Load.Form);
  std::string Unneeded; // what threads do that make no output of it
  if (!Of.Needed.is_null()) {
    O.Context = P.Context;
    auto Needed = conditionText(Of.Needed, N, O);
    if (!Needed)
      return Needed.takeError();
    T += "const bool " + W + "_needed = " + *Needed + "; // else no output is made of it\n";
    Unneeded = "if (!" + W + "_needed)\n  return;\n";
  }
  auto Lambda = [&](const std::string &Name, const Code &Body) {
    T += "const auto " + Name + " = [=](" + Arr.ElemType + " (&" + V + ")" +
         Extents + ", const int " + Row + ") {\n" + Unneeded +
         OfRow.before(Body) + Body + Ends + "};\n";
  };
  if (!Load.Form.Words.empty())
    Lambda(rowLambda(Index, Load, RowForm::Words), R->Words);
  if (Load.Fast)
    Lambda(rowLambda(Index, Load, RowForm::Inside), R->Fast);
  if (Load.Scalar)
    Lambda(rowLambda(Index, Load, RowForm::Border), R->Scalar);
  RowLoads[Index] = Load;
  return T + Tests;
}

/// The lambda of a window that loads a row where all windows have \p Form.
std::string Fill::rowLambda(size_t Index, const RowLoad &Load,
                            RowForm Form) const {
  if (!Load.Fast || (Form == RowForm::Border && Load.Scalar))
    return base(Index) + "_border_row";
  return base(Index) + (Form == RowForm::Words || Load.Form.Words.empty()
                            ? "_row"
                            : "_unaligned_row");
}

std::vector<Fill::StreamForm> Fill::streamForms(unsigned Loop) const {
  Code Words, Inside;
  bool AnyWords = false, AnyInside = false;
  for (const auto &[Index, Load] : RowLoads) {
    if (P.Arrays[Index].as<StreamedRows>()->Loop != Loop)
      continue;
    auto Add = [](Code &T, const std::string &Condition) {
      if (!Condition.empty())
        T += (T.empty() ? "" : " && ") + Condition;
    };
    AnyWords |= !Load.Form.Words.empty();
    AnyInside |= !Load.Form.Inside.empty();
    Add(Words, Load.Form.Words.empty() ? Load.Form.Inside : Load.Form.Words);
    Add(Inside, Load.Form.Inside);
  }
  std::vector<StreamForm> Forms;
  if (AnyWords)
    Forms.push_back({RowForm::Words, Words});
  if (AnyInside)
    Forms.push_back({RowForm::Inside, Inside});
  Forms.push_back({AnyInside ? RowForm::Border : RowForm::Inside, ""});
  return Forms;
}

std::string Fill::unset(const Window &Of) const {
  return Of.Needed.is_null() || !M.Multiplies ? "" : " = {}";
}

Code Fill::streamedRow(unsigned Loop, const std::string &Row,
                              RowForm Form) const {
  Code T;
  for (const auto &[Index, Load] : RowLoads) {
    const ArrayPlan &A = P.Arrays[Index];
    const auto &Of = *A.as<StreamedRows>();
    if (Of.Loop != Loop)
      continue;
    const std::string W = base(Index);
    T += M.Arrays[A.Array].ElemType + " " + W;
    for (size_t D = 1; D < Of.W.Extent.size(); ++D)
      T += "[" + std::to_string(Of.W.Extent[D]) + "]";
    T += unset(Of.W) + ";\n" + rowLambda(Index, Load, Form) + "(" + W + ", " + Row + ");\n" +
         views(A, Index);
  }
  return T;
}
