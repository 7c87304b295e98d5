//! What does a type mean here: sizes, alignment, members?
//!
//! Sizes are bytes. A length may hold symbols (`T tile[N][N + 1]` with `N` not known), so a
//! size is an [`Int`]. Behind a member of unknown size, others lie at unknown multiples of their alignment.

pub(crate) use super::value::{Binding, Env, FieldLayout, Layout, Ty};
use crate::domain::Int;
use crate::ir::{Lambda, Name, Qualifiers, Scalar, Type, unpack};
use crate::source::Span;
use std::rc::Rc;

/// The types that have no name, and what stands in its place.
pub(super) mod nameless {
    /// What an initialiser tells.
    pub(in crate::exec) const AUTO: &str = "auto";
    /// A function type, or what the lowering does not know.
    pub(in crate::exec) const NOT_MODELLED: &str = "a type that is not modelled";
    /// An alias of an alias of an alias.
    pub(in crate::exec) const TOO_DEEP: &str = "a type nested too deeply";
    /// All of them.
    pub(in crate::exec) const ALL: [&str; 3] = [AUTO, NOT_MODELLED, TOO_DEEP];
}

impl FieldLayout {
    /// Bytes from the record's start, perhaps with unknown numbers in it.
    #[must_use]
    pub(crate) fn begins(&self) -> Option<Int> {
        let known = self.offset.and_then(|offset| i64::try_from(offset).ok()).map(Int::constant);
        known.or_else(|| self.open_offset.as_deref().cloned())
    }

    /// In bytes. A reference is as large as a pointer, whatever it refers to.
    #[must_use]
    pub(super) fn size(&self) -> Option<u64> {
        if self.reference { Some(8) } else { self.ty.constant_size() }
    }
}

impl Layout {
    /// Whether two are classes of one text, whatever their arguments.
    fn is_same_class(&self, other: &Layout) -> bool {
        let place = |layout: &Layout| layout.record.as_ref().map(|record| record.span);
        self.name == other.name && self.size == other.size && place(self) == place(other)
    }

    /// Whether a method at this place is defined in this very record, not in another
    /// specialisation of its template.
    #[must_use]
    pub(crate) fn holds(&self, method: Span) -> bool {
        self.record.as_ref().is_some_and(|record| record.holds(method))
    }

    /// The name of a class that is built in, without text of its own; none for a class of the program.
    #[must_use]
    pub(super) fn built_in(&self) -> Option<&str> {
        self.record.as_ref().filter(|record| record.extent.is_built_in()).map(|record| &*record.name)
    }

    /// The member of this name.
    #[must_use]
    pub(crate) fn field(&self, name: &str) -> Option<&FieldLayout> {
        self.fields.iter().find(|field| &*field.name == name)
    }
}

impl PartialEq for Ty {
    fn eq(&self, other: &Ty) -> bool {
        match (self, other) {
            (Ty::Void, Ty::Void) => true,
            (Ty::Scalar(a), Ty::Scalar(b)) => a == b,
            (Ty::Sized { name: a, .. }, Ty::Sized { name: b, .. }) => a == b,
            (Ty::Record(a), Ty::Record(b)) => Rc::ptr_eq(a, b) || a.is_same_class(b),
            (Ty::Pointer(a), Ty::Pointer(b)) => a == b,
            (Ty::Array(a, n), Ty::Array(b, m)) => a == b && n == m,
            (Ty::Qualified(a, x), Ty::Qualified(b, y)) => a == b && x == y,
            (Ty::Enum(a, x), Ty::Enum(b, y)) => a == b && x == y,
            (Ty::Fragment(a), Ty::Fragment(b)) => a == b,
            (Ty::Unknown(a), Ty::Unknown(b)) => a == b,
            _ => false,
        }
    }
}

impl Env {
    /// Lets a name stand for something; of a pack, each element has a name too.
    pub(super) fn bind(&mut self, name: &Name, bound: Binding) {
        if let Binding::Pack(list) = &bound {
            let elements = list.iter().enumerate().take(unpack::LONGEST);
            self.bindings.extend(elements.map(|(at, it)| (unpack::element(name, at), it.clone())));
        }
        self.bindings.insert(name.clone(), bound);
    }

