// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     new text -> temporary file -> rcache-check --self -> verdict a kernel
//
// The new text holds each original beside its rewritten form, so one file is
// compiled once. A difference refuses the kernel and leaves the text behind as a
// reproducer. What could not be executed is said, kernel by kernel.

#include "SelfCheck.h"
#include "Driver/NvccFlags.h"
#include "Programs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <optional>
#include <set>
#include <tuple>

using llvm::StringRef;
namespace path = llvm::sys::path;
namespace fs = llvm::sys::fs;

namespace rcache {
namespace {

/// Seconds of launches a kernel, and for all that is not launching.
struct Budget {
  unsigned Kernel, Rest;
};
constexpr Budget Quick = {2, 60}, Full = {30, 120};

class Checker {
public:
  Checker(const ToolOptions &O, const ParseJob &Job)
      : Job(Job),
        B(O.SelfCheck == ToolOptions::SelfCheckKind::Full ? Full : Quick) {}

  SelfCheckAnswer run(const std::string &Text, const Result &Made) {
    Names.clear();
    std::vector<const KernelResult *> Kernels;
    for (const KernelResult &K : Made.Kernels)
      if (K.Verdict == KernelResult::Rewritten && K.Model) {
        // Its name leaves out inline namespaces, its symbol does not.
        const bool Plain = StringRef(llvm::demangle(K.Model->MangledName))
                               .contains(K.Model->QualifiedName) ||
                           !StringRef(K.Model->MangledName).starts_with("_Z");
        Names.insert(Plain ? K.Model->QualifiedName : K.Model->MangledName);
        Kernels.push_back(&K);
      }
    SelfCheckAnswer A;
    auto Said = ask(Text);
    if (!Said) {
      const std::string Why = llvm::toString(Said.takeError());
      if (refuseUncompilable(Messages, Text, Kernels, A))
        return A;
      for (const KernelResult *K : Kernels)
        A.Notes[K->Model->MangledName] = "not executed: " + Why;
      return A;
    }
    // Of one kernel, or of all for themselves.
    for (const llvm::json::Value &V : *Said)
      if (const llvm::json::Object *K = V.getAsObject();
          K && K->getString("verdict").value_or("") == "could-not-run" &&
          refuseUncompilable(K->getString("message").value_or("").str(), Text, Kernels, A))
        return A;
    for (const KernelResult *K : Kernels)
      judge(*K->Model, K->OtherForms, *Said, Text, A);
    return A;
  }

  /// How near the sums of each of \p Symbols in each of \p Others are to those in
  /// \p Original.
  llvm::Expected<std::vector<std::vector<RoundedAlike>>>
  compareSums(const std::string &Original, llvm::ArrayRef<std::string> Others,
              llvm::ArrayRef<std::string> Symbols) {
    std::vector<std::string> Names = {"original.cu"}, Texts = {Original}, Args;
    for (const std::string &T : Others) {
      Names.push_back("other" + std::to_string(Names.size()) + ".cu");
      Texts.push_back(T);
    }
    for (const std::string &Symbol : Symbols)
      Args.push_back("--kernel=" + Symbol);
    auto Top = report(Names, Texts, Args, B.Rest, "sums");
    if (!Top)
      return Top.takeError();
    const llvm::json::Object *Report = Top->getAsObject();
    const llvm::json::Array *Kernels = Report ? Report->getArray("kernels") : nullptr;
    std::vector<std::vector<RoundedAlike>> Found;
    if (Kernels)
      for (const llvm::json::Value &V : *Kernels) {
        const llvm::json::Object *K = V.getAsObject();
        Found.push_back(alike(K ? K->getArray("candidates") : nullptr));
      }
    if (Found.size() != Symbols.size() ||
        llvm::any_of(Found, [&](const auto &F) { return F.size() != Others.size(); }))
      return llvm::createStringError("rcache-check does not tell of the kernels");
    return Found;
  }

private:
  const ParseJob Job;
  const Budget B;
  std::set<std::string> Names; ///< rewritten kernels
  std::string Reproducer;      ///< file with the text, when it is kept
  std::string Whose;           ///< device code: "nvcc's", "clang's, not ..."
  std::string Messages;        ///< of the compiler, or why nothing was executed
  std::optional<bool> OriginalCompiles; ///< as far as anybody asked

