// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// KernelModel: all that later stages know of a kernel. No clang types: text is
// a string, a place in it a TextRange, arithmetic is isl.
//
//     AST --buildModels--> KernelModel --plan--> Plan --emit--> text
//
// One model stands for one kernel definition or one template instantiation.
// Its `Text` is the source text of the whole definition (from the first token
// of `template <...>` / attributes to the closing brace) in which every macro
// invocation that contains something a later stage may have to edit (a builtin
// variable, a shared access, a barrier, a variable that may be renamed) has
// been replaced by its expansion. So every place of interest is plain text and
// every TextRange is editable; comments and other macros stay as written.
//
// Representable here although not every plan uses it: several shared arrays of
// any rank, arrays written again between barriers, several intervals, blocks
// of one to three dimensions, private arrays with dynamic indices.

#ifndef RCACHE_MODEL_H
#define RCACHE_MODEL_H

#include "rcache/Affine.h"
#include "rcache/Decline.h"
#include <array>
#include <cstdint>
#include <memory>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace rcache {

class UsedNames;

/// Half-open byte range in KernelModel::Text.
struct TextRange {
  unsigned Begin = 0;
  unsigned End = 0;
  bool empty() const { return Begin == End; }
  bool contains(TextRange O) const { return Begin <= O.Begin && O.End <= End; }
  bool operator==(const TextRange &O) const {
    return Begin == O.Begin && End == O.End;
  }
};

/// What a value can differ by. A value without ThreadX/Y/Z and Data is the
/// same for all threads of a block ("uniform").
enum Dependence : unsigned {
  DepNone = 0,
  DepThreadX = 1,
  DepThreadY = 2,
  DepThreadZ = 4,
  DepThread = 7,
  DepBlockX = 8,
  DepBlockY = 16,
  DepBlockZ = 32,
  DepBlock = 56,
  DepShared = 64, ///< read from a shared array
  DepGlobal = 128 ///< read from global memory (with the other bits: where)
};

struct Value;
using ValueRef = std::shared_ptr<const Value>;

/// A name of the affine world; its Id is an isl parameter.
struct Symbol {
  enum Kind {
    ThreadIdx, ///< Id "tx" "ty" "tz"
    BlockIdx,  ///< Id "bx" "by" "bz"
    BlockDim,  ///< Id "bdx" "bdy" "bdz"
    GridDim,   ///< Id "gdx" "gdy" "gdz"
    Param,     ///< integer parameter of the kernel, never modified in it
    Iterator,  ///< loop variable of a For statement
    Opaque     ///< any other integer value: a product of symbols
               ///< (`blockIdx.x * blockDim.x`), a loaded value, a variable that
               ///< changes in a loop
  };
  Kind K = Opaque;
  unsigned Axis = 0;      ///< 0..2 for the builtin kinds
  std::string Id;         ///< isl parameter name, unique in the kernel
  std::string Text;       ///< C++ text of the value in the original kernel
  std::string Type;       ///< canonical C++ type ("int", "unsigned int", ...)
  unsigned Bits = 32;
  bool Signed = true;
  unsigned Depends = 0;   ///< Dependence bits
  int VarId = -1;         ///< Iterator/Param/Opaque variable: index in Vars
  std::vector<unsigned> Vars; ///< the variables that Text names
  /// Text uses parameters, builtins and literals only: it may be evaluated
  /// anywhere in the kernel.
  bool Anywhere = false;
  /// Opaque products of symbols: the Ids of the factors, two or more, sorted
  /// (`bdx`, `bx`); else empty.
  std::vector<std::string> Factors;
  /// Opaque: what it was made a symbol for (`t % stride`), in other symbols; null:
  /// not known.
  ValueRef Is;
};

struct KernelModel;

/// A value as a function of the symbols: how a staged value, an index or an
/// initialiser is computed. Variables have been replaced by what they hold.
struct Value {
  /// What an Op computes of its operands, in their order: one for Cast (to Type) and
  /// Not, else two. Other: Text alone says.
  enum Operator : uint8_t {
    Other,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    LogicalAnd,
    LogicalOr,
    Not,
    Cast
  };
  enum Kind {
    Affine,  ///< Aff
    Load,    ///< *(Text + Operands[0]): an element of global memory
    Select,  ///< Cond ? Operands[0] : Operands[1], Cond affine
    Op,      ///< Text is a C++ expression with holes $0, $1, ... for Operands;
             ///< a hole stands for a fully parenthesised expression
    Uniform, ///< Text: parameter, literal, constant; no thread in it
    Undefined, ///< never set: what is made of it is undefined in the original
    Unknown  ///< cannot be expressed; Text says what was met
  };
  Kind K = Unknown;
  std::string Type;       ///< canonical C++ type of the value
  Nullable<isl::pw_aff> Aff;        ///< [symbols] -> { [v] }
  std::string Text;
  int Root = -1;          ///< Load: the pointer parameter the address is made
                          ///< from (index in KernelModel::Params), or -1
  unsigned Bytes = 0;     ///< Load: size of the element, 0: unknown
  std::vector<int> Survived; ///< Load: parameters stored through since; the
                             ///< value is what it was if they lead elsewhere
  Nullable<isl::set> Cond;          ///< [symbols] -> { : }
  std::vector<ValueRef> Operands;
  unsigned Depends = 0;   ///< Dependence bits
  Operator Opcode = Other; ///< Op
  /// Op: which member of Operands[0], a vector of Lanes numbers of type Type.
  int16_t Member = -1;
  uint16_t Lanes = 0;
  /// What a compiler may fuse with a sum behind it has been rounded in Text: the result
  /// of arithmetic, which is a number or the one value that is none, or something else,
  /// whose bits are handed on.
  enum : uint8_t { AsItWas, Arithmetic, HandedOn } Rounded = AsItWas;
};

