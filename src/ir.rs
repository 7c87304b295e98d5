//! What is the program: kernels, statements, expressions, types?
//!
//! `lower` builds this from a syntax tree; `exec` runs it. No tree node survives into it.
//! Names that are local to a function are resolved to slots ([`LocalId`]) by `lower`;
//! every other name stays a [`Path`] that `exec` looks up among template parameters,
//! members of `this`, and the [`program::Program`]'s items.
//!
//! Invariant: every node carries the span of the *original* text it came from. A node that
//! came out of a macro has the span of the macro's use.

pub(crate) mod declared;
mod defaults;
pub(crate) mod found_later;
mod instantiation;
mod lambda_class;
mod mentions;
pub(crate) mod names;
pub(crate) mod namespace;
mod opened;
mod operators;
pub(crate) mod overwritten;
pub(crate) mod print;
pub(crate) mod program;
mod scalar;
pub(crate) mod shared_locals;
pub(crate) mod unpack;
pub(crate) mod unrolling;
pub(crate) mod visit;
pub(crate) mod writes;

use crate::preproc::comments::Directive;
use crate::source::{FileId, Span};
use found_later::FoundLater;
pub(crate) use instantiation::Instantiation;
pub(crate) use mentions::Mentions;
use namespace::Namespace;
pub(crate) use operators::{BinaryOp, Join, UnaryOp};
pub(crate) use scalar::Scalar;
use std::sync::Arc;

/// An identifier.
pub(crate) type Name = Arc<str>;

/// A slot in a function's frame: an index into [`Function::locals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// A possibly qualified name: `tile`, `Traits<T>::kWidth`, `cg::sync`, `load<float4>`.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Path {
    /// What stands before the last `::`, outermost first. A namespace or a class:
    /// the parser cannot tell, whoever looks the name up can.
    pub qualifiers: Vec<(Name, Vec<TemplateArg>)>,
    /// The last segment.
    pub name: Name,
    /// Explicit template arguments of the last segment; `None` when no `<...>` was written.
    pub args: Option<Vec<TemplateArg>>,
    /// Whether it begins with `::`, and so is looked up outside of every class and namespace.
    pub global: bool,
}

impl Path {
    /// A path without qualifiers or template arguments.
    #[must_use]
    pub fn simple(name: Name) -> Path {
        Path { qualifiers: Vec::new(), name, args: None, global: false }
    }
}

/// One explicit template argument. `Name` is what the grammar cannot classify:
/// `foo<N>` may name a type or a value.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum TemplateArg {
    /// A type.
    Type(Type),
    /// A value.
    Value(Expr),
}

/// `const`, `volatile`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Qualifiers {
    /// `const`
    pub constant: bool,
    /// `volatile`
    pub volatile: bool,
}

impl Qualifiers {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Qualifiers::default()
    }

    /// Those of both.
    #[must_use]
    pub fn with(self, other: Qualifiers) -> Qualifiers {
        Qualifiers { constant: self.constant || other.constant, volatile: self.volatile || other.volatile }
    }

    /// Those that are left without these; none if these are not among them.
    #[must_use]
    pub fn without(self, others: Qualifiers) -> Option<Qualifiers> {
        (self.with(others) == self).then_some(Qualifiers {
            constant: self.constant && !others.constant,
            volatile: self.volatile && !others.volatile,
        })
    }
}

/// A type as written. `__restrict__` is dropped, and so are `const` and `volatile` but where a template may ask for
/// them: in template arguments and in what an alias stands for.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Type {
    /// `void`
    Void,
    /// A scalar that the language defines, or a `<cstdint>` name for one.
    Scalar(Scalar),
    /// `float4`, `half`, a struct, a typedef, a template parameter, `typename T::type`.
    Named(Box<Path>),
    /// `T*`
    Pointer(Box<Type>),
    /// `T&` and `T&&`
    Reference(Box<Type>),
    /// `T[n]`; no length for `T[]`.
    Array(Box<Type>, Option<Box<Expr>>),
    /// `const T`
    Qualified(Qualifiers, Box<Type>),
    /// `auto`, `auto&`, `decltype(auto)`
    Auto,
    /// `decltype(expr)`
    Decltype(Box<Expr>),
    /// A function type or something the lowering does not know.
    Opaque,
}

