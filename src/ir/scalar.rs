//! What arithmetic types are there, and how large are their values?

/// A scalar type with its C++ integer semantics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `bool`
    Bool,
    /// 8-bit signed (`char`, `signed char`, `int8_t`)
    I8,
    /// 8-bit unsigned
    U8,
    /// 16-bit signed
    I16,
    /// 16-bit unsigned
    U16,
    /// 32-bit signed
    I32,
    /// 32-bit unsigned
    U32,
    /// 64-bit signed (`long` is 64-bit: LP64)
    I64,
    /// 64-bit unsigned (`size_t`)
    U64,
    /// 32-bit float
    F32,
    /// 64-bit float
    F64,
}

impl Scalar {
    /// Size in bytes, which is also the alignment.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Scalar::Bool | Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    /// Whether it is an integer type (`bool` included).
    #[must_use]
    pub fn is_integer(self) -> bool {
        !matches!(self, Scalar::F32 | Scalar::F64)
    }

    /// Whether it is an unsigned integer type.
    #[must_use]
    pub fn is_unsigned(self) -> bool {
        matches!(self, Scalar::Bool | Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64)
    }
}
