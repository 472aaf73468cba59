// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See InsertedText.h.

#include "InsertedText.h"
#include "Model/MacroPlaces.h"
#include "clang/Basic/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace rcache;

bool rcache::isRuntimesOwn(llvm::StringRef Macro) { return Macro.starts_with("RCACHE_"); }

bool rcache::canCallInserted(const LaunchSite &L, const KernelModel &M) {
  if (!L.Editable || L.Begin >= *M.InsertOffset)
    return L.Editable;
  // One function is declared early, not those for other forms of a launch.
  return M.DeclareOffset && L.Begin >= *M.DeclareOffset &&
         L.K == LaunchSite::Chevrons && L.AnyOrder;
}

std::string rcache::launchTypes(const KernelModel &M) {
  std::string Types = "(dim3, dim3, size_t, cudaStream_t";
  for (const KernelParam &P : M.declaredParams())
    Types += ", " + P.CanonicalType;
  return Types + ")";
}

std::string rcache::launchDeclaration(const KernelModel &M, const std::string &LaunchName) {
  return "static inline void " + LaunchName + launchTypes(M) + ";\n";
}

std::string rcache::inNamespaces(const KernelModel &M, const std::string &Code) {
  std::string New = Code;
  if (M.InLinkageSpec && M.InMainFile)
    New = "extern \"C++\" {\n" + New + "}\n";
  if (!M.ReopensNamespaces)
    return New;
  // A kernel from a header, or one defined as `ns::k`.
  std::string Open, Close;
  for (const std::string &Ns : M.Namespaces) {
    Open += Ns.empty() ? "namespace {\n" : "namespace " + Ns + " {\n";
    Close += "}\n";
  }
  return Open + New + Close;
}

std::string rcache::replacementOf(const LaunchSite &L, const KernelModel &M,
                                  const std::string &LaunchName) {
  const bool Void = L.K == LaunchSite::CudaLaunchKernel;
  // ns::k<float, 4>  ->  ns::k_rc_launch<float, 4>
  std::string Callee = L.Callee;
  Callee.replace(L.CalleeNameEnd - M.Name.size(), M.Name.size(),
                 Void ? LaunchName + "_args" : LaunchName);
  if (Void)
    return Callee + "(" + L.Grid + ", " + L.Block + ", " +
           (L.Args.empty() ? "nullptr" : L.Args[0]) + ", " +
           (L.SharedBytes.empty() ? "0" : L.SharedBytes) + ", " +
           (L.Stream.empty() ? "0" : L.Stream) + ")";
  const std::string Args = (L.HasArgs ? ", " : "") + L.ArgsText + ")";
  if (!L.AnyOrder) // first the configuration, then the arguments
    return "(::rcache::device::configure(" + L.ConfigText + "), " + Callee +
           "(::rcache::device::configured()" + Args + ")";
  std::string T = Callee + "(" + L.ConfigText;
  for (unsigned I = L.ConfigCount; I < 4; ++I)
    T += ", 0";
  return T + Args;
}

/// The launch function of \p M alone, for all that its launches may ask of it.
static std::string launchFunctionOf(const KernelModel &M, const EmittedKernel &E,
                                    const std::string &LaunchName) {
  bool Void = false, Configured = false;
  for (const LaunchSite &L : M.Launches) {
    if (!canCallInserted(L, M))
      continue;
    Void |= L.K == LaunchSite::CudaLaunchKernel;
    Configured |= L.K == LaunchSite::Chevrons && !L.AnyOrder;
  }
  std::string T =
      emitLaunchFunction({{&M, &E, {}}}, !M.IsTemplate, LaunchName, Void, Configured);
  if (M.Launches.empty()) // instantiated by name, for callers elsewhere
    T += launchTypes(M) + ";\n";
  return T;
}

/// The words that launch functions have whatever the kernel is.
static const std::set<std::string> &wordsOfLaunchFunctions() {
  static const std::set<std::string> Words = [] {
    KernelModel M;
    M.Overloaded = true;
    M.Params.emplace_back();
    EmittedKernel E;
    std::set<std::string> Out;
    withWords(emitLaunchFunction({{&M, &E, {}}}, /*ForAll=*/true, "", true, true),
              [&](const TextWord &W) {
                if (!W.InChain)
                  Out.insert(W.Name);
                return W.Name;
              });
    return Out;
  }();
  return Words;
}

clang::SourceLocation InsertedText::placeOf(unsigned Offset) const {
  const clang::SourceManager &SM = PP.getSourceManager();
  return SM.getLocForStartOfFile(SM.getMainFileID())
      .getLocWithOffset(static_cast<clang::SourceLocation::IntTy>(Offset));
}

/// Does \p Macro stand for what size_t is?
bool InsertedText::isSizeType(const clang::MacroInfo &Macro) const {
  const auto Words = [](llvm::StringRef T) {
    std::multiset<std::string> Out;
    for (std::pair<llvm::StringRef, llvm::StringRef> Next = T.split(' '); !Next.first.empty();
         Next = Next.second.split(' '))
      if (Next.first != "int")
        Out.insert(Next.first.str());
    return Out;
  };
  const clang::TargetInfo &Target = PP.getTargetInfo();
  std::string Text;
  for (const clang::Token &T : Macro.tokens()) {
    const std::string Word = PP.getSpelling(T);
    if (Used.isUsersMacro(Word))
      return false;
    Text += (Text.empty() ? "" : " ") + Word;
  }
  return Words(Text) == Words(Target.getTypeName(Target.getSizeType()));
}

