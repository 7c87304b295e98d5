//! Does a comment above the function say what block it is launched with?
//!
//! `// cudalint: block(32, 8)` on a line of its own directly above the function (other comments,
//! and a comment between `template <...>` and the name, count as above too).

use crate::source::Span;

/// How many comment lines above a function are read.
const MAX_LINES: usize = 64;

/// The block shape that a directive in the original `text` gives the function at `span`.
pub(super) fn block(text: &str, span: Span, name: Span) -> Option<[u32; 3]> {
    let start = (span.start as usize).min(text.len());
    if let Some(block) = text.get(start..name.start as usize).and_then(in_comments) {
        return Some(block);
    }
    let head = text.get(..start)?;
    let line_start = head.rfind('\n').map_or(0, |at| at + 1);
    for line in head[..line_start].lines().rev().take(MAX_LINES) {
        let line = line.trim();
        if !(line.starts_with("//")
            || line.starts_with("/*")
            || line.starts_with('*')
            || line.ends_with("*/"))
        {
            return None;
        }
        if let Some(block) = parse(line) {
            return Some(block);
        }
    }
    None
}

fn in_comments(text: &str) -> Option<[u32; 3]> {
    text.lines().filter_map(|line| line.find("//").and_then(|at| line.get(at..))).find_map(parse)
}

/// `cudalint: block(x, y, z)`; what is left out is 1.
fn parse(comment: &str) -> Option<[u32; 3]> {
    let (_, rest) = comment.split_once("cudalint:")?;
    let (_, rest) = rest.split_once("block")?;
    let (inside, _) = rest.trim_start().strip_prefix('(')?.split_once(')')?;
    let mut block = [1; 3];
    for (index, part) in inside.split(',').enumerate() {
        *block.get_mut(index)? = part.trim().parse().ok().filter(|&size: &u32| size > 0)?;
    }
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn directive(text: &str) -> Option<[u32; 3]> {
        let at = |pattern: &str| text.find(pattern).unwrap() as u32;
        let span = |start: u32| Span { file: FileId(0), start, end: text.len() as u32 };
        let start = text.find("template").map_or(at("__global__"), |at| at as u32);
        block(text, span(start), span(at("kernel(")))
    }

    #[test]
    fn a_directive_directly_above_counts() {
        assert_eq!(directive("// cudalint: block(32, 8)\n__global__ void kernel()"), Some([32, 8, 1]));
        assert_eq!(
            directive("// cudalint: block(128)\n// more\n  __global__ void kernel()"),
            Some([128, 1, 1])
        );
        let between = "template <int N>\n// cudalint: block(4, 4, 4)\n__global__ void kernel()";
        assert_eq!(directive(between), Some([4, 4, 4]));
    }

    #[test]
    fn others_do_not() {
        assert_eq!(directive("// cudalint: block(32, 8)\nint x;\n__global__ void kernel()"), None);
        assert_eq!(directive("// cudalint: block(32, 0)\n__global__ void kernel()"), None);
        assert_eq!(directive("// cudalint: block(1, 2, 3, 4)\n__global__ void kernel()"), None);
        assert_eq!(directive("// cudalint: block(BX)\n__global__ void kernel()"), None);
    }
}