  static std::vector<RoundedAlike> alike(const llvm::json::Array *All) {
    std::vector<RoundedAlike> Found;
    for (const llvm::json::Value &V : All ? *All : llvm::json::Array()) {
      const llvm::json::Object *C = V.getAsObject();
      const StringRef Verdict = C ? C->getString("verdict").value_or("") : "";
      RoundedAlike R;
      R.K = Verdict == "alike"       ? RoundedAlike::Alike
            : Verdict == "different" ? RoundedAlike::Different
                                     : RoundedAlike::Unknown;
      if (C)
        R.Distance = static_cast<unsigned>(C->getInteger("distance").value_or(0));
      Found.push_back(R);
    }
    return Found;
  }

  /// What a compiler refuses.
  struct CompilerError {
    std::string File;
    unsigned Line = 0;
    std::string What;
    std::string text() const {
      return "the new text does not compile, " +
             (StringRef(path::filename(File)).ends_with("_rc.cu")
                  ? "line "
                  : path::filename(File).str() + ":") +
             std::to_string(Line) + ": " + What;
    }
  };
  /// The first one in \p Text. What rcache-check writes to call kernels may have names
  /// that nobody can say (a closure's type): those kernels are not executed.
  static std::optional<CompilerError> compilerError(StringRef Text) {
    for (StringRef Line : llvm::split(Text, '\n')) {
      auto [Place, What] = Line.split(" error: ");
      Place.consume_back(" fatal");
      if (What.empty() || !Place.consume_back(":"))
        continue;
      auto [UpToLine, Column] = Place.rsplit(':');
      auto [File, Number] = UpToLine.rsplit(':');
      CompilerError E{File.str(), 0, What.trim().str()};
      if (File != "/rcache-check/driver.cu" && !Number.getAsInteger(10, E.Line))
        return E;
    }
    return std::nullopt;
  }

  /// The kernel that stands in front of the error in \p Text; all of them where nobody knows.
  static std::vector<const KernelResult *>
  atError(const CompilerError &E, StringRef Text,
          const std::vector<const KernelResult *> &Kernels) {
    if (!StringRef(E.File).ends_with("_rc.cu"))
      return Kernels;
    size_t End = 0;
    for (unsigned L = 0; L < E.Line && End != StringRef::npos; ++L)
      End = Text.find('\n', End ? End + 1 : 0);
    const StringRef Front = Text.take_front(End);
    const KernelResult *Last = nullptr;
    size_t At = 0;
    for (const KernelResult *K : Kernels) {
      const size_t Found = Front.rfind(K->Model->Name + "_rc");
      if (Found != StringRef::npos && (!Last || Found > At)) {
        Last = K;
        At = Found;
      }
    }
    return Last ? std::vector<const KernelResult *>{Last} : Kernels;
  }

  /// Refuses the kernel at a compiler's error in \p Said, if the original has none. It
  /// is one of the host's side, or of another reading than ours.
  bool refuseUncompilable(const std::string &Said, StringRef Text,
                          const std::vector<const KernelResult *> &Kernels,
                          SelfCheckAnswer &A) {
    const auto E = compilerError(Said);
    if (!E || !originalCompiles())
      return false;
    for (const KernelResult *K : atError(*E, Text, Kernels))
      A.Refused[K->Model->QualifiedName] = {DeclineCode::SelfCheckFailed, E->text()};
    return true;
  }

