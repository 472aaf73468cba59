// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The texts of one file that are parsed one after the other: the user's, with
// calls written out, with other bodies. Results are those of the user's text.

#include "Frontend/Round.h"
#include "Frontend/Settle.h"
#include "UnitEdits.h"
#include "rcache/ModelBuilder.h"
#include "rcache/Plan.h"
#include "rcache/SpreadOutputs.h"
#include <map>
#include <set>
#include <tuple>

using llvm::StringRef;

namespace rcache {
namespace {

/// Takes results of a parse with calls written out back to the original text.
class BackToOriginal {
  const std::vector<std::vector<SourceEdit>> &Rounds;
  const std::map<std::string, std::string> &Originals;
  std::string MainFile; ///< as the edits name it

public:
  BackToOriginal(const std::vector<std::vector<SourceEdit>> &Rounds,
                 const std::map<std::string, std::string> &Originals,
                 StringRef Main)
      : Rounds(Rounds), Originals(Originals) {
    for (const auto &[File, Text] : Originals)
      if (normalized(File) == normalized(Main))
        MainFile = File;
  }

  /// False: an edit lies where calls were written out.
  bool map(std::vector<Edit> &Edits, const std::string &OriginalMain) const {
    for (Edit &E : Edits) {
      const unsigned Begin = offset(E.Offset, MainFile),
                     End = offset(E.Offset + E.Length, MainFile);
      if (End - Begin != E.Length || End > OriginalMain.size())
        return false;
      E.Offset = Begin;
    }
    return true;
  }

  bool map(Result &R, const std::string &OriginalMain) const {
    if (!map(R.Edits, OriginalMain))
      return false;
    std::map<const KernelModel *, std::shared_ptr<const KernelModel>> Models;
    for (KernelResult &K : R.Kernels) {
      map(K.Pos);
      for (Decline &D : K.Declines)
        map(D.Pos);
      if (!K.Model)
        continue;
      auto M = std::make_shared<KernelModel>(*K.Model);
      map(M->Pos);
      map(M->DefBegin);
      map(M->DefEnd);
      if (M->InsertOffset)
        M->InsertOffset = offset(*M->InsertOffset, MainFile);
      if (M->DeclareOffset)
        M->DeclareOffset = offset(*M->DeclareOffset, MainFile);
      for (LaunchSite &L : M->Launches) {
        map(L.Pos);
        L.Begin = offset(L.Begin, MainFile);
        L.End = offset(L.End, MainFile);
      }
      K.Model = std::move(M);
    }
    return true;
  }

private:
  unsigned offset(unsigned Offset, const std::string &File) const {
    for (size_t I = Rounds.size(); I-- > 0;)
      Offset = offsetBefore(Offset, File, Rounds[I]);
    return Offset;
  }

  void map(SourcePos &P) const {
    auto It = Originals.find(P.File);
    if (It == Originals.end())
      return;
    P.Offset = offset(P.Offset, P.File);
    StringRef Text = It->second;
    const size_t Eol = Text.rfind('\n', P.Offset ? P.Offset - 1 : 0);
    if (P.Offset)
      P.Column = P.Offset -
                 (Eol == StringRef::npos || Eol >= P.Offset
                      ? 0
                      : static_cast<unsigned>(Eol) + 1) +
                 1;
  }
};

/// The texts of one file that were parsed so far, the last of them with its
/// results.
class Texts {
  const ParseJob *Job;
  llvm::ArrayRef<Options> Opts;
  std::vector<UnitMemory> *Memory; ///< of all texts of the file
  ParseJob Again;
  std::vector<std::vector<SourceEdit>> Rounds;
  std::map<std::string, std::string> Originals;
  std::map<std::string, TextForm> Forms;

public:
  Round Last; ///< results in terms of the first text

  Texts(const ParseJob &Job, llvm::ArrayRef<Options> Opts, Round First,
        std::vector<UnitMemory> &Memory)
      : Job(&Job), Opts(Opts), Memory(&Memory), Again(Job),
        Last(std::move(First)) {}

  size_t rounds() const { return Rounds.size(); }

  /// Makes results of the last text for \p Others, not for what it was found with.
  void answer(llvm::ArrayRef<Options> Others, std::vector<UnitMemory> &Fresh) {
    Opts = Others;
    Memory = &Fresh;
    parseWith(std::vector<SourceEdit>());
  }

