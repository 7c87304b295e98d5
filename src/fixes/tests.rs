use super::*;
use crate::source::{FileId, Span};

/// What is doubtful about lengthening the rows of the array at the first `[32][32]`.
fn doubted(code: &str) -> Option<String> {
    let start = code.find("[32][32]").map_or(0, |at| at + 5) as u32;
    let span = Span { file: FileId(0), start, end: start + 2, nth: 0 };
    let file = SourceFile::new(FileId(0), "a.cu".into(), code.as_bytes().to_vec());
    doubt(&file, &Edit { span, text: "33".to_owned() })
}

fn kernel(body: &str) -> String {
    format!("__global__ void k(float *o) {{\n__shared__ float t[32][32];\n{body}\n}}\nvoid f() {{ g(t); }}\n")
}

#[test]
fn an_array_that_is_only_subscripted_is_safe() {
    for body in [
        "t[1][2] = 3; o[0] = t[i[0]][j(1, 2)] + s.t + p->t;",
        "o[0] = a & t[1][2];",
        "o[0] = (a) & t[1][2]; o[1] = a[0] & t[0][0];",
        "o[0] = sizeof(t[0][0]);",
        "for (;;) { t[0][0] = 1; } t [1] [2] = 1;",
    ] {
        assert_eq!(doubted(&kernel(body)), None, "{body}");
    }
    assert_eq!(doubted("template <int N> __global__ void k() { __shared__ float s, t[32][32]; }"), None);
}

#[test]
fn what_rests_on_its_type_or_size_is_doubted_with_the_line() {
    for (body, why) in [
        ("g(t);", "without all its subscripts on line 3"),
        ("float *p = t[0];", "without all its subscripts"),
        ("\nn = sizeof(t);", "on line 4"),
        ("auto &r = t;", "without all its subscripts"),
        ("g(&t[0][0]);", "the address of an element of `t`"),
        ("return &t[0][0];", "the address"),
    ] {
        let doubt = doubted(&kernel(body)).unwrap_or_default();
        assert!(doubt.contains(why), "{body}: {doubt}");
    }
    for code in [
        "struct S { float t[32][32]; }; __global__ void k() { __shared__ S s; }",
        "typedef float T[32][32];",
        "#define T float t[32][32]\n",
        "__shared__ float t[N];",
    ] {
        assert!(doubted(code).unwrap_or_default().contains("not written out"), "{code}");
    }
}

#[test]
fn every_other_byte_is_kept() {
    let edit = |start, end, text: &str| Edit {
        span: Span { file: FileId(0), start, end, nth: 0 },
        text: text.to_owned(),
    };
    let (first, second) = (edit(6, 8, "33"), edit(14, 14, "!"));
    let bytes = b"\xef\xbb\xbfa\r\n32\t\xe9b\r\nc";
    assert_eq!(apply(bytes, &[&second, &first]).unwrap(), b"\xef\xbb\xbfa\r\n33\t\xe9b\r\nc!");
    assert_eq!(apply(bytes, &[&first, &edit(7, 9, "")]), None);
    assert_eq!(apply(bytes, &[&edit(90, 91, "")]), None);
}
