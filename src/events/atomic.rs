//! What is known of an atomic that decides which machine code it becomes?

/// An atomic on shared memory, as the program asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Atomic {
    /// What it does.
    pub operation: Operation,
    /// Whether something is done with the old value.
    pub used: bool,
    /// Whether it adds the constant 1.
    pub adds_one: bool,
    /// Whether all lanes of a warp combine with the same value.
    pub operand: Seen,
    /// Whether each thread combines with data that it reads for itself.
    pub of_data: bool,
    /// Whether all lanes of a warp update the same word.
    pub address: Seen,
    /// Among which threads it is one step.
    pub scope: Scope,
}

/// The threads among which an atomic is one step, or a fence puts in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Those of one block.
    Block,
    /// All of the device.
    Device,
    /// Those of all devices, and the host.
    System,
}

impl Scope {
    /// Of a function whose name says it, as `atomicAdd_block` or `__threadfence_system`.
    pub(crate) fn of(name: &str) -> Scope {
        match name.rsplit('_').next() {
            Some("block") => Scope::Block,
            Some("system") => Scope::System,
            _ => Scope::Device,
        }
    }
}

/// What an atomic does, as far as machine code differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A 32-bit integer sum or difference.
    Add,
    /// A 32-bit integer minimum, maximum, `and`, `or`, `xor`: of equal operands one is as good as all.
    Combine,
    /// A 32-bit exchange, or an increment or decrement that wraps at a limit.
    Exchange,
    /// 32-bit compare-and-swap.
    CompareAndSwap,
    /// Floating-point arithmetic: becomes a loop.
    Float,
    /// 64 bits: becomes a loop.
    Wide,
}

/// Whether the compiler sees a value to be the same in all lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// It does.
    Same,
    /// It does not.
    Apart,
    /// Not known.
    Perhaps,
}

impl Seen {
    /// What is known of this value or another, whichever it is.
    fn or(self, other: Seen) -> Seen {
        if self == other { self } else { Seen::Perhaps }
    }
}

impl Atomic {
    /// Of this operation, with nothing known of its values, and its result used.
    #[must_use]
    pub fn new(operation: Operation) -> Atomic {
        let (operand, address) = (Seen::Perhaps, Seen::Perhaps);
        Atomic {
            operation,
            used: true,
            adds_one: false,
            operand,
            of_data: false,
            address,
            scope: Scope::Device,
        }
    }

    /// What is known when a site is reached again, by another way.
    #[must_use]
    pub fn or(self, other: Atomic) -> Atomic {
        Atomic {
            used: self.used || other.used,
            adds_one: self.adds_one && other.adds_one,
            operand: self.operand.or(other.operand),
            of_data: self.of_data && other.of_data,
            address: self.address.or(other.address),
            ..self
        }
    }
}
