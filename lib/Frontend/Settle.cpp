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

class Search {
public:
  Search(const ExplicitSums &S, const std::string &Original, const std::string &Text,
         const RoundingHook &Ask, Deadline End)
      : S(S), Original(Original), Text(Text), Ask(Ask),
        End(std::min(End, Clock::now() + MostTime)), Best(S.guesses()) {}

  std::vector<SourceEdit> run() {
    constexpr unsigned MostRounds = 4;
    const auto Start = Clock::now();
    if (Start > End || !ask({Best}))
      return {};
    // (Two texts were compiled, beside each other.)
    const auto One = Clock::now() - Start;
    for (unsigned Round = 0; Round < MostRounds && !Found && Nearest; ++Round) {
      // One change each; then all together that bring it nearer.
      const Choices From = Best;
      const unsigned Before = *Nearest;
      std::vector<Choices> Near;
      for (size_t I = 0; I < From.size(); ++I)
        for (const auto K : S.Sums[I].Choices)
          if (K != From[I])
            (Near.emplace_back(From))[I] = K;
      if (Near.size() > MostTexts || Clock::now() + Near.size() * One / 2 > End || !ask(Near))
        break;
      if (!Found && Improved.size() > 1) {
        Choices All = From;
        for (const Choices &C : Improved)
          for (size_t I = 0; I < From.size(); ++I)
            if (C[I] != From[I])
              All[I] = C[I];
        if (!ask({All}))
          break;
      }
      if (*Nearest >= Before)
        break;
    }
    return Found ? S.edits(*Found) : std::vector<SourceEdit>();
  }

private:
  using Clock = std::chrono::steady_clock;
  const ExplicitSums &S;
  const std::string &Original, &Text;
  const RoundingHook &Ask;
  const Deadline End;
  Choices Best;
  std::optional<unsigned> Nearest;
  std::vector<Choices> Improved; ///< by what was asked last
  std::optional<Choices> Found;
  unsigned Asked = 0;
  static constexpr unsigned MostTexts = 48;
  static constexpr std::chrono::seconds MostTime{20};

  /// False: there is no answer to be had.
  bool ask(const std::vector<Choices> &All) {
    std::vector<std::string> Texts;
    for (const Choices &C : All) {
      const std::vector<SourceEdit> Edits = S.edits(C);
      if (Edits.empty())
        return false;
      Texts.push_back(applySourceEdits(Text, S.File, Edits));
    }
    Asked += static_cast<unsigned>(Texts.size());
    if (Asked > 2 * MostTexts)
      return false;
    auto Answers = Ask(Original, Texts, S.Symbol);
    if (!Answers) {
      llvm::consumeError(Answers.takeError());
      return false;
    }
    Improved.clear();
    const std::optional<unsigned> Before = Nearest;
    for (const auto &[C, A] : llvm::zip_equal(All, *Answers)) {
      if (A.K == RoundedAlike::Alike) {
        Found = C;
        return true;
      }
      if (A.K == RoundedAlike::Unknown)
        continue;
      if (Before && A.Distance < *Before)
        Improved.push_back(C);
      if (!Nearest || A.Distance < *Nearest) {
        Nearest = A.Distance;
        Best = C;
      }
    }
    return Nearest.has_value();
  }
};

} // namespace

std::vector<SourceEdit> settle(const ExplicitSums &S, const std::string &Original,
                               const std::string &Text, const RoundingHook &Ask, Deadline End) {
  return Search(S, Original, Text, Ask, End).run();
}

} // namespace rcache
