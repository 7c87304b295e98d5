//! Which launches did host code lead to, and what keeps one from happening?

use crate::ir::{Path, TemplateArg, Type};
use crate::source::Span;
use std::sync::Arc;

/// A kernel launch in host code.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct LaunchSite {
    /// The launch.
    pub span: Span,
    /// The kernel's name.
    pub kernel: Path,
    /// Its explicit template arguments, as far as known.
    pub template_args: Option<Vec<LaunchArg>>,
    /// The grid, as far as known.
    pub grid: [Option<i64>; 3],
    /// The most blocks along each axis, where host code limits them by a constant.
    pub most_blocks: [Option<i64>; 3],
    /// The block, as far as known.
    pub block: [Option<i64>; 3],
    /// Which extents of the block are numbers by the name of the size of a warp, of which nothing else is known.
    pub warps: [bool; 3],
    /// Whether host code limits the block by `min`, and its shape is the one at the limit.
    pub is_at_limit: bool,
    /// Whether the text of the launch alone tells the grid, and the block, so that nothing host code does
    /// changes it.
    pub is_told: [bool; 2],
    /// Dynamic shared memory in bytes, if known.
    pub dynamic_bytes: Option<i64>,
    /// The kernel's integer arguments, as far as known.
    pub args: Vec<Option<i64>>,
    /// Of what numbers those arguments that are not known are multiples; 1 says nothing.
    pub multiples: Vec<i64>,
    /// The most that each argument can be, as far as host code asks before.
    pub most: Vec<Option<i64>>,
    /// The power of two of which host code asks before that each argument is a multiple; 1 if of none.
    pub powers: Vec<i64>,
    /// Which of the arguments are as large as there are threads.
    pub covers: Vec<Covers>,
    /// The definitions of that name visible from the launch that take as many arguments, by the span
    /// of their name; none when it is only declared there.
    pub definitions: Vec<Span>,
    /// The types of the parameters, where there is one declaration and no definition.
    pub declared: Option<Vec<Type>>,
    /// Another kernel of that name, by the span of its name, that it may mean as well.
    pub rival: Option<Span>,
    /// What keeps it from happening, if the numbers found on every way there do.
    pub refuted: Option<Arc<Refuted>>,
    /// Whether host code first compares its thread or byte count with an unknown value, such as a device limit.
    pub is_asked_about: bool,
    /// Whether, before it, a shape that is known on one of two ways was taken to be it on both.
    pub is_guessed: bool,
    /// Whether its shape is one of several between which host code chooses by numbers of which it asks something before
    /// the launch too, and none of the numbers that were tried leads to this one.
    pub is_unmet: bool,
    /// Whether host code ties nothing that it gives to the kernel to the block: the text alone tells the block, and each
    /// argument is a constant, or a number of its own of which nothing is known.
    pub is_untied: bool,
}

/// That an argument of a launch is as large as there are threads along an axis: `argument * divisor` is
/// `threads * factor` at the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Covers {
    /// Which argument it is.
    pub arg: usize,
    /// The axis.
    pub axis: usize,
    /// Whether the threads of all blocks are counted, and not those of one.
    pub all_blocks: bool,
    /// What the number of threads is multiplied with.
    pub factor: i64,
    /// What the argument is multiplied with.
    pub divisor: i64,
}

/// What keeps a launch from happening: with the numbers found the program ends before it.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Refuted {
    /// The `assert`, or the condition.
    pub span: Span,
    /// What it is.
    pub by: EndedBy,
    /// The variables of which something was asked, and that are not known after it.
    pub numbers: Vec<Doubted>,
}

/// A variable that is not what it was asked to be.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Doubted {
    /// Its name.
    pub name: String,
    /// Of what it was asked to be a multiple; else 1.
    pub multiple: i64,
}

/// How a program ends when something is not as it was asked to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndedBy {
    /// An `assert` fails.
    Assert,
    /// An `if` leads to `exit`, or out of the outermost function.
    Check,
}

impl LaunchSite {
    /// Keeps of the grid and the dynamic bytes what another one says, too.
    pub(crate) fn agree(&mut self, other: &LaunchSite) {
        for (mine, theirs) in self.grid.iter_mut().zip(other.grid) {
            *mine = mine.filter(|known| Some(*known) == theirs);
        }
        for (mine, theirs) in self.most_blocks.iter_mut().zip(other.most_blocks) {
            *mine = mine.zip(theirs).map(|(mine, theirs)| mine.max(theirs));
        }
        self.dynamic_bytes = self.dynamic_bytes.filter(|known| Some(*known) == other.dynamic_bytes);
        self.covers.retain(|it| other.covers.contains(it));
        weaken(&mut self.most, &other.most);
        weaken_powers(&mut self.powers, &other.powers);
        self.is_guessed |= other.is_guessed;
        self.is_unmet &= other.is_unmet;
        self.is_asked_about |= other.is_asked_about;
        self.is_untied &= other.is_untied;
        self.warps.iter_mut().zip(other.warps).for_each(|(mine, theirs)| *mine &= theirs);
        self.is_at_limit &= other.is_at_limit;
    }