impl Type {
    /// The type without `const` and `volatile`.
    #[must_use]
    pub fn unqualified(self) -> Type {
        match self {
            Type::Qualified(_, inner) => inner.unqualified(),
            Type::Pointer(inner) => Type::Pointer(Box::new(inner.unqualified())),
            Type::Reference(inner) => Type::Reference(Box::new(inner.unqualified())),
            Type::Array(inner, length) => Type::Array(Box::new(inner.unqualified()), length),
            other => other,
        }
    }
}

/// An expression and where it stands.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands in the original text.
    pub span: Span,
}

/// The kinds of expression. Parentheses are dropped.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum ExprKind {
    /// An integer or character literal (or `true`/`false`), with its type.
    Int(i128, Scalar),
    /// A floating-point literal.
    Float(Real, Scalar),
    /// A string literal's text, without quotes.
    Str(Name),
    /// `nullptr`, `NULL`
    Null,
    /// A local variable or parameter of the enclosing function.
    Local(LocalId),
    /// Any other name.
    Path(Box<Path>),
    /// `this`
    This,
    /// `-x`, `!x`, `~x`, `+x`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`, `a < b`, `a && b`, ...
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a = b`, and `a += b` with the operator.
    Assign(Option<BinaryOp>, Box<Expr>, Box<Expr>),
    /// `++x`, `x++`, `--x`, `x--`
    Step {
        /// What is stepped.
        target: Box<Expr>,
        /// +1 or -1.
        by: i8,
        /// Whether the value is that before the step (`x++`).
        post: bool,
    },
    /// `c ? a : b`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a, b`
    Comma(Box<Expr>, Box<Expr>),
    /// `a[i]`; `a[i, j]` is lowered to a `Comma` index.
    Index(Box<Expr>, Box<Expr>),
    /// `a.name` and `a->name`; `a.2` is the third member, whatever it is called.
    Member {
        /// The object or pointer.
        base: Box<Expr>,
        /// The member.
        name: Name,
        /// Whether it was written `->`.
        arrow: bool,
        /// Explicit template arguments of a method; `None` when no `<...>` was written.
        args: Option<Vec<TemplateArg>>,
        /// The class named in front of it: `a.B::name`.
        class: Option<Box<Type>>,
    },
    /// `*p`
    Deref(Box<Expr>),
    /// `&x`
    AddressOf(Box<Expr>),
    /// Every cast between types: `(T)x`, `static_cast<T>(x)`, `reinterpret_cast<T>(x)`,
    /// and `int(x)` for language-defined scalars.
    Cast(Type, Box<Expr>),
    /// `T{...}` and `T(...)` where `T` is known to be a type (`dim3(32, 8)` is a `Call`: the
    /// grammar does not tell), and `T x(...)`/`T x{...}` initialisers.
    Construct(Type, Vec<Expr>),
    /// `{a, b}` without a type.
    InitList(Vec<Expr>),
    /// `.member = value` in such a list: followed in host code.
    Designated(Name, Box<Expr>),
    /// `sizeof(T)`
    SizeofType(Type),
    /// `sizeof(expr)`
    SizeofExpr(Box<Expr>),
    /// `sizeof...(Ts)`
    SizeofPack(Name),
    /// `Ts...` among template arguments: each of a pack in turn.
    Expansion(Name),
    /// `f(xs)...` among arguments, and folds: `(xs + ...)`.
    Pack(Box<Pack>),
    /// `alignof(T)`
    AlignofType(Type),
    /// `offsetof(T, member)`
    Offsetof(Type, Name),
    /// A call: `f(a)`, `obj.method(a)`, `f<4>(a)`, `lambda(a)`.
    Call {
        /// What is called: usually a `Path`, a `Local` (lambda) or a `Member`.
        callee: Box<Expr>,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `kernel<<<grid, block, bytes, stream>>>(args)`. `cudaLaunchKernel` and its kin stay calls.
    Launch(Box<Launch>),
    /// `[&](int i) { ... }`: its body uses slots of the enclosing function.
    Lambda(Arc<Lambda>),
    /// Inline assembly.
    Asm(Box<Asm>),
    /// Something that is not modelled, with its kind in words ("throw expression").
    Unsupported(&'static str),
    /// A part of the text that did not parse.
    Damaged,
}

/// The value of a floating-point literal, equal to another if all its bits are.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Real(u64);

impl Real {
    /// This value.
    #[must_use]
    pub fn of(value: f64) -> Real {
        Real(value.to_bits())
    }

    /// Its value.
    #[must_use]
    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl std::fmt::Debug for Real {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value().fmt(f)
    }
}

/// Something that is repeated for each element of a pack.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Pack {
    /// What stands in front of the `...`.
    pub left: Option<Expr>,
    /// What stands behind it, in a fold.
    pub right: Option<Expr>,
    /// What joins the parts of a fold.
    pub join: Option<Join>,
    /// What is known of it as long as nothing is known of the pack.
    pub otherwise: Expr,
}

