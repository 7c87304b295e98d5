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
        "targets = [\n  'sm_80',\n  \"9.0\"]\nbank-size = 8\ninclude = ['inc']\nexclude = ['gen/']\ncompile-commands = 'out'\n\
         [defines]\nN = 4\nF = true\nT = 'float'\n[blocks]\n'*' = [256]\nk = [32, 8]\n\
         [levels]\nbank-conflict = 'deny'\n[[paths]]\nfiles = ['tests/']\nlevels = { all = 'note' }\n",
    )
    .unwrap();
    assert_eq!(config.targets, Some(Set { value: vec!["sm_80".into(), "9.0".into()], line: 1 }));
    assert_eq!(config.bank_size, Some(Set { value: 8, line: 4 }));
    assert_eq!(config.include, [Set { value: PathBuf::from("/p/inc"), line: 5 }]);
    let at = WhichCommands::At(PathBuf::from("/p/out"));
    assert_eq!(config.compile_commands, Some(Set { value: at, line: 7 }));
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
    assert_eq!(level("/p/a.cu", "bank-conflict"), Some((Level::Deny, 16)));
    assert_eq!(level("/p/a.cu", "divergent-barrier"), None);
    assert_eq!(level("/p/tests/a.cu", "bank-conflict"), Some((Level::Note, 19)));
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
        ("targets = 'sm_90'", "`targets` is a list of names", "1 │ targets", "`targets = [\"sm_80\""),
        ("targets = [90]", "`targets` is a list of names", "1 │ targets", "`targets = [\"sm_80\""),
        ("include = 'inc'", "`include` is a list of folders", "1 │ include", "`include = [\"include\"]`"),
        ("bank-size = '4'", "`bank-size` is a number", "1 │ bank-size", "`bank-size = 4`"),
        ("compile-commands = 1", "`compile-commands` is a folder or `false`", "1 │", "= \"build\"`"),
        ("[blocks]\nk = 32", "`blocks.k` is a list of one to three numbers", "2 │ k", "`k = [32, 8]`"),
        ("blocks = [32, 8]", "`blocks` is a table", "1 │ blocks", "`k = [32, 8]`"),
        ("[blocks]\nk = [-1]", "`blocks.k` is a list of", "2 │ k", "`k = [32, 8]`"),
        ("[defines]\nN = [1]", "`defines.N` is a number, `true`, `false` or", "2 │ N", "`N = 32`"),
        ("levels = 'deny'", "`levels` is a table", "1 │ levels", "bank-conflict = \"deny\"`"),
        ("[levels]\nall = 2", "`levels.all` is a word", "2 │ all", "`all = \"deny\"`"),
        (
            "[[paths]]\nfiles = 'a'\nlevels = {}",
            "`paths.files` is a list of patterns",
            "2 │ files",
            "[\"tests/\"]",
        ),
        (
            "[[paths]]\nfiles = ['a']",
            "an entry of `paths` has `files` and `levels`",
            "1 │ [[paths]]",
            "levels",
        ),
        ("[paths]\nfiles = ['a']", "`paths` is a list of tables", "1 │ [paths]", "`[[paths]]`"),
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

/// The configuration files of a run over these files, by path and text.
fn configs(files: &[(&str, &str)]) -> (Configs, Rc<RefCell<Vec<PathBuf>>>) {
    let files: FxHashMap<PathBuf, String> =
        files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect();
    let asked: Rc<RefCell<Vec<PathBuf>>> = Rc::default();
    let seen = Rc::clone(&asked);
    let reader = move |path: &Path| {
        seen.borrow_mut().push(path.to_path_buf());
        match path.ends_with("secret/cudalint.toml") {
            true => Err(io::Error::other("no permission")),
            false => Ok(files.get(path).cloned()),
        }
    };
    (Configs::new(PathBuf::from("/p"), Box::new(reader)), asked)
}

#[test]
fn the_nearest_file_comes_first() {
    let (configs, asked) = configs(&[
        ("/p/cudalint.toml", "targets = ['sm_70']"),
        ("/p/a/b/cudalint.toml", "targets = ['sm_80']"),
    ]);
    let targets = |file: &str| -> Vec<String> {
        let chain = configs.of(Path::new(file));
        chain.iter().filter_map(|config| Some(config.targets.as_ref()?.value.first()?.clone())).collect()
    };
    assert_eq!(targets("a/b/x.cu"), ["sm_80", "sm_70"]);
    assert_eq!(targets("/p/a/b/../x.cu"), ["sm_70"]);
    let asked = asked.borrow();
    let asked: Vec<&str> = asked.iter().filter_map(|path| path.to_str()).collect();
    let once = ["/cudalint.toml", "/p/cudalint.toml", "/p/a/cudalint.toml", "/p/a/b/cudalint.toml"];
    assert_eq!(asked, once, "a folder is asked once");
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let (configs, _) = configs(&[("/p/cudalint.toml", "oops")]);
    assert_eq!(configs.of(Path::new("secret/x.cu")).len(), 0);
    let errors: Vec<String> = configs.take_errors().iter().map(|it| it.message.clone()).collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[1].contains("cannot read `secret/cudalint.toml`: no permission"), "{errors:?}");
}