/// A shared array: `__shared__ T a[E0][E1]`, or dynamic (`extern`, one
/// dimension, no extent). Pointers into it (`T *b = a + n`) are no arrays of
/// their own: accesses through them are accesses to `a` with the offset added.
struct SharedArray {
  std::string Name;
  std::string ElemType;      ///< as C++ text usable in the kernel ("float", "T")
  std::string CanonicalType; ///< canonical ("float", "struct Pixel")
  unsigned ElemBytes = 0;
  bool Volatile = false;
  bool Dynamic = false;
  /// Extents, outermost first; empty for a shared scalar. nullopt: not constant.
  std::vector<std::optional<int64_t>> Extents;
  /// The declarator with its commas: deleting it is deleting DeclRange when it
  /// is the only declarator of its statement (Alone), else the text in
  /// DeclaratorRange.
  TextRange DeclRange;
  TextRange DeclaratorRange;
  bool Alone = true;
  bool AtFileScope = false; ///< declared outside the kernel: DeclRange empty
  SourcePos Pos;
};

/// A member of a struct of numbers that has no functions of its own.
struct StructMember {
  std::string Name;
  std::string Type; ///< of the member or its elements, as C++ text
  std::vector<int64_t> Extents; ///< of an array
};

/// One occurrence of a shared element in the text.
struct SharedAccess {
  enum Kind {
    Read,
    Write,     ///< `a[i] = v;` as a statement of its own: Stored is v
    ReadWrite, ///< `a[i] += v`, `a[i]++`, or a write inside an expression
    Atomic,
    Escape     ///< address taken, passed to a function, member written, ...
  };
  Kind K = Read;
  unsigned Array = 0;        ///< index in Arrays
  unsigned Stmt = 0;         ///< Id of the Leaf/If/For it stands in
  TextRange Range;           ///< the whole `a[i][j]` (without a member access)
  bool Affine = false;       ///< all of Index are known
  /// Named through a pointer to vectors of so many elements: Range is a member,
  /// `v[i].x`; 1: an element.
  uint8_t Lanes = 1;
  /// All of them, `v[i]`, of which Index would be the first. Stored has the vector's
  /// type, one of KernelModel::Structs. Never in a kernel that is planned.
  bool AllMembers = false;
  std::vector<isl::pw_aff> Index; ///< one a dimension, [symbols] -> { [i] }
  std::vector<ValueRef> IndexValues; ///< the same as values (also non-affine)
  /// When it is executed: guards, loop bounds, early returns. Does not contain
  /// 0 <= tx < bdx. For a cooperative loop see Stmt::Cooperative.
  Nullable<isl::set> Domain;
  /// False: conditions that are not affine were left out of Domain; they are
  /// ExtraGuards (each a boolean Value that was true).
  bool DomainExact = true;
  std::vector<ValueRef> ExtraGuards;
  ValueRef Stored;           ///< Write: the value, converted to the element type;
                             ///< no product that a sum could be fused with
  TextRange StoredRange;     ///< Write: text of the right-hand side
  SourcePos Pos;
};

/// What a statement computes each time it is executed, in instructions of a thread
/// for each unit; control flow and accesses apart. Estimated from the syntax tree:
/// types are those of the instantiation, callees are looked into.
struct Work {
  double Fp = 0;      ///< sums and products of floats and halves; a product that is
                      ///< added to something is one instruction with the sum
  double Double = 0;  ///< the same of doubles
  double Int = 0;     ///< integers, comparisons, minima, selections, conversions
  double Special = 0; ///< approximations of the unit for special functions
  double Index = 0;   ///< integers in subscripts
  double Divided = 0; ///< of Int, divisions by what is a number in each round
                      ///< of loops that compilers unroll: next to nothing there
  double DividedByStep = 0; ///< of Int, those by what all threads count alike: numbers
                            ///< where a plan writes the rounds out
};

/// `c ? x : y` in the text, of which When is the affine condition; null: it is another one
/// each time.
struct Selection {
  TextRange Range, First;
  std::string Type; ///< a number's, where x has another one; else ""
  Nullable<isl::set> When;
};