/// A kernel launch in host code.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Launch {
    /// The kernel as named, with explicit template arguments.
    pub kernel: Expr,
    /// The grid, if written.
    pub grid: Option<Expr>,
    /// The block, if written.
    pub block: Option<Expr>,
    /// Dynamic shared memory in bytes, if written.
    pub dynamic_bytes: Option<Expr>,
    /// The kernel's arguments.
    pub args: Vec<Expr>,
}

/// A lambda. What it captures by reference are slots of the enclosing function; what it captures by
/// value is copied into slots of its own, where the lambda stands.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Lambda {
    /// Its template parameters: `[]<int N>(Constant<N>) {}`.
    pub template_params: Vec<TemplateParam>,
    /// Its parameters, as slots of the enclosing function.
    pub params: Vec<Param>,
    /// What it returns, if that is written.
    pub return_type: Option<Type>,
    /// The slots of what it captures by value.
    pub copies: Vec<LocalId>,
    /// Whether its calls may change those: each copy of a `mutable` lambda has its own.
    pub mutable: bool,
    /// Whether it is a `__device__` one.
    pub device: bool,
    /// All slots that are its own, those of the lambdas in it too.
    pub slots: std::ops::Range<u32>,
    /// Variables around it that its calls may change.
    pub changes: Vec<LocalId>,
    /// Its body.
    pub body: Vec<Stmt>,
    /// Which lambda of its function it is: 1 for the first.
    pub number: u32,
}

/// An `asm` statement.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Asm {
    /// The template text, string pieces joined.
    pub template: String,
    /// Output operands: constraint and lvalue.
    pub outputs: Vec<(String, Expr)>,
    /// Input operands: constraint and value.
    pub inputs: Vec<(String, Expr)>,
}

/// A statement and where it stands.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it stands in the original text.
    pub span: Span,
}

/// What is not supported where a `goto` leads back.
pub(crate) const GOTO_LOOP: &str = "loop made of `goto`";

/// The kinds of statement.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum StmtKind {
    /// An expression for its effect.
    Expr(Expr),
    /// Local variables, in order.
    Declare(Vec<Declaration>),
    /// `{ ... }`
    Block(Vec<Stmt>),
    /// `if (cond) then else otherwise`; an init-statement precedes it in a `Block`.
    If {
        /// The condition.
        cond: Expr,
        /// The branch taken when it holds.
        then: Vec<Stmt>,
        /// The other branch, possibly empty.
        otherwise: Vec<Stmt>,
    },
    /// `for`, `while`; the `for`'s init-statement precedes it in a `Block`.
    Loop {
        /// The condition; `None` is `true`.
        cond: Option<Expr>,
        /// The body.
        body: Vec<Stmt>,
        /// What runs after each iteration and on `continue`.
        step: Option<Expr>,
        /// Whether the body runs once before the first test (`do ... while`).
        body_first: bool,
        /// What the text says of making straight code of it.
        unrolling: unrolling::Unrolling,
        /// Which of the function's loops it is: those that come out of one use of a macro have one span.
        number: u32,
    },
    /// `switch`: the cases in order, each falling through to the next.
    Switch {
        /// What is compared.
        value: Expr,
        /// The arms.
        cases: Vec<Case>,
    },
    /// `return`
    Return(Option<Expr>),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `goto` to a label that follows.
    Goto(Name),
    /// The label that a `goto` before it leads to.
    Label(Name),
    /// `throw`
    Throw,
    /// `try`, with its blocks: what is run of them is not followed.
    Try(Vec<Stmt>),
    /// A statement that is not modelled (range-`for`, what a `goto` repeats), with its kind in
    /// words, and what is known to be inside it: run any number of times, if at all.
    Unsupported(&'static str, Vec<Stmt>),
    /// A part of the text that did not parse.
    Damaged,
}

/// One arm of a `switch`.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Case {
    /// The value; `None` is `default`.
    pub value: Option<Expr>,
    /// Its statements, up to the next label.
    pub body: Vec<Stmt>,
}

