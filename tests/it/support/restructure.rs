//! Ways to arrange the kernels of a text otherwise without meaning anything else.

use super::rewrite::{Kind, pieces};
use std::ops::Range;

/// A kernel that is defined in a text, in bytes of it.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub name: String,
    /// From behind what stands before it to its last brace.
    pub whole: Range<usize>,
    /// Where it begins: at `__global__`, or at what stands before that and belongs to it.
    pub start: usize,
    /// Between the parentheses.
    pub parameters: Range<usize>,
    /// Between the braces.
    pub body: Range<usize>,
}

/// Every kernel with a body.
pub fn kernels(text: &str) -> Vec<Kernel> {
    let mut at = 0;
    let mut tokens: Vec<(&str, usize)> = Vec::new();
    for (kind, piece) in pieces(text) {
        if kind == Kind::Directive {
            // Nothing reaches across one.
            tokens.push(("#", at));
        } else if !matches!(kind, Kind::Space | Kind::Comment) {
            tokens.push((piece, at));
        }
        at += piece.len();
    }
    let partner = |open: usize, pair: (&str, &str)| {
        let mut depth = 0;
        (open..tokens.len()).find(|at| {
            depth += i32::from(tokens[*at].0 == pair.0) - i32::from(tokens[*at].0 == pair.1);
            depth == 0
        })
    };
    let mut found = Vec::new();
    let mut next = 0;
    while let Some(global) = (next..tokens.len()).find(|at| tokens[*at].0 == "__global__") {
        next = global + 1;
        let begins = (0..global).rev().find(|at| matches!(tokens[*at].0, "}" | ";" | "{" | "#"));
        let mut parameters = None;
        let mut at = global;
        while let Some((token, _)) = tokens.get(at) {
            match *token {
                "(" => {
                    let Some(close) = partner(at, ("(", ")")) else { break };
                    parameters = Some((at, close));
                    at = close + 1;
                }
                "{" | ";" | "}" | "#" => break,
                _ => at += 1,
            }
        }
        let (Some((open, close)), Some(("{", _))) = (parameters, tokens.get(at)) else { continue };
        let Some(end) = partner(at, ("{", "}")) else { continue };
        if !tokens[open - 1].0.starts_with(|c: char| c == '_' || c.is_alphabetic()) {
            // A macro spells its name.
            continue;
        }
        next = end;
        let first = begins.map_or(0, |at| at + 1);
        let end_of = |at: usize| tokens[at].1 + tokens[at].0.len();
        found.push(Kernel {
            name: tokens[open - 1].0.to_owned(),
            whole: begins.map_or(0, |at| {
                let directive = tokens[at].0 == "#";
                let length = if directive { text[tokens[at].1..].find('\n').unwrap_or(0) } else { 1 };
                tokens[at].1 + length
            })..end_of(end),
            start: tokens[first].1,
            parameters: end_of(open)..tokens[close].1,
            body: end_of(at)..tokens[end].1,
        });
    }
    found
}

fn each_body(text: &str, wrap: impl Fn(&str) -> String) -> String {
    let mut out = text.to_owned();
    for kernel in kernels(text).into_iter().rev() {
        out.replace_range(kernel.body.clone(), &wrap(&text[kernel.body]));
    }
    out
}

pub fn in_braces(text: &str) -> String {
    each_body(text, |body| format!(" {{ {{ {body}\n }} }} "))
}

pub fn in_a_true_branch(text: &str) -> String {
    each_body(text, |body| format!(" if (true) {{ {body}\n }} else {{ }} "))
}

pub fn in_a_loop_of_one_round(text: &str) -> String {
    each_body(text, |body| format!(" do {{ {body}\n }} while (0); "))
}

pub fn in_a_counted_loop_of_one_round(text: &str) -> String {
    each_body(text, |body| format!(" for (int once_ = 0; once_ < 1; ++once_) {{ {body}\n }} "))
}

pub fn in_a_lambda(text: &str) -> String {
    each_body(text, |body| format!(" auto all_of_it = [&]() {{ {body}\n }}; all_of_it(); "))
}

/// Statements that do nothing, and locals that no one uses, around the body.
pub fn beside_idle_code(text: &str) -> String {
    each_body(text, |body| {
        format!(" int idle_ = threadIdx.x; (void)idle_; ; {body}\n; {{ int idle2_ = 3; (void)idle2_; }} ")
    })
}

/// The body of each kernel that is no template in a function that it calls.
pub fn outlined(text: &str) -> String {
    let mut out = text.to_owned();
    for kernel in kernels(text).into_iter().rev() {
        let head = &text[kernel.start..kernel.body.start];
        let Some(arguments) = names(&text[kernel.parameters.clone()]) else { continue };
        if head.contains("template") {
            continue;
        }
        let call = format!(" body_of_{}({}); ", kernel.name, arguments.join(", "));
        let function = format!(
            "\n__device__ __forceinline__ void body_of_{}({}) {{{}}}\n",
            kernel.name,
            &text[kernel.parameters.clone()],
            &text[kernel.body.clone()]
        );
        out.replace_range(kernel.body.clone(), &call);
        out.insert_str(kernel.whole.start, &function);
    }
    out
}

/// The names of parameters; `None` when they are not just words.
fn names(parameters: &str) -> Option<Vec<&str>> {
    if parameters.trim().is_empty() {
        return Some(Vec::new());
    }
    if parameters.contains(['<', '[', '(', '=', '#', '.']) {
        return None;
    }
    let name = |parameter: &'_ str| -> Option<(usize, usize)> {
        let end = parameter.trim_end().len();
        let start = parameter[..end].rfind(|c: char| c != '_' && !c.is_alphanumeric())? + 1;
        (start < end).then_some((start, end))
    };
    parameters
        .split(',')
        .map(|parameter| name(parameter).map(|(start, end)| &parameter[start..end]))
        .collect()
}

/// Kernels that stand one behind the other, the other way round.
pub fn reordered(text: &str) -> String {
    let all = kernels(text);
    let mut out = text.to_owned();
    let mut at = 0;
    while let [first, second, ..] = &all[at.min(all.len())..] {
        if first.whole.end != second.whole.start {
            at += 1;
            continue;
        }
        let swapped = format!("{}\n{}", &text[second.whole.clone()], &text[first.whole.clone()]);
        // From behind, places would move: the lengths differ by the one newline.
        out.replace_range(first.whole.start + at / 2..second.whole.end + at / 2, &swapped);
        at += 2;
    }
    out
}

/// In a namespace, as far as no directive is in the way.
pub fn in_a_namespace(text: &str) -> String {
    format!("namespace wrapped_up {{\n{text}\n}}\n")
}

/// Between kernels and launches of others.
pub fn among_others(text: &str) -> String {
    let other = |name: &str| {
        format!(
            "\n__global__ void {name}(int *p) {{ __shared__ int other[64]; other[threadIdx.x * 2] = 1; \
             __syncthreads(); p[0] = other[threadIdx.x]; }}\nvoid go_{name}(int *p) {{ {name}<<<1, 32>>>(p); }}\n"
        )
    };
    format!("{}{text}{}", other("one_before_"), other("one_behind_"))
}