/// One occurrence of global memory in the text.
struct GlobalAccess {
  enum Kind { Read, Write, ReadWrite, Atomic };
  Kind K = Read;
  int Root = -1;             ///< pointer parameter, or -1: unknown
  unsigned Stmt = 0;
  TextRange Range;           ///< `out[g]` or `*p`
  ValueRef Index;            ///< element index from the root parameter, or null
  std::string ElemType;
  unsigned ElemBytes = 0;
  bool Volatile = false;     ///< as a volatile element
  /// Write that is a whole statement `out[g] = v;`: text of v, else empty.
  TextRange StoredRange;
  Nullable<isl::set> Domain;
  bool DomainExact = true;
  SourcePos Pos;
};

/// An occurrence of threadIdx.x, blockDim.y, warpSize, ... `threadIdx` used
/// whole (passed to a function, copied) has Axis 3.
struct BuiltinUse {
  Symbol::Kind K = Symbol::ThreadIdx;
  unsigned Axis = 0;
  TextRange Range;
};

/// A call by which all lanes of a warp that come there hand on a value, wait, or ask
/// who they are: `__shfl_down_sync(0xffffffff, v, 16)`, `tile.sync()`.
struct LaneExchange {
  /// Lane l gets the value of lane l + By, l - By, l ^ By, By. Down and Up: its own
  /// where there is no such lane. Of tiles of 32 threads also: how many lanes there
  /// are, which one it is, that it waits, and the declaration of the tile.
  enum Kind { Down, Up, Xor, At, Lanes, Lane, Wait, Tile } K = Down;
  bool OfTile = false; ///< `tile.shfl_down(v, 16)`
  TextRange Range;   ///< the call, or the declaration
  TextRange Value;   ///< the argument that is handed on
  TextRange By;      ///< the argument that says to whom
  std::string Type;  ///< of the value, as C++ text
  bool Plain = true; ///< all 32 lanes are named, and nothing is known of fewer
};

/// A variable of the kernel: parameter or local (shared arrays are no Vars).
struct Var {
  std::string Name;
  std::string Type;          ///< C++ text without array extents, cv removed at
                             ///< the top level ("float", "const float *", "T")
  bool IsParam = false;
  bool IsConst = false;
  std::vector<int64_t> ArrayExtents; ///< private array: its extents
  unsigned DeclStmt = 0;     ///< Leaf (or For) that declares it
  unsigned Scope = 0;        ///< Block or For statement whose end ends its life
  TextRange NameRange;       ///< at the declaration
  TextRange InitRange;       ///< initialiser, empty if none: see Form
  TextRange DeclRange;       ///< the whole declaration statement
  /// How a declaration or an assignment gives it the value in InitRange.
  enum InitForm {
    Equals, ///< `T v = init;`
    Parens, ///< `T v(init);`, arguments of a constructor
    Braces  ///< `T v{...};`, InitRange with the braces
  };
  InitForm Form = Equals;
  bool HasInit = false;      ///< with an empty InitRange: cannot be written anew
  /// An array of it can be declared without values, and elements assigned later:
  /// its type has a name, a default constructor and an assignment.
  bool Expandable = true;
  /// Variables that may hold an address of this one, itself included, when its
  /// address is kept longer than a full expression.
  std::vector<unsigned> Holders;
  bool OnlyDeclarator = true;
  unsigned Depends = 0;      ///< union over all values it ever holds, control
                             ///< dependences included
  bool Assigned = false;     ///< modified after its declaration
  bool AddressTaken = false; ///< &v, bound to a reference, captured
  bool IsReference = false;
  /// The initialiser uses only parameters, builtins, literals and other such
  /// variables, and the variable never changes: its declaration may be
  /// repeated wherever it is needed.
  bool Repeatable = false;
  bool DynamicIndex = false; ///< private array indexed by a run-time value
  ValueRef Init;
};

/// An array that each thread has for itself: a local variable with constant extents.
/// What a plan needs to know to keep it elsewhere.
struct PrivateArray {
  unsigned Var = 0;          ///< index in Vars
  std::string CanonicalType; ///< of an element
  unsigned ElemBytes = 0;
  /// One element, by as many subscripts as there are extents.
  struct Use {
    TextRange Range;       ///< `a[i][j]`, without a member behind it
    unsigned Stmt = 0;     ///< the innermost statement around it
    bool ByThread = false; ///< threads may use different elements at a time
    /// How many elements those may be that lanes use together which have come there
    /// together: as many as there are in the dimensions whose subscripts lanes set
    /// apart. A counter that lanes walk through in step is the same for them.
    int64_t Apart = 1;
  };
  std::vector<Use> Uses; ///< in text order
  /// The elements that the initialiser has a text for, counted row by row; those
  /// without one are zero.
  struct Given {
    int64_t Element = 0;
    TextRange Text;
    bool Bare = false; ///< a list without its braces: `{{1, 2}}` for structs in rows
  };
  std::vector<Given> Init;
  bool HasInit = false;
  /// The declarators of its declaration in their order, and which one is its own.
  /// The first begins where the declaration does, and the others behind a comma.
  std::vector<TextRange> Declarators;
  unsigned Declarator = 0;
  /// Why it cannot be kept elsewhere: it is used otherwise, or what it holds might
  /// be rounded otherwise.
  std::optional<Decline> Stays;
  /// All of it is an argument of a function of the user's.
  bool Handed = false;
  /// It begins with constants, the same for all threads, and nobody changes it.
  bool Table = false;
  bool ConstElements = false; ///< its declaration says const
  bool IsRecord = false;      ///< its elements are structs
  SourcePos Pos;

