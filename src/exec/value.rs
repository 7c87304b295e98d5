//! What can an expression evaluate to?

use crate::domain::{Int, ThreadSet, Unknown, Variation};
use crate::ir::{Lambda, LocalId, Name, Path, Qualifiers, Record, Scalar};
use crate::source::{FileId, Span};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

/// A memory object of the run: a shared array, what a pointer parameter points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectId(pub u32);

/// A step from an aggregate in a local variable to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A member.
    Member(Name),
    /// An element.
    Index(i64),
}

/// The way from an aggregate to a part of it.
pub(crate) type Steps = SmallVec<[Step; 3]>;

/// A local variable or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    /// The frame, counted from the outermost.
    pub frame: usize,
    /// The slot.
    pub local: LocalId,
    /// The way to the part.
    pub path: Steps,
    /// Whether the path has an index that is not known, and so ends above it.
    pub blurred: bool,
}

/// A byte offset from the start of a memory object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Offset {
    /// Known, as far as symbols go.
    Known(Int),
    /// The object is known, the place in it is not, or but for numbers that each thread has of its own.
    Unknown(Variation, Unknown, Option<Rc<Int>>),
}

impl Offset {
    /// Nothing is known of it.
    #[must_use]
    pub(crate) fn unknown(variation: Variation, why: Unknown) -> Offset {
        Offset::Unknown(variation, why, None)
    }

    /// What is known of it.
    #[must_use]
    pub(crate) fn known_part(&self) -> Option<&Int> {
        match self {
            Offset::Known(int) => Some(int),
            Offset::Unknown(.., part) => part.as_deref(),
        }
    }

    /// How it varies over the block.
    #[must_use]
    pub(crate) fn variation(&self) -> Variation {
        match self {
            Offset::Known(int) if int.is_uniform() => Variation::Uniform,
            Offset::Known(_) => Variation::Varying,
            Offset::Unknown(variation, ..) => *variation,
        }
    }
}

/// What a pointer points to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    /// A memory object, at a byte offset.
    Memory(ObjectId, Offset),
    /// A local variable.
    Place(Place),
}

/// A pointer (or reference, or an lvalue on its way to being read).
#[derive(Clone, Debug)]
pub(crate) struct Pointer {
    /// Where it points.
    pub target: Target,
    /// The type it points to.
    pub pointee: Ty,
    /// Whether that is `volatile`, or what it leads to.
    pub volatile: bool,
}

/// Two are one value if they lead to one place.
impl PartialEq for Pointer {
    fn eq(&self, other: &Pointer) -> bool {
        self.target == other.target && self.pointee == other.pointee
    }
}

impl Pointer {
    /// Whether something is known of an offset that is not known.
    pub(super) fn has_part(&self) -> bool {
        matches!(self.target, Target::Memory(_, Offset::Unknown(.., Some(_))))
    }

    /// The same with nothing known of such an offset.
    #[must_use]
    pub(super) fn without_part(&self) -> Pointer {
        let target = match &self.target {
            Target::Memory(object, Offset::Unknown(variation, why, _)) => {
                Target::Memory(*object, Offset::unknown(*variation, why.clone()))
            }
            other => other.clone(),
        };
        Pointer { target, ..self.clone() }
    }
}

/// A cooperative group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// `this_thread_block()`
    Block,
    /// `tiled_partition<n>(group)`: groups of so many consecutive threads.
    Tile {
        /// The threads of each.
        lanes: u32,
        /// The threads of the tile that it is a part of; `None` for the block.
        of: Option<u32>,
    },
    /// `this_grid()`
    Grid,
}

/// A condition over integers that the numbers do not decide.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    /// Decided per thread: 0 or 1.
    Known(ThreadSet),
    /// `difference < 0`, `<= 0`, `== 0` and so on.
    Compare {
        /// Left minus right.
        difference: Int,
        /// The comparison with 0.
        relation: Relation,
        /// Where it stands.
        span: Span,
    },
    /// Something else that is not known.
    Opaque(Variation, Unknown),
    /// Not.
    Not(Rc<Condition>),
    /// And.
    And(Rc<Condition>, Rc<Condition>),
    /// Or.
    Or(Rc<Condition>, Rc<Condition>),
}

