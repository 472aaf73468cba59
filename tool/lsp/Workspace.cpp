// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Documents and the answers to requests about them. The threads are in
// Schedule.cpp.

#include "Workspace.h"
#include "Connection.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/LSP/Logging.h"
#include "llvm/Support/Path.h"

using llvm::StringRef;
namespace json = llvm::json;
namespace lsp = llvm::lsp;

namespace rcache {
namespace {

/// A client may send all of its C++ files: those without a trace of CUDA are
/// not worth a parse.
bool isCuda(StringRef File, StringRef Language, StringRef Text) {
  return Language.starts_with_insensitive("cuda") ||
         llvm::sys::path::extension(File).starts_with(".cu") ||
         Text.contains("__global__") || Text.contains("<<<");
}

json::Value textEdits(const std::vector<Edit> &Edits, const std::string &Text) {
  const LineTable Lines(Text);
  json::Array Result;
  for (const Edit &E : Edits)
    Result.push_back(json::Object{
        {"range", toJSON(Lines.range({E.Offset, E.Offset + E.Length}))},
        {"newText", json::fixUTF8(E.Text)}});
  return Result;
}

} // namespace

//===-- Documents ---------------------------------------------------------===//

Workspace::DocumentRef Workspace::find(const std::string &File) {
  auto Found = Documents.find(File);
  return Found == Documents.end() ? nullptr : Found->second;
}

/// What is known of \p D is out of date.
void Workspace::touch(Document &D, bool TextChanged) {
  ++D.Stamp;
  D.Dirty = D.Wanted && !D.Lost;
  D.Current = nullptr;
  D.Variants.clear();
  D.VariantsDue.clear();
  D.ExplainDue = false;
  D.NotBefore = Clock::now() + (TextChanged ? O.Pause : O.Pause * 0);
  if (TextChanged)
    refuseAll(D, lsp::ErrorCode::ContentModified, "the text has changed");
  Work.notify_all();
}

void Workspace::open(const std::string &File, const std::string &Uri,
                     const std::string &Language, std::string Text,
                     int64_t Version) {
  TheAnalyzer.forgetFlags();
  Guard G(Lock);
  if (DocumentRef Old = find(File)) { // opened twice: the new text counts
    Old->Closed = true;
    refuseAll(*Old, lsp::ErrorCode::ContentModified, "the text has changed");
  }
  auto D = std::make_shared<Document>();
  D->File = File;
  D->Uri = Uri;
  D->Version = Version;
  D->Wanted = isCuda(File, Language, Text);
  D->Text = std::make_shared<const std::string>(std::move(Text));
  Documents[File] = D;
  touch(*D, /*TextChanged=*/true);
  D->NotBefore = Clock::now();
}

bool Workspace::change(
    const std::string &File,
    const std::vector<lsp::TextDocumentContentChangeEvent> &Changes,
    int64_t Version) {
  Guard G(Lock);
  DocumentRef D = find(File);
  if (!D)
    return false;
  std::string Text = *D->Text;
  for (const lsp::TextDocumentContentChangeEvent &C : Changes) {
    if (!C.range)
      D->Lost = false;
    if (!D->Lost && !applyChange(Text, C.range, C.text))
      D->Lost = true;
  }
  D->Version = Version;
  D->Wanted |= isCuda(File, "", Text);
  D->Text = std::make_shared<const std::string>(std::move(Text));
  touch(*D, /*TextChanged=*/true);
  return !D->Lost;
}

void Workspace::close(const std::string &File) {
  Guard G(Lock);
  DocumentRef D = find(File);
  if (!D)
    return;
  D->Closed = true;
  refuseAll(*D, lsp::ErrorCode::RequestCancelled, "the document was closed");
  publish(*D, {});
  Documents.erase(File);
  Work.notify_all();
}

void Workspace::saved(const std::string &File) {
  TheAnalyzer.forgetFlags();
  Guard G(Lock);
  const bool IsDatabase =
      llvm::sys::path::filename(File) == "compile_commands.json";
  for (auto &[Name, D] : Documents) {
    if (!D->Wanted || (D->Dirty && !D->Busy)) // is analysed anyway
      continue;
    // A text that has not been understood yet may have waited for this.
    const bool Understood = D->Current ? D->Current->Good : !!D->LastGood;
    const bool Reads = Name != File && D->LastGood &&
                       llvm::is_contained(D->LastGood->Dependencies, File);
    if (IsDatabase || !Understood || Reads)
      touch(*D, /*TextChanged=*/false);
  }
}

void Workspace::publish(const Document &D,
                        const std::vector<Finding> &Messages) {
  H.PublishDiagnostics(
      json::Object{{"uri", D.Uri},
                   {"version", D.Version},
                   {"diagnostics",
                    diagnosticsJson(Messages, *D.Text, O.Docs)}});
}

/// \p F is the analysis that was due at \p Stamp. The lock is held.
void Workspace::analyzed(Document &D, uint64_t Stamp, Findings F) {
  auto Result = std::make_shared<const Findings>(std::move(F));
  if (Result->Good)
    D.LastGood = Result;
  if (D.Closed || Stamp != D.Stamp)
    return;
  D.Dirty = false;
  D.Current = Result;
  std::vector<Finding> Messages = Result->Messages;
  // A text with errors keeps what was known of the parts that are as they were.
  if (!Result->Good && D.LastGood)
    llvm::append_range(Messages, carriedOver(*D.LastGood, *D.Text));
  publish(D, Messages);
  if (!Result->Failure.empty() &&
      !llvm::is_contained(Warned, Result->Failure)) {
    Warned.push_back(Result->Failure);
    H.Warn(Result->Failure);
  }
  answerAll(D);
}

//===-- Requests ----------------------------------------------------------===//

void Workspace::hover(const std::string &Id, const std::string &File,
                      lsp::Position At, bool Markdown, ReplyFn Reply) {
  Request R;
  R.Id = Id;
  R.Kind = Request::Hover;
  R.At = lsp::Range(At);
  R.Markdown = Markdown;
  R.Reply = std::move(Reply);
  enter(File, std::move(R));
}

void Workspace::codeActions(const std::string &Id, const std::string &File,
                            lsp::Range At, ReplyFn Reply) {
  Request R;
  R.Id = Id;
  R.Kind = Request::CodeActions;
  R.At = At;
  R.Reply = std::move(Reply);
  enter(File, std::move(R));
}

void Workspace::resolve(const std::string &Id, json::Object Action,
                        ReplyFn Reply) {
  const json::Object *Data = Action.getObject("data");
  const auto File = Data ? Data->getString("file") : std::nullopt;
  if (!File) // not one of ours, or it has its edit
    return Reply(json::Value(std::move(Action)));
  const std::string Name = File->str();
  Request R;
  R.Id = Id;
  R.Kind = Request::Resolve;
  R.Action = std::move(Action);
  R.Reply = std::move(Reply);
  enter(Name, std::move(R));
}

void Workspace::explain(const std::string &Id, const std::string &File,
                        ReplyFn Reply) {
  Request R;
  R.Id = Id;
  R.Kind = Request::Explain;
  R.Reply = std::move(Reply);
  enter(File, std::move(R));
}

void Workspace::setClient(const ClientAbilities &A) {
  Guard G(Lock);
  Client = A;
}

void Workspace::enter(const std::string &File, Request R) {
  Guard G(Lock);
  DocumentRef D = find(File);
  if (!D)
    return R.Reply(lspError(lsp::ErrorCode::InvalidParams,
                            "the document '" + File + "' is not open"));
  if (answer(*D, R))
    return;
  // Who sees that something goes on may wait, and may cancel.
  const bool MayTakeLong = Client.Progress || R.Kind == Request::Resolve ||
                           R.Kind == Request::Explain;
  R.Deadline =
      MayTakeLong ? Clock::time_point::max() : Clock::now() + O.Patience;
  D->Waiting.push_back(std::move(R));
  Work.notify_all();
}

void Workspace::cancel(const std::string &Id) {
  Guard G(Lock);
  for (auto &[Name, D] : Documents)
    for (size_t I = 0; I < D->Waiting.size(); ++I)
      if (D->Waiting[I].Id == Id) {
        D->Waiting[I].Reply(
            lspError(lsp::ErrorCode::RequestCancelled, "cancelled"));
        D->Waiting.erase(D->Waiting.begin() + I);
        // The edits of a rewrite that nobody waits for are not worth a parse.
        if (D->Waiting.empty()) {
          D->VariantsDue.clear();
          D->ExplainDue = false;
        }
        return;
      }
}

void Workspace::refuseAll(Document &D, lsp::ErrorCode Code, const char *Text) {
  for (Request &R : D.Waiting)
    R.Reply(lspError(Code, Text));
  D.Waiting.clear();
}

/// Answers what can be answered now.
void Workspace::answerAll(Document &D) {
  llvm::erase_if(D.Waiting, [&](Request &R) { return answer(D, R); });
}

/// True when \p R was answered.
bool Workspace::answer(Document &D, Request &R) {
  if (!D.Wanted || D.Lost) {
    if (R.Kind == Request::Resolve || R.Kind == Request::Explain)
      R.Reply(lspError(lsp::ErrorCode::RequestFailed,
                       "there is nothing of CUDA in this document"));
    else
      R.Reply(R.Kind == Request::Hover ? json::Value(nullptr)
                                       : json::Value(json::Array()));
    return true;
  }
  switch (R.Kind) {
  case Request::Hover:
    return answerHover(D, R);
  case Request::CodeActions:
    return answerCodeActions(D, R);
  case Request::Resolve:
    return answerResolve(D, R);
  case Request::Explain: // by the thread that makes the page
    D.ExplainDue = true;
    return false;
  }
  return false;
}

/// What was known of a kernel stays worth showing while its text is analysed
/// again, and when it cannot be.
bool Workspace::answerHover(Document &D, Request &R) {
  const unsigned Offset = LineTable(*D.Text).offset(R.At.start);
  for (const Findings *F : {D.Current.get(), D.LastGood.get()}) {
    if (!F)
      continue;
    for (const KernelFinding &K : F->Kernels)
      for (Span Name : K.Names) {
        std::optional<Span> Here = mapSpan(Name, *F->Text, *D.Text);
        if (Here && Here->touches({Offset, Offset})) {
          R.Reply(hoverJson(K, *Here, *D.Text, R.Markdown));
          return true;
        }
      }
    if (F == D.Current.get() && F->Good)
      break;
  }
  if (!D.Current)
    return false;
  R.Reply(json::Value(nullptr));
  return true;
}

json::Value Workspace::editJson(const Document &D,
                                const std::vector<Edit> &Edits) const {
  json::Value Changes = textEdits(Edits, *D.Text);
  if (!Client.Versioned)
    return json::Object{
        {"changes", json::Object{{D.Uri, std::move(Changes)}}}};
  return json::Object{
      {"documentChanges",
       json::Array{json::Object{
           {"textDocument",
            json::Object{{"uri", D.Uri}, {"version", D.Version}}},
           {"edits", std::move(Changes)}}}}};
}

json::Object Workspace::actionJson(const Document &D, const std::string &Title,
                                   bool Preferred) const {
  json::Object Action{{"title", json::fixUTF8(Title)}, {"kind", "refactor.rewrite"}};
  if (Preferred)
    Action["isPreferred"] = true;
  return Action;
}

/// Needs the analysis of exactly this text and, unless the client asks for the
/// edits when it needs them, those of each kernel that the range touches; asks
/// for what is missing.
bool Workspace::answerCodeActions(Document &D, Request &R) {
  if (!D.Current)
    return false;
  const Span Range = LineTable(*D.Text).span(R.At);
  bool Complete = true;
  size_t Rewritable = 0;
  std::vector<const KernelFinding *> Kernels;
  for (const KernelFinding &K : D.Current->Kernels) {
    Rewritable += K.Rewritable;
    if (!K.Rewritable ||
        !llvm::any_of(K.Places, [&](Span S) { return S.touches(Range); }))
      continue;
    Kernels.push_back(&K);
    if (Client.LazyActions || D.Variants.count(K.Name))
      continue;
    Complete = false;
    if (!llvm::is_contained(D.VariantsDue, K.Name))
      D.VariantsDue.push_back(K.Name);
  }
  if (!Complete)
    return false;
  json::Array Actions;
  // \p Edits: null for an action that is completed when it is chosen.
  auto Add = [&](const std::string &Title, bool Preferred,
                 const std::string &Kernel, unsigned Factor,
                 const std::vector<Edit> *Edits) {
    json::Object Action = actionJson(D, Title, Preferred);
    if (Edits)
      Action["edit"] = editJson(D, *Edits);
    else
      Action["data"] = json::Object{{"file", json::fixUTF8(D.File)},
                                    {"stamp", static_cast<int64_t>(D.Stamp)},
                                    {"kernel", json::fixUTF8(Kernel)},
                                    {"factor", static_cast<int64_t>(Factor)}};
    Actions.push_back(std::move(Action));
  };
  for (const KernelFinding *K : Kernels) {
    // Those that differ, where they are known already.
    if (auto Known = D.Variants.find(K->Name); Known != D.Variants.end()) {
      for (const Variant &V : Known->second)
        Add(V.Title, V.Preferred && Kernels.size() == 1, K->Name,
            V.Factors.front(), Client.LazyActions ? nullptr : &V.Edits);
      continue;
    }
    Add(variantTitle(K->Name, 0), Kernels.size() == 1, K->Name, 0, nullptr);
    for (unsigned Factor : CoarseningFactors)
      if (Factor != K->Coarsening)
        Add(variantTitle(K->Name, Factor), false, K->Name, Factor, nullptr);
  }
  if (!Kernels.empty() && Rewritable > 1)
    Add("Rewrite all kernels of the file with the register cache", false, "", 0,
        Client.LazyActions ? nullptr : &D.Current->Edits);
  R.Reply(std::move(Actions));
  return true;
}

/// The edit of an action that was chosen.
bool Workspace::answerResolve(Document &D, Request &R) {
  const json::Object &Data = *R.Action.getObject("data");
  if (Data.getInteger("stamp") != static_cast<int64_t>(D.Stamp)) {
    R.Reply(lspError(lsp::ErrorCode::ContentModified, "the text has changed"));
    return true;
  }
  if (!D.Current)
    return false;
  auto Complete = [&](const std::vector<Edit> &Edits) {
    R.Action["edit"] = editJson(D, Edits);
    R.Reply(json::Value(std::move(R.Action)));
    return true;
  };
  const std::string Kernel = Data.getString("kernel").value_or("").str();
  if (Kernel.empty())
    return Complete(D.Current->Edits);
  auto Found = D.Variants.find(Kernel);
  if (Found == D.Variants.end()) {
    if (!llvm::is_contained(D.VariantsDue, Kernel))
      D.VariantsDue.push_back(Kernel);
    return false;
  }
  const auto Factor =
      static_cast<unsigned>(Data.getInteger("factor").value_or(0));
  for (const Variant &V : Found->second)
    if (llvm::is_contained(V.Factors, Factor))
      return Complete(V.Edits);
  R.Reply(lspError(lsp::ErrorCode::RequestFailed,
                   "'" + Kernel + "' cannot have " + std::to_string(Factor) +
                       " outputs a thread"));
  return true;
}

//===-- Work in progress --------------------------------------------------===//

/// The lock is held.
void Workspace::beginProgress(Document &D) {
  if (!Client.Progress || D.Progress)
    return;
  D.Progress = ++LastToken;
  H.Progress(D.Progress, true,
             "analysing " + llvm::sys::path::filename(D.File).str());
}

void Workspace::endProgress(Document &D) {
  if (D.Progress)
    H.Progress(D.Progress, false, "");
  D.Progress = 0;
}

} // namespace rcache
