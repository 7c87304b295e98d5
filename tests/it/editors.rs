//! Do the patterns of `docs/editors.md` read what `--format short` really prints?

use regex::Regex;
use std::fs;
use std::process::Command;

/// One finding of each level: file, line, column, level, rule and message, and the whole output.
struct Printed {
    text: String,
    findings: Vec<[String; 6]>,
}

fn printed() -> Printed {
    let flags = ["-q", "--format", "short", "-N", "unresolved-access", "-D", "divergent-barrier", "fixtures"];
    let output = Command::new(env!("CARGO_BIN_EXE_cudalint")).args(flags).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut findings = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(4, ':');
        let mut next = || parts.next().unwrap().to_owned();
        let (file, row, column, rest) = (next(), next(), next(), next());
        let (head, message) = rest.trim_start().split_once(": ").unwrap();
        let (level, rule) = head.strip_suffix(']').unwrap().split_once('[').unwrap();
        findings.push([file, row, column, level.to_owned(), rule.to_owned(), message.to_owned()]);
    }
    for level in ["error", "warning", "note"] {
        assert!(findings.iter().any(|finding| finding[3] == level), "no {level}");
    }
    Printed { text, findings }
}

/// The code blocks of a language in the page.
fn blocks(language: &str) -> Vec<String> {
    let page = fs::read_to_string("docs/editors.md").unwrap();
    let open = format!("```{language}\n");
    page.split(&open).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// The first of them that holds a word.
fn block(language: &str, word: &str) -> String {
    blocks(language).into_iter().find(|block| block.contains(word)).unwrap()
}

#[test]
fn vs_code_reads_every_line() {
    let tasks: serde_json::Value = serde_json::from_str(&block("json", "problemMatcher")).unwrap();
    let pattern = &tasks["tasks"][0]["problemMatcher"]["pattern"];
    let regex = Regex::new(pattern["regexp"].as_str().unwrap()).unwrap();
    let printed = printed();
    for (line, finding) in printed.text.lines().zip(&printed.findings) {
        let found = regex.captures(line).unwrap_or_else(|| panic!("{line}"));
        let fields = ["file", "line", "column", "severity", "code", "message"];
        let group = |field: &&str| found[pattern[*field].as_u64().unwrap() as usize].to_owned();
        assert_eq!(fields.iter().map(group).collect::<Vec<_>>(), finding);
    }
}

#[test]
fn emacs_reads_every_line() {
    let block = block("elisp", "compilation-error-regexp-alist-alist");
    let rest = block.split("'(cudalint \"").nth(1).unwrap();
    let (string, groups) = rest.split_once("\" ").unwrap();
    assert!(groups.starts_with("1 2 3 (4 . 5)))"), "{groups}");
    // An elisp string, then Emacs's syntax: `\(` groups and `(` is itself.
    let emacs = string.replace("\\\\", "\\").replace("\\n", "\n");
    let mut rust = String::new();
    let mut chars = emacs.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next().unwrap() {
                c @ ('(' | ')' | '|') => rust.push(c),
                c => rust.extend(['\\', c]),
            },
            '(' | ')' | '|' => rust.extend(['\\', c]),
            c => rust.push(c),
        }
    }
    let regex = Regex::new(&rust).unwrap();
    let printed = printed();
    for (line, finding) in printed.text.lines().zip(&printed.findings) {
        let found = regex.captures(line).unwrap_or_else(|| panic!("{rust} does not match {line}"));
        assert_eq!(
            [&found[1], &found[2], &found[3]],
            [&finding[0], &finding[1], &finding[2]].map(String::as_str)
        );
        assert_eq!(found.get(4).is_some(), finding[3] == "warning");
        assert_eq!(found.get(5).is_some(), finding[3] == "note");
    }
}

#[test]
fn flycheck_spells_the_same_words() {
    // As `rx` reads it: strings are themselves, `line` and `column` are digits.
    let block = block("elisp", "flycheck-define-checker");
    let printed = printed();
    for (name, word) in [("error", "error"), ("warning", "warning"), ("info", "note")] {
        let rule = format!(
            "({name} line-start (file-name) \":\" line \":\" column \": {word}[\" (id (+ (not (any \"]\")))) \"]: \" \
             (message) line-end)"
        );
        assert!(block.contains(&rule), "{rule}");
        let regex = Regex::new(&format!(r"^(.+?):(\d+):(\d+): {word}\[([^\]]+)\]: (.*)$")).unwrap();
        for (line, finding) in printed.text.lines().zip(&printed.findings) {
            assert_eq!(regex.is_match(line), finding[3] == word, "{line}");
        }
    }
}

#[test]
fn vim_reads_every_line() {
    let (block, block_of_lint) = (block("vim", "errorformat"), block("lua", "from_errorformat"));
    let setting = block.lines().find(|line| line.starts_with("set errorformat=")).unwrap();
    let unescaped = setting.trim_start_matches("set errorformat=").replace("\\ ", " ");
    assert!(block_of_lint.contains(&format!("'{unescaped}'")), "Neovim is told the same");
    let root = tempfile::tempdir().unwrap();
    let printed = printed();
    fs::write(root.path().join("short.txt"), &printed.text).unwrap();
    let script = format!(
        "{setting}\ncgetfile short.txt\nlet lines = []\nfor item in getqflist()\n\
         let name = bufname(item.bufnr)\n\
         call add(lines, item.valid . '|' . name . '|' . item.lnum . '|' . item.col . '|' . item.type . '|' . item.text)\n\
         endfor\ncall writefile(lines, 'out.txt')\nqall!\n"
    );
    fs::write(root.path().join("script.vim"), script).unwrap();
    let mut vim = Command::new("vim");
    vim.current_dir(root.path()).args(["-u", "NONE", "-N", "-es", "-S", "script.vim"]);
    let Ok(status) = vim.status() else {
        println!("vim is not installed: its pattern was not run");
        return;
    };
    let out =
        fs::read_to_string(root.path().join("out.txt")).unwrap_or_else(|error| panic!("{status}: {error}"));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), printed.findings.len());
    for (line, finding) in lines.iter().zip(&printed.findings) {
        let [file, row, column, level, _, message] = finding;
        let expected = format!("1|{file}|{row}|{column}|{}|{message}", &level[..1]);
        assert_eq!(*line, expected);
    }
}