    /// Whether every name stands for the very same in both.
    #[must_use]
    pub(crate) fn same(&self, other: &Env) -> bool {
        let (a, b) = (&self.bindings, &other.bindings);
        std::ptr::eq(self, other)
            || (a.len() == b.len()
                && a.iter().all(|(name, bound)| b.get(name).is_some_and(|there| bound.same(there))))
    }
}

impl Env {
    /// Whether a type is a reference, or a template parameter whose argument is one: that is bound beside it.
    #[must_use]
    pub(super) fn refers(&self, ty: &Type) -> bool {
        match ty {
            Type::Reference(_) => true,
            Type::Named(path) if path.qualifiers.is_empty() && path.args.is_none() => {
                self.bindings.keys().any(|key| key.strip_suffix('&') == Some(&*path.name))
            }
            _ => false,
        }
    }
}

impl Binding {
    /// Whether it stands for the very same.
    pub(super) fn same(&self, other: &Binding) -> bool {
        match (self, other) {
            (Binding::Type(a), Binding::Type(b)) => a.same(b),
            (Binding::Value(a), Binding::Value(b)) => a == b,
            (Binding::Pack(a), Binding::Pack(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.same(b))
            }
            _ => false,
        }
    }
}

impl Ty {
    /// Whether it is the very same type: unlike `==`, records of one name with other arguments are
    /// told apart. A record is laid out once for equal arguments.
    fn same(&self, other: &Ty) -> bool {
        match (self, other) {
            (Ty::Record(a), Ty::Record(b)) => {
                Rc::ptr_eq(a, b) || (a.record.is_none() && b.record.is_none() && a.name == b.name)
            }
            (Ty::Pointer(a), Ty::Pointer(b)) => a.same(b),
            (Ty::Array(a, n), Ty::Array(b, m)) => n == m && a.same(b),
            (Ty::Qualified(a, x), Ty::Qualified(b, y)) => a == b && x.same(y),
            _ => self == other,
        }
    }

    /// `const T` of a `T`.
    #[must_use]
    pub(super) fn qualified(self, qualifiers: Qualifiers) -> Ty {
        match self {
            _ if qualifiers.is_empty() => self,
            Ty::Qualified(own, inner) => Ty::Qualified(own.with(qualifiers), inner),
            other => Ty::Qualified(qualifiers, Rc::new(other)),
        }
    }

    /// The type without `const` and `volatile`, at whatever depth, and of an enumeration that of its numbers.
    #[must_use]
    pub(super) fn unqualified(&self) -> Ty {
        match self {
            Ty::Qualified(_, inner) | Ty::Enum(_, inner) => inner.unqualified(),
            Ty::Pointer(inner) if inner.is_qualified() => Ty::Pointer(Rc::new(inner.unqualified())),
            Ty::Array(inner, length) if inner.is_qualified() => {
                Ty::Array(Rc::new(inner.unqualified()), length.clone())
            }
            other => other.clone(),
        }
    }

    fn is_qualified(&self) -> bool {
        match self {
            Ty::Qualified(..) | Ty::Enum(..) => true,
            Ty::Pointer(inner) | Ty::Array(inner, _) => inner.is_qualified(),
            _ => false,
        }
    }

    /// Bytes, as a number; `None` when not known or not constant.
    #[must_use]
    pub(crate) fn constant_size(&self) -> Option<u64> {
        match self {
            Ty::Void => Some(1),
            Ty::Scalar(scalar) => Some(scalar.bytes()),
            Ty::Sized { size, .. } => Some(u64::from(*size)),
            Ty::Record(layout) => layout.size,
            Ty::Pointer(_) => Some(8),
            Ty::Array(element, Some(length)) => {
                element.constant_size()?.checked_mul(u64::try_from(length.as_constant()?).ok()?)
            }
            Ty::Qualified(_, inner) | Ty::Enum(_, inner) => inner.constant_size(),
            Ty::Array(_, None) | Ty::Fragment(_) | Ty::Unknown(_) => None,
        }
    }

    /// Alignment in bytes; 1 when not known.
    #[must_use]
    pub(crate) fn align(&self) -> u64 {
        match self {
            Ty::Void | Ty::Fragment(_) | Ty::Unknown(_) => 1,
            Ty::Scalar(scalar) => scalar.bytes(),
            Ty::Sized { size, .. } => u64::from(*size),
            Ty::Record(layout) => layout.align.max(1),
            Ty::Pointer(_) => 8,
            Ty::Array(element, _) | Ty::Qualified(_, element) | Ty::Enum(_, element) => element.align(),
        }
    }

