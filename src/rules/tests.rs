use super::{ALL, Rule};
use crate::analysis::{NoFiles, Options, Run};
use crate::suppress;
use std::path::{Path, PathBuf};

/// The code blocks of a rule's documentation with their info strings.
fn examples(rule: &Rule) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in rule.documentation().lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info.to_owned(), String::new())),
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some((_, code)), None) => {
                code.push_str(line);
                code.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

fn fires(rule: &Rule, code: &str) -> bool {
    let path = PathBuf::from("example.cu");
    let options = Options {
        global_memory: rule.id == super::global_race::RULE.id,
        needless_barriers: rule.id == super::redundant_barrier::RULE.id,
        ..Options::default()
    };
    let run = Run::new(options, std::slice::from_ref(&path), Box::new(NoFiles));
    let report = run.analyze_file(Path::new(&path), code.as_bytes().to_vec());
    let heard = suppress::apply(run.sources(), &[report]);
    heard.findings.iter().flatten().any(|finding| finding.rule == rule.id)
}

#[test]
fn ids_are_sorted_and_unique() {
    assert!(ALL.windows(2).all(|pair| pair[0].id < pair[1].id));
}

#[test]
fn every_rule_documents_itself_in_the_same_sections() {
    for rule in ALL {
        let text = rule.documentation();
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(
            headings,
            ["## What it does", "## Why is this bad", "## Example", "## Use instead", "## Limits"],
            "{}",
            rule.id
        );
    }
}

#[test]
fn every_rule_has_an_example_that_fires_and_one_that_is_clean() {
    for rule in ALL {
        let infos: Vec<String> = examples(rule).into_iter().map(|(info, _)| info).collect();
        for info in ["cuda,fires", "cuda,clean"] {
            assert!(infos.iter().any(|it| it == info), "{} has no `{info}` example", rule.id);
        }
    }
}

#[test]
fn documented_examples_that_fire() {
    for rule in ALL {
        for (_, code) in examples(rule).iter().filter(|(info, _)| info == "cuda,fires") {
            assert!(fires(rule, code), "{} does not fire on\n{code}", rule.id);
        }
    }
}

#[test]
fn documented_examples_that_are_clean() {
    for rule in ALL {
        for (_, code) in examples(rule).iter().filter(|(info, _)| info == "cuda,clean") {
            assert!(!fires(rule, code), "{} fires on\n{code}", rule.id);
        }
    }
}
