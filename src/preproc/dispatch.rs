//! By which macros does PyTorch launch a kernel for each element type?
//!
//! Only a run tells the type of a tensor, so each macro writes its last argument once for each type of a family, a
//! lambda that names the type `scalar_t`, into the cases of a `switch` (ATen/Dispatch.h):
//!
//! ```text
//! AT_DISPATCH_FLOATING_TYPES_AND(at::kHalf, x.scalar_type(), "name", [&] { kernel<scalar_t><<<1, 32>>>(...); });
//!     is a case for `double`, one for `float`, and one for `at::kHalf`
//! ```

use std::fmt::Write as _;

/// What all these macros are made of.
const PARTS: &str = "\
#define AT_DISPATCH_SWITCH(type, name, ...) [&] { switch (type) { __VA_ARGS__ default: return; } }()
#define AT_PRIVATE_CASE_TYPE_USING_HINT(value, element, ...) \\
  case value: { using element = typename c10::ScalarTypeToCPPType<value>::type; return __VA_ARGS__(); }
#define AT_DISPATCH_CASE(value, ...) AT_PRIVATE_CASE_TYPE_USING_HINT(value, scalar_t, __VA_ARGS__)
#define AT_DISPATCH_INDEX_TYPES(type, name, ...) \\
  AT_DISPATCH_SWITCH(type, name, \\
    AT_PRIVATE_CASE_TYPE_USING_HINT(at::ScalarType::Int, index_t, __VA_ARGS__) \\
    AT_PRIVATE_CASE_TYPE_USING_HINT(at::ScalarType::Long, index_t, __VA_ARGS__))
";

/// Families of element types, by their names in `at::ScalarType`.
const FAMILIES: [(&str, &[&str]); 8] = [
    ("FLOATING_TYPES", &["Double", "Float"]),
    ("FLOATING_TYPES_AND_HALF", &["Double", "Float", "Half"]),
    ("REDUCED_FLOATING_TYPES", &["Half", "BFloat16"]),
    ("COMPLEX_TYPES", &["ComplexDouble", "ComplexFloat"]),
    ("FLOATING_AND_COMPLEX_TYPES", &["Double", "Float", "ComplexDouble", "ComplexFloat"]),
    ("INTEGRAL_TYPES", &["Byte", "Char", "Int", "Long", "Short"]),
    ("ALL_TYPES", &["Byte", "Char", "Int", "Long", "Short", "Double", "Float"]),
    (
        "ALL_TYPES_AND_COMPLEX",
        &["Byte", "Char", "Int", "Long", "Short", "Double", "Float", "ComplexDouble", "ComplexFloat"],
    ),
];

/// How many types the caller may add to a family.
const MOST_ADDED: usize = 8;

/// The definitions of these macros.
pub(super) fn definitions() -> String {
    let mut text = String::from(PARTS);
    for (family, types) in FAMILIES {
        let own: String =
            types.iter().map(|it| format!("AT_DISPATCH_CASE(at::ScalarType::{it}, __VA_ARGS__) ")).collect();
        for added in 0..=MOST_ADDED {
            // One is added by `_AND` or `_AND1`.
            let suffixes: &[String] = match added {
                0 => &[String::new()],
                1 => &["_AND".to_owned(), "_AND1".to_owned()],
                more => &[format!("_AND{more}")],
            };
            let params: String = (0..added).map(|at| format!("t{at}, ")).collect();
            let cases: String =
                (0..added).map(|at| format!("AT_DISPATCH_CASE(t{at}, __VA_ARGS__) ")).collect();
            for suffix in suffixes {
                let name = format!("{family}{suffix}");
                let _ = writeln!(text, "#define AT_DISPATCH_CASE_{name}({params}...) {own}{cases}");
                let _ = writeln!(
                    text,
                    "#define AT_DISPATCH_{name}({params}type, name, ...) \
                     AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_{name}({params}__VA_ARGS__))"
                );
            }
        }
    }
    text
}