  /// Does the text as it was compile, in the same way?
  bool originalCompiles() {
    if (OriginalCompiles)
      return *OriginalCompiles;
    std::string Text;
    if (Job.Buffer)
      Text = *Job.Buffer;
    else if (auto File = llvm::MemoryBuffer::getFile(Job.File))
      Text = (*File)->getBuffer().str();
    else
      return false;
    const auto Kept = std::make_pair(Names, Whose);
    Names.clear();
    auto Said = ask(Text);
    if (!Said)
      llvm::consumeError(Said.takeError());
    std::tie(Names, Whose) = Kept;
    OriginalCompiles = !compilerError(Messages) && !Messages.empty();
    return *OriginalCompiles;
  }

  /// rcache-check beside this program, or in PATH.
  llvm::Expected<std::string> checker() const {
    const std::string Beside =
        below(path::parent_path(Job.ToolPath), "rcache-check");
    if (!Job.ToolPath.empty() && fs::can_execute(Beside))
      return Beside;
    if (auto Found = llvm::sys::findProgramByName("rcache-check"))
      return *Found;
    return llvm::createStringError("rcache-check is not installed");
  }

  /// The compiler's flags, as nvcc takes them.
  llvm::Expected<std::vector<std::string>> flags() const {
    auto F = translateFlags(Job.Flags.Flags, Job.Flags.FromNvcc,
                            Job.Flags.Directory);
    if (!F)
      return F.takeError();
    llvm::SmallString<256> Source(Job.File);
    fs::make_absolute(Source);
    path::remove_dots(Source, /*remove_dot_dot=*/true);
    // What is included with quotes is looked for beside the source first.
    std::vector<std::string> Flags = {"-I", path::parent_path(Source).str()};
    Flags.insert(Flags.end(), F->ForNvcc.begin(), F->ForNvcc.end());
    const std::string Arch =
        Job.Arch.empty() ? chooseArch(F->Archs) : Job.Arch;
    if (!Arch.empty())
      Flags.push_back("-arch=" + Arch);
    return Flags;
  }

  /// What `rcache-check COMMAND` reports of \p Texts, files called \p Names.
  llvm::Expected<llvm::json::Value> report(llvm::ArrayRef<std::string> Names,
                                           llvm::ArrayRef<std::string> Texts,
                                           llvm::ArrayRef<std::string> Options,
                                           unsigned Seconds, StringRef Command = "") {
    auto Program = checker();
    if (!Program)
      return Program.takeError();
    auto Flags = flags();
    if (!Flags)
      return Flags.takeError();
    auto Folder = TemporaryFolder::make("rcache-self-check");
    if (!Folder)
      return Folder.takeError();
    std::vector<std::string> Args;
    if (!Command.empty())
      Args.push_back(Command.str());
    for (size_t I = 0; I < Names.size(); ++I) {
      Args.push_back(below((*Folder)->Path, Names[I]));
      if (llvm::Error E = writeText(Args.back(), Texts[I]))
        return E;
    }
    Args.insert(Args.end(), Options.begin(), Options.end());
    Args.push_back("--report=json");
    if (!Job.CudaPath.empty())
      Args.push_back("--cuda-path=" + Job.CudaPath);
    Args.push_back("--");
    Args.insert(Args.end(), Flags->begin(), Flags->end());
    auto R = runAndCatch(*Program, Args, Seconds);
    if (!R)
      return R.takeError();
    auto Json = llvm::json::parse(R->Out);
    if (Json)
      return Json;
    llvm::consumeError(Json.takeError());
    return llvm::createStringError(
        "rcache-check " +
        (!R->Why.empty() ? R->Why
                         : "ended with status " + std::to_string(R->Status) + ": " +
                               StringRef(R->Err).split('\n').first.str()));
  }

