//! Random kernels as CUDA, in many styles that mean the same.

// Not every test uses all of it.
#![allow(dead_code)]

use super::kernels::{Case, Form, NAMES, Sign, Tree};
use std::fmt::Write;

/// How the same kernel can be written otherwise without meaning anything else to the banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Direct,
    /// The two sides of the index in locals.
    Locals,
    /// Every step of the index in a local of its own.
    Steps,
    /// The index from a function.
    Helper,
    /// The index from a function template.
    Template,
    /// The index from a function that gives it back by reference.
    Reference,
    /// The index from a lambda.
    Lambda,
    Macros,
    Renamed,
    /// Through a pointer that is moved.
    Pointer,
    /// The loop as `while`, the guard the other way round.
    Reversed,
    /// Every access four elements or rows further: a multiple of a bank's width for all lanes alike.
    Shifted,
    /// Every access further by four times a number that is not known.
    ShiftedByParameter,
}

pub const STYLES: [Style; 13] = [
    Style::Direct,
    Style::Locals,
    Style::Steps,
    Style::Helper,
    Style::Template,
    Style::Reference,
    Style::Lambda,
    Style::Macros,
    Style::Renamed,
    Style::Pointer,
    Style::Reversed,
    Style::Shifted,
    Style::ShiftedByParameter,
];

impl Tree {
    /// Writes every step as a local before it is used; what the whole is called.
    fn steps(&self, sign: Sign, int: &str, out: &mut String) -> String {
        let text = match self {
            Tree::Binary("<", ..) | Tree::Number(_) | Tree::Variable(_) => return self.text(sign),
            Tree::Binary(operator, a, b) => {
                let (a, b) = (a.steps(sign, int, out), b.steps(sign, int, out));
                format!("{a} {operator} {b}")
            }
            Tree::Choice(c, a, b) => {
                let c = c.steps(sign, int, out);
                // The sides stay where they are: only one of them may be evaluated.
                format!("{c} & 1 ? {} : {}", a.text(sign), b.text(sign))
            }
        };
        let name = format!("step{}", out.lines().count());
        writeln!(out, "        {int} {name} = {text};").unwrap();
        name
    }
}

