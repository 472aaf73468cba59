// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was written becomes edits: the instantiations of a kernel template are
// cases of one launch function, under names that nothing else has.

#include "Plan/Pictures.h"
#include "Unit.h"
#include "clang/Basic/CharInfo.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cstring>
#include <map>

using namespace rcache;

std::string Unit::freshName(const KernelModel &M,
                            const std::string &Suffix) const {
  std::string N = M.Name + Suffix;
  for (unsigned I = 2;; ++I) {
    if (!Used.contains(N) &&
        Given.try_emplace(N, M.DefBegin).first->second == M.DefBegin)
      return N;
    N = M.Name + Suffix + std::to_string(I);
  }
}

std::string Unit::launchName(const KernelModel &M) const {
  // What takes the arguments as pointers is the same for all kernels of a name.
  if (M.Overloaded)
    return freshName(M, "_rc_launch");
  return Used.fresh(M.Name + "_rc_launch");
}

/// Why \p L, which could be replaced, is not.
static std::string inFront(const LaunchSite &L) {
  return "it stands in front of the kernel's definition" +
         (L.WhyNot.empty() ? "" : ", and the kernel " + L.WhyNot);
}

/// All instantiations share a launch function, and those that are left as they are call it
/// as well. What was planned in an earlier text may meet other macros in this one.
void Unit::leaveMacros(std::vector<Case> &G) {
  std::string Macro;
  const auto Ask = [&](const KernelModel &M, const EmittedKernel &E) {
    if (Macro.empty())
      Macro = Inserted.macroIn(M, E);
  };
  if (llvm::none_of(G, [](const Case &C) { return C.Emitted.has_value(); }))
    return;
  for (const Case &C : G) {
    Ask(*C.M, C.Emitted ? *C.Emitted : EmittedKernel());
    for (const EmittedKernel &E : C.Others)
      Ask(*C.M, E);
  }
  for (Case &C : G)
    if (!Macro.empty() && C.Emitted) {
      leave(C);
      decline(C, DeclineCode::NameChanges, "the macro '" + Macro + "'");
    }
}

void Unit::leave(Case &C) {
  C.Emitted.reset();
  C.Others.clear();
  C.OtherPlans.clear();
  C.R.OtherForms.clear();
  C.R.Notes.clear();
}

void Unit::leaveUnreachable(std::vector<Case> &G, bool AllSame) {
  if (!AllSame)
    for (Case &C : G)
      for (const TemplateArg &A : C.M->TemplateArgs)
        if (C.Emitted && A.Nameless) {
          decline(C, DeclineCode::TemplateForm,
                  "no name tells the instantiation with '" + A.Value +
                      "' from others");
          C.Emitted.reset();
        }
  for (Case &C : G) {
    if (!C.Emitted || forCallersElsewhere(C) ||
        llvm::any_of(C.M->Launches, [&](const LaunchSite &L) {
          return canCallInserted(L, *G.front().M);
        }))
      continue;
    for (const LaunchSite &L : C.M->Launches) {
      Decline &D = C.R.Declines.emplace_back(
          Decline{DeclineCode::LaunchNotEditable, L.WhyNot, L.Pos});
      if (L.Editable) {
        D.Detail = inFront(L);
        D.Advice = "move the kernel's definition in front of the launch";
      }
    }
    C.Emitted.reset();
  }
}

/// `template void k_rc_launch<2>(dim3, dim3, size_t, cudaStream_t, float *);`;
/// "": an argument has no name.
static std::string instantiationOf(const std::string &Function,
                                   const KernelModel &M) {
  std::string Args;
  for (const TemplateArg &A : M.TemplateArgs) {
    if (A.Nameless)
      return "";
    Args += (Args.empty() ? "" : ", ") + A.Value;
  }
  return "template void " + Function + "<" + Args + ">" + launchTypes(M) + ";\n";
}

std::string Unit::launchFunction(std::vector<Case> &G,
                                 const std::vector<LaunchCase> &Cases,
                                 bool AllSame, const std::string &Function) {
  const KernelModel &M = *G.front().M;
  bool VoidArgs = false, Configured = false;
  for (const Case &C : G)
    for (const LaunchSite &L : C.M->Launches) {
      if (!canCallInserted(L, M))
        continue;
      VoidArgs |= L.K == LaunchSite::CudaLaunchKernel;
      Configured |= L.K == LaunchSite::Chevrons && !L.AnyOrder;
    }
  std::string Launch =
      emitLaunchFunction(Cases, AllSame, Function, VoidArgs, Configured);
  const std::string Local = "static inline void " + Function + "(";
  const size_t At = Launch.find(Local);
  if (At != std::string::npos) {
    // Callers elsewhere need a name that the linker knows, and what they call
    // of a template to be instantiated, as the kernel is.
    if (forCallersElsewhere(G.front())) {
      Launch.erase(At, std::strlen("static inline "));
      for (const Case &C : G)
        if (C.Emitted && M.IsTemplate)
          Launch += instantiationOf(Function, *C.M);
    }
    for (Case &C : G)
      if (C.Emitted) {
        const size_t Begin = Launch.find("void " + Function + "(");
        C.R.KernelName = C.Emitted->KernelName;
        C.R.LaunchFunction =
            Launch.substr(Begin, Launch.find(" {\n", Begin) - Begin);
        C.R.LaunchFunction.insert(std::strlen("void "), M.scope());
        // What stands in front of a template's, `template <int R>`.
        const size_t Head = Launch.rfind("template <", Begin);
        if (M.IsTemplate && Head != std::string::npos)
          C.R.LaunchFunction.insert(
              0, llvm::StringRef(Launch).slice(Head, Begin).rtrim().str() + " ");
        C.R.LaunchText = C.Emitted->Launch;
      }
  }
  return Launch;
}

