// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two passes over a list of flags: first the table of nvcc's options
// (NvccFlags.def) is applied, then clang's own option table sorts out what does
// not concern a parse (outputs, dependency files, warnings) and what clang does
// not know.

#include "Driver/NvccFlags.h"
#include "clang/Basic/OffloadArch.h"
#include "clang/Options/Options.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <optional>

using llvm::ArrayRef;
using llvm::StringRef;

namespace rcache {
namespace {

enum class ValueKind { None, One, Joined, Bool };
enum class ActionKind {
  Drop,
  Emit,
  EmitIf,
  EmitUnless,
  EmitList,
  Arch,
  Generate,
  Host,
  File,
  Stream,
  Std
};
enum class ScopeKind { Any, Nvcc };

struct Action {
  ActionKind Kind;
  const char *Flag = "";
};

struct NvccFlag {
  StringRef Long, Short;
  ValueKind Value;
  Action Act;
  ScopeKind Scope;
};

ArrayRef<NvccFlag> flagTable() {
  using enum ValueKind;
  using enum ScopeKind;
  constexpr Action Drop{ActionKind::Drop}, Arch{ActionKind::Arch},
      Generate{ActionKind::Generate}, Host{ActionKind::Host},
      File{ActionKind::File}, Stream{ActionKind::Stream}, Std{ActionKind::Std};
  auto Emit = [](const char *F) { return Action{ActionKind::Emit, F}; };
  auto EmitIf = [](const char *F) { return Action{ActionKind::EmitIf, F}; };
  auto EmitUnless = [](const char *F) { return Action{ActionKind::EmitUnless, F}; };
  auto EmitList = [](const char *F) { return Action{ActionKind::EmitList, F}; };
  static const NvccFlag Table[] = {
#define NVCC_FLAG(LONG, SHORT, VALUE, ACTION, SCOPE)                           \
  {LONG, SHORT, VALUE, ACTION, SCOPE},
#include "Driver/NvccFlags.def"
  };
  return Table;
}

/// A flag of the table as met: the entry and, when it was glued on, the value.
struct Match {
  const NvccFlag *Flag;
  std::optional<StringRef> Value;
};

/// `-arch=sm_90`, `--gpu-architecture sm_90`, `-DX=1`, `-rdc=true`.
std::optional<Match> matchFlag(StringRef Arg, bool FromNvcc) {
  if (!Arg.starts_with("-") || Arg == "-")
    return std::nullopt;
  const bool TwoDashes = Arg.starts_with("--");
  StringRef Body = Arg.drop_front(TwoDashes ? 2 : 1);
  auto [Name, After] = Body.split('=');
  const bool HasValue = Body.size() != Name.size();
  const NvccFlag *Glued = nullptr;
  for (const NvccFlag &F : flagTable()) {
    if (F.Scope == ScopeKind::Nvcc && !FromNvcc)
      continue;
    if (Name == F.Long || (!TwoDashes && !F.Short.empty() && Name == F.Short)) {
      // `-D=1` of `-DX=1` cannot be: Name would be "DX".
      if (F.Value == ValueKind::None && HasValue)
        continue;
      return Match{&F, HasValue ? std::optional(After) : std::nullopt};
    }
    if (!TwoDashes && F.Value == ValueKind::Joined && F.Short.size() == 1 &&
        Body.starts_with(F.Short))
      Glued = &F;
  }
  if (Glued)
    return Match{Glued, Body.drop_front(1)};
  return std::nullopt;
}

/// Splits at commas outside quotes and brackets.
std::vector<std::string> splitList(StringRef Value) {
  std::vector<std::string> Items(1);
  char Quote = 0;
  int Depth = 0;
  for (size_t I = 0; I < Value.size(); ++I) {
    char C = Value[I];
    if (C == '\\' && I + 1 < Value.size()) {
      // nvcc takes `\,` for a comma and leaves other escapes alone.
      if (Value[I + 1] != ',')
        Items.back() += C;
      Items.back() += Value[++I];
      continue;
    }
    if (Quote) {
      if (C == Quote)
        Quote = 0;
    } else if (C == '"' || C == '\'') {
      Quote = C;
    } else if (C == '[' || C == '(') {
      ++Depth;
    } else if (C == ']' || C == ')') {
      --Depth;
    } else if (C == ',' && Depth <= 0) {
      Items.emplace_back();
      continue;
    }
    Items.back() += C;
  }
  return Items;
}

/// "compute_90a", "sm_90", "90", "90-real" -> "sm_90a", "sm_90"; else "".
std::string archName(StringRef Text) {
  Text = Text.trim(" '\"[]");
  if (!Text.consume_front("compute_") && !Text.consume_front("sm_"))
    Text.consume_front("lto_");
  Text = Text.take_until([](char C) { return C == '-'; });
  StringRef Digits = Text.take_while(llvm::isDigit);
  if (Digits.empty() || Text.size() > Digits.size() + 1)
    return "";
  return ("sm_" + Text).str();
}

void addArch(ParseFlags &Out, StringRef Text) {
  std::string Name = archName(Text);
  if (!Name.empty() && !llvm::is_contained(Out.Archs, Name))
    Out.Archs.push_back(Name);
}

/// "arch=compute_90,code=[sm_90,compute_90]": the tree depends on `arch`.
void addGenerated(ParseFlags &Out, StringRef Value) {
  for (const std::string &Item : splitList(Value.trim("\"'"))) {
    StringRef Text = Item;
    if (Text.consume_front("arch="))
      addArch(Out, Text);
  }
}

/// The first pass. Reads option files, which may name further option files.
class NvccPass {
  bool FromNvcc;
  StringRef Directory;
  ParseFlags &Out;
  unsigned FileDepth = 0;

public:
  NvccPass(bool FromNvcc, StringRef Directory, ParseFlags &Out)
      : FromNvcc(FromNvcc), Directory(Directory), Out(Out) {}