  /// All of them.
  int64_t elements(const KernelModel &M) const;
  /// Does an index keep it out of registers? ptxas makes chains of selects of up to four
  /// words (13.0).
  bool isInLocalMemory(const KernelModel &M) const;
};

struct VarUse {
  unsigned Var = 0;
  TextRange Range;
  bool Write = false;        ///< assigned, incremented, ...
  /// More hangs on its value than which elements are used and how often: it is
  /// converted to a floating-point number, handed to a function that is not the
  /// library's own of integers, or chooses between two numbers.
  bool ForNumbers = false;
};

/// Something that the body does beside computing values: a rewritten kernel does
/// it as well, or shows that nobody can tell.
struct Effect {
  enum Kind {
    SetsVariable, ///< Var is assigned, incremented, handed out to be changed
    SetsShared,   ///< an element of Array
    SetsMemory,   ///< other memory, known (Target is a GlobalAccess) or not
    Call,         ///< of a function that does more than return a value
    Volatile      ///< a read that counts
  };
  Kind K = Call;
  int Var = -1;
  int Array = -1;
  TextRange Range;  ///< the expression
  TextRange Target; ///< what is set, empty: a call sets it
  TextRange At;     ///< a token of its own: the operator, a closing parenthesis
};

/// A statement. Children by kind:
///   Block   the statements
///   If      then, else (when there is one)
///   For     the body;  While, Do: the body (never analysed further than needed)
///   Leaf    none: expression or declaration statement, `;`, break, continue
struct Stmt {
  enum Kind { Block, Leaf, Decl, If, For, While, Do, Switch, Barrier, Return,
              Break, Continue };
  Kind K = Leaf;
  bool isLoop() const { return K == For || K == While || K == Do; }
  unsigned Id = 0;           ///< index in KernelModel::Stmts, in text order
  int Parent = -1;
  TextRange Range;           ///< with the `;`, with a `#pragma` in front of it
  std::vector<unsigned> Children;
  /// A declaration that is its parent's condition: `if (T *p = f())`. It goes
  /// only with its parent.
  bool IsCondition = false;

  // If, While, Do; For: its condition.
  TextRange CondRange;
  /// `if constexpr`: the branch that this instantiation has not, with its `else`;
  /// empty: it has all.
  TextRange LeftOut;
  Nullable<isl::set> Cond;             ///< affine condition, null when it is not affine
  unsigned CondDepends = 0;