impl Condition {
    /// Whether it holds, if what `compare` says of its comparisons decides that.
    pub(crate) fn decide(&self, compare: &impl Fn(&Int, Relation) -> Option<bool>) -> Option<bool> {
        match self {
            Condition::Known(threads) => Some(!threads.is_empty()),
            Condition::Compare { difference, relation, .. } => compare(difference, *relation),
            Condition::Opaque(..) => None,
            Condition::Not(inner) => inner.decide(compare).map(|holds| !holds),
            Condition::And(a, b) => match (a.decide(compare), b.decide(compare)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Condition::Or(a, b) => match (a.decide(compare), b.decide(compare)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        }
    }
}

/// How a difference relates to 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

impl Relation {
    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: [Relation; 6] = [
        Relation::Less,
        Relation::LessEqual,
        Relation::Greater,
        Relation::GreaterEqual,
        Relation::Equal,
        Relation::NotEqual,
    ];

    /// Whether a difference has it.
    #[must_use]
    pub(crate) fn holds(self, difference: i64) -> bool {
        match self {
            Relation::Less => difference < 0,
            Relation::LessEqual => difference <= 0,
            Relation::Greater => difference > 0,
            Relation::GreaterEqual => difference >= 0,
            Relation::Equal => difference == 0,
            Relation::NotEqual => difference != 0,
        }
    }

    /// Whether a number has it to another that it is so ordered with.
    #[must_use]
    pub(crate) fn orders(self, ordering: Ordering) -> bool {
        self.holds(ordering as i64)
    }

    /// As it is written.
    #[must_use]
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Relation::Less => "<",
            Relation::LessEqual => "<=",
            Relation::Greater => ">",
            Relation::GreaterEqual => ">=",
            Relation::Equal => "==",
            Relation::NotEqual => "!=",
        }
    }

    /// The same, seen from the other side: `a < b` is `b > a`.
    #[must_use]
    pub(crate) fn mirrored(self) -> Relation {
        match self {
            Relation::Less => Relation::Greater,
            Relation::LessEqual => Relation::GreaterEqual,
            Relation::Greater => Relation::Less,
            Relation::GreaterEqual => Relation::LessEqual,
            Relation::Equal | Relation::NotEqual => self,
        }
    }

    /// What holds where it does not: `a < b` fails where `a >= b`.
    #[must_use]
    pub(crate) fn negated(self) -> Relation {
        match self {
            Relation::Less => Relation::GreaterEqual,
            Relation::LessEqual => Relation::Greater,
            Relation::Greater => Relation::LessEqual,
            Relation::GreaterEqual => Relation::Less,
            Relation::Equal => Relation::NotEqual,
            Relation::NotEqual => Relation::Equal,
        }
    }
}

/// A value, for all threads at once.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Never written.
    Undefined,
    /// An integer with its type.
    Int(Int, Scalar),
    /// A truth value that the numbers do not decide.
    Condition(Rc<Condition>),
    /// A pointer.
    Pointer(Pointer),
    /// A struct or local array: the parts that were written, by their way from its top.
    Aggregate(Rc<Vec<(Steps, Value)>>),
    /// A lambda and the frame it was made in.
    Closure(Arc<Lambda>, usize),
    /// A function by name.
    Function(Rc<Path>),
    /// A cooperative group.
    Group(Group),
    /// A known floating-point number with its type, the same for every thread.
    Float(f64, Scalar),
    /// Not known. An integer may be known but for numbers that each thread has of its own.
    Opaque(Variation, Unknown, Option<Rc<Partial>>),
}

