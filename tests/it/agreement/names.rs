//! Which kernel is meant, whether a profiler or the analyzer writes it?

/// A kernel's name without namespaces, and its template arguments.
#[derive(Debug, PartialEq, Eq)]
pub struct Kernel {
    pub name: String,
    pub arguments: Vec<String>,
}

impl Kernel {
    /// `void ns::reduce<int, (unsigned int)256>(T1 *, T1 *)`
    pub fn demangled(text: &str) -> Kernel {
        let text = &text.replace("<unnamed>::", "");
        let end = text.find(['<', '(']).unwrap_or(text.len());
        let (head, rest) = text.split_at(end);
        Kernel { arguments: arguments(rest), ..Kernel::plain(head) }
    }

    /// `reduce<int, 256>`
    pub fn written(text: &str) -> Kernel {
        Kernel::demangled(text)
    }

    fn plain(head: &str) -> Kernel {
        let word = head.split_whitespace().last().unwrap_or("");
        let name = word.rsplit("::").next().unwrap_or("").to_owned();
        Kernel { name, arguments: Vec::new() }
    }

    /// Whether the arguments that both give are the same; `?` is any.
    pub fn has_arguments_of(&self, other: &Kernel) -> bool {
        let same = |(mine, theirs): (&String, &String)| mine == "?" || mine == theirs;
        !self.arguments.is_empty() && self.arguments.iter().zip(&other.arguments).all(same)
    }
}

/// The arguments at the start of `<a, (int)2>(...)`, casts left out.
fn arguments(text: &str) -> Vec<String> {
    let Some(inside) = text.strip_prefix('<') else { return Vec::new() };
    let mut found = vec![String::new()];
    let mut depth = 0;
    for character in inside.chars() {
        match character {
            '>' if depth == 0 => break,
            ',' if depth == 0 => {
                found.push(String::new());
                continue;
            }
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            _ => {}
        }
        found.last_mut().unwrap().push(character);
    }
    found.iter().map(|argument| without_cast(argument.trim()).to_owned()).collect()
}

/// `16` of `(unsigned int)16`.
fn without_cast(argument: &str) -> &str {
    match argument.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((_, value)) if !value.is_empty() => value.trim(),
        _ => argument,
    }
}

#[test]
fn names_are_read_as_both_tools_write_them() {
    let measured =
        Kernel::demangled("void ns::reduce6<int, (unsigned int)256, (bool)1>(const T1 *, unsigned int)");
    let said = Kernel::written("reduce6<int, 256, 1>");
    assert_eq!(measured, said);
    assert!(said.has_arguments_of(&measured));
    assert!(!Kernel::written("reduce6<int, 32, 1>").has_arguments_of(&measured));
    assert!(Kernel::written("reduce6<int, ?>").has_arguments_of(&measured));
    assert_eq!(Kernel::demangled("copy(float *, int)"), Kernel::written("copy"));
    let unnamed = Kernel::demangled("void <unnamed>::copy<(<unnamed>::Kind)2, (int)0>(float *)");
    assert_eq!(unnamed, Kernel::written("copy<2, 0>"));
}