  // For.
  int IterVar = -1;          ///< index in Vars, -1: no simple counted loop
  int IterSymbol = -1;       ///< index in Symbols
  Nullable<isl::pw_aff> Init;          ///< first value
  Nullable<isl::set> IterDomain;       ///< values of the iterator, as constraints on its
                             ///< symbol (lower and upper bound and stride)
  std::optional<int64_t> Step;
  /// For, no counted loop (IterVar and IterSymbol are -1): once an iteration
  /// the variable FactorVar, whose symbol in the body is FactorSymbol, is
  /// multiplied (2, 4, ...) or divided (-2, -4, ...) by this. Init is its first
  /// value, Cond the condition.
  std::optional<int64_t> Factor;
  int FactorVar = -1, FactorSymbol = -1;
  std::optional<int64_t> ConstTripCount;
  std::optional<int64_t> ConstFirst; ///< with ConstTripCount
  /// Rounds of a thread on average, where the number hangs on the thread's place in
  /// a block of known shape (`for (i = 0; threadIdx.x + i < 66; i += 64)`).
  std::optional<double> MeanTripCount;
  /// Rounds in the largest launch that host code tells numbers of, by a thread in the
  /// middle of the grid; nullopt: it does not tell. For predictions.
  std::optional<double> ShownTripCount;
  bool HasUnrollPragma = false;
  /// Loops with barriers: integers that are the same for all threads and that
  /// each round takes over from the one before (`a = 1 - a;`, `d /= 2`).
  struct Recurrence {
    int Symbol = -1; ///< has the value at the start of a round; -1: none has
    Nullable<isl::pw_aff> First; ///< in front of the loop: [symbols] -> { [v] }
    /// At the end of a round, its step included: [symbols, those of the round's
    /// start] -> { [v] }, modulo 2^Bits.
    Nullable<isl::pw_aff> Next;
    int After = -1; ///< symbol with the value behind the loop; -1: none
    unsigned Bits = 32;
    bool Signed = true;
  };
  std::vector<Recurrence> Carried;
  /// What a variable of in front of the loop that its rounds change holds at the
  /// start of a round: the element of a queue of loads, a counter, a pointer that
  /// moves along.
  struct Held {
    unsigned Var = 0; ///< index in Vars
    int Element = -1; ///< of a private array, row by row; -1: the variable itself
    /// As a function of the iterator; null: nobody knows. Pointers: the elements
    /// that it is ahead of parameter Root (index in Params).
    ValueRef V;
    int Root = -1;
    /// In so many rounds from the first one it is something else: what stood there
    /// before the loop has not left the queue.
    unsigned LateRounds = 0;
  };
  /// Counted loops with barriers that are left by their header alone: each such
  /// variable and element. nullopt: another loop.
  std::optional<std::vector<Held>> AtStart;
  /// `#pragma unroll N`: N; 0: no such number.
  unsigned UnrollCount = 0;
  TextRange HeaderRange;     ///< `for (...)`, without pragma and body
  TextRange InitRange, IncRange;
  /// The loop distributes the iterations over the threads of the block:
  /// `for (i = tid; i < N; i += number of threads)` (one axis:
  /// `for (y = threadIdx.y; y < H; y += blockDim.y)`). Then IterDomain is
  /// { lo <= i < N } free of thread symbols; each value is taken by exactly
  /// one thread of the axes in CooperativeAxes (Dependence thread bits).
  bool Cooperative = false;
  unsigned CooperativeAxes = 0;

  // Barrier.
  enum BarrierKind { Syncthreads, SyncthreadsReduce, CooperativeGroup, Syncwarp };
  BarrierKind Sync = Syncthreads;
  /// Symbols (indices) whose Text has, at this barrier, the symbol's value.
  std::vector<unsigned> ValidSymbols;

  // Summary over the subtree.
  bool HasBarrier = false;
  bool HasReturn = false;
  bool HasSharedAccess = false;
  bool HasSharedWrite = false;
  bool HasGlobalWrite = false;
  bool HasGlobalRead = false;
  /// Calls a function of the user that not every thread may call (Effects.h).
  bool HasCall = false;
  /// What the statement computes; a compound one: its condition. OfElements is
  /// what is done to a shared element alone (conversions, squares): the same for
  /// all outputs that use the element.
  Work Computes, OfElements;
  /// Path condition: the guards around and the early returns before it,
  /// [symbols] -> { : }; exact if DomainExact.
  Nullable<isl::set> Domain;
  bool DomainExact = true;
  SourcePos Pos;
};

struct KernelParam {
  std::string Name;
  std::string Type;          ///< as written, for a declaration ("const T *__restrict__")
  std::string CanonicalType; ///< in this instantiation ("const float *__restrict")
  bool IsPointer = false;
  bool IsRestrict = false;
  bool PointeeConst = false;
  bool IsInteger = false;
  unsigned Bits = 0;
  bool Signed = true;
  std::string PointeeType;   ///< canonical, without const
  unsigned PointeeBytes = 0;
  bool Written = false;      ///< the kernel may write through it
  int VarId = -1;
  /// A pointer that is a member of this parameter, a struct by value; Name and
  /// Type are the member's (`image.data`).
  int MemberOf = -1;
};

/// A variable of the function that launches: what the launch is made from.
struct HostLocal {
  std::string Name; ///< "": something that is no variable (`this`, a call)
  std::string Type; ///< without const and references
  /// Its only value, as text in which Uses and names of file scope occur; "":
  /// a parameter, changed later, or the result of a call.
  std::string Init;
  std::vector<unsigned> Uses; ///< indices in the same list, all before it
};

