// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OtherBodies.h.

#include "Frontend/OtherBodies.h"
#include "rcache/CarvedArrays.h"
#include "rcache/CountedRounds.h"
#include "rcache/FixedArguments.h"
#include "rcache/GuardsFirst.h"
#include "rcache/LeftTogether.h"
#include "rcache/ModelBuilder.h"
#include "rcache/NearbyReads.h"
#include "rcache/OutputThreads.h"
#include "rcache/OwnRounds.h"
#include "rcache/Plan.h"
#include "rcache/PointersInTurn.h"
#include "rcache/SplitMembers.h"
#include "rcache/SpreadOutputs.h"
#include "rcache/ThreadsInLine.h"
#include "rcache/VectorMembers.h"
#include "rcache/WarpTails.h"
#include "rcache/WithoutVolatile.h"
#include "rcache/WrittenRounds.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <map>

namespace rcache {

double gainOf(const KernelResult &K) {
  return K.Verdict == KernelResult::Rewritten && K.ThePlan
             ? K.ThePlan->PredictedSpeedup
             : 0;
}

namespace {

/// Would another body be planned at all?
bool asksForAnother(const KernelResult &K) {
  if (K.Verdict == KernelResult::NotShared || !K.Model ||
      K.Model->Launches.empty() || !K.Model->InsertOffset)
    return false;
  return !anyHas(K.Declines, TraitKeepsText);
}

/// Are all reasons that the model of \p M gives among \p Codes? Another text takes
/// away no others.
bool onlyFor(const KernelModel &M, std::initializer_list<DeclineCode> Codes) {
  return std::all_of(
      M.Declines.begin(), M.Declines.end(), [&](const Decline &D) {
        return std::find(Codes.begin(), Codes.end(), D.Code) != Codes.end();
      });
}

/// One step of another body that exchanges what the original exchanges, in words
/// that plans are made for; nullopt: it does already.
std::optional<OtherBody> otherExchange(const KernelResult &K,
                                       const Options &Opts) {
  using enum DeclineCode;
  const KernelModel &M = *K.Model;
  if (onlyFor(M, {TypePunned, StructMember, UsesShuffles, GroupIds}))
    if (auto Vectors = vectorMembers(M))
      return Vectors;
  if (onlyFor(M, {StructMember, UsesShuffles, GroupIds}))
    if (auto Members = splitMembers(M))
      return Members;
  if (onlyFor(M, {UsesShuffles, GroupIds}))
    if (auto Plain = withoutTiles(M))
      return Plain;
  if (!onlyFor(M, {UsesShuffles}))
    return std::nullopt;
  auto Tails = warpTails(M, Opts.AssumeLockstep);
  if (Tails)
    Tails->Form.OriginalClocks = K.OriginalClocks;
  return Tails;
}

/// Bodies of which a warp may own arrays, one step each, the best first.
std::vector<OtherBody> forOwners(const KernelResult &K) {
  const KernelModel &M = *K.Model;
  const bool Owns =
      K.ThePlan && std::any_of(K.ThePlan->Arrays.begin(),
                               K.ThePlan->Arrays.end(),
                               [](const ArrayPlan &A) { return A.as<Owned>(); });
  std::vector<OtherBody> Out;
  if (Owns || !onlyFor(M, {DeclineCode::UsesShuffles}))
    return Out;
  const auto Take = [&](std::optional<OtherBody> Body) {
    if (!Body)
      return false;
    // (As long as the rounds are the same.)
    Body->Form.OriginalClocks =
        Body->Form.AtMost == M.Form.AtMost && !Body->OtherRounds ? K.OriginalClocks : 0;
    Out.push_back(std::move(*Body));
    return true;
  };
  // (What a sum is fused with may hang on the loops and branches as they are.)
  if (M.UnsettledSum.In == KernelModel::SumInDoubt::None)
    for (const auto &Of : {threadsInLine, withoutPadding, leftTogether, nearbyReads, ownRounds,
                           writtenRounds})
      if (Take(Of(M)))
        break;
  Take(fewRounds(M));
  return Out;
}

/// \p Body, which has been made of what \p M knows of its block.
std::optional<OtherBody> ofItsBlock(const KernelModel &M, std::optional<OtherBody> Body) {
  if (Body && M.Geo.ConstBlock && !M.Form.OfBlock)
    Body->Form.OfBlock = blockOfLaunch(*M.Geo.ConstBlock, M.Form);
  return Body;
}

/// A body without the threads that only stage, if there are such.
std::vector<OtherBody> withoutIdleThreads(const KernelResult &K) {
  auto Body = ofItsBlock(*K.Model, outputThreads(*K.Model));
  if (!Body)
    return {};
  Body->Form.OriginalClocks = K.OriginalClocks;
  for (size_t A = 0; A < 3; ++A) {
    const double Threads = double((*K.Model->Geo.ConstBlock)[A]);
    Body->Form.OriginalClocks *= Threads / (Threads - double(Body->Form.Idle[A]));
  }
  return {std::move(*Body)};
}

/// Bodies in which outputs have threads of their own, or threads other numbers.
std::vector<OtherBody> inOtherThreads(const KernelResult &K, const Options &Opts) {
  const KernelModel &M = *K.Model;
  auto Body = spreadOutputs(M, Opts.AssumeNoAlias);
  if (Body && Body->Form.Scale != M.Form.Scale)
    Body = ofItsBlock(M, std::move(Body));
  if (!Body) {
    Body = threadsInRows(M); // whose text tells better what the original does
    std::vector<OtherBody> All = Body ? std::vector<OtherBody>{std::move(*Body)} : forOwners(K);
    for (OtherBody &B : All)
      B = *ofItsBlock(M, std::move(B));
    return All;
  }
  if (Body->Form.Scale == M.Form.Scale) {
    // Other words for the same plans: for what is not rewritten by itself.
    constexpr double LittleGain = 1.10;
    if (gainOf(K) >= LittleGain)
      return {};
  }
  double Outputs = 1;
  for (size_t A = 0; A < 3; ++A)
    Outputs *= double(Body->Form.Scale[A]) / double(M.Form.Scale[A]);
  Body->Form.OriginalClocks = K.OriginalClocks / Outputs;
  return {std::move(*Body)};
}

/// Bodies of another form of \p K, if there is reason to try them, the best first.
std::vector<OtherBody> othersOf(const KernelResult &K, const Options &Opts) {
  const auto One = [](std::optional<OtherBody> Body) {
    std::vector<OtherBody> Out;
    if (Body)
      Out.push_back(std::move(*Body));
    return Out;
  };
  if (!asksForAnother(K))
    return {};
  const KernelModel &M = *K.Model;
  if (anyHas(K.Declines, TraitGuardsFirst))
    // Not where it is proved that some threads do not arrive.
    return std::any_of(K.Declines.begin(), K.Declines.end(),
                       [](const Decline &D) { return D.Undefined; })
               ? std::vector<OtherBody>()
               : One(guardsFirst(M));
  if (auto Body = pointersInTurn(M))
    return One(std::move(Body));
  if (auto Body = withoutVolatile(M))
    return One(std::move(Body));
  if (auto Body = fixedArguments(M))
    return One(std::move(Body));
  if (auto Other = otherExchange(K, Opts))
    return One(std::move(Other));
  if (auto Body = ofItsBlock(M, carvedArrays(M)))
    return One(std::move(Body));
  if (auto Body = countedRounds(M)) // blocks can only be joined in such words
    return One(std::move(Body));
  std::vector<OtherBody> All = withoutIdleThreads(K);
  llvm::append_range(All, inOtherThreads(K, Opts));
  return All;
}

/// Where the body stands in \p Source, and the new one with as many lines.
std::optional<SourceEdit> placed(const KernelModel &M,
                                 const std::string &Source, std::string Body) {
  const unsigned Begin = M.DefBegin.Offset + M.BodyRange.Begin,
                 End = M.DefEnd.Offset;
  if (End > Source.size() || Begin >= End || Source[Begin] != '{' ||
      Source[End - 1] != '}' ||
      Source.compare(M.DefBegin.Offset, M.BodyRange.Begin, M.Text, 0,
                     M.BodyRange.Begin) != 0)
    return std::nullopt;
  // A line that is skipped or decides what is would have to stay one.
  for (size_t I = Begin; I < End; I = Source.find('\n', I) + 1) {
    const size_t Word = Source.find_first_not_of(" \t", I);
    if (Word < End && Source[Word] == '#' &&
        Source.compare(Word, 7, "#pragma") != 0)
      return std::nullopt;
    if (Source.find('\n', I) == std::string::npos)
      break;
  }
  const auto Lines =
      std::count(Source.begin() + Begin, Source.begin() + End, '\n') -
      std::count(Body.begin(), Body.end(), '\n');
  if (Lines < 0)
    return std::nullopt;
  Body.insert(Body.size() - 1, static_cast<size_t>(Lines), '\n');
  return SourceEdit{M.DefBegin.File, Begin, End - Begin, std::move(Body)};
}

} // namespace

/// The new bodies of \p K in its file; nullopt: none.
static std::optional<BodyEdit> bodiesOf(const KernelResult &K, FileText Text,
                                        const Options &Opts) {
  const KernelModel &M = *K.Model;
  std::vector<BodyEdit> All;
  for (OtherBody &Body : othersOf(K, Opts))
    if (auto Source = Text(M.DefBegin.File))
      if (auto Edit = placed(M, *Source, Body.Text))
        All.push_back({textKey(M), std::move(*Edit), {{formKey(M), Body.Form}},
                       {{formKey(M), Body.Note}}, Body.OnlyOwned, {}});
  if (All.empty())
    return std::nullopt;
  BodyEdit First = std::move(All.front());
  First.Otherwise.assign(std::make_move_iterator(All.begin() + 1),
                         std::make_move_iterator(All.end()));
  return First;
}

/// Takes what another instantiation has. False: it asks for another body.
static bool agree(BodyEdit &A, BodyEdit &&B) {
  if (!(A.Edit == B.Edit))
    return false;
  A.Forms.merge(B.Forms);
  A.Notes.merge(B.Notes);
  A.Otherwise.resize(std::min(A.Otherwise.size(), B.Otherwise.size()));
  for (size_t I = 0; I < A.Otherwise.size(); ++I)
    if (!agree(A.Otherwise[I], std::move(B.Otherwise[I]))) {
      A.Otherwise.resize(I);
      break;
    }
  return true;
}

std::vector<BodyEdit> otherBodies(llvm::ArrayRef<KernelResult> Kernels,
                                  FileText Text, const Options &Opts) {
  // Instantiations of a template: one place, one answer.
  std::map<std::string, std::optional<BodyEdit>> ByKey;
  for (const KernelResult &K : Kernels) {
    if (!K.Model)
      continue;
    const std::string Key = textKey(*K.Model);
    std::optional<BodyEdit> Found = bodiesOf(K, Text, Opts);
    auto [It, New] = ByKey.try_emplace(Key, Found);
    if (New || !It->second)
      continue;
    if (!Found || !agree(*It->second, std::move(*Found)))
      It->second.reset();
  }
  std::vector<BodyEdit> All;
  for (auto &[Key, E] : ByKey)
    if (E)
      All.push_back(std::move(*E));
  return All;
}

} // namespace rcache