  llvm::Error run(ArrayRef<std::string> Args) {
    for (size_t I = 0; I < Args.size(); ++I) {
      StringRef Arg = Args[I];
      // The operand of a clang flag is never looked at.
      if (!FromNvcc && takesOperand(Arg) && I + 1 < Args.size()) {
        Out.Flags.push_back(Args[I]);
        Out.Flags.push_back(Args[++I]);
        continue;
      }
      if (Arg.starts_with("@") && Arg.size() > 1) {
        if (llvm::Error E = readOptionFile(Arg.drop_front()))
          return E;
        continue;
      }
      std::optional<Match> M = matchFlag(Arg, FromNvcc);
      if (!M) {
        Out.Flags.push_back(Args[I]);
        continue;
      }
      if (!M->Value &&
          (M->Flag->Value == ValueKind::One ||
           M->Flag->Value == ValueKind::Joined) &&
          I + 1 < Args.size())
        M->Value = Args[++I];
      keepForNvcc(*M->Flag, M->Value.value_or(""));
      if (llvm::Error E = apply(*M->Flag, M->Value.value_or("")))
        return E;
    }
    return llvm::Error::success();
  }

private:
  static bool takesOperand(StringRef Arg) {
    return Arg == "-D" || Arg == "-U" || Arg == "-I" || Arg == "-o" ||
           Arg == "-include" || Arg == "-isystem" || Arg == "-Xclang" ||
           Arg == "-MF" || Arg == "-MT" || Arg == "-MQ" || Arg == "-x" ||
           Arg == "-iquote" || Arg == "-idirafter" || Arg == "-isysroot";
  }

  /// Flags that the code of a kernel depends on, in nvcc's own words.
  void keepForNvcc(const NvccFlag &F, StringRef Value) {
    if (F.Long == "device-c") { // says where the output goes as well
      Out.ForNvcc.push_back("--relocatable-device-code=true");
      return;
    }
    if (!llvm::is_contained({"use_fast_math", "ftz", "prec-div", "prec-sqrt",
                             "fmad", "maxrregcount",
                             "extra-device-vectorization", "extended-lambda",
                             "expt-relaxed-constexpr", "restrict",
                             "relocatable-device-code", "device-debug"},
                            F.Long))
      return;
    Out.ForNvcc.push_back(
        "--" + F.Long.str() +
        (F.Value == ValueKind::None ? "" : "=" + Value.str()));
  }

  llvm::Error readOptionFile(StringRef Name) {
    llvm::SmallString<128> Path(Name);
    if (llvm::sys::path::is_relative(Path) && !Directory.empty()) {
      Path = Directory;
      llvm::sys::path::append(Path, Name);
    }
    if (++FileDepth > 16)
      return llvm::createStringError("option files include each other: '" +
                                     Path.str().str() + "'");
    auto Buffer = llvm::MemoryBuffer::getFile(Path, /*IsText=*/true);
    if (!Buffer)
      return llvm::createStringError(
          Buffer.getError(), "cannot read the option file '%s': %s",
          Path.c_str(), Buffer.getError().message().c_str());
    llvm::BumpPtrAllocator Alloc;
    llvm::StringSaver Saver(Alloc);
    llvm::SmallVector<const char *, 32> Tokens;
    llvm::cl::TokenizeGNUCommandLine((*Buffer)->getBuffer(), Saver, Tokens);
    llvm::Error E = run(std::vector<std::string>(Tokens.begin(), Tokens.end()));
    --FileDepth;
    return E;
  }