/// A launch in the parsed file. Ranges are byte offsets in `Pos.File`.
struct LaunchSite {
  enum Kind { Chevrons, CudaLaunchKernel };
  Kind K = Chevrons;
  SourcePos Pos;
  unsigned Begin = 0, End = 0;   ///< the whole call expression
  bool Editable = false;         ///< false: WhyNot says why
  std::string WhyNot;
  std::string Callee;            ///< as written: `ns::k<float, 4>`
  unsigned CalleeNameEnd = 0;    ///< in Callee: behind the kernel's own name
  /// `::ns::` where the name as written leads to the kernel alone, and not to a
  /// function declared beside it: through `using ns::k;`.
  std::string Scope;
  std::string Grid, Block, SharedBytes, Stream; ///< as written, "" when absent
  std::vector<std::string> Args; ///< Chevrons: as written; CudaLaunchKernel: {args}
  /// Between `<<<` and `>>>`, and between the parentheses, verbatim: one macro
  /// may be several of them.
  std::string ConfigText, ArgsText;
  unsigned ConfigCount = 0;
  bool HasArgs = false; ///< a token stands in ArgsText
  /// Nothing that configuration and arguments do can be told from outside: the
  /// order in which they are evaluated does not matter.
  bool AnyOrder = true;
  /// The launch comes out of a macro: Begin and End are those of the invocation,
  /// and this is what stands around the launch in its expansion.
  std::string Before, After;
  std::optional<std::array<int64_t, 3>> ConstBlock, ConstGrid;
  /// No ConstBlock: blocks that calls of the launching function, or its
  /// instantiations, lead to. There may be others.
  std::vector<std::array<int64_t, 3>> PossibleBlocks;
  /// The same for grids.
  std::vector<std::array<int64_t, 3>> PossibleGrids;
  /// Neither: grids of a program that is started without arguments.
  std::vector<std::array<int64_t, 3>> UsualGrids;
  /// Chevrons: what is known of each argument that is an integer: its value, or those
  /// that calls of the launching function lead to; empty: nothing is.
  std::vector<std::vector<int64_t>> ArgValues;
  /// What grid, block, shared bytes and integer arguments are made from, each
  /// behind what it uses.
  std::vector<HostLocal> Locals;
  unsigned Instantiation = 0;    ///< which model (index in the file's models)
  bool InTemplate = false;       ///< stands in a template itself

  /// Blocks of its grid; nullopt: host code does not tell, or tells it of one
  /// instantiation of the template that it stands in.
  std::optional<double> knownBlocks() const {
    if (!ConstGrid || InTemplate)
      return std::nullopt;
    const auto &[X, Y, Z] = *ConstGrid;
    return double(X) * double(Y) * double(Z);
  }
};

/// The dimensions of the block as far as known when parsing.
struct Geometry {
  /// What the model is made for: the block of all visible launches (if it does not
  /// contradict launch bounds); or, of several dimensions, of some of them, or the
  /// likeliest where none tells. Each launch is asked for it then.
  std::optional<std::array<int64_t, 3>> ConstBlock;
  /// Blocks of several dimensions that launches have besides, or may have. Each asks
  /// for a model of its own.
  std::vector<std::array<int64_t, 3>> OtherBlocks;
  /// The different constant block shapes seen at launches.
  std::vector<std::array<int64_t, 3>> SeenBlocks;
  bool AllLaunchesConst = false; ///< every visible launch is in SeenBlocks
  std::optional<int64_t> MaxThreads; ///< __launch_bounds__
  /// The file names what cudaFuncSetAttribute would be given for clusters of a size.
  bool NamesClusters = false;
  /// Blocks of the largest grid among the launches whose grid host code tells.
  /// Others may have more: for predictions only.
  std::optional<int64_t> MostBlocks;
  /// No MostBlocks: the same where the program is started without arguments.
  std::optional<int64_t> UsualBlocks;
};

/// A fact about a launch: each factor is at least 0 and their product at most
/// Max. Factors are Symbol Ids: `bdx`.., `gdx`.. or integer parameters. Or
/// (MultipleOf is not 0) the one factor is a multiple of that.
struct LaunchFact {
  std::vector<std::string> Factors; ///< sorted
  int64_t Max = 0;
  int64_t Min = 0; ///< of one factor alone
  int64_t MultipleOf = 0;
  bool operator==(const LaunchFact &) const = default;
};

/// How a kernel's text that is modelled differs from the original's
/// (rcache/SpreadOutputs.h, ThreadsInLine.h, OutputThreads.h): its block has Scale[a] times the launch's
/// threads along axis a or, of a Scale below 0, a part of them.
struct TextForm {
  std::array<int64_t, 3> Scale = {1, 1, 1};
  /// So many fewer along axis a: threads of the launch that only stage (OutputThreads.h).
  std::array<int64_t, 3> Idle = {0, 0, 0};
  /// Integer parameters that a launch has to give values other than 0.
  std::vector<std::string> NonZero;
  /// Integer parameters that the text names by a value, which a launch is asked for.
  std::vector<std::pair<std::string, int64_t>> Fixed;
  /// Integer parameters that a launch has to give no larger values: the text has no more
  /// rounds.
  std::vector<std::pair<std::string, int64_t>> AtMost;
  /// The text has been made of what is known of this block of a launch, and is right for no
  /// other.
  std::optional<std::array<int64_t, 3>> OfBlock;
  /// What an output of the original costs as it is written, in the unit of
  /// Prediction.h; 0: as this text tells.
  double OriginalClocks = 0;
  bool isNarrowed() const { return Idle != std::array<int64_t, 3>{0, 0, 0}; }
  /// Is the text's block another one than the launch's?
  bool scaled() const { return Scale != std::array<int64_t, 3>{1, 1, 1} || isNarrowed(); }
  bool operator==(const TextForm &) const = default;
};

