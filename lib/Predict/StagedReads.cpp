// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StagedReads.h.

#include "StagedReads.h"
#include "Affine/IslTools.h"
#include "Plan/Values.h"
#include "llvm/ADT/STLExtras.h"
#include <isl/constraint.h>

using namespace rcache;

std::optional<double> rcache::laneStride(const Value &Load, unsigned ElemBytes,
                                 const StagingFunction &Stage,
                                 llvm::ArrayRef<isl::pw_aff> Element,
                                 double Step) {
  constexpr double Scattered = 256;
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
      if (Id == Stage.ElemIds[D])
        Stride += std::abs(static_cast<double>(Coefficient) *
                           static_cast<double>(Along.value_or(1))) *
                  ElemBytes * Step;
      else if (llvm::is_contained(productFactors(Id), Stage.ElemIds[D]))
        Stride = Scattered;
    }
  return Stride;
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