    /// Whether the alignment may be greater than what is known of it.
    #[must_use]
    pub(crate) fn has_open_alignment(&self) -> bool {
        match self {
            Ty::Fragment(_) | Ty::Unknown(_) => true,
            Ty::Void | Ty::Scalar(_) | Ty::Sized { .. } | Ty::Pointer(_) => false,
            Ty::Record(layout) => layout.open_align,
            Ty::Array(element, _) | Ty::Qualified(_, element) | Ty::Enum(_, element) => {
                element.has_open_alignment()
            }
        }
    }

    /// The innermost element type of an array.
    #[must_use]
    pub(crate) fn innermost(&self) -> &Ty {
        match self {
            Ty::Array(element, _) => element.innermost(),
            other => other,
        }
    }

    /// Whether it is an array of floating-point numbers, whose elements no index is made of.
    #[must_use]
    pub(crate) fn is_array_of_data(&self) -> bool {
        fn is_data(ty: &Ty) -> bool {
            match ty {
                Ty::Scalar(scalar) => !scalar.is_integer(),
                Ty::Sized { .. } => true,
                Ty::Record(layout) => layout.record.is_none() && layout.fields.iter().all(|f| is_data(&f.ty)),
                Ty::Array(element, _) | Ty::Qualified(_, element) | Ty::Enum(_, element) => is_data(element),
                Ty::Void | Ty::Pointer(_) | Ty::Fragment(_) | Ty::Unknown(_) => false,
            }
        }
        matches!(self, Ty::Array(..)) && is_data(self)
    }

    /// The type as a user would write it.
    #[must_use]
    pub(crate) fn describe(&self) -> String {
        match self {
            Ty::Void => "void".into(),
            Ty::Scalar(scalar) => scalar_name(*scalar).into(),
            Ty::Sized { name, .. } => name.to_string(),
            Ty::Unknown(name) => without_arguments(name),
            Ty::Record(layout) => Lambda::shown(&layout.name),
            Ty::Enum(Some(name), _) => name.to_string(),
            Ty::Qualified(_, inner) | Ty::Enum(None, inner) => inner.describe(),
            Ty::Fragment(_) => "fragment".into(),
            Ty::Pointer(inner) => format!("{}*", inner.describe()),
            Ty::Array(element, length) => {
                let length = length.as_ref().and_then(|n| n.as_constant());
                format!("{}[{}]", element.describe(), length.map_or(String::new(), |n| n.to_string()))
            }
        }
    }
}

/// `Block::Storage` of `Block<float, 128>::Storage`.
fn without_arguments(name: &str) -> String {
    let mut depth = 0usize;
    let mut outside = |c: char| {
        depth += usize::from(c == '<');
        let outside = depth == 0;
        depth -= usize::from(c == '>' && depth > 0);
        outside
    };
    name.chars().filter(|c| outside(*c)).collect()
}

fn scalar_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::I8 => "char",
        Scalar::U8 => "unsigned char",
        Scalar::I16 => "short",
        Scalar::U16 => "unsigned short",
        Scalar::I32 => "int",
        Scalar::U32 => "unsigned int",
        Scalar::I64 => "long long",
        Scalar::U64 => "unsigned long long",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
    }
}