struct TemplateArg {
  std::string Name;  ///< parameter name in the pattern
  bool IsType = false;
  std::string Value; ///< C++ text: "float", "4"
  bool Nameless = false; ///< a type that no text at file scope can name
};

struct KernelModel {
  AffineContextRef Ctx;      ///< declared first: dies last
  std::string Name;          ///< "stencil"
  bool Overloaded = false;   ///< another function has the same name
  std::string QualifiedName; ///< "ns::stencil"
  std::vector<std::string> Namespaces; ///< outermost first; "" for anonymous
  std::string Signature;     ///< with template arguments, for messages
  /// As clang mangles it; nvcc does alike but for anonymous namespaces.
  std::string MangledName;
  SourcePos Pos;             ///< of the name

  std::string Text;          ///< see the top of this file
  TextRange NameRange, BodyRange /* { } */;
  /// What no name in the file begins with: "rc_". All generated names do.
  std::string NamePrefix = "rc_";
  /// The identifiers of the translation unit; null where there is none.
  std::shared_ptr<const UsedNames> Used;
  /// \p Base, or with underscores behind it: what neither a word of the kernel's text is
  /// nor one that a macro stands for, nor anything of outside that the body uses.
  std::string freshName(std::string Base) const;
  /// The parameters as a list between parentheses, each with a name: as the
  /// kernel writes them without default arguments, and with those that hold at
  /// the definition, written there or in a declaration before it.
  std::string ParamsText, LaunchParamsText;
  /// `template <typename T, int R>` or empty; default arguments that an earlier
  /// declaration gives are here as well.
  std::string TemplateHead;
  /// What stands between the parentheses of `__launch_bounds__(256, 2)`, macros
  /// expanded; empty without.
  std::string LaunchBounds;
  /// `__maxnreg__` says how many registers a thread has.
  bool LimitsRegisters = false;
  /// The template has explicit specialisations: not every instantiation is made
  /// from this text.
  bool HasSpecialisations = false;
  /// The definition stands within the braces of `extern "C" {`.
  bool InLinkageSpec = false;
  /// New code for the kernel stands at file scope and opens its namespaces.
  bool ReopensNamespaces = false;
  /// A parameter or template parameter has the kernel's name: host code has to
  /// say `::ns::k`.
  bool NeedsQualifiedName = false;
  std::vector<TemplateArg> TemplateArgs; ///< of this instantiation
  bool IsTemplate = false;

  /// Its name for host code, from any scope.
  std::string globalName() const;
  /// "ns::", or "" at file scope.
  std::string scope() const;
  /// Does it stand in a namespace without a name, where other files have none?
  bool isOfOneFile() const;
  /// Where the definition stands in its file, for insertions after it.
  SourcePos DefBegin, DefEnd;
  bool InMainFile = true;
  /// Offset in the main file at which new code for this kernel goes: behind
  /// the definition, or (kernel from a header) in front of the top-level
  /// declaration that holds its first launch. Outside every #if block that
  /// does not also hold the launches. nullopt: no launch, or no such place.
  std::optional<unsigned> InsertOffset;
  /// Behind an earlier declaration of the kernel, at which its launch function can be
  /// declared for launches that stand in front of the definition.
  std::optional<unsigned> DeclareOffset;
  /// What the preprocessor reads otherwise there than behind the definition.
  std::set<std::string> ReadOtherwise;