  /// Parses the text with \p Edits. False: what worked without is the answer.
  bool parseWith(std::vector<SourceEdit> Edits) {
    for (const auto &[File, Text] : Last.Texts) {
      Originals.try_emplace(File, Text);
      std::string New = applySourceEdits(Text, File, Edits);
      if (normalized(File) == normalized(Job->File))
        Again.Buffer = std::move(New);
      else
        Again.Overlay[normalized(File)] = std::move(New);
    }
    Rounds.push_back(std::move(Edits));
    BackToOriginal Back(Rounds, Originals, Job->File);
    std::vector<Options> Here(Opts.begin(), Opts.end());
    for (size_t I = 0; I < Here.size() && I < Last.Results.size(); ++I)
      Here[I].UsersText =
          [&Back, &Main = Last.Results[I].Parse.MainText](
              std::vector<Edit> Edits) -> llvm::Expected<std::string> {
        if (!Back.map(Edits, Main))
          return llvm::createStringError("an edit lies in text of the tool");
        return applyEdits(Main, Edits);
      };
    auto More = rewriteOnce(Again, Here, Forms, /*AllowErrors=*/false, *Memory);
    if (!More) {
      llvm::consumeError(More.takeError());
      return false;
    }
    for (size_t I = 0; I < Last.Results.size(); ++I) {
      FileResult &R = More->Results[I];
      if (!R.Usable || !Back.map(R.Rewrite, Last.Results[I].Parse.MainText))
        return false;
      R.Parse = Last.Results[I].Parse;
      R.File = Last.Results[I].File;
    }
    Last = std::move(*More);
    return true;
  }

  /// The same with kernels' bodies.
  bool parseWith(const std::vector<BodyEdit> &Bodies) {
    std::vector<SourceEdit> Edits;
    for (const BodyEdit &B : Bodies) {
      Edits.push_back(B.Edit);
      for (const auto &[Key, Form] : B.Forms)
        Forms[Key] = Form;
    }
    llvm::sort(Edits, [](const SourceEdit &A, const SourceEdit &B) {
      return std::tie(A.File, A.Offset) < std::tie(B.File, B.Offset);
    });
    return parseWith(std::move(Edits));
  }
};

bool ownsArrays(const KernelResult &K) {
  return K.ThePlan && llvm::any_of(K.ThePlan->Arrays, [](const ArrayPlan &A) {
           return A.as<Owned>() != nullptr;
         });
}

/// What was found for the kernels of \p Keys, all instantiations together; nothing
/// counts for those of \p OnlyOwned without an array that a warp owns.
std::map<std::string, double>
gains(const std::set<std::string> &Keys, const Round &R,
      const std::set<std::string> &OnlyOwned = {}) {
  std::map<std::string, double> Found;
  for (const FileResult &F : R.Results)
    for (const KernelResult &K : F.Rewrite.Kernels) {
      if (!K.Model || !Keys.count(textKey(*K.Model)))
        continue;
      const std::string Key = textKey(*K.Model);
      Found[Key] += OnlyOwned.count(Key) && !ownsArrays(K) ? 0 : gainOf(K);
    }
  return Found;
}

/// Kernels whose calls are written out in another parse.
struct CallsOut {
  std::set<std::string> InVain; ///< textKeys of those that gain nothing by it
  std::set<std::string> Broken; ///< of those whose text does not parse then

  using ByKernel = std::map<std::string, std::vector<SourceEdit>>;

  /// Of \p From, those that are not known to be of no use; their keys go to \p Keys.
  static void take(const ByKernel &From, const std::set<std::string> &Not,
                   std::set<std::string> &Keys, std::vector<SourceEdit> &All) {
    for (const auto &[Key, Edits] : From)
      if (!Not.count(Key) && Keys.insert(Key).second)
        All.insert(All.end(), Edits.begin(), Edits.end());
  }

  /// What \p Best says to write out; the kernels that need it go to \p Kept, those that
  /// may gain by it to \p Tried.
  std::vector<SourceEdit> edits(const Round &Best, std::set<std::string> &Kept,
                                std::set<std::string> &Tried) const {
    std::vector<SourceEdit> All;
    take(Best.WriteOut, Broken, Kept, All);
    std::set<std::string> Not = InVain;
    Not.insert(Kept.begin(), Kept.end());
    take(Best.WriteOutAlso, Not, Tried, All);
    sort(All);
    return All;
  }

  static void sort(std::vector<SourceEdit> &Edits) {
    llvm::stable_sort(Edits, [](const SourceEdit &A, const SourceEdit &B) {
      return std::tie(A.File, A.Offset, A.Length) <
             std::tie(B.File, B.Offset, B.Length);
    });
  }