bool InsertedText::isReadAsMacro(const TextWord &W, unsigned Offset) const {
  const clang::MacroInfo *Macro = macroAt(PP, W.Name, placeOf(Offset));
  if (!Macro || (Macro->isFunctionLike() && !W.IsCalled))
    return false;
  if (Macro->isFunctionLike())
    return true;
  const bool Itself =
      Macro->getNumTokens() == 1 && PP.getSpelling(Macro->getReplacementToken(0)) == W.Name;
  // (`unsigned long(x)` is no expression.)
  return !Itself && !(W.Name == "size_t" && !W.IsCalled && isSizeType(*Macro));
}

/// A keyword, or a variable that every kernel has. (Attributes like `__restrict__` are
/// what kernels are often without.)
bool InsertedText::isOfLanguage(const std::string &Word) const {
  if (llvm::is_contained({"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"}, Word))
    return true;
  return Word[0] != '_' &&
         PP.getIdentifierInfo(Word)->getTokenID() != clang::tok::identifier;
}

/// \p Is, of the words of \p T; "": of none.
static std::string firstWord(const std::string &T, llvm::function_ref<bool(const TextWord &)> Is) {
  std::string First;
  withWords(T, [&](const TextWord &W) {
    if (First.empty() && Is(W))
      First = W.Name;
    return W.Name;
  });
  return First;
}

/// In the new kernel and its launch function.
std::string InsertedText::macroInCode(const KernelModel &M, const EmittedKernel &E) const {
  const unsigned At = *M.InsertOffset;
  std::set<std::string> Own, Called; // (`max(a, b)` of ours is no `max` of the kernel's)
  for (const std::string *T : {&M.Text, &M.TemplateHead, &M.ParamsText, &M.LaunchParamsText})
    withWords(*T, [&](const TextWord &W) {
      (W.IsCalled ? Called : Own).insert(W.Name);
      return W.Name;
    });
  const auto First = [&](const std::string &T, const std::set<std::string> &Ours) {
    const std::vector<TextMacro> Defined = macrosOf(T);
    // What stays defined behind the text was so in front of it.
    for (const TextMacro &D : Defined)
      if (D.End == std::string::npos && M.ReadOtherwise.count(D.Name))
        return D.Name;
    return firstWord(T, [&](const TextWord &W) {
      if (llvm::any_of(Defined, [&](const TextMacro &D) {
            return D.Name == W.Name && D.Begin <= W.At && W.At < D.End;
          }))
        return false;
      // Words that the kernel has itself mean there what they mean here, but for those that
      // the text has for other reasons as well.
      const bool IsUsers = (W.IsCalled ? Called : Own).count(W.Name),
                 IsOurs = W.IsComponent || isOfLanguage(W.Name) || Ours.count(W.Name);
      if (M.ReadOtherwise.count(W.Name) && (IsUsers || !IsOurs) &&
          (!W.IsComponent || wasWithoutArguments(PP, W.Name)))
        return true;
      if (W.InChain || (IsUsers && !IsOurs) || !Used.isUsersMacro(W.Name))
        return false;
      // What the runtime has not been told, launch functions must not be.
      if (isRuntimesOwn(W.Name))
        return macroAt(PP, W.Name, placeOf(At)) && !macroAt(PP, W.Name, placeOf(RuntimeAt));
      return isReadAsMacro(W, At);
    });
  };
  std::string Macro = First(E.Kernel, {});
  if (Macro.empty())
    Macro = First(inNamespaces(M, launchFunctionOf(M, E, Used.fresh(M.Name + "_rc_launch"))),
                  wordsOfLaunchFunctions());
  return Macro;
}

/// The words of the main file that stay in what is put in place of \p L. What comes out of
/// a macro has been read once, and is not to be once more.
std::set<std::string> InsertedText::keptAt(const LaunchSite &L) const {
  std::set<std::string> Words;
  const std::string Old = MainText.substr(L.Begin, L.End - L.Begin);
  const char *Launch = L.K == LaunchSite::Chevrons ? "<<<" : "cudaLaunchKernel";
  if (L.Before.empty() && L.After.empty() && Old.find(Launch) != std::string::npos)
    addNames(Old, Words);
  return Words;
}

/// In what stands for launches, and in the declaration in front of them.
std::string InsertedText::macroInLaunches(const KernelModel &M) const {
  const std::string Name = Used.fresh(M.Name + "_rc_launch");
  bool Declared = false;
  for (const LaunchSite &L : M.Launches) {
    if (!canCallInserted(L, M))
      continue;
    Declared |= L.Begin < *M.InsertOffset;
    const std::set<std::string> Own = keptAt(L);
    std::string Macro =
        firstWord(L.Before + replacementOf(L, M, Name) + L.After, [&](const TextWord &W) {
          return !W.InChain && !Own.count(W.Name) && isReadAsMacro(W, L.Begin);
        });
    if (!Macro.empty())
      return Macro;
  }
  if (!Declared)
    return "";
  return firstWord(launchDeclaration(M, Name), [&](const TextWord &W) {
    return Used.isUsersMacro(W.Name) && isReadAsMacro(W, *M.DeclareOffset);
  });
}

std::string InsertedText::macroIn(const KernelModel &M, const EmittedKernel &E) const {
  if (!M.InsertOffset)
    return "";
  std::string Macro = macroInCode(M, E);
  return Macro.empty() ? macroInLaunches(M) : Macro;
}

llvm::Expected<EmittedKernel> InsertedText::emit(const KernelModel &M, const Plan &P,
                                                 const std::string &Name) const {
  auto E = emitKernel(M, P, Name);
  if (!E)
    return E;
  if (const std::string Macro = macroIn(M, *E); !Macro.empty())
    return llvm::make_error<CannotWrite>(DeclineCode::NameChanges, "the macro '" + Macro + "'");
  return E;
}