/// A variable declared in a function or at file scope.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Declaration {
    /// Its slot; for a file-scope variable, meaningless.
    pub local: LocalId,
    /// Its name.
    pub name: Name,
    /// The namespaces around it.
    pub namespace: Namespace,
    /// Of a variable template: its parameters.
    pub template_params: Vec<TemplateParam>,
    /// Of an explicit specialisation of one: its arguments.
    pub specialization: Vec<TemplateArg>,
    /// Its full type, array dimensions included (outermost dimension outermost).
    pub ty: Type,
    /// Where it lives.
    pub storage: Storage,
    /// Alignment written as `__align__(n)` or `alignas(n)`, in bytes.
    pub align: Option<Expr>,
    /// Its initialiser. `T x(a, b)` and `T x{a, b}` are a `Construct`.
    pub init: Option<Expr>,
    /// The name in the text.
    pub name_span: Span,
    /// The whole declaration statement in the text, for labels and fixes.
    pub span: Span,
    /// For an array: the span of each dimension's expression, outermost first (inside the
    /// brackets); empty span just after `[` when the dimension is missing.
    pub dimension_spans: Vec<Span>,
    /// Whether it is `const` or `constexpr`.
    pub constant: bool,
    /// Whether no other file can name it: a file-scope variable or static member that is `static` or in a namespace
    /// without a name.
    pub internal: bool,
    /// Whether it is `volatile`, or what it leads to.
    pub volatile: bool,
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// A register or the stack.
    Automatic,
    /// `static` in a function or class: one value for everyone.
    Static,
    /// `__shared__`
    Shared,
    /// `extern __shared__`: sized at launch.
    DynamicShared,
    /// `__constant__`
    Constant,
    /// `__device__` or a plain file-scope variable.
    Global,
}

impl Storage {
    /// Whether it is shared memory, of whatever size.
    #[must_use]
    pub fn is_shared(self) -> bool {
        matches!(self, Storage::Shared | Storage::DynamicShared)
    }
}

/// Who may call a function, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionKind {
    /// `__global__`
    Kernel,
    /// `__device__` (also with `__host__`), and `constexpr` functions
    Device,
    /// Anything else.
    Host,
}

/// A function parameter.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Param {
    /// Its slot.
    pub local: LocalId,
    /// Its name; empty when it has none.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// Whether it is a pointer or reference to something `const`.
    pub to_const: bool,
    /// Whether it is a pointer or reference to something `volatile`.
    pub to_volatile: bool,
    /// Whether it is declared with `&&`.
    pub moves: bool,
    /// Whether it is a pointer with `__restrict__`.
    pub restrict: bool,
    /// Whether it stands for any number of arguments: `A... a`, or a mere `...`.
    pub pack: bool,
    /// Its default.
    pub default: Option<Expr>,
    /// Where it stands.
    pub span: Span,
}

/// A template parameter.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct TemplateParam {
    /// Its name; empty when it has none.
    pub name: Name,
    /// What it stands for.
    pub kind: TemplateParamKind,
    /// Whether it is a pack (`...`).
    pub pack: bool,
}

impl TemplateParam {
    /// Whether it stands for something if it is given nothing.
    #[must_use]
    pub fn has_default(&self) -> bool {
        use TemplateParamKind::{Template, Type, Value};
        matches!(self.kind, Type(Some(_)) | Template(Some(_)) | Value(_, Some(_)))
    }
}

/// What a template parameter stands for, with its default.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum TemplateParamKind {
    /// `typename T`
    Type(Option<Type>),
    /// `int N`, `bool B`, `class-enum E`
    Value(Type, Option<Expr>),
    /// `template <typename> class Traits`, with the template that is its default.
    Template(Option<Type>),
}

