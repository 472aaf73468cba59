// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Values.h.

#include "Values.h"
#include "Affine/IslTools.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <set>

using namespace rcache;

ValueRef rcache::substituteValue(const ValueRef &V,
                                 const std::map<std::string, isl::pw_aff> &Map) {
  if (!V || V->K == Value::Unknown)
    return nullptr;
  auto N = std::make_shared<Value>(*V);
  if (!N->Aff.is_null())
    N->Aff = substitute(N->Aff, Map);
  if (!N->Cond.is_null())
    N->Cond = substitute(N->Cond, Map);
  for (ValueRef &O : N->Operands) {
    O = substituteValue(O, Map);
    if (!O)
      return nullptr;
  }
  return N;
}

std::vector<std::string> rcache::productFactors(const std::string &Id) {
  std::vector<std::string> Factors;
  if (Id.find('*') == std::string::npos)
    return Factors;
  size_t Begin = isWideProduct(Id) ? 3 : 0;
  for (size_t Star; (Star = Id.find('*', Begin)) != std::string::npos;
       Begin = Star + 1)
    Factors.push_back(Id.substr(Begin, Star - Begin));
  Factors.push_back(Id.substr(Begin));
  return Factors;
}

bool rcache::isWideProduct(const std::string &Id) {
  return Id.compare(0, 3, "64*") == 0;
}

static void collectSymbols(const ValueRef &V, std::set<std::string> &Out) {
  if (!V)
    return;
  auto Add = [&](const std::vector<std::string> &Ids) {
    for (const std::string &Id : Ids) {
      Out.insert(Id);
      for (const std::string &F : productFactors(Id))
        Out.insert(F);
    }
  };
  if (!V->Aff.is_null())
    Add(involvedIds(V->Aff));
  if (!V->Cond.is_null())
    Add(involvedIds(V->Cond));
  for (const ValueRef &O : V->Operands)
    collectSymbols(O, Out);
}

std::vector<std::string> rcache::valueSymbols(const ValueRef &V) {
  std::set<std::string> S;
  collectSymbols(V, S);
  return {S.begin(), S.end()};
}

bool rcache::isSameLoad(const Value &A, const Value &B) {
  return A.K == Value::Load && B.K == Value::Load && A.Root >= 0 && A.Root == B.Root &&
         A.Type == B.Type && A.Text == B.Text && A.Survived == B.Survived &&
         A.Operands[0]->K == Value::Affine && B.Operands[0]->K == Value::Affine &&
         A.Operands[0]->Aff.plain_is_equal(B.Operands[0]->Aff);
}

void rcache::collectLoads(const ValueRef &V, std::vector<ValueRef> &Out) {
  if (!V)
    return;
  if (V->K == Value::Load)
    Out.push_back(V);
  for (const ValueRef &O : V->Operands)
    collectLoads(O, Out);
}

bool rcache::holdsLoad(const Value &V) {
  return V.K == Value::Load || llvm::any_of(V.Operands, [](const ValueRef &O) {
           return O && holdsLoad(*O);
         });
}

bool rcache::endsRounded(const ValueRef &V, const KernelModel &M) {
  if (!V)
    return false;
  switch (V->K) {
  case Value::Load:
    return true;
  case Value::Uniform:
    return V->Rounded == Value::AsItWas;
  case Value::Unknown: // an element of shared memory, or anything
    return std::any_of(M.SharedAccesses.begin(), M.SharedAccesses.end(),
                       [&](const SharedAccess &A) {
                         return A.K == SharedAccess::Read &&
                                M.text(A.Range) == V->Text;
                       });
  case Value::Op:
    if (V->Rounded != Value::AsItWas)
      return false;
    [[fallthrough]];
  case Value::Select:
    return std::all_of(V->Operands.begin(), V->Operands.end(),
                       [&](const ValueRef &O) {
                         return O && (O->K == Value::Affine ||
                                      endsRounded(O, M));
                       });
  default:
    return false;
  }
}

bool rcache::isRounded(const std::string &Type) {
  return Type == "float" || Type == "double";
}

bool rcache::isNumber(const std::string &Type) {
  static const char *const Integers[] = {
      "int",           "unsigned int",       "long",
      "unsigned long", "long long",          "unsigned long long",
      "short",         "unsigned short",     "signed char",
      "unsigned char", "char",               "bool"};
  return isRounded(Type) ||
         std::find(std::begin(Integers), std::end(Integers), Type) !=
             std::end(Integers);
}

bool rcache::losesRounding(const SharedAccess &Write, const KernelModel &M) {
  return M.Multiplies && Write.K == SharedAccess::Write &&
         isRounded(M.Arrays[Write.Array].CanonicalType) &&
         !endsRounded(Write.Stored, M);
}