  /// As declared; behind them the pointers in structs that the kernel uses.
  std::vector<KernelParam> Params;
  /// The declared ones alone.
  std::vector<KernelParam> declaredParams() const;
  /// __device__ variables that the kernel may change, named for host code.
  std::vector<std::string> DeviceVariables;
  std::vector<Symbol> Symbols;
  std::vector<SharedArray> Arrays;
  /// A function that the kernel calls uses a shared array, its own or one of the
  /// file's: without Arrays, the kernel is none that shares nothing.
  bool SharesInCalls = false;
  /// The kernel, or what it calls, adds or multiplies in 64 bits: an index that is made
  /// of 32-bit values need not fit 32 bits.
  bool WideSums = false;
  std::vector<SharedAccess> SharedAccesses; ///< in text order
  std::vector<GlobalAccess> GlobalAccesses; ///< in text order
  std::vector<Selection> Selections;
  std::vector<BuiltinUse> Builtins;         ///< in text order
  /// Could the products of one output that another one has as well change what
  /// is fused with a sum? Then each output sees shared memory through variables
  /// of its own (lib/Model/Fusion.cpp).
  bool OwnViews = false;
  /// If not, factors of products that are in danger all the same, one each.
  std::vector<TextRange> Apart;
  /// If a sum of two products stands somewhere (of both, one is fused), every
  /// product of the kernel; an empty range: one of which the text is not known.
  std::vector<TextRange> SummedProducts;
  /// A sum of which nobody knows what it is fused with in some rewritten kernels
  /// (lib/Model/FusionFlow.cpp).
  struct SumInDoubt {
    /// Each one's are the following ones' as well.
    enum Kernels {
      None,
      OutputsInLoops, ///< a thread runs several outputs side by side in loops
      SeveralOutputs, ///< ... or one after the other
      All             ///< where statements around it are gone
    } In = None;
    std::string Text; ///< for users, with its line
  } UnsettledSum;
  /// Variables (indices in Vars) that may hold a product which a sum takes: what it is
  /// fused with hangs on no condition standing between the two.
  std::vector<unsigned> ProductVars;
  /// A product of two values that no instruction names, and from there to the end of a sum
  /// that takes it. Where a branch of a rewritten kernel ends a block of code on that way,
  /// they are not fused as in the original (lib/Model/ProductBlocks.cpp).
  struct InOneBlock {
    TextRange Product, ToSum;
    bool Leaves; ///< compilers may move the sum alone
  };
  std::vector<InOneBlock> OneBlock;
  /// Variables (indices in Vars) that are multiplied by what may be a number to a compiler.
  std::vector<unsigned> ScaledVars;
  /// May the kernel multiply or divide floating-point numbers and add some, itself or in
  /// functions that it calls? Without, nothing is fused with a sum, and a register keeps no
  /// more of a number than memory does.
  bool Multiplies = true;
  /// Would something round otherwise if integer arguments were numbers, with which
  /// loops could be unrolled (lib/Model/FoldedNumbers.h)?
  bool FoldsWithArguments = false;
  /// Bodies of the user's functions that the kernel calls, by name, as written.
  std::map<std::string, std::string> CalleeBodies;
  /// What integers are divided by, where it is no constant.
  std::vector<TextRange> Divisors;
  std::vector<Var> Vars;
  std::vector<VarUse> VarUses;              ///< in text order
  std::vector<PrivateArray> Privates;       ///< in text order
  std::vector<Effect> Effects;              ///< in text order
  /// Names of functions, types, constants, ... of outside that the body uses.
  std::set<std::string> OuterNames;
  std::vector<Stmt> Stmts;                  ///< Stmts[0] is the body
  std::vector<LaunchSite> Launches;
  /// In parts of the main file that this parse left out (`#ifndef
  /// __CUDA_ARCH__`): what may be launches of it. They keep the original.
  std::vector<SourcePos> UnseenLaunches;
  /// Without launches: where the file names the kernel, as for a pointer to it.
  std::vector<SourcePos> NamedAt;
  /// Launches by cudaLaunchKernelEx, which keep the original.
  std::vector<SourcePos> LaunchedEx;
  /// Blocks of this text: a launch's blocks, scaled by Form.
  Geometry Geo;
  TextForm Form;

  /// What is always true: 0 <= tx < bdx, bdx >= 1, bdx <= 1024, __launch_bounds__,
  /// asserts the front end knows; [symbols] -> { : }.
  Nullable<isl::set> Context;
  /// What the model takes for granted so that index arithmetic does not wrap
  /// (`int i = blockIdx.x * blockDim.x + threadIdx.x`): a launch has to check it.
  std::vector<LaunchFact> Assumes;

  /// Reasons found while modelling that no plan can get around (asm, shared
  /// atomics, warp intrinsics in the original, escaping arrays, ...).
  std::vector<Decline> Declines;

  std::vector<LaneExchange> LaneExchanges;  ///< in text order
  /// By SharedArray::CanonicalType, or by the type of vectors by which accesses name
  /// elements: the members of such elements, in their order.
  std::map<std::string, std::vector<StructMember>> Structs;

  const Stmt &stmt(unsigned Id) const { return Stmts[Id]; }
  int symbolIndex(const std::string &Id) const;
  /// Is the iterator's symbol the loop's variable itself? Else the variable is
  /// ahead of it by what its first value is made of (`for (k = t; k < t + 5; ++k)`:
  /// the symbol counts from 0).
  bool countsItself(const Stmt &Loop) const {
    return Loop.IterVar >= 0 && Loop.IterSymbol >= 0 &&
           Symbols[static_cast<size_t>(Loop.IterSymbol)].Text ==
               Vars[static_cast<size_t>(Loop.IterVar)].Name;
  }
  std::string text(TextRange R) const {
    return Text.substr(R.Begin, R.End - R.Begin);
  }
  /// A C++ condition that checks \p F on the host, in terms of the given
  /// variables of type dim3 and the parameters' own names.
  std::string launchCondition(const LaunchFact &F, const std::string &Grid,
                              const std::string &Block) const;
  /// Stable text form, for tests and --print-after=model.
  void print(llvm::raw_ostream &OS) const;
};

/// "a launch in a part of the file that a device-side parse leaves out: line 12";
/// "" when there is none.
std::string unseenLaunches(const KernelModel &M);

/// Why a kernel for which no launch was found is left, with what the file has
/// instead.
Decline withoutLaunch(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_MODEL_H