  /// Which of \p Kept do not parse alone. False: none, or there are too many to ask.
  bool findBroken(const Texts &Best, const std::set<std::string> &Kept) {
    constexpr size_t Most = 16;
    const size_t Before = Broken.size();
    if (Kept.size() > 1 && Kept.size() <= Most)
      for (const std::string &Key : Kept) {
        std::vector<SourceEdit> Alone = Best.Last.WriteOut.at(Key);
        sort(Alone);
        Texts Next = Best;
        if (!Next.parseWith(std::move(Alone)))
          Broken.insert(Key);
      }
    return Broken.size() > Before && Broken.size() < Before + Kept.size();
  }
};

/// Other bodies of kernels, and others of those.
struct Attempt {
  Texts Now;
  std::map<std::string, std::vector<std::string>> Notes; ///< by formKey
  std::set<std::string> Tried;                           ///< by textKey
  std::set<std::string> OnlyOwned; ///< textKeys of bodies that ask for it
  std::set<std::string> Otherwise; ///< of those that have another one to try
  bool Parsed = true;

  /// Of the kernels that \p Wanted says yes to, the body behind as many others as
  /// \p InVain says have been tried.
  Attempt(const Texts &Best, const std::map<std::string, size_t> &InVain,
          llvm::function_ref<bool(const std::string &)> Wanted)
      : Now(Best) {
    constexpr unsigned MaxLevels = 5;
    for (unsigned Level = 0; Parsed && Level < MaxLevels; ++Level) {
      std::vector<BodyEdit> Bodies = Now.Last.Bodies;
      llvm::erase_if(Bodies, [&](const BodyEdit &B) { return !Wanted(B.Key); });
      if (Bodies.empty())
        return;
      for (BodyEdit &B : Bodies) {
        const auto It = InVain.find(B.Key);
        const size_t At = It == InVain.end() ? 0 : It->second;
        if (At < B.Otherwise.size())
          Otherwise.insert(B.Key);
        if (At > 0 && At <= B.Otherwise.size()) {
          BodyEdit Next = std::move(B.Otherwise[At - 1]);
          B = std::move(Next);
        }
      }
      for (const BodyEdit &B : Bodies) {
        Tried.insert(B.Key);
        if (B.OnlyOwned)
          OnlyOwned.insert(B.Key);
        for (const auto &[Key, Note] : B.Notes)
          if (!Note.empty())
            Notes[Key].push_back(Note);
      }
      Parsed = Now.parseWith(Bodies);
    }
  }
};

/// Of kernels whose other bodies do not parse together, those to blame alone; all
/// of them where none is.
std::set<std::string> unparsable(const Texts &Best,
                                 const std::map<std::string, size_t> &InVain,
                                 const std::set<std::string> &Keys) {
  std::set<std::string> Bad;
  if (Keys.size() > 1)
    for (const std::string &Key : Keys)
      if (!Attempt(Best, InVain, [&](const std::string &K) { return K == Key; }).Parsed)
        Bad.insert(Key);
  return Bad.empty() ? Keys : Bad;
}

/// Why the kernels of \p Keys are left in their other words, by formKey.
using Reasons = std::map<std::string, std::vector<Decline>>;

bool has(const std::vector<Decline> &Reasons, DeclineCode Code) {
  return llvm::any_of(Reasons, [&](const Decline &D) { return D.Code == Code; });
}

/// Would it be rewritten if it were launched on more, or if there were a gain in it?
/// There is a plan then.
bool isPlanned(const std::vector<Decline> &Reasons) {
  return has(Reasons, DeclineCode::LaunchTooSmall) || has(Reasons, DeclineCode::NoGain);
}

void addReasons(const std::set<std::string> &Keys, const Round &R,
                Reasons &All) {
  for (const FileResult &F : R.Results)
    for (const KernelResult &K : F.Rewrite.Kernels)
      if (K.Model && Keys.count(textKey(*K.Model)) &&
          K.Verdict == KernelResult::Declined) {
        const std::string Key = formKey(*K.Model);
        const auto Advised = [](const Decline &D) { return !D.Advice.empty(); };
        auto [At, New] = All.try_emplace(Key, K.Declines);
        if (isPlanned(K.Declines) ||
            (llvm::none_of(At->second, Advised) && llvm::any_of(K.Declines, Advised)))
          At->second = K.Declines;
      }
}

/// What keeps a warp from owning arrays of a kernel whose threads stand in a line, or
/// whose rounds are few, by formKey, is what keeps it from those of \p K.
void takeAdvice(const Reasons &OfOthers, KernelResult &K) {
  const auto It = OfOthers.find(formKey(*K.Model));
  if (It == OfOthers.end())
    return;
  const StringRef Owned = "a warp could hold the array, but ";
  const auto Other = llvm::find_if(It->second, [&](const Decline &D) {
    return StringRef(D.Advice).starts_with(Owned);
  });
  if (Other == It->second.end())
    return;
  for (Decline &D : K.Declines)
    if (D.Advice == (Owned + "blocks have several dimensions").str() ||
        StringRef(D.Advice).starts_with((Owned + "memory is read in a loop").str()))
      D.Advice = Other->Advice;
}

/// What is left because of its words alone has the reasons of its other words.
void takeReasons(const Reasons &OfOthers, Round &R) {
  for (FileResult &F : R.Results)
    for (KernelResult &K : F.Rewrite.Kernels) {
      if (!K.Model || K.Verdict != KernelResult::Declined)
        continue;
      takeAdvice(OfOthers, K);
      if (auto It = OfOthers.find(formKey(*K.Model));
          It != OfOthers.end() &&
          (hasOtherWords(*K.Model) || has(It->second, DeclineCode::LaunchTooSmall) ||
           (has(K.Declines, DeclineCode::ComputedExchange) && isPlanned(It->second))))
        K.Declines = It->second;
    }
}

/// Kernels that are left as they are get other bodies, which stay where they
/// lead to a rewritten kernel that gains more.
void tryOtherBodies(Texts &Best, const Options &Opts) {
  std::map<std::string, size_t> InVain; ///< bodies tried, by textKey
  std::set<std::string> Done;           ///< which have no more of them
  Reasons OfOthers;
  while (true) {
    Attempt Try(Best, InVain, [&](const std::string &Key) { return !Done.count(Key); });
    if (Try.Tried.empty()) {
      takeReasons(OfOthers, Best.Last);
      return;
    }
    std::set<std::string> Now;
    if (!Try.Parsed)
      Now = unparsable(Best, InVain, Try.Tried);
    const bool Asked = Opts.Exchange == "owned"; // no other plan counts then
    auto Old = gains(Try.Tried, Best.Last, Asked ? Try.Tried : std::set<std::string>()),
         New = gains(Try.Tried, Try.Now.Last, Asked ? Try.Tried : Try.OnlyOwned);
    for (const std::string &Key : Try.Tried)
      if (Try.Parsed && New[Key] <= Old[Key])
        Now.insert(Key);
    for (const std::string &Key : Now) {
      ++InVain[Key];
      if (!Try.Otherwise.count(Key))
        Done.insert(Key);
    }
    if (!Now.empty()) {
      if (Try.Parsed)
        addReasons(Now, Try.Now.Last, OfOthers);
      continue; // once more without them
    }
    Best = std::move(Try.Now);
    takeReasons(OfOthers, Best.Last);
    for (FileResult &F : Best.Last.Results)
      for (KernelResult &K : F.Rewrite.Kernels)
        if (K.Model && Try.Tried.count(textKey(*K.Model)) && gainOf(K) > 0)
          llvm::append_range(K.Notes, Try.Notes[formKey(*K.Model)]);
    return;
  }
}

/// Kernels whose sums nobody knows get a text that says what a compiler made of them;
/// their keys.
std::set<std::string> settleKnown(Texts &Best, const Options &Opts, Deadline End) {
  const std::vector<ExplicitSums> &All = Best.Last.Sums;
  if (All.empty())
    return {};
  auto Settled = settle(All, Best.Last.Results.front().Parse.MainText,
                        Best.Last.Texts.at(All.front().File), Opts.Roundings, End);
  std::set<std::string> Keys;
  for (const auto &[Key, Edits] : Settled)
    Keys.insert(Key);
  // (What is as fast as it stands, stays so.)
  constexpr double WorthIt = 1.05;
  auto Before = gains(Keys, Best.Last);
  while (!Settled.empty()) {
    std::vector<SourceEdit> Edits;
    for (const auto &[Key, Of] : Settled)
      llvm::append_range(Edits, Of);
    CallsOut::sort(Edits);
    Texts Next = Best;
    if (!Next.parseWith(std::move(Edits)))
      return {};
    auto Now = gains(Keys, Next.Last);
    if (!std::erase_if(Settled, [&](const auto &S) {
          return Before[S.first] > 0 && Now[S.first] <= WorthIt * Before[S.first];
        })) {
      Best = std::move(Next);
      break;
    }
  }
  Keys.clear();
  for (const auto &[Key, Edits] : Settled)
    Keys.insert(Key);
  return Keys;
}

/// The same, also where functions compute a part of the sums: these are written out first.
std::set<std::string> settleSums(Texts &Best, const Options &Opts) {
  const Deadline End = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::set<std::string> All = settleKnown(Best, Opts, End), Tried;
  constexpr unsigned MostLevels = 6;
  for (unsigned Level = 0; Level < MostLevels; ++Level) {
    std::set<std::string> Keys;
    std::vector<SourceEdit> Edits;
    CallsOut::take(Best.Last.WriteOutSums, Tried, Keys, Edits);
    CallsOut::sort(Edits);
    Texts Next = Best;
    if (Edits.empty() || !Next.parseWith(std::move(Edits)))
      break;
    const std::set<std::string> Settled = settleKnown(Next, Opts, End);
    auto Before = gains(Keys, Best.Last), Now = gains(Keys, Next.Last);
    for (const std::string &Key : Keys)
      if (Now[Key] <= Before[Key] && !Next.Last.WriteOutSums.count(Key))
        Tried.insert(Key);
    if (!llvm::any_of(Keys, [&](const std::string &Key) { return Tried.count(Key); })) {
      Best = std::move(Next);
      All.insert(Settled.begin(), Settled.end());
    }
  }
  return All;
}

void noteSettled(const std::set<std::string> &Keys, FileResults &Results) {
  for (FileResult &F : Results)
    for (KernelResult &K : F.Rewrite.Kernels)
      if (K.Model && K.Verdict == KernelResult::Rewritten && Keys.count(textKey(*K.Model)))
        K.Notes.push_back("its sums say what is rounded (__fmaf_rn, __fmul_rn), as nvcc "
                          "rounds in the original");
}

/// May candidates of a number be those of another text?
bool mayHaveOthers(const Round &R) {
  return !R.Bodies.empty() || !R.WriteOut.empty() || !R.WriteOutAlso.empty() ||
         !R.Sums.empty() || !R.WriteOutSums.empty() ||
         llvm::any_of(R.Results, [](const FileResult &F) {
           return llvm::any_of(F.Rewrite.Kernels, [](const KernelResult &K) {
             return has(K.Declines, DeclineCode::NoCandidate);
           });
         });
}

/// \p Opts if no candidate is asked for by its number.
std::vector<Options> withoutNumbers(llvm::ArrayRef<Options> Opts) {
  std::vector<Options> Free(Opts.begin(), Opts.end());
  for (Options &O : Free)
    O.Candidate.reset();
  return Free;
}

} // namespace

llvm::Expected<FileResults> rewriteUnchecked(const ParseJob &Job,
                                             llvm::ArrayRef<Options> Opts,
                                             bool AllowErrors) {
  std::vector<UnitMemory> Memory(Opts.size()), OfNumbers(Opts.size());
  auto First = rewriteOnce(Job, Opts, {}, AllowErrors, Memory);
  if (!First)
    return First.takeError();
  // Candidates are counted in the text that is taken if none is asked for.
  const std::vector<Options> Free = withoutNumbers(Opts);
  const bool Numbered =
      llvm::any_of(Opts, [](const Options &O) { return O.Candidate.has_value(); }) &&
      mayHaveOthers(*First);
  if (Numbered) {
    Memory = std::vector<UnitMemory>(Opts.size());
    if (First = rewriteOnce(Job, Free, {}, AllowErrors, Memory); !First)
      return First.takeError();
  }
  Texts Best(Job, Numbered ? llvm::ArrayRef<Options>(Free) : Opts, std::move(*First), Memory);
  // Calls that hide what is shared are written out, one level at a time.
  constexpr unsigned MaxLevels = 4;
  CallsOut Out;
  while (Best.rounds() < MaxLevels) {
    std::set<std::string> Kept, Tried;
    const std::vector<SourceEdit> Edits = Out.edits(Best.Last, Kept, Tried);
    if (Edits.empty())
      break;
    Texts Next = Best;
    if (!Next.parseWith(Edits)) {
      if (Tried.empty() && !Out.findBroken(Best, Kept))
        break;
      Out.InVain.merge(Tried);
      continue; // once more without them
    }
    auto Before = gains(Tried, Best.Last), Now = gains(Tried, Next.Last);
    const size_t Known = Out.InVain.size();
    for (const std::string &Key : Tried)
      if (Now[Key] <= Before[Key])
        Out.InVain.insert(Key);
    if (Out.InVain.size() == Known)
      Best = std::move(Next);
  }
  const std::set<std::string> Settled = settleSums(Best, Opts.front());
  tryOtherBodies(Best, Opts.front());
  if (Numbered)
    Best.answer(Opts, OfNumbers);
  noteSettled(Settled, Best.Last.Results);
  FileResults Results = std::move(Best.Last.Results);
  for (FileResult &R : Results)
    R.NewText = applyEdits(R.Parse.MainText, R.Rewrite.Edits);
  return Results;
}

} // namespace rcache