  /// What rcache-check reports of \p Text: an array of kernels.
  llvm::Expected<llvm::json::Array> ask(const std::string &Text) {
    Messages.clear();
    std::vector<std::string> Args = {"--self", "--budget=" + std::to_string(B.Kernel)};
    for (const std::string &Name : Names)
      Args.push_back("--kernel=" + Name);
    auto Json = report(path::stem(Job.File).str() + "_rc.cu", Text, Args,
                       B.Rest + 2 * B.Kernel * unsigned(Names.size()));
    if (!Json)
      return Json.takeError();
    const llvm::json::Object *Top = Json->getAsObject();
    const llvm::json::Array *Kernels = Top ? Top->getArray("kernels") : nullptr;
    if (Top) {
      Whose = firstLine(Top->getString("device-code").value_or(""));
      Messages = Top->getString("messages").value_or("").str();
    }
    if (!Kernels || Kernels->empty())
      return llvm::createStringError(
          "rcache-check: " +
          told(Top ? Top->getString("messages").value_or("no kernel was compared")
                        : "no report"));
    return *Kernels;
  }

  /// What was found for one kernel; for all of its name where nobody knows its
  /// symbol.
  void judge(const KernelModel &M, const std::vector<std::string> &OtherForms,
             const llvm::json::Array &Said, const std::string &Text,
             SelfCheckAnswer &A) {
    std::vector<const llvm::json::Object *> Own, OfName;
    for (const llvm::json::Value &V : Said)
      if (const llvm::json::Object *K = V.getAsObject()) {
        if (isOf(K->getString("kernel").value_or(""), M.QualifiedName))
          OfName.push_back(K);
        if (isSymbol(K->getString("symbol").value_or(""), M.MangledName))
          Own.push_back(K);
      }
    if (Own.empty())
      Own = OfName;
    int64_t Rewritten = 0, Raced = 0; // launches: in the new form, left out
    std::set<std::string> NeverRan(OtherForms.begin(), OtherForms.end());
    std::string NotRun;
    for (const llvm::json::Object *K : Own) {
      const StringRef Verdict = K->getString("verdict").value_or("");
      const StringRef Message = K->getString("message").value_or("");
      if (Verdict == "different" || Verdict == "undefined-rewritten") {
        A.Refused[M.QualifiedName] = {DeclineCode::SelfCheckFailed,
                                      oneLine(Message) + keep(Text)};
        return;
      }
      if (Verdict == "other-sums") {
        A.Refused[M.QualifiedName] = {DeclineCode::FusionUnsettled,
                                      "as nvcc compiles both, " + oneLine(Message)};
        return;
      }
      // By whichever of the two kernels: nobody has seen the other to its end.
      if (Verdict == "could-not-run" && Message.starts_with("killed by signal")) {
        A.Refused[M.QualifiedName] = {DeclineCode::SelfCheckFailed,
                                      "executing it beside the original was " +
                                          firstLine(Message) + keep(Text)};
        return;
      }
      Rewritten += K->getInteger("by-rewritten").value_or(0);
      Raced += K->getInteger("raced").value_or(0);
      if (const llvm::json::Array *Ran = K->getArray("ran"))
        for (const llvm::json::Value &Form : *Ran)
          NeverRan.erase(Form.getAsString().value_or("").str());
      if (Verdict != "equivalent")
        NotRun = (Verdict == "original-races" ? "" : Verdict.str() + ": ") +
                 told(Message);
    }
    if (NotRun.empty() && !Rewritten)
      NotRun = Own.empty() ? "not found by rcache-check"
                           : "no made-up launch took it";
    if (NotRun.empty())
      A.LeftOut.insert(NeverRan.begin(), NeverRan.end());
    A.Notes[M.MangledName] =
        !NotRun.empty()
            ? "not executed: " + StringRef(NotRun).rtrim(": ").str()
            : "executed before it was written: " + std::to_string(Rewritten) +
                  " launches in both orders of the threads, every bit as the "
                  "original's" +
                  (Raced ? "; " + std::to_string(Raced) +
                               " more left out, in which the original's threads "
                               "race in global memory"
                         : "") +
                  (Whose.empty() ? "" : "; device code is " + Whose);
  }