/// A function or method with a body, or (`body: None`) its declaration.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Function {
    /// Its name, without qualifiers.
    pub name: Name,
    /// The namespaces around it.
    pub namespace: Namespace,
    /// The class it is a member of.
    pub owner: Option<Name>,
    /// Template parameters of the owner class, which its body may use.
    pub owner_params: Vec<TemplateParam>,
    /// Of a member that is written for one specialisation of its class (`template <> int S<float>::f()`): the arguments
    /// of the class.
    pub owner_args: Vec<TemplateArg>,
    /// Who may call it.
    pub kind: FunctionKind,
    /// Its template parameters.
    pub template_params: Vec<TemplateParam>,
    /// What its template asks of its arguments, each as a parameter without a name that there is nothing for unless it
    /// holds.
    pub constraints: Vec<TemplateParam>,
    /// For an explicit specialisation (`template <> void f<4>()`): its arguments.
    pub specialization: Vec<TemplateArg>,
    /// Whether it is declared `virtual`.
    pub is_virtual: bool,
    /// Whether it is a `const` method.
    pub is_const: bool,
    /// Its parameters.
    pub params: Vec<Param>,
    /// What it returns.
    pub return_type: Type,
    /// The slots of its frame: parameters, locals and lambdas' parameters.
    pub locals: Vec<Local>,
    /// Its body.
    pub body: Option<Vec<Stmt>>,
    /// The arguments of `__launch_bounds__`.
    pub launch_bounds: Vec<Expr>,
    /// The shape of a `// cudalint: block(x, y, z)` above it, and where it is written.
    pub block_directive: Option<([u32; 3], Span)>,
    /// Whether part of its text did not parse.
    pub damaged: bool,
    /// The functions that it calls, found when first asked for.
    pub calls: FoundLater<Vec<Name>>,
    /// The variables that its text may change, found when first asked for.
    pub writes: FoundLater<Vec<writes::Write>>,
    /// The types that its body, and the lambdas in it, declare variables with, and what is used of those, found when first
    /// asked for.
    pub(crate) declared_types: FoundLater<declared::Variables>,
    /// Where the shared variables stand that it, and the lambdas in it, declare, found when first asked for.
    pub(crate) shared_locals: FoundLater<shared_locals::Places>,
    /// What its body may do, so that the rest can be skipped cheaply.
    pub mentions: Mentions,
    /// The name in the text.
    pub name_span: Span,
    /// The whole function.
    pub span: Span,
}

impl Function {
    /// Whether it may be run without being named: a constructor, a destructor, an operator.
    #[must_use]
    pub fn is_nameless(&self) -> bool {
        self.owner.as_ref() == Some(&self.name)
            || self.name.starts_with('~')
            || self.name.starts_with("operator")
    }
}

/// A slot.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Local {
    /// Its name, for messages.
    pub name: Name,
    /// Whether it is `const`, so that nothing changes it.
    pub constant: bool,
    /// Whether what it leads to may be written by way of it, if it is a pointer, a reference or an array.
    pub through: Through,
    /// Whether it is `volatile`, or what it leads to.
    pub volatile: bool,
}

/// Whether something may be written by way of a pointer or a reference, as far as its declaration tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Through {
    /// It hangs on a template parameter or an initialiser, or it leads nowhere.
    #[default]
    Untold,
    /// `const T *`, `const T &`
    Const,
    /// `int *`, `float &`, `float[32]`
    Mutable,
}

impl Through {
    /// What a declaration tells with this type, which has `const` in front of it or not. A name may be that of a
    /// template parameter, which may stand for a `const` type.
    #[must_use]
    pub fn of(ty: &Type, is_const: bool) -> Through {
        let (Type::Pointer(inner) | Type::Reference(inner) | Type::Array(inner, _)) = ty else {
            return Through::Untold;
        };
        match (&**inner, is_const) {
            (Type::Array(..), _) => Through::of(inner, is_const),
            (Type::Pointer(_), true) => Through::Untold,
            (_, true) => Through::Const,
            (Type::Scalar(_), false) => Through::Mutable,
            (_, false) => Through::Untold,
        }
    }
}

/// A `struct`, `class` or `union`.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Record {
    /// Its name; empty when it has none.
    pub name: Name,
    /// The namespaces around it.
    pub namespace: Namespace,
    /// Its template parameters.
    pub template_params: Vec<TemplateParam>,
    /// For a specialisation: its arguments.
    pub specialization: Vec<TemplateArg>,
    /// Whether it is a `union`.
    pub union: bool,
    /// Base classes.
    pub bases: Vec<Type>,
    /// Non-static data members in order.
    pub fields: Vec<Field>,
    /// Whether it stands in a function, whose template parameters it may name.
    pub is_local: bool,
    /// Whether it has virtual functions or bases, so that it holds more than its members.
    pub is_polymorphic: bool,
    /// The greatest alignment of its members in bytes, where it is packed.
    pub packed: Option<u64>,
    /// Static data members, with initialisers, and enumerators of nested enums.
    pub constants: Vec<Declaration>,
    /// Member typedefs.
    pub aliases: Vec<Alias>,
    /// Names of bases that `using` makes its own: `using Base::f`.
    pub usings: Vec<Name>,
    /// Alignment in bytes, if written.
    pub align: Option<Expr>,
    /// The name in the text.
    pub span: Span,
    /// The whole definition, which tells a specialisation's methods from the primary template's.
    pub extent: Span,
}

