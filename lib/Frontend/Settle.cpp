// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Settle.h.

#include "Frontend/Settle.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <optional>

namespace rcache {
namespace {

using Choices = std::vector<ExplicitSums::ChoiceKind>;
using Answers = llvm::ArrayRef<RoundedAlike>;
using Clock = std::chrono::steady_clock;

/// What is asked for one kernel, and what follows from the answers: a guess; then, in
/// turn, one change each, and together all of those that brought it nearer.
class Search {
public:
  explicit Search(const ExplicitSums &S) : S(S), Best(S.guesses()), Asked({Best}) {}

  const ExplicitSums &S;
  /// What to ask next; empty: nothing.
  const std::vector<Choices> &questions() const { return Asked; }
  const std::optional<Choices> &found() const { return Found; }
  void giveUp() { Asked.clear(); }

  /// \p All: one for each question.
  void told(Answers All) {
    const std::optional<unsigned> Before = Nearest;
    std::vector<Choices> Improved;
    for (const auto &[C, A] : llvm::zip_equal(Asked, All)) {
      if (A.K == RoundedAlike::Alike) {
        Found = C;
        return giveUp();
      }
      if (A.K != RoundedAlike::Different)
        continue;
      if (Before && A.Distance < *Before)
        Improved.push_back(C);
      if (!Nearest || A.Distance < *Nearest) {
        Nearest = A.Distance;
        Best = C;
      }
    }
    if (!Nearest || !*Nearest)
      return giveUp();
    if (Single && Improved.size() > 1)
      return askTogether(Improved);
    constexpr unsigned MostRounds = 5;
    if (Rounds && Nearest == AtRound)
      return giveUp();
    if (Rounds++ == MostRounds)
      return giveUp();
    askSingle();
  }

private:
  Choices Best, From;              ///< From: that the questions change
  std::vector<Choices> Asked;
  std::optional<Choices> Found;
  std::optional<unsigned> Nearest; ///< distance of Best
  std::optional<unsigned> AtRound; ///< the same when the round began
  unsigned Rounds = 0;
  bool Single = false; ///< one change in each question

  void askSingle() {
    constexpr size_t MostTexts = 48;
    Single = true;
    AtRound = Nearest;
    From = Best;
    Asked.clear();
    for (size_t I = 0; I < From.size(); ++I)
      for (const auto K : S.Sums[I].Choices)
        if (K != From[I])
          (Asked.emplace_back(From))[I] = K;
    if (Asked.size() > MostTexts)
      giveUp();
  }

  void askTogether(const std::vector<Choices> &Improved) {
    Single = false;
    Choices All = From;
    for (const Choices &C : Improved)
      for (size_t I = 0; I < From.size(); ++I)
        if (C[I] != From[I])
          All[I] = C[I];
    Asked = {std::move(All)};
  }
};

/// Asks for all of \p Searches at once, in texts of which each has a question of every
/// kernel, until nothing is left to ask or \p End. False: nothing in the first one
/// could be told.
bool ask(std::vector<Search> &Searches, const std::string &Original, const std::string &Text,
         const RoundingHook &Ask, Deadline End) {
  bool Any = false;
  std::optional<Clock::duration> One; // a text
  while (true) {
    std::vector<Search *> Active;
    std::vector<std::string> Symbols;
    size_t Most = 0;
    for (Search &S : Searches)
      if (!S.questions().empty()) {
        Active.push_back(&S);
        Symbols.push_back(S.S.Symbol);
        Most = std::max(Most, S.questions().size());
      }
    const auto Start = Clock::now();
    if (Active.empty() || Start + (One ? *One * static_cast<long>(Most) : Clock::duration()) > End)
      return Any || Active.empty();
    std::vector<std::string> Texts;
    for (size_t J = 0; J < Most; ++J) {
      std::vector<SourceEdit> Edits;
      for (Search *S : Active)
        if (J < S->questions().size())
          llvm::append_range(Edits, S->S.edits(S->questions()[J]));
      llvm::sort(Edits, [](const SourceEdit &A, const SourceEdit &B) { return A.Offset < B.Offset; });
      Texts.push_back(applySourceEdits(Text, Active.front()->S.File, Edits));
    }
    auto Told = Ask(Original, Texts, Symbols);
    if (!Told) {
      llvm::consumeError(Told.takeError());
      return Any;
    }
    One = (Clock::now() - Start) / static_cast<long>(Most);
    for (const auto &[S, Answer] : llvm::zip_equal(Active, *Told)) {
      Any |= llvm::any_of(Answer, [](const RoundedAlike &A) { return A.K != RoundedAlike::Unknown; });
      S->told(Answers(Answer).take_front(S->questions().size()));
    }
    if (!Any)
      return false;
  }
}

} // namespace

std::map<std::string, std::vector<SourceEdit>>
settle(llvm::ArrayRef<ExplicitSums> All, const std::string &Original, const std::string &Text,
       const RoundingHook &Ask, Deadline End) {
  std::map<std::string, std::vector<SourceEdit>> Out;
  std::vector<Search> Searches;
  for (const ExplicitSums &S : All)
    if (!S.edits(S.guesses()).empty())
      Searches.emplace_back(S);
  if (!ask(Searches, Original, Text, Ask, End) && Searches.size() > 1) {
    // One that does not compile keeps all others from an answer.
    for (const ExplicitSums &S : All)
      Out.merge(settle(S, Original, Text, Ask, End));
    return Out;
  }
  for (const Search &S : Searches)
    if (S.found())
      if (auto Edits = S.S.edits(*S.found()); !Edits.empty())
        Out[S.S.Key] = std::move(Edits);
  return Out;
}

} // namespace rcache
