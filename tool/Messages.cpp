// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns results into text for people.

#include "Messages.h"
#include "Output/ReportJson.h"
#include "Predict/Resources.h"
#include "Support/Remarks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <set>

using llvm::raw_ostream;
using llvm::StringRef;

namespace rcache {
namespace {

/// Quotes lines of the main file as parsed and of headers as they are on disk;
/// shows the main file under the name the user gave it.
class Printer {
  raw_ostream &OS;
  const FileResult &R;
  const bool Color;
  std::string MainAbsolute;
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> Headers;

public:
  Printer(raw_ostream &OS, const FileResult &R, bool Color)
      : OS(OS), R(R), Color(Color), MainAbsolute(absolute(R.File)) {}

  void print(Remark Message) {
    std::string &File = Message.Pos.File;
    StringRef Source;
    if (!File.empty() && absolute(File) == MainAbsolute) {
      File = R.File;
      Source = R.Parse.MainText;
    } else if (!File.empty()) {
      auto &Buffer = Headers[File];
      if (!Buffer)
        if (auto Read = llvm::MemoryBuffer::getFile(File))
          Buffer = std::move(*Read);
      if (Buffer)
        Source = Buffer->getBuffer();
    }
    printRemark(OS, Message, Source, Color);
  }

private:
  static std::string absolute(StringRef File) {
    llvm::SmallString<256> Path(File);
    llvm::sys::fs::make_absolute(Path);
    llvm::sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
    return Path.str().str();
  }
};

std::string number(double Value) {
  std::string Text = llvm::formatv("{0:f2}", Value).str();
  while (Text.back() == '0')
    Text.pop_back();
  if (Text.back() == '.')
    Text.pop_back();
  return Text;
}

/// What the least launch gains that runs the rewritten form, where that is less.
std::string ofFew(const Plan &P) {
  for (const auto &[Blocks, Speedup] : P.SpeedupOfBlocks)
    if (Blocks >= P.leastBlocks(std::nullopt))
      return Speedup > 0.9 * P.saidSpeedup() ? "" : " (there " + number(Speedup) + "x)";
  return "";
}

/// What a prediction is for: arguments and device, the least launch that runs the
/// rewritten form, the block where no launch tells it.
std::string predictedFor(const KernelModel &M, const Plan &P, const Choice &C) {
  std::string Text;
  for (const auto &[Name, Most] : M.Form.AtMost)
    Text += (Text.empty() ? " where " : " and ") + Name + " <= " + std::to_string(Most);
  Text += " on " + C.Arch;
  std::string Blocks = "blocks";
  const bool Assumed =
      P.Map.Block && !llvm::is_contained(M.Geo.SeenBlocks, *P.Map.Block);
  if (Assumed) {
    const auto &[X, Y, Z] = *P.Map.Block;
    Blocks += " of " + std::to_string(X);
    if (Y != 1 || Z != 1)
      Blocks += " x " + std::to_string(Y);
    if (Z != 1)
      Blocks += " x " + std::to_string(Z);
    Blocks += " threads (assumed)";
  }
  // Of the original, as its launches say it.
  if (const int64_t Least = P.leastBlocks(std::nullopt))
    return Text + ", from " + std::to_string(Least) + " " + Blocks + " on" + ofFew(P);
  if (P.LeastThreads && !P.Map.Block)
    return Text + ", from " +
           std::to_string(uint64_t(P.LeastThreads) * P.slots()) + " threads on";
  return Assumed ? Text + ", with " + Blocks : Text;
}

/// What the plan costs and gains, beyond its own text, and who says so.
std::string figures(const KernelModel &M, const Plan &P, const Choice *C) {
  std::string Text;
  const Candidate *K = C && C->Chosen >= 0
                           ? &C->Candidates[static_cast<size_t>(C->Chosen)]
                           : nullptr;
  if (K && K->Registers) {
    Text = std::to_string(*K->Registers) + " registers a thread";
    if (K->SpillBytes.value_or(0))
      Text += " and " + std::to_string(*K->SpillBytes) + " bytes in memory";
    Text += " (ptxas)";
  } else if (const unsigned N = P.saidRegisters())
    Text = "about " + std::to_string(N) + " registers a thread";
  if (P.PredictedSpeedup > 0)
    Text += (Text.empty() ? "" : ", ") +
            ((P.SpeedupFrom == Plan::Measured ? "measured speed-up "
                                              : "predicted speed-up ") +
             number(P.saidSpeedup()) + "x");
  if (P.SpeedupFrom == Plan::Measured && C)
    Text += " on " + C->MeasuredOn + " (" + C->MeasuredShape + ")";
  else if (P.PredictedSpeedup > 0 && C) {
    if (P.SpeedupOfGrid > 0) {
      Text += " of " + std::to_string(P.GridBlocks) +
              (P.GridBlocks == 1 ? " block" : " blocks");
      if (number(P.SpeedupOfGrid) != number(P.SpeedupOfMany))
        Text += " (" + number(P.SpeedupOfMany) + "x of many)";
    }
    Text += predictedFor(M, P, *C);
  }
  return Text;
}

/// Blanks and line ends as one blank each.
std::string oneLine(StringRef Text) {
  llvm::SmallVector<StringRef, 16> Words;
  llvm::SplitString(Text, Words);
  return llvm::join(Words, " ");
}

void printWarnings(Printer &P, const KernelResult &K) {
  for (const std::string &Text : K.Warnings)
    P.print({RemarkLevel::Warning, K.Pos, Text});
}

/// `the same at lines 13, 20 and 24`; of a file that is not \p First's, with its name.
std::string sameAt(const SourcePos &First, llvm::ArrayRef<SourcePos> Others) {
  std::string Text = Others.size() == 1 ? "the same at line " : "the same at lines ";
  for (size_t I = 0; I < Others.size(); ++I) {
    if (I)
      Text += I + 1 == Others.size() ? " and " : ", ";
    if (Others[I].File != First.File)
      Text += Others[I].File + ":";
    Text += std::to_string(Others[I].Line);
  }
  return Text;
}

/// Why \p K is left: each reason once, where it is met first, and each advice once.
void printDeclines(Printer &P, const KernelResult &K) {
  if (K.Declines.size() == 1 && K.Declines[0].Code == DeclineCode::NotSelected)
    return; // the user has said so
  /// A reason, and all places where it holds.
  struct Reason {
    std::vector<Remark> Remarks;
    std::vector<SourcePos> At;
  };
  std::vector<Reason> Reasons; // in their order
  llvm::StringMap<size_t> Known;
  for (const Decline &D : K.Declines) {
    std::vector<Remark> All = declineRemarks(K.Name, D);
    const auto [It, New] = Known.try_emplace(All.front().Text, Reasons.size());
    if (New)
      Reasons.push_back({std::move(All), {}});
    auto &At = Reasons[It->second].At;
    if (llvm::none_of(At, [&](const SourcePos &X) {
          return X.File == D.Pos.File && X.Line == D.Pos.Line;
        }))
      At.push_back(D.Pos);
  }
  std::set<std::string> Said;
  for (Reason &R : Reasons) {
    for (Remark &Message : R.Remarks) {
      if (Message.Level == RemarkLevel::Note && !Said.insert(Message.Text).second)
        continue;
      if (Message.Pos.File.empty())
        Message.Pos = K.Pos;
      P.print(std::move(Message));
    }
    if (R.At.size() > 1 && R.At[1].Line)
      P.print({RemarkLevel::Note, R.At[0],
               sameAt(R.At[0], llvm::ArrayRef(R.At).drop_front())});
  }
}

void printKernel(Printer &P, const KernelResult &K) {
  printWarnings(P, K);
  if (K.Verdict == KernelResult::Declined) {
    printDeclines(P, K);
    for (const std::string &Note : K.TuneNotes)
      P.print({RemarkLevel::Note, K.Pos, Note});
    return;
  }
  if (K.Verdict != KernelResult::Rewritten)
    return;
  std::string Launches = std::to_string(K.LaunchesRewritten) +
                         (K.LaunchesRewritten == 1 ? " launch" : " launches");
  if (K.LaunchesLeft)
    Launches += ", " + std::to_string(K.LaunchesLeft) + " left as written";
  P.print({RemarkLevel::Remark, K.Pos,
           "rewrote '" + K.Name + "' (" + Launches + "): " + K.PlanText});
  if (K.ThePlan && K.Model)
    if (std::string Text = figures(*K.Model, *K.ThePlan, K.Chosen.get());
        !Text.empty())
      P.print({RemarkLevel::Note, K.Pos, Text});
  for (const auto *Notes : {&K.Notes, &K.TuneNotes})
    for (const std::string &Note : *Notes)
      P.print({RemarkLevel::Note, K.Pos, Note});
  for (const KernelResult::LeftLaunch &L : K.LeftLaunches)
    P.print({RemarkLevel::Note, L.Pos, "this launch is left as written: " + L.Why});
  if (!K.LaunchesRewritten && !K.LaunchesLeft && !K.LaunchFunction.empty())
    P.print(
        {RemarkLevel::Note, K.Pos,
         "callers elsewhere launch it with this function (docs/callers.md): " +
             oneLine(K.LaunchFunction)});
}

} // namespace

void printMessages(raw_ostream &OS, const FileResult &R, bool Quiet,
                   bool Color) {
  Printer P(OS, R, Color);
  if (!R.Usable || !Quiet) {
    // One missing header makes hundreds; the first ones are those to mend.
    constexpr size_t MaxErrors = 20;
    const RemarkLevel Level =
        R.Usable ? RemarkLevel::Warning : RemarkLevel::Error;
    llvm::ArrayRef<ParseError> Errors = R.Parse.Errors;
    for (const ParseError &E : Errors.take_front(MaxErrors))
      P.print({Level, E.Pos, E.Text});
    if (Errors.size() > MaxErrors)
      P.print({RemarkLevel::Note,
               {},
               "and " + std::to_string(Errors.size() - MaxErrors) +
                   " further errors in '" + R.File + "'"});
  }
  for (const KernelResult &K : R.Rewrite.Kernels)
    if (Quiet)
      printWarnings(P, K);
    else
      printKernel(P, K);
}

void printChoices(llvm::raw_ostream &OS, const FileResult &R) {
  for (const KernelResult &K : R.Rewrite.Kernels)
    if (K.Chosen) {
      OS << "candidates of '" << K.Name << "' on " << K.Chosen->Arch
         << (K.Chosen->OriginalPressure ? ", as nvcc compiles them, clocks for "
                                          "a warp (not measured):\n"
                                        : ", figures per output:\n");
      printChoice(OS, *K.Chosen);
    }
}

void printList(raw_ostream &OS, const FileResult &R) {
  for (const KernelResult &K : R.Rewrite.Kernels) {
    OS << (K.Pos.File.empty() ? R.File : K.Pos.File) << ':' << K.Pos.Line
       << ": " << verdictName(K.Verdict) << ' ' << K.Name;
    if (K.Verdict == KernelResult::Rewritten && !K.Arrays.empty())
      OS << ": " << llvm::join(K.Arrays, ", ");
    if (K.Verdict == KernelResult::Rewritten && !K.PlanText.empty())
      OS << "; " << K.PlanText;
    for (const Decline &D : K.Declines) {
      OS << "; " << spelling(D.Code);
      if (!D.Detail.empty())
        OS << " (" << D.Detail << ')';
      // What the table advises is the same for all kernels: it is not repeated.
      if (!D.Advice.empty())
        OS << ": " << D.Advice;
    }
    if (K.Resources)
      OS << "; " << resourcesText(*K.Resources);
    OS << '\n';
  }
}

void printSummary(raw_ostream &OS, const std::vector<const FileResult *> &Files,
                  size_t Failed) {
  size_t Kernels = 0, Rewritten = 0, RewrittenFiles = 0, NotShared = 0;
  std::map<std::string, size_t> Declined;
  for (const FileResult *R : Files) {
    RewrittenFiles += R->Rewrite.anyRewritten();
    for (const KernelResult &K : R->Rewrite.Kernels) {
      ++Kernels;
      Rewritten += K.Verdict == KernelResult::Rewritten;
      NotShared += K.Verdict == KernelResult::NotShared;
      if (K.Verdict == KernelResult::Declined && !K.Declines.empty())
        ++Declined[spelling(K.Declines.front().Code)];
    }
  }
  auto Row = [&](StringRef Name, size_t Count) {
    OS << llvm::left_justify(Name, 34) << llvm::format("%6zu", Count) << '\n';
  };
  Row("files", Files.size() + Failed);
  Row("  with rewritten kernels", RewrittenFiles);
  if (Failed)
    Row("  with errors", Failed);
  Row("kernels", Kernels);
  Row("  rewritten", Rewritten);
  Row("  without shared memory", NotShared);
  for (const auto &[Code, Count] : Declined)
    Row("  declined: " + Code, Count);
}

} // namespace rcache