/// Whether two values are the same in each bit: 0.0 is not -0.0.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Undefined, Value::Undefined) => true,
            (Value::Int(a, one), Value::Int(b, two)) => a == b && one == two,
            (Value::Condition(a), Value::Condition(b)) => a == b,
            (Value::Pointer(a), Value::Pointer(b)) => a == b,
            (Value::Aggregate(a), Value::Aggregate(b)) => a == b,
            (Value::Closure(a, one), Value::Closure(b, two)) => a == b && one == two,
            (Value::Function(a), Value::Function(b)) => a == b,
            (Value::Group(a), Value::Group(b)) => a == b,
            (Value::Float(a, one), Value::Float(b, two)) => a.to_bits() == b.to_bits() && one == two,
            (Value::Opaque(a, why, part), Value::Opaque(b, other, rest)) => {
                a == b && why == other && part == rest
            }
            _ => false,
        }
    }
}

/// An integer that is known but for numbers that each thread has of its own, such as what it read from memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Partial {
    /// The number, with symbols that are one number in each thread.
    pub int: Int,
    /// Its type.
    pub scalar: Scalar,
}

impl Value {
    /// Nothing is known of it.
    #[must_use]
    pub(crate) fn opaque(variation: Variation, why: Unknown) -> Value {
        Value::Opaque(variation, why, None)
    }

    /// A known integer.
    #[must_use]
    pub(crate) fn int(value: i64) -> Value {
        Value::Int(Int::constant(value), Scalar::I32)
    }

    /// Whether nothing is known of it, not even that it is the same for all threads.
    #[must_use]
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Value::Opaque(variation, ..) => *variation != Variation::Uniform,
            Value::Condition(condition) => condition.is_lost(),
            Value::Aggregate(parts) => parts.iter().all(|(_, part)| part.is_lost()),
            _ => false,
        }
    }

    /// Whether it is surely what an equal value is. Of two numbers that are each the same for all threads and not known,
    /// as what a line reads in two rounds of a loop, no more is known than that.
    #[must_use]
    pub(super) fn is_surely(&self, other: &Value) -> bool {
        self == other && !self.is_some_number()
    }

    fn is_some_number(&self) -> bool {
        match self {
            Value::Opaque(variation, ..) => *variation == Variation::Uniform,
            Value::Condition(condition) => condition.is_some_choice(),
            Value::Aggregate(parts) => parts.iter().any(|(_, part)| part.is_some_number()),
            _ => false,
        }
    }

    /// How it varies over the block, as far as that can be told.
    #[must_use]
    pub(crate) fn variation(&self) -> Variation {
        match self {
            Value::Int(int, _) => {
                if int.is_uniform() {
                    Variation::Uniform
                } else {
                    Variation::Varying
                }
            }
            Value::Condition(condition) => condition.variation(),
            Value::Pointer(Pointer { target: Target::Memory(_, offset), .. }) => offset.variation(),
            Value::Aggregate(parts) => {
                parts.iter().map(|(_, v)| v.variation()).max().unwrap_or(Variation::Uniform)
            }
            Value::Opaque(variation, ..) => *variation,
            _ => Variation::Uniform,
        }
    }
}

impl Condition {
    fn is_some_choice(&self) -> bool {
        match self {
            Condition::Known(_) | Condition::Compare { .. } => false,
            Condition::Opaque(variation, _) => *variation == Variation::Uniform,
            Condition::Not(inner) => inner.is_some_choice(),
            Condition::And(a, b) | Condition::Or(a, b) => a.is_some_choice() || b.is_some_choice(),
        }
    }

    fn is_lost(&self) -> bool {
        match self {
            Condition::Known(_) | Condition::Compare { .. } => false,
            Condition::Opaque(variation, _) => *variation != Variation::Uniform,
            Condition::Not(inner) => inner.is_lost(),
            Condition::And(a, b) | Condition::Or(a, b) => a.is_lost() && b.is_lost(),
        }
    }

    /// Why it is not known, where something but numbers decides it.
    #[must_use]
    pub(crate) fn why(&self) -> Option<&Unknown> {
        match self {
            Condition::Known(_) | Condition::Compare { .. } => None,
            Condition::Opaque(_, why) => Some(why),
            Condition::Not(inner) => inner.why(),
            Condition::And(a, b) | Condition::Or(a, b) => a.why().or_else(|| b.why()),
        }
    }