void Unit::join(std::vector<Case> &G, UnitEdits &Edits) {
  const KernelModel &M = *G.front().M;
  if (!M.InsertOffset)
    return; // declined
  leaveMacros(G);
  const bool AllSame = oneForAll(G);
  leaveUnreachable(G, AllSame);
  std::vector<LaunchCase> Cases;
  std::vector<std::string> Texts;
  std::set<std::string> Helpers = {"verify"};
  // Equal code for several instantiations is written once.
  std::map<std::string, std::string> NameOf; ///< by code, as it was emitted
  std::map<std::string, unsigned> Called;    ///< codes of a name
  auto Write = [&](EmittedKernel &E) {
    Helpers.insert(E.Helpers.begin(), E.Helpers.end());
    const auto [Known, IsNew] = NameOf.try_emplace(E.Kernel);
    if (IsNew) {
      Known->second = E.KernelName;
      if (const unsigned N = ++Called[E.KernelName]; N > 1)
        Known->second += "_" + std::to_string(N);
    }
    if (Known->second != E.KernelName)
      rename(E, E.KernelName, Known->second);
    if (IsNew)
      Texts.push_back(E.Kernel);
  };
  for (Case &C : G) {
    if (!C.Emitted)
      continue;
    Write(*C.Emitted);
    for (EmittedKernel &E : C.Others)
      Write(E);
    Cases.push_back({C.M.get(), &*C.Emitted, C.Others});
    C.R.Verdict = KernelResult::Rewritten;
    C.R.ThePlan = std::make_shared<Plan>(*C.ThePlan);
    C.R.Pictures = picturesOf(*C.M, *C.ThePlan);
    C.R.PlanText = planLine(*C.M, *C.ThePlan);
    C.R.Conditions = C.Emitted->Conditions;
    for (const ArrayPlan &A : C.ThePlan->Arrays)
      C.R.Arrays.push_back(C.M->Arrays[A.Array].Name);
    for (const InterleavedArray &I : C.ThePlan->Interleaved)
      C.R.Arrays.push_back(C.M->Vars[C.M->Privates[I.Array].Var].Name);
  }
  if (Cases.empty())
    return;
  if (AllSame)
    Cases.resize(1);
  else
    Helpers.insert("same");
  const std::string Function = launchName(M);
  std::string Code;
  for (const std::string &T : Texts)
    Code += T + "\n";
  const std::string Launch = launchFunction(G, Cases, AllSame, Function);
  Code += forCallersElsewhere(G.front()) ? withoutRtc(Launch) : Launch;
  Edits.insertKernel(M, Code, Helpers);
  if (llvm::any_of(M.Launches, [&](const LaunchSite &L) {
        return L.Begin < *M.InsertOffset && canCallInserted(L, M) &&
               whyNeverAt(G.front(), L).empty();
      }))
    Edits.declareLaunch(M, Function);
  for (Case &C : G)
    for (const LaunchSite &L : C.M->Launches) {
      std::string Why = L.Editable ? "" : L.WhyNot;
      if (canCallInserted(L, M) &&
          (!C.Emitted || (Why = whyNeverAt(C, L)).empty())) {
        Edits.replaceLaunch(L, M, Function);
        C.R.LaunchesRewritten += C.Emitted.has_value();
        continue;
      }
      if (Why.empty())
        Why = inFront(L);
      C.R.LeftLaunches.push_back({L.Pos, std::move(Why)});
    }
}

bool Unit::oneForAll(const std::vector<Case> &G) {
  const Case &First = G.front();
  if (!First.M->IsTemplate)
    return true;
  if (First.M->HasSpecialisations)
    return false;
  for (const Case &C : G) {
    if (!C.Emitted || C.Emitted->Kernel != First.Emitted->Kernel ||
        C.Emitted->Condition != First.Emitted->Condition ||
        C.Emitted->Launch != First.Emitted->Launch ||
        !llvm::equal(C.Others, First.Others,
                     [](const EmittedKernel &A, const EmittedKernel &B) {
                       return A.Kernel == B.Kernel &&
                              A.Condition == B.Condition &&
                              A.Launch == B.Launch;
                     }) ||
        C.M->Form != First.M->Form)
      return false;
    for (const LaunchSite &L : C.M->Launches)
      if (L.InTemplate && canCallInserted(L, *First.M))
        return false;
  }
  return true;
}

bool Unit::forCallersElsewhere(const Case &C) const {
  return O.WithoutLaunch && C.M->Launches.empty();
}

void Unit::rename(EmittedKernel &E, const std::string &From,
                  const std::string &To) {
  auto Continues = [](const std::string &T, size_t I) {
    return I < T.size() && clang::isAsciiIdentifierContinue(T[I]);
  };
  for (std::string *T : {&E.Kernel, &E.Launch, &E.LaunchArgs, &E.Condition})
    for (size_t P = T->find(From); P != std::string::npos;
         P = T->find(From, P + 1)) {
      if ((P > 0 && Continues(*T, P - 1)) || Continues(*T, P + From.size()))
        continue;
      T->replace(P, From.size(), To);
      P += To.size() - 1;
    }
  E.KernelName = To;
}
