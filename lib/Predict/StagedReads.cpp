// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StagedReads.h.

#include "StagedReads.h"
#include "Affine/IslTools.h"
#include "Alignment.h"
#include "Arithmetic.h"
#include "Plan/Values.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <isl/constraint.h>

using namespace rcache;

/// The other factors of the product \p Id, which \p Moving is one of; where launches do
/// not say, lanes are scattered.
static double pitchOf(const KernelModel &M, const std::string &Id, const std::string &Moving,
                      unsigned ElemBytes) {
  constexpr double Scattered = 256; // bytes
  double All = 1;
  for (const std::string &F : productFactors(Id)) {
    if (F == Moving)
      continue;
    const int I = M.symbolIndex(F);
    const auto Values = I >= 0 && M.Symbols[size_t(I)].K == Symbol::Param
                            ? valuesOf(M, M.Symbols[size_t(I)])
                            : std::vector<int64_t>();
    if (Values.empty())
      return Scattered / ElemBytes;
    All *= double(*llvm::max_element(Values));
  }
  return All;
}

std::optional<double> rcache::laneStride(const KernelModel &M, const Value &Load,
                                         unsigned ElemBytes,
                                         const StagingFunction &Stage,
                                         llvm::ArrayRef<isl::pw_aff> Element,
                                         double Step) {
  const ValueRef &Index = Load.Operands[0];
  if (Index->K != Value::Affine)
    return std::nullopt;
  const auto Form =
      linearForm(Index->Aff, isl::set::universe(Index->Aff.domain().space()));
  if (!Form)
    return std::nullopt;
  double Stride = 0;
  for (const auto &[Id, Coefficient] : Form->Terms)
    for (size_t D = 0; D < Element.size(); ++D) {
      if (!dependsOn(Element[D], "tx"))
        continue;
      const auto Along = linearCoefficient(
          Element[D], "tx", isl::set::universe(Element[D].domain().space()));
      const double Each = std::abs(static_cast<double>(Coefficient) *
                                   static_cast<double>(Along.value_or(1))) *
                          ElemBytes * Step;
      if (Id == Stage.ElemIds[D])
        Stride += Each;
      else if (llvm::is_contained(productFactors(Id), Stage.ElemIds[D]))
        Stride += Each * pitchOf(M, Id, Stage.ElemIds[D], ElemBytes);
    }
  return Stride;
}

std::optional<double> rcache::laneStride(const KernelModel &M, const GlobalAccess &G) {
  if (!G.Index || G.Index->K != Value::Affine)
    return std::nullopt;
  const auto Form =
      linearForm(G.Index->Aff, isl::set::universe(G.Index->Aff.domain().space()));
  if (!Form)
    return std::nullopt;
  double Stride = 0;
  for (const auto &[Id, Coefficient] : Form->Terms) {
    const double Each = std::abs(double(Coefficient)) * G.ElemBytes;
    if (Id == "tx")
      Stride += Each;
    else if (llvm::is_contained(productFactors(Id), "tx"))
      Stride += Each * pitchOf(M, Id, "tx", std::max(1u, G.ElemBytes));
  }
  return Stride;
}

std::vector<ValueRef> rcache::loadsOf(const StagingFunction &Stage) {
  std::vector<ValueRef> Loads;
  for (const StagePiece &Piece : Stage.Pieces)
    collectLoads(Piece.V, Loads);
  return Loads;
}

double rcache::tests(const StagingFunction &Stage) {
  double N = 0;
  if (Stage.Pieces.size() == 1 && Stage.Pieces[0].Guards.empty())
    return 0; // it is the element, or nothing is
  for (const StagePiece &P : Stage.Pieces) {
    N += double(P.Guards.size());
    if (!P.Domain.is_null())
      P.Domain.foreach_basic_set([&](const isl::basic_set &Part) {
        isl_constraint_list *All = isl_basic_set_get_constraint_list(Part.get());
        N += isl_constraint_list_n_constraint(All);
        isl_constraint_list_free(All);
      });
  }
  return N;
}

bool rcache::isSlowDivision(const Value &V) {
  if (V.K != Value::Op || (V.Opcode != Value::Div && V.Opcode != Value::Rem) ||
      isFloating(V.Type))
    return false;
  const Value *By = V.Operands[1].get();
  while (By->K == Value::Op && By->Opcode == Value::Cast)
    By = By->Operands[0].get();
  return By->K != Value::Affine || !involvedIds(By->Aff).empty();
}

static double slowDivisionsIn(const Value &V) {
  double N = isSlowDivision(V);
  for (const ValueRef &O : V.Operands)
    N += slowDivisionsIn(*O);
  return N;
}

double rcache::slowDivisions(const StagingFunction &Stage) {
  double Most = 0;
  for (const StagePiece &S : Stage.Pieces)
    Most = std::max(Most, slowDivisionsIn(*S.V));
  return Most;
}