/// The types CUDA defines beyond scalars, by name: vector types with members `x y z w`, and
/// 16- and 8-bit floats. Sizes and alignment: CUDA C++ Programming Guide, "Built-in Vector Types".
#[must_use]
pub(crate) fn builtin(name: &str) -> Option<Ty> {
    if let Some(scalar) = scalar_by_name(name) {
        return Some(Ty::Scalar(scalar));
    }
    let sized = |name: &str, size| Ty::Sized { name: name.into(), size };
    let half = |name: &str| sized(name, 2);
    Some(match name {
        "half" | "__half" | "half_t" | "__nv_bfloat16" | "nv_bfloat16" | "bfloat16_t" | "__half_raw"
        | "__nv_bfloat16_raw" | "hip_bfloat16" | "__hip_bfloat16" | "_Float16" | "__fp16" => half(name),
        "__nv_fp8_e4m3"
        | "__nv_fp8_e5m2"
        | "__nv_fp8_storage_t"
        | "__nv_fp8_e8m0"
        | "__hip_fp8_e4m3"
        | "__hip_fp8_e5m2"
        | "__hip_fp8_e4m3_fnuz"
        | "__hip_fp8_e5m2_fnuz" => sized(name, 1),
        "__int128" | "__int128_t" | "__uint128_t" => sized(name, 16),
        "half2" | "__half2" => vector(name, &half("half"), 2),
        "__nv_bfloat162" | "nv_bfloat162" => vector(name, &half("nv_bfloat16"), 2),
        "__nv_fp8x2_e4m3" | "__nv_fp8x2_e5m2" => sized(name, 2),
        "__nv_fp8x4_e4m3" | "__nv_fp8x4_e5m2" => sized(name, 4),
        "dim3" => vector(name, &Ty::Scalar(Scalar::U32), 3),
        "cuComplex" | "cuFloatComplex" | "cufftComplex" | "hipComplex" | "hipFloatComplex"
        | "hipfftComplex" => vector("float2", &Ty::Scalar(Scalar::F32), 2),
        "cuDoubleComplex" | "cufftDoubleComplex" | "hipDoubleComplex" | "hipfftDoubleComplex" => {
            vector("double2", &Ty::Scalar(Scalar::F64), 2)
        }
        _ => {
            let lanes = name.chars().last()?.to_digit(10).filter(|n| (1..=4).contains(n))?;
            let element = match &name[..name.len() - 1] {
                "char" => Scalar::I8,
                "uchar" => Scalar::U8,
                "short" => Scalar::I16,
                "ushort" => Scalar::U16,
                "int" => Scalar::I32,
                "uint" => Scalar::U32,
                "long" | "longlong" => Scalar::I64,
                "ulong" | "ulonglong" => Scalar::U64,
                "float" => Scalar::F32,
                "double" => Scalar::F64,
                _ => return None,
            };
            vector(name, &Ty::Scalar(element), lanes as usize)
        }
    })
}

fn vector(name: &str, element: &Ty, lanes: usize) -> Ty {
    let bytes = element.constant_size().unwrap_or(4);
    let size = bytes * lanes as u64;
    let align = if lanes == 3 { bytes } else { size.min(16) };
    let fields = ["x", "y", "z", "w"][..lanes]
        .iter()
        .enumerate()
        .map(|(i, name)| FieldLayout {
            name: (*name).into(),
            ty: element.clone(),
            offset: Some(i as u64 * bytes),
            open_offset: None,
            reference: false,
            bit_field: false,
            mutable: false,
            volatile: false,
        })
        .collect();
    let (name, env) = (name.into(), Rc::default());
    Ty::Record(Rc::new(Layout {
        name,
        size: Some(size),
        open_size: None,
        align,
        open_align: false,
        fields,
        overlaps: false,
        record: None,
        env,
    }))
}

/// Names of integer types that headers usually define.
fn scalar_by_name(name: &str) -> Option<Scalar> {
    Some(match name {
        "bool" => Scalar::Bool,
        "char" | "int8_t" | "schar" => Scalar::I8,
        "uchar" | "uint8_t" | "u8" | "Byte" | "byte" => Scalar::U8,
        "short" | "int16_t" => Scalar::I16,
        "ushort" | "uint16_t" | "u16" => Scalar::U16,
        "int" | "int32_t" | "i32" => Scalar::I32,
        "uint" | "uint32_t" | "u32" => Scalar::U32,
        "long" | "int64_t" | "ptrdiff_t" | "ssize_t" | "intptr_t" | "clock_t" | "i64" => Scalar::I64,
        "ulong"
        | "uint64_t"
        | "size_t"
        | "uintptr_t"
        | "u64"
        | "CUdeviceptr"
        | "CUtexObject"
        | "CUsurfObject"
        | "cudaTextureObject_t"
        | "cudaSurfaceObject_t" => Scalar::U64,
        "float" | "float_t" | "cufftReal" | "hipfftReal" => Scalar::F32,
        "double" | "double_t" | "cufftDoubleReal" | "hipfftDoubleReal" => Scalar::F64,
        _ => return None,
    })
}