  llvm::Error apply(const NvccFlag &F, StringRef Value) {
    switch (F.Act.Kind) {
    case ActionKind::Drop:
      break;
    case ActionKind::Emit:
      Out.Flags.push_back(F.Act.Flag + Value.str());
      break;
    case ActionKind::EmitIf:
      if (Value != "false")
        Out.Flags.push_back(F.Act.Flag);
      break;
    case ActionKind::EmitUnless:
      if (Value == "false")
        Out.Flags.push_back(F.Act.Flag);
      break;
    case ActionKind::EmitList:
      // The value of a definition may contain commas: nvcc does not split it.
      if (StringRef(F.Act.Flag) == "-D") {
        Out.Flags.push_back(F.Act.Flag + Value.str());
        break;
      }
      for (const std::string &Item : splitList(Value)) {
        if (StringRef(F.Act.Flag).starts_with("-i")) {
          Out.Flags.push_back(F.Act.Flag);
          Out.Flags.push_back(Item);
        } else {
          Out.Flags.push_back(F.Act.Flag + Item);
        }
      }
      break;
    case ActionKind::Arch:
      for (const std::string &Item : splitList(Value))
        addArch(Out, Item);
      break;
    case ActionKind::Generate:
      addGenerated(Out, Value);
      break;
    case ActionKind::Host:
      for (std::string &Item : splitList(Value))
        if (!Item.empty())
          Out.Flags.push_back(std::move(Item));
      break;
    case ActionKind::File:
      for (const std::string &Item : splitList(Value))
        if (llvm::Error E = readOptionFile(Item))
          return E;
      break;
    case ActionKind::Stream:
      if (Value == "per-thread")
        Out.Flags.push_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
      break;
    case ActionKind::Std:
      Out.Flags.push_back("-std=" + Value.str());
      break;
    }
    return llvm::Error::success();
  }
};

/// What a parse has no use for, in clang's own terms.
bool concernsParse(const llvm::opt::Arg &A) {
  using namespace clang::options;
  const llvm::opt::Option &O = A.getOption();
  switch (O.getID()) {
  case OPT_INPUT:
  case OPT_UNKNOWN:
  case OPT_o:
  case OPT_c:
  case OPT_S:
  case OPT_E:
  case OPT_x:
  case OPT_w:
  case OPT_v:
  case OPT_fsyntax_only:
  case OPT_emit_llvm:
  case OPT_cuda_device_only:
  case OPT_cuda_host_only:
  case OPT_cuda_compile_host_device:
  case OPT_offload_arch_EQ:
  case OPT_no_offload_arch_EQ:
  case OPT_cuda_path_EQ:
  case OPT_resource_dir:
  case OPT_resource_dir_EQ:
  case OPT_fsanitize_EQ:
  case OPT_flto:
  case OPT_flto_EQ:
  case OPT_save_temps:
  case OPT_save_temps_EQ:
  case OPT_fplugin_EQ:
  case OPT_pg:
  case OPT__HASH_HASH_HASH:
    return false;
  default:
    break;
  }
  return !O.matches(OPT_M_Group) && !O.matches(OPT_W_Group) &&
         !O.matches(OPT_g_Group) && !O.matches(OPT_Link_Group) &&
         !O.matches(OPT_R_Group);
}

/// What nvcc has to know as well, under the name it has there.
void keepForNvcc(const llvm::opt::Arg &A, StringRef Directory,
                 ParseFlags &Out) {
  using namespace clang::options;
  auto Add = [&](const char *Flag) {
    Out.ForNvcc.push_back(Flag);
    Out.ForNvcc.push_back(A.getValue());
  };
  switch (A.getOption().getID()) {
  case OPT_D:
    // Stand-ins of the table for flags that nvcc gets itself.
    if (!StringRef(A.getValue()).starts_with("__CUDACC_") &&
        StringRef(A.getValue()) != "__USE_FAST_MATH__=1" &&
        StringRef(A.getValue()) != "__USE_FAST_MATH__")
      Add("-D");
    break;
  case OPT_U:
    Add("-U");
    break;
  case OPT_include:
    Add("-include");
    break;
  case OPT_I:
  case OPT_iquote:
  case OPT_isystem:
  case OPT_idirafter: {
    llvm::SmallString<128> Path(A.getValue());
    if (Directory.empty())
      llvm::sys::fs::make_absolute(Path);
    else
      llvm::sys::path::make_absolute(Directory, Path);
    Out.ForNvcc.push_back(A.getOption().matches(OPT_I) ||
                                  A.getOption().matches(OPT_iquote)
                              ? "-I"
                              : "-isystem");
    Out.ForNvcc.push_back(Path.str().str());
    break;
  }
  case OPT_std_EQ:
    Out.ForNvcc.push_back("-std=" + std::string(A.getValue()));
    break;
  case OPT_ffast_math:
    Out.ForNvcc.push_back("--use_fast_math");
    break;
  case OPT_ffp_contract:
    // (Of nvcc's own flag it has been made, and nvcc takes that once.)
    if (StringRef(A.getValue()) == "off" && !llvm::is_contained(Out.ForNvcc, "--fmad=false"))
      Out.ForNvcc.push_back("--fmad=false");
    break;
  default:
    break;
  }
}

/// The second pass: through clang's option table.
void clangPass(StringRef Directory, ParseFlags &Out) {
  using namespace clang::options;
  std::vector<const char *> Raw;
  for (const std::string &F : Out.Flags)
    Raw.push_back(F.c_str());
  unsigned MissingIndex = 0, MissingCount = 0;
  llvm::opt::InputArgList Args = clang::getDriverOptTable().ParseArgs(
      Raw, MissingIndex, MissingCount,
      llvm::opt::Visibility(clang::options::ClangOption));

  std::vector<std::string> Kept;
  for (const llvm::opt::Arg *A : Args) {
    if (A->getOption().matches(OPT_offload_arch_EQ))
      for (StringRef Value : A->getValues())
        for (const std::string &Item : splitList(Value))
          addArch(Out, Item);
    if (A->getOption().matches(OPT_cuda_path_EQ))
      Out.CudaPath = A->getValue();
    if (A->getOption().matches(OPT_UNKNOWN))
      Out.Unknown.push_back(A->getAsString(Args));
    if (A->getOption().matches(OPT_INPUT))
      Out.Inputs.push_back(A->getValue());
    keepForNvcc(*A, Directory, Out);
    if (!concernsParse(*A))
      continue;
    llvm::opt::ArgStringList Rendered;
    A->render(Args, Rendered);
    Kept.insert(Kept.end(), Rendered.begin(), Rendered.end());
  }
  Out.Flags = std::move(Kept);
}

} // namespace

bool isNvcc(StringRef Compiler) {
  StringRef Name = llvm::sys::path::filename(Compiler);
  Name.consume_back(".exe");
  return Name == "nvcc" || Name.starts_with("nvcc-") || Name == "nvcc_wrapper";
}

llvm::Expected<ParseFlags> translateFlags(ArrayRef<std::string> Flags,
                                          bool FromNvcc, StringRef Directory) {
  ParseFlags Out;
  if (llvm::Error E = NvccPass(FromNvcc, Directory, Out).run(Flags))
    return E;
  clangPass(Directory, Out);
  return Out;
}

FlagKind kindOfFlag(StringRef Arg) {
  if (!Arg.starts_with("-") || Arg == "-" || Arg == "--")
    return FlagKind::None;
  if (auto M = matchFlag(Arg, /*FromNvcc=*/true)) {
    const bool Takes =
        M->Flag->Value == ValueKind::One || M->Flag->Value == ValueKind::Joined;
    const StringRef Name = Arg.ltrim('-').split('=').first;
    return !M->Value && Takes ? FlagKind::WithNext
           : Name == M->Flag->Long || Name == M->Flag->Short ? FlagKind::Whole
                                                             : FlagKind::Glued;
  }
  const std::string Text = Arg.str();
  const char *Raw[] = {Text.c_str(), "value"};
  unsigned MissingIndex = 0, MissingCount = 0;
  llvm::opt::InputArgList Args = clang::getDriverOptTable().ParseArgs(
      Raw, MissingIndex, MissingCount,
      llvm::opt::Visibility(clang::options::ClangOption));
  if (Args.hasArg(clang::options::OPT_UNKNOWN) || Args.size() == 0)
    return FlagKind::None;
  const llvm::opt::Arg &First = **Args.begin();
  if (First.getNumValues() == 1 && StringRef(First.getValue()) == Raw[1])
    return FlagKind::WithNext;
  const StringRef Spelling = First.getSpelling();
  return Arg == Spelling || Spelling.ends_with("=") ? FlagKind::Whole
                                                    : FlagKind::Glued;
}

std::string chooseArch(ArrayRef<std::string> Archs) {
  unsigned Wanted = 0;
  std::string Best;
  for (const std::string &Name : Archs) {
    unsigned Number = 0;
    StringRef Text = Name;
    if (!Text.consume_front("sm_") || Text.consumeInteger(10, Number) ||
        Number < Wanted)
      continue;
    Wanted = Number;
    Best = Name;
  }
  if (Best.empty() ||
      clang::StringToOffloadArch(Best) != clang::OffloadArch::UNKNOWN)
    return Best;
  for (; Wanted >= 20; --Wanted) {
    std::string Name = "sm_" + std::to_string(Wanted);
    if (clang::StringToOffloadArch(Name) != clang::OffloadArch::UNKNOWN)
      return Name;
  }
  return "";
}

} // namespace rcache
