//! Does a comment above the function say what block it is launched with?
//!
//! `// cudalint: block(32, 8)` directly above the function (other comments may stand between, and
//! between `template <...>` and the name counts as above too).

use crate::preproc::Expanded;
use crate::preproc::comments::Ask;
use crate::source::Span;

/// The block shape that a directive gives the function at `span`, and where that is written.
pub(super) fn block(expanded: &Expanded, span: Span, name: Span) -> Option<([u32; 3], Span)> {
    if expanded.comments.is_empty() {
        return None;
    }
    let head = expanded.file.text.get(..span.start as usize).unwrap_or("");
    // Words such as `extern "C"` may stand before the function.
    let line = head.rfind('\n').map_or(0, |at| at + 1) as u32;
    let found = expanded.comments.iter().rev().filter(|directive| directive.next <= name.start);
    let mut above = found.filter(|directive| directive.next >= line);
    above.find_map(|directive| match directive.ask {
        Ask::Block(shape) => {
            let (start, end) = (directive.span.start, directive.span.end);
            Some((shape, Span { file: expanded.file.id, start, end, nth: 0 }))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, SourceFile};
    use std::sync::Arc;

    fn directive(text: &str) -> Option<[u32; 3]> {
        let at = |pattern: &str| text.find(pattern).unwrap() as u32;
        let span = |start: u32| Span { file: FileId(0), start, end: text.len() as u32, nth: 0 };
        let start = text.find("template").map_or(at("__global__"), |at| at as u32);
        let file = SourceFile::new(FileId(0), "a.cu".into(), text.as_bytes().to_vec());
        let expanded = Expanded::unchanged(Arc::new(file));
        block(&expanded, span(start), span(at("kernel("))).map(|(shape, _)| shape)
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
        let linkage = "/* cudalint: block(64): as in main */\nextern \"C\" __global__ void kernel()";
        assert_eq!(directive(linkage), Some([64, 1, 1]));
        let documented = "/**\n * Reads.\n * cudalint: block(16, 16)\n */\n__global__ void kernel()";
        assert_eq!(directive(documented), Some([16, 16, 1]));
    }

    #[test]
    fn others_do_not() {
        assert_eq!(directive("// cudalint: block(32, 8)\nint x;\n__global__ void kernel()"), None);
        assert_eq!(directive("// cudalint: block(32, 0)\n__global__ void kernel()"), None);
        assert_eq!(directive("// cudalint: block(1, 2, 3, 4)\n__global__ void kernel()"), None);
        assert_eq!(directive("// cudalint: block(BX)\n__global__ void kernel()"), None);
        assert_eq!(directive("char *s = \"// cudalint: block(8)\";\n__global__ void kernel()"), None);
    }
}