  /// \p Text in one line.
  static std::string oneLine(StringRef Text) {
    std::string Line;
    for (StringRef Part : llvm::split(Text.trim(), '\n')) {
      Part = Part.trim();
      Part.consume_front("rcache-check: ");
      llvm::SmallVector<StringRef, 16> Words;
      llvm::SplitString(Part, Words);
      if (!Words.empty())
        Line += (Line.empty() ? "" : "; ") + llvm::join(Words, " ");
    }
    return Line;
  }

  /// A compiler's first error, or else the first line of \p Text.
  static std::string told(StringRef Text) {
    if (const auto E = compilerError(Text))
      return path::filename(E->File).str() + ":" + std::to_string(E->Line) + ": " + E->What;
    return firstLine(Text);
  }

  static std::string firstLine(StringRef Text) {
    return Text.trim().split('\n').first.str();
  }

  /// Is \p Signature the kernel \p Name, an instantiation or an overload of it?
  static bool isOf(StringRef Signature, StringRef Name) {
    if (!Signature.consume_front(Name))
      return false;
    Signature = Signature.ltrim();
    return Signature.empty() || Signature.front() == '<' ||
           Signature.front() == '(';
  }
  /// With -rdc=true, something follows the name of what is static.
  static bool isSymbol(StringRef Symbol, StringRef Mangled) {
    return Symbol.consume_front(Mangled) &&
           (Symbol.empty() || Symbol.starts_with(".") ||
            Symbol.starts_with("__"));
  }

  /// Keeps the text for a report; where.
  std::string keep(const std::string &Text) {
    if (Reproducer.empty()) {
      llvm::SmallString<128> File;
      if (fs::createTemporaryFile("rcache-reproducer", "cu", File))
        return "";
      if (llvm::Error E = writeText(File, Text)) {
        llvm::consumeError(std::move(E));
        return "";
      }
      Reproducer = File.str().str();
    }
    return " (kept as " + Reproducer + ")";
  }
};

} // namespace

SelfCheckHook makeSelfCheckHook(const ToolOptions &O, const ParseJob &Job) {
  if (O.SelfCheck == ToolOptions::SelfCheckKind::Off ||
      O.SelfCheck == ToolOptions::SelfCheckKind::Sums)
    return {};
  auto C = std::make_shared<Checker>(O, Job);
  return [C](const std::string &Text, const Result &Made) {
    return C->run(Text, Made);
  };
}

RoundingHook makeRoundingHook(const ToolOptions &O, const ParseJob &Job) {
  // (What compile commands give to another compiler, nvcc knows nothing of.)
  if (O.SelfCheck == ToolOptions::SelfCheckKind::Off ||
      (!Job.Flags.Directory.empty() && !Job.Flags.FromNvcc))
    return {};
  // (With these, any quotient or root may be a product, and nothing in the text tells of it.)
  if (auto F = translateFlags(Job.Flags.Flags, Job.Flags.FromNvcc, Job.Flags.Directory); !F) {
    llvm::consumeError(F.takeError());
    return {};
  } else if (llvm::any_of(F->ForNvcc, [](const std::string &Flag) {
               return StringRef(Flag).ends_with("prec-div=false") ||
                      StringRef(Flag).ends_with("prec-sqrt=false") ||
                      StringRef(Flag).ends_with("use_fast_math");
             })) {
    return {};
  }
  // (A file may be rewritten more than once.)
  using Question =
      std::tuple<std::string, std::vector<std::string>, std::vector<std::string>>;
  auto Known = std::make_shared<std::map<Question, std::vector<std::vector<RoundedAlike>>>>();
  auto C = std::make_shared<Checker>(O, Job);
  return [C, Known](const std::string &Original, llvm::ArrayRef<std::string> Others,
                    llvm::ArrayRef<std::string> Symbols)
             -> llvm::Expected<std::vector<std::vector<RoundedAlike>>> {
    const Question Q(Original, Others.vec(), Symbols.vec());
    if (const auto It = Known->find(Q); It != Known->end())
      return It->second;
    auto Answer = C->compareSums(Original, Others, Symbols);
    if (Answer)
      Known->emplace(Q, *Answer);
    return Answer;
  };
}

} // namespace rcache
