// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See UnitMemory.h. A kernel is what it was where its definition is the same to the
// letter and so is everything of the user's outside of kernels' definitions. Its old
// model stays, as the plans are made of sets in that model's context; what it says of
// places is taken from the new one.

#include "UnitMemory.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

namespace {

bool sameLaunch(const LaunchSite &X, const LaunchSite &Y) {
  return X.K == Y.K && X.Editable == Y.Editable && X.Callee == Y.Callee &&
         X.ConfigText == Y.ConfigText && X.ArgsText == Y.ArgsText &&
         X.Grid == Y.Grid && X.Block == Y.Block && X.Before == Y.Before &&
         X.After == Y.After;
}

/// Takes places in one text to those in another one.
class Moved {
  const UnitText &From, &To;

public:
  Moved(const UnitText &From, const UnitText &To) : From(From), To(To) {}

  void move(SourcePos &P) const {
    const auto Old = From.Kernels.find(P.File), New = To.Kernels.find(P.File);
    if (Old == From.Kernels.end() || New == To.Kernels.end())
      return;
    int64_t By = 0;
    for (size_t I = 0; I < Old->second.size(); ++I) {
      const TextRange O = Old->second[I], N = New->second[I];
      if (P.Offset < O.Begin)
        break;
      By = int64_t(N.Begin) - int64_t(O.Begin);
      if (P.Offset < O.End)
        break;
      By = int64_t(N.End) - int64_t(O.End);
    }
    P.Offset = static_cast<unsigned>(int64_t(P.Offset) + By);
  }
};

/// Have both texts the same files, with as many kernels in each?
bool sameShape(const UnitText &X, const UnitText &Y) {
  return X.Kernels.size() == Y.Kernels.size() &&
         std::equal(X.Kernels.begin(), X.Kernels.end(), Y.Kernels.begin(),
                    [](const auto &A, const auto &B) {
                      return A.first == B.first &&
                             A.second.size() == B.second.size();
                    });
}

/// Is \p Now the kernel that \p Old is, elsewhere in the file perhaps?
bool same(const KernelModel &Old, const KernelModel &Now) {
  return formKey(Old) == formKey(Now) && Old.Text == Now.Text &&
         Old.Form == Now.Form && Old.NamePrefix == Now.NamePrefix &&
         Old.InMainFile == Now.InMainFile &&
         Old.InsertOffset.has_value() == Now.InsertOffset.has_value() &&
         Old.DeclareOffset.has_value() == Now.DeclareOffset.has_value() &&
         Old.ReadOtherwise == Now.ReadOtherwise &&
         Old.Launches.size() == Now.Launches.size() &&
         std::equal(Old.Launches.begin(), Old.Launches.end(),
                    Now.Launches.begin(), sameLaunch) &&
         Old.UnseenLaunches == Now.UnseenLaunches &&
         Old.NamedAt == Now.NamedAt && Old.LaunchedEx == Now.LaunchedEx;
}

ModelPtr atNewPlace(const KernelModel &Old, const KernelModel &Now,
                    const Moved &To) {
  auto M = std::make_shared<KernelModel>(Old);
  M->Pos = Now.Pos;
  M->DefBegin = Now.DefBegin;
  M->DefEnd = Now.DefEnd;
  M->InsertOffset = Now.InsertOffset;
  M->DeclareOffset = Now.DeclareOffset;
  M->Launches = Now.Launches;
  M->UnseenLaunches = Now.UnseenLaunches;
  M->NamedAt = Now.NamedAt;
  M->LaunchedEx = Now.LaunchedEx;
  for (SharedArray &A : M->Arrays)
    To.move(A.Pos);
  for (SharedAccess &A : M->SharedAccesses)
    To.move(A.Pos);
  for (GlobalAccess &A : M->GlobalAccesses)
    To.move(A.Pos);
  for (Decline &D : M->Declines)
    To.move(D.Pos);
  return M;
}

} // namespace

std::string UnitText::definition(const KernelModel &M) const {
  const auto File = Kernels.find(M.DefBegin.File);
  if (File == Kernels.end())
    return "";
  const TextRange At{M.DefBegin.Offset, M.DefEnd.Offset};
  if (!llvm::is_contained(File->second, At))
    return "";
  return Texts.at(M.DefBegin.File).substr(At.Begin, At.End - At.Begin);
}