    /// Whether its block and its template arguments are known, whichever way host code goes, and it happens as far
    /// as is known.
    #[must_use]
    pub(crate) fn is_certain(&self) -> bool {
        let known = |args: &Vec<LaunchArg>| !args.contains(&LaunchArg::Unknown);
        let is_shaped = self.block.iter().all(Option::is_some);
        is_shaped
            && !self.is_guessed
            && !self.is_unmet
            && self.refuted.is_none()
            && self.template_args.iter().all(known)
    }

    /// Whether it says the same as another, but for the grid and the dynamic bytes.
    #[must_use]
    pub fn same(&self, other: &LaunchSite) -> bool {
        self.span == other.span
            && self.kernel.name == other.kernel.name
            && self.block == other.block
            && self.template_args == other.template_args
            && self.args == other.args
            && self.multiples == other.multiples
            && self.refuted == other.refuted
            && self.definitions == other.definitions
    }
}

/// A template argument at a launch.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum LaunchArg {
    /// A number.
    Value(i64),
    /// A type, in terms that the kernel's file can resolve.
    Type(Type),
    /// Not known.
    Unknown,
}

impl LaunchArg {
    /// How much of it is known: 0 of nothing, more for each argument of a type.
    pub(crate) fn told(&self) -> usize {
        fn of_type(ty: &Type) -> usize {
            match ty {
                Type::Opaque => 0,
                Type::Named(path) => 1 + path.args.iter().flatten().map(of_arg).sum::<usize>(),
                _ => 1,
            }
        }
        fn of_arg(arg: &TemplateArg) -> usize {
            match arg {
                TemplateArg::Type(ty) => of_type(ty),
                TemplateArg::Value(_) => 1,
            }
        }
        match self {
            LaunchArg::Unknown => 0,
            LaunchArg::Value(_) => 1,
            LaunchArg::Type(ty) => of_type(ty),
        }
    }

    /// Whether the other is the same but for what is not known of this one.
    pub(crate) fn leaves_open(&self, other: Option<&LaunchArg>) -> bool {
        fn in_type(one: &Type, other: &Type) -> bool {
            match (one, other) {
                (Type::Opaque, _) => true,
                (Type::Named(a), Type::Named(b)) if a.name == b.name && a.qualifiers == b.qualifiers => {
                    let (a, b) = (a.args.as_deref(), b.args.as_deref());
                    let (a, b) = (a.unwrap_or_default(), b.unwrap_or_default());
                    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| in_arg(a, b))
                }
                _ => one == other,
            }
        }
        fn in_arg(one: &TemplateArg, other: &TemplateArg) -> bool {
            match (one, other) {
                (TemplateArg::Type(Type::Opaque), _) => true,
                (TemplateArg::Type(one), TemplateArg::Type(other)) => in_type(one, other),
                _ => one == other,
            }
        }
        match (self, other) {
            (LaunchArg::Unknown, _) => true,
            (LaunchArg::Type(one), Some(LaunchArg::Type(other))) => in_type(one, other),
            _ => Some(self) == other,
        }
    }
}

/// Of what powers of two numbers are multiples that are also those of another launch.
pub(crate) fn weaken_powers(powers: &mut [i64], others: &[i64]) {
    for (at, power) in powers.iter_mut().enumerate() {
        *power = (*power).min(others.get(at).copied().unwrap_or(1));
    }
}

/// Of what each number is at the most, keeps what holds of others as well.
pub(crate) fn weaken(most: &mut [Option<i64>], others: &[Option<i64>]) {
    for (at, most) in most.iter_mut().enumerate() {
        let other = others.get(at).copied().flatten();
        *most = most.zip(other).map(|(one, other)| one.max(other));
    }
}

/// How much host code may tie what a kernel is given to the shape that it is launched with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ties {
    /// Not at all: there is one shape, and as [`LaunchSite::is_untied`] has it.
    None,
    /// There is one shape.
    OneShape,
    /// There may be several shapes.
    Any,
}