impl Case {
    /// The kernel as CUDA.
    #[expect(clippy::too_many_lines, reason = "one kernel, written in each style")]
    pub fn text(&self, style: Style) -> String {
        let int = if self.sign == Sign::Unsigned { "unsigned" } else { "int" };
        let (ty, bytes) = self.element;
        let literal = |number: i64| {
            let text = if self.sign == Sign::Unsigned { format!("{number}u") } else { number.to_string() };
            if style == Style::Macros { format!("(BASE + {number} - 17)") } else { text }
        };
        let mut steps = String::new();
        let value = match style {
            Style::Steps => self.index.steps(self.sign, int, &mut steps),
            _ => self.index.text(self.sign),
        };
        let index = match self.form {
            Form::Rows(columns) => format!("({value}) & {}", literal(self.rows(columns) - 1)),
            _ => format!("({value}) & {}", literal(self.length - 1)),
        };
        let column =
            |columns: i64| format!("(({}) & 1023) % {}", self.column.text(self.sign), literal(columns));
        let mut text = String::new();
        if style == Style::Macros {
            text.push_str("#define BASE 17\n#define AT(array, i) array[i]\n");
        }
        let (names, parameters) = (NAMES.join(", "), NAMES.map(|name| format!("{int} {name}")).join(", "));
        match style {
            Style::Helper => {
                writeln!(text, "__device__ {int} index({parameters}) {{ return {index}; }}").unwrap();
            }
            Style::Template => {
                let parameters = parameters.replace(int, "I");
                let body = format!("{{ const I result = {index}; return result; }}");
                writeln!(text, "template <class I> __device__ I index({parameters}) {body}").unwrap();
            }
            Style::Reference => {
                writeln!(text, "__device__ void index({int} &result, {parameters}) {{ result = {index}; }}")
                    .unwrap();
            }
            _ => {}
        }
        let [bx, by, bz] = self.block;
        // Room for those that are shifted.
        let more = if style == Style::Shifted { 4 } else { 0 };
        writeln!(text, "__global__ void k({ty} *out, int n) {{").unwrap();
        let declaration = match self.form {
            Form::Plain => format!("__shared__ {ty} s[{}];", self.length + more),
            Form::Rows(columns) => format!("__shared__ {ty} s[{}][{columns}];", self.rows(columns) + more),
            Form::CastArray => format!("__shared__ __align__(16) char s[{}];", 8192 + more * bytes),
            Form::CastElement => format!("__shared__ __align__(16) int s[{}];", 2048 + more * bytes / 4),
        };
        writeln!(text, "    {declaration}").unwrap();
        writeln!(text, "    {int} x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;").unwrap();
        writeln!(text, "    {int} t = x + y * {bx} + z * {};", bx * by).unwrap();
        writeln!(text, "    {int} lane = t % 32, warp = t / 32;").unwrap();
        let (from, to, step) = self.counter;
        match style {
            Style::Reversed => writeln!(text, "    {int} k = {from};\n    while ({to} > k) {{").unwrap(),
            _ => writeln!(text, "    for ({int} k = {from}; k < {to}; {step}) {{").unwrap(),
        }
        if let Some(guard) = &self.guard {
            let guard = guard.text(self.sign);
            match style {
                Style::Reversed => writeln!(text, "        if (!(({guard}) & 3)) {{ ; }} else {{").unwrap(),
                _ => writeln!(text, "        if (({guard}) & 3) {{").unwrap(),
            }
        }
        text.push_str(&steps);
        let index = match style {
            Style::Locals => {
                if let Tree::Binary(operator, a, b) = &self.index
                    && *operator != "<"
                {
                    writeln!(text, "        const {int} left = {};", a.text(self.sign)).unwrap();
                    writeln!(text, "        {int} right; right = {};", b.text(self.sign)).unwrap();
                    index.replacen(&value, &format!("left {operator} right"), 1)
                } else {
                    writeln!(text, "        auto all = {index};").unwrap();
                    "all".to_string()
                }
            }
            Style::Helper | Style::Template => format!("index({names})"),
            Style::Reference => {
                writeln!(text, "        {int} all;\n        index(all, {names});").unwrap();
                "all".to_string()
            }
            Style::Lambda => {
                writeln!(text, "        auto index = [=]({int} k) {{ return {index}; }};").unwrap();
                "index(k)".to_string()
            }
            Style::Shifted => format!("(({index}) + 4)"),
            Style::ShiftedByParameter => format!("(({index}) + 4 * n)"),
            _ => index,
        };
        let place = match self.form {
            Form::Plain if style == Style::Macros => format!("AT(s, {index})"),
            Form::Plain if style == Style::Pointer => {
                writeln!(text, "        {ty} *p = &s[0];\n        p += {index};").unwrap();
                "*p".to_string()
            }
            Form::Plain => format!("s[{index}]"),
            Form::Rows(columns) if style == Style::Pointer => {
                writeln!(text, "        {ty} *p = s[{index}];").unwrap();
                format!("p[{}]", column(columns))
            }
            Form::Rows(columns) => format!("s[{index}][{}]", column(columns)),
            Form::CastArray if style == Style::Pointer => {
                writeln!(text, "        {ty} *p = ({ty} *)(s + {bytes} * ({index}));").unwrap();
                "p[0]".to_string()
            }
            Form::CastArray => format!("reinterpret_cast<{ty} *>(s)[{index}]"),
            Form::CastElement => format!("*reinterpret_cast<{ty} *>(&s[({index}) * {}])", bytes / 4),
        };
        if self.store {
            writeln!(text, "        {place} = out[t];").unwrap();
        } else {
            writeln!(text, "        out[t] = {place};").unwrap();
        }
        if self.guard.is_some() {
            text.push_str("        }\n");
        }
        text.push_str("        __syncthreads();\n");
        if style == Style::Reversed {
            writeln!(text, "        {step};").unwrap();
        }
        text.push_str("    }\n}\n");
        let launch = format!("k<<<1, dim3({bx}, {by}, {bz})>>>(out, n);");
        writeln!(text, "void launch({ty} *out, int n) {{ {launch} }}").unwrap();
        if style == Style::Renamed {
            for (old, new) in [("lane", "l_"), ("warp", "w0"), ("left", "a"), ("index", "i")] {
                text = text.replace(old, new);
            }
        }
        text
    }
}