void UnitMemory::remember(const std::vector<Case> &G,
                          std::vector<std::string> Names,
                          const std::shared_ptr<const UnitText> &Text) {
  Known.emplace(formKey(*G.front().M), Entry{G, std::move(Names), Text});
}

std::vector<Case> UnitMemory::recall(const std::vector<Case> &G,
                                     const UnitText &Text,
                                     std::vector<std::string> &Names) const {
  const auto [First, Last] = Known.equal_range(formKey(*G.front().M));
  for (auto It = First; It != Last; ++It) {
    const Entry &E = It->second;
    if (E.Cases.size() != G.size() || !sameShape(*E.Text, Text))
      continue;
    const std::string Old = E.Text->definition(*E.Cases.front().M);
    if (Old.empty() || Old != Text.definition(*G.front().M) ||
        E.Text->Outside != Text.Outside ||
        !std::equal(G.begin(), G.end(), E.Cases.begin(),
                    [](const Case &Now, const Case &Then) {
                      return same(*Then.M, *Now.M);
                    }))
      continue;
    const Moved To(*E.Text, Text);
    std::vector<Case> All = E.Cases;
    for (size_t I = 0; I < All.size(); ++I) {
      Case &C = All[I];
      C.M = atNewPlace(*C.M, *G[I].M, To);
      C.M->Ctx->resetBudget();
      C.R.Model = C.M;
      C.R.Pos = C.M->Pos;
      for (Decline &D : C.R.Declines)
        To.move(D.Pos);
    }
    Names = E.Names;
    return All;
  }
  return {};
}

std::shared_ptr<const UnitText>
Unit::userText(const std::vector<std::vector<Case>> &Groups) const {
  auto T = std::make_shared<UnitText>();
  for (const auto &G : Groups)
    if (const KernelModel &M = *G.front().M; !M.Text.empty())
      T->Kernels[M.DefBegin.File].push_back(
          {M.DefBegin.Offset, M.DefEnd.Offset});
  for (const clang::FileID Id : userFiles(SM)) {
    const auto File = SM.getFileEntryRefForID(Id);
    const auto Buffer = SM.getBufferDataOrNone(Id);
    if (!File || !Buffer)
      continue;
    const std::string Name = File->getName().str();
    T->Outside += Name + '\0';
    size_t From = 0;
    if (const auto Known = T->Kernels.find(Name); Known != T->Kernels.end()) {
      auto &Ranges = Known->second;
      llvm::sort(Ranges, [](TextRange A, TextRange B) {
        return A.Begin < B.Begin;
      });
      Ranges.erase(std::unique(Ranges.begin(), Ranges.end()), Ranges.end());
      // What stands in another one, or ends elsewhere, is not apart.
      unsigned End = 0;
      llvm::erase_if(Ranges, [&](TextRange R) {
        const bool Apart =
            R.Begin >= End && R.Begin < R.End && R.End <= Buffer->size();
        End = Apart ? R.End : End;
        return !Apart;
      });
      for (TextRange R : Ranges) {
        T->Outside += Buffer->substr(From, R.Begin - From).str() + '\0';
        From = R.End;
      }
      T->Texts.emplace(Name, Buffer->str());
    }
    T->Outside += Buffer->substr(From).str() + '\0';
  }
  std::erase_if(T->Kernels,
                [&](const auto &F) { return !T->Texts.count(F.first); });
  return T;
}

bool Unit::recall(std::vector<Case> &G, const UnitMemory &Memory,
                  const UnitText &Text) const {
  std::vector<std::string> Names;
  std::vector<Case> Known = Memory.recall(G, Text, Names);
  const SourcePos &Here = G.front().M->DefBegin;
  auto Free = [&](const std::string &Name) {
    const auto It = Given.find(Name);
    return !Used.contains(Name) && (It == Given.end() || It->second == Here);
  };
  if (Known.empty() || !llvm::all_of(Names, Free))
    return false;
  for (const std::string &Name : Names)
    Given.emplace(Name, Here);
  G = std::move(Known);
  return true;
}

std::vector<std::string> Unit::namesGiven(const KernelModel &M) const {
  std::vector<std::string> Names;
  for (const auto &[Name, Place] : Given)
    if (Place == M.DefBegin)
      Names.push_back(Name);
  return Names;
}
