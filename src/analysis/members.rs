//! Which type has a member of a struct, as it may be written in a declaration of its own?
//!
//! Told are members of types that the language defines, of plain structs and of CUDA's vectors: `float` for `x` of a
//! `float4`. Whatever else a member is (an array, a struct, a bit-field, of a union or a base) is none of them.

use crate::ir::program::Program;
use crate::ir::{Name, Type, print};

/// The type of an array's elements.
pub(super) fn of_elements(ty: &Type) -> &Type {
    match ty {
        Type::Array(inner, _) => of_elements(inner),
        _ => ty,
    }
}

/// The type of the member of this name, in a kernel of the namespace `from`.
pub(super) fn member_type(program: &Program, from: &[Name], ty: &Type, member: &str) -> Option<&'static str> {
    let Type::Named(path) = ty else { return None };
    let mut records = program.records_meant(path, from);
    let Some(record) = records.next() else { return of_vector(&path.name, member) };
    let is_plain = !record.union
        && !record.is_polymorphic
        && record.bases.is_empty()
        && record.packed.is_none()
        && record.template_params.is_empty()
        && records.next().is_none();
    let field = record.fields.iter().find(|field| &*field.name == member && !field.bit_field);
    match &field.filter(|_| is_plain)?.ty {
        Type::Scalar(scalar) => Some(print::scalar(*scalar)),
        _ => None,
    }
}

/// That of a vector of CUDA's: `float` of `float4`.
fn of_vector(name: &str, member: &str) -> Option<&'static str> {
    let lanes = name.chars().last()?.to_digit(10).filter(|lanes| (1..=4).contains(lanes))?;
    let at = ["x", "y", "z", "w"].iter().position(|it| *it == member)?;
    let element = match name.get(..name.len() - 1)? {
        "char" => "signed char",
        "uchar" => "unsigned char",
        "short" => "short",
        "ushort" => "unsigned short",
        "int" => "int",
        "uint" => "unsigned",
        "longlong" => "long long",
        "ulonglong" => "unsigned long long",
        "float" => "float",
        "double" => "double",
        _ => return None,
    };
    (at < lanes as usize).then_some(element)
}

#[cfg(test)]
mod tests {
    use super::of_vector;

    #[test]
    fn vectors_have_as_many_members_as_their_names_say() {
        assert_eq!(of_vector("float4", "w"), Some("float"));
        assert_eq!(of_vector("float2", "z"), None);
        assert_eq!(of_vector("uint3", "z"), Some("unsigned"));
        assert_eq!(of_vector("float5", "x"), None);
        assert_eq!(of_vector("Body4", "x"), None);
    }
}