    /// How it varies over the block.
    #[must_use]
    pub(crate) fn variation(&self) -> Variation {
        match self {
            Condition::Known(_) => Variation::Varying,
            Condition::Compare { difference, .. } => {
                if difference.is_uniform() {
                    Variation::Uniform
                } else {
                    Variation::Varying
                }
            }
            Condition::Opaque(variation, _) => *variation,
            Condition::Not(inner) => inner.variation(),
            Condition::And(a, b) | Condition::Or(a, b) => a.variation().max(b.variation()),
        }
    }
}

/// A type with its template parameters and names resolved.
#[derive(Clone, Debug)]
pub(crate) enum Ty {
    /// `void`
    Void,
    /// A scalar.
    Scalar(Scalar),
    /// A type of known size whose values are not followed: `half`, `__nv_bfloat16`, fp8.
    Sized {
        /// Its name.
        name: Name,
        /// Bytes; its alignment too.
        size: u32,
    },
    /// A struct, class, union or CUDA vector type.
    Record(Rc<Layout>),
    /// `T*`
    Pointer(Rc<Ty>),
    /// `T[n]`; `None` for `T[]`.
    Array(Rc<Ty>, Option<Rc<Int>>),
    /// `const T`, as a template argument: what is written with it has the type without.
    Qualified(Qualifiers, Rc<Ty>),
    /// An enumeration of this name, as a template argument: what is written with it has the type of its numbers. Without
    /// a name where it may be that type itself.
    Enum(Option<Name>, Rc<Ty>),
    /// A `wmma::fragment`, whose place is the registers of a warp.
    Fragment(Rc<Fragment>),
    /// Not known, with its name as written.
    Unknown(Name),
}

/// Where a record's members lie.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Its name.
    pub name: Name,
    /// Bytes; `None` when a member's size is not known.
    pub size: Option<u64>,
    /// Then, an unknown multiple of the alignment.
    pub open_size: Option<Rc<Int>>,
    /// Bytes.
    pub align: u64,
    /// Whether the alignment may be greater, as that of a member is not known.
    pub open_align: bool,
    /// Members in order, those of bases first.
    pub fields: Vec<FieldLayout>,
    /// Whether some of them share bytes.
    pub overlaps: bool,
    /// What it was made from; `None` for built-in vector types.
    pub record: Option<Arc<Record>>,
    /// The template parameters it was made with.
    pub env: Rc<Env>,
}

/// A member.
#[derive(Clone, Debug)]
pub(crate) struct FieldLayout {
    /// Its name.
    pub name: Name,
    /// Its type; of a reference, the type referred to.
    pub ty: Ty,
    /// Bytes from the record's start, if that is a known number.
    pub offset: Option<u64>,
    /// The same with unknown numbers in it; of a bit-field, nothing is known.
    pub open_offset: Option<Rc<Int>>,
    /// Whether it is a reference.
    pub reference: bool,
    /// Whether it is a bit-field.
    pub bit_field: bool,
    /// Whether it may be changed in a `const` object too.
    pub mutable: bool,
    /// Whether it is `volatile`, or what it leads to.
    pub volatile: bool,
}

/// What template parameters (and `using` names of a class) stand for.
#[derive(Debug, Default)]
pub(crate) struct Env {
    /// By name.
    pub bindings: FxHashMap<Name, Binding>,
}

/// What a template parameter stands for.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// A type.
    Type(Ty),
    /// A value.
    Value(Value),
    /// What a pack stands for, all of it known to be there.
    Pack(Rc<[Binding]>),
}

/// The type `wmma::fragment<role, m, n, k, element, layout>`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fragment {
    /// `matrix_a`, `matrix_b` or `accumulator`, as written.
    pub role: Name,
    /// m, n and k, as far as known.
    pub shape: [Option<i64>; 3],
    pub element: Ty,
    /// `row_major` or `col_major`, as written.
    pub layout: Option<Name>,
}

/// A span for values that come from no place in the text.
pub(crate) const NOWHERE: Span = Span { file: FileId(0), start: 0, end: 0, nth: 0 };
