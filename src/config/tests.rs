use super::*;

fn read(text: &str) -> Result<Config, Error> {
    written::read(text, Path::new("/p"), Path::new("cudalint.toml"), &Path::to_path_buf)
}

fn refusal(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn every_key_is_read_with_its_line() {
    let config = read(
        "targets = [\n  'sm_80',\n  \"9.0\"]\nbank-size = 8\ninclude = ['inc']\nexclude = ['gen/']\n\
         [defines]\nN = 4\nF = true\nT = 'float'\n[blocks]\n'*' = [256]\nk = [32, 8]\n\
         [levels]\nbank-conflict = 'deny'\n[[paths]]\nfiles = ['tests/']\nlevels = { all = 'note' }\n",
    )
    .unwrap();
    assert_eq!(config.targets, Some(Set { value: vec!["sm_80".into(), "9.0".into()], line: 1 }));
    assert_eq!(config.bank_size, Some(Set { value: 8, line: 4 }));
    assert_eq!(config.include, [Set { value: PathBuf::from("/p/inc"), line: 5 }]);
    let defines: Vec<_> =
        config.defines.iter().map(|it| (it.value.0.as_str(), it.value.1.as_str())).collect();
    assert_eq!(defines, [("F", "1"), ("N", "4"), ("T", "float")]);
    let blocks: Vec<_> = config.blocks.iter().map(|it| it.value.clone()).collect();
    assert_eq!(blocks, [(None, [256, 1, 1]), (Some("k".to_owned()), [32, 8, 1])]);
    assert!(
        config.excludes(Path::new("/p/a/gen/x.cu"), false) && !config.excludes(Path::new("/p/a.cu"), false)
    );
    assert!(!config.excludes(Path::new("/q/gen/x.cu"), false), "not below the file");
    let level = |file: &str, rule: &str| config.level(Path::new(file), rule).map(|set| (set.value, set.line));
    assert_eq!(level("/p/a.cu", "bank-conflict"), Some((Level::Deny, 15)));
    assert_eq!(level("/p/a.cu", "divergent-barrier"), None);
    assert_eq!(level("/p/tests/a.cu", "bank-conflict"), Some((Level::Note, 18)));
}

#[test]
fn a_mistake_is_shown_in_its_line_with_what_was_meant() {
    for (text, message, line, help) in [
        ("\ntargts = ['sm_90']", "no key `targts`", "2 │ targts", "did you mean `targets`?"),
        ("[[paths]]\nfile = ['a']\nlevels = {}", "no key `file`", "2 │ file", "did you mean `files`?"),
        ("targets = ['volta']", "`volta` is not a target", "1 │ targets", "written `sm_90`"),
        ("[levels]\nbank-conflicts = 'deny'", "no rule `bank-conflicts`", "2 │ bank", "`bank-conflict`?"),
        ("[levels]\nbank-conflict = 'wran'", "`wran` is not a level", "2 │ bank", "`warn`"),
        ("bank-size = 6", "4 or 8 bytes", "1 │ bank-size", "write 4 or 8"),
        ("[blocks]\nk = [64, 32]", "at most 1024", "2 │ k", "[32, 8]"),
        ("[defines]\n\"a b\" = 1", "not a macro name", "2 │ \"a b\"", "name"),
        ("exclude = ['a[']", "is not a pattern", "1 │ exclude", ".gitignore"),
        ("targets = 'sm_90'", "invalid type", "1 │ targets", ""),
        ("targets = [", "", "1 │ targets", ""),
    ] {
        let text = refusal(text);
        for part in [message, line, help, "cudalint.toml:"] {
            assert!(text.contains(part), "{part}:\n{text}");
        }
    }
}

#[test]
fn an_empty_list_of_files_is_of_no_file() {
    let config = read("[[paths]]\nfiles = []\nlevels = { all = 'deny' }\n[[paths]]\nfiles = ['#']\nlevels = { all = 'deny' }")
        .unwrap();
    assert_eq!(config.level(Path::new("/p/a.cu"), "bank-conflict"), None);
}

#[test]
fn the_template_says_nothing_until_its_lines_are_uncommented() {
    let silent = read(TEMPLATE).unwrap();
    assert!(silent.targets.is_none() && silent.exclude.is_empty() && silent.levels.is_empty());
    let uncommented: String = TEMPLATE
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        .filter(|line| line.starts_with('[') || line.contains(" = "))
        .map(|line| format!("{line}\n"))
        .collect();
    let config = read(&uncommented).unwrap();
    assert_eq!(config.targets.unwrap().value, ["sm_80", "sm_90"]);
    assert_eq!((config.defines.len(), config.blocks.len(), config.levels.len()), (3, 2, 2));
    assert_eq!(config.paths.len(), 1);
}

#[test]
fn the_nearest_file_comes_first() {
    let root = tempfile::tempdir().unwrap();
    let deep = root.path().join("a/b");
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(root.path().join(NAME), "targets = ['sm_70']").unwrap();
    std::fs::write(deep.join(NAME), "targets = ['sm_80']").unwrap();
    let configs = Configs::default();
    let targets = |file: &Path| -> Vec<String> {
        let chain = configs.of(file);
        chain.iter().filter_map(|config| Some(config.targets.as_ref()?.value.first()?.clone())).collect()
    };
    assert_eq!(targets(&deep.join("x.cu")), ["sm_80", "sm_70"]);
    assert_eq!(targets(&deep.join("../x.cu")), ["sm_70"]);
    std::fs::write(root.path().join("a").join(NAME), "oops").unwrap();
    assert!(configs.take_errors().is_empty(), "a folder is asked once");
}