impl Record {
    /// A class without members.
    #[must_use]
    pub fn empty(
        name: Name,
        namespace: Namespace,
        template_params: Vec<TemplateParam>,
        (span, extent): (Span, Span),
    ) -> Record {
        Record {
            name,
            namespace,
            template_params,
            specialization: Vec::new(),
            union: false,
            bases: Vec::new(),
            fields: Vec::new(),
            is_local: false,
            is_polymorphic: false,
            packed: None,
            constants: Vec::new(),
            aliases: Vec::new(),
            usings: Vec::new(),
            align: None,
            span,
            extent,
        }
    }

    /// Whether a part of the text lies in its definition.
    #[must_use]
    pub fn holds(&self, part: Span) -> bool {
        let extent = self.extent;
        extent.file == part.file && extent.start <= part.start && part.end <= extent.end
    }
}

/// A data member.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Field {
    /// Its name; empty for an anonymous struct or union.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// Alignment in bytes, if written.
    pub align: Option<Expr>,
    /// Whether it is a bit-field, whose place and values are not modelled.
    pub bit_field: bool,
    /// Whether it may be changed in a `const` object too.
    pub mutable: bool,
    /// Whether it is `volatile`, or what it leads to.
    pub volatile: bool,
    /// What it is unless something else is said, if that is written.
    pub init: Option<Expr>,
}

/// `typedef T Name;` and `using Name = T;`
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Alias {
    /// The new name.
    pub name: Name,
    /// The namespaces around it.
    pub namespace: Namespace,
    /// Its template parameters.
    pub template_params: Vec<TemplateParam>,
    /// What it stands for.
    pub ty: Type,
}

/// An enumeration that has a name.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Enumeration {
    /// Its name alone, without those of the namespaces and classes around it.
    pub name: Name,
    /// The type of its numbers, if written.
    pub underlying: Option<Type>,
    /// Whether its enumerators stand there: `enum Side;` has none.
    pub is_defined: bool,
}

/// One file, lowered on its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// Functions and methods, class members among them, in order of appearance.
    pub functions: Vec<Arc<Function>>,
    /// Structs, classes and unions, nested ones too.
    pub records: Vec<Arc<Record>>,
    /// Class templates that are only declared, without members: `template <class T, int N = 4> struct S;`.
    pub declared_classes: Vec<Arc<Record>>,
    /// File-scope variables and constants, enumerators too (each with an initialiser).
    pub variables: Vec<Arc<Declaration>>,
    /// Type aliases at file or namespace scope.
    pub aliases: Vec<Arc<Alias>>,
    /// `namespace fs = std::filesystem;`: the name, and those that it stands for. Of one that stands for different
    /// namespaces in the file nothing is here.
    pub namespace_aliases: Vec<(Name, Vec<Name>)>,
    /// The namespaces that it opens, and what they bring into sight.
    pub scopes: namespace::Scopes,
    /// Enumerations that have a name, nested ones too.
    pub enums: Vec<Enumeration>,
    /// Class templates that have a deduction guide that is no template: `Buffer(char) -> Buffer<int>;`.
    pub guided: Vec<Name>,
    /// Explicit instantiations: `template __global__ void k<float, 4>(...)`.
    pub instantiations: Vec<Instantiation>,
    /// Those of classes: `template class Buffer<float>`.
    pub class_instantiations: Vec<Path>,
    /// Parts that did not parse.
    pub damage: Vec<Span>,
    /// Whether `cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte)` (or the per-function
    /// form) is visible in the text.
    pub eight_byte_banks: bool,
    /// Whether a variable, a member or an alias outside any function is `volatile`.
    pub volatile: bool,
    /// What its comments ask of the tool.
    pub comments: Vec<Directive>,
    /// The variables that its initialisers outside of functions may change, found when first asked for.
    pub writes: FoundLater<Vec<writes::Write>>,
    /// Names in text that is not modelled, in order: what happens to them there is not known.
    pub unfollowed: Vec<Name>,
    /// Whether a header was left out or not run to its end, so that macros may be missing.
    pub is_cut_short: bool,
    /// What stands under an `#if` that asks a macro which nothing defines: it may not be compiled.
    pub undecided: Vec<Span>,
    /// The file; `None` only for an empty module.
    pub file: Option<FileId>,
}
