use super::*;
use std::collections::BTreeSet;

fn read(text: &str) -> Result<Config, Error> {
    let (path, folder) = (Path::new("cudalint.toml"), Path::new("/p"));
    written::read(&written::File { text, path, base: folder, folder }, &Path::to_path_buf)
}

fn refusal(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn every_key_is_read_with_its_line() {
    let config = read(
        "targets = [\n  'sm_80',\n  \"9.0\"]\nbank-size = 8\ninclude = ['inc']\nexclude = ['gen/']\ncompile-commands = 'out'\n\
         baseline = 'known.json'\nformat = 'short'\nsort = 'path'\ntop = 3\n[defines]\nN = 4\nF = true\nT = 'float'\n[blocks]\n'*' = [256]\nk = [32, 8]\n\
         [levels]\nbank-conflict = 'deny'\n[[paths]]\nfiles = ['tests/']\nlevels = { all = 'note' }\n",
    )
    .unwrap();
    assert_eq!(config.targets, Some(Set { value: vec!["sm_80".into(), "9.0".into()], line: 1 }));
    assert_eq!(config.bank_size, Some(Set { value: 8, line: 4 }));
    assert_eq!(config.include, [Set { value: PathBuf::from("/p/inc"), line: 5 }]);
    let at = WhichCommands::At(PathBuf::from("/p/out"));
    assert_eq!(config.compile_commands, Some(Set { value: at, line: 7 }));
    assert_eq!(config.baseline, Some(Set { value: PathBuf::from("/p/known.json"), line: 8 }));
    let words = |set: Option<Set<String>>| set.map(|set| (set.value, set.line));
    assert_eq!(words(config.format.clone()), Some(("short".to_owned(), 9)));
    assert_eq!(words(config.sort.clone()), Some(("path".to_owned(), 10)));
    assert_eq!(config.top.as_ref().map(|set| (set.value.get(), set.line)), Some((3, 11)));
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
    assert_eq!(level("/p/a.cu", "bank-conflict"), Some((Level::Deny, 20)));
    assert_eq!(level("/p/a.cu", "divergent-barrier"), None);
    assert_eq!(level("/p/tests/a.cu", "bank-conflict"), Some((Level::Note, 23)));
}

/// Texts that are refused: what is said, of which line, and with which help.
const MISTAKES: &[(&str, &str, &str, &str)] = &[
    ("\ntargts = ['sm_90']", "no key `targts`", "2 │ targts", "did you mean `targets`?"),
    ("[[paths]]\nfile = ['a']\nlevels = {}", "no key `file`", "2 │ file", "did you mean `files`?"),
    ("targets = ['sm_91']", "`sm_91` is not a target", "1 │ targets", "did you mean `sm_90`?"),
    ("zzz = 1", "no key `zzz`", "1 │ zzz", "there are `extends`, `targets`,"),
    ("format = 'jason'", "there is no format `jason`", "1 │ format", "did you mean `json`?"),
    ("format = 'json=out'", "there is no format `json=out`", "1 │ format", "there are `text`, `short`,"),
    ("format = true", "`format` is a word", "1 │ format", "`format = \"short\"`"),
    ("sort = 'size'", "there is no order `size`", "1 │ sort", "there are `path`, `cost`"),
    ("top = 0", "findings are counted from 1", "1 │ top", "write a number: 10"),
    ("top = 'x'", "`top` is a number", "1 │ top", "`top = 10`"),
    ("min-share = 101", "a share is 0 to 100 percent", "1 │ min-share", "write a number: 5"),
    ("min-ways = -1", "ways are counted from 2", "1 │ min-ways", "write a number: 4"),
    ("baseline = []", "`baseline` is the path of a file", "1 │ baseline", "`baseline = \"cudalint-b"),
    ("extends = 3", "`extends` is the path of a file", "1 │ extends", "`extends = \"../common"),
    ("extends = '../x'", "`../x` is not the name of a conf", "1 │ extends", "ends in `.toml`"),
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
    ("[[paths]]\nfiles = ['a']", "an entry of `paths` has `files` and `levels`", "1 │ [[paths]]", "levels"),
    ("[paths]\nfiles = ['a']", "`paths` is a list of tables", "1 │ [paths]", "`[[paths]]`"),
    ("top = 1\ntop = 2", "duplicate key", "2 │ top", ""),
    ("targets = [", "", "1 │ targets", ""),
];

#[test]
fn a_mistake_is_shown_in_its_line_with_what_was_meant() {
    for (text, message, line, help) in MISTAKES {
        let text = refusal(text);
        for part in [message, line, help, "cudalint.toml:"] {
            assert!(text.contains(part), "{part}:\n{text}");
        }
    }
}

/// `CUDALINT_BLESS=1` rewrites what is compared with; then read the difference.
#[test]
fn every_mistake_is_told_as_before() {
    let now: String = MISTAKES.iter().map(|(text, ..)| format!("{}\n\n", refusal(text))).collect();
    let snapshot = "src/config/mistakes.txt";
    if std::env::var_os("CUDALINT_BLESS").is_some() {
        std::fs::write(snapshot, &now).unwrap();
    }
    assert_eq!(std::fs::read_to_string(snapshot).unwrap(), now);
}

/// Mistakes that a schema cannot see: a number of threads in all, a pattern, a device that nobody made.
const UNSEEN: [&str; 3] = ["[blocks]\nk = [64, 32]", "exclude = ['a[']", "targets = ['sm_91']"];

fn validator() -> jsonschema::Validator {
    jsonschema::validator_for(&serde_json::from_str(&schema()).unwrap()).unwrap()
}

/// The complaints of the schema; `None` of what is no TOML.
fn complaints(validator: &jsonschema::Validator, text: &str) -> Option<Vec<String>> {
    let value: serde_json::Value = toml::from_str(text).ok()?;
    Some(validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect())
}

#[test]
fn the_schema_refuses_what_the_parser_refuses() {
    let validator = validator();
    for (text, ..) in MISTAKES {
        let Some(complaints) = complaints(&validator, text) else { continue };
        assert_eq!(complaints.is_empty(), UNSEEN.contains(text), "{text}: {complaints:?}");
    }
}

#[test]
fn the_schema_takes_what_the_parser_takes() {
    let validator = validator();
    for text in [
        "",
        "targets = []",
        "targets = ['sm_80', '9.0', 'compute_100a', 'sm90', 'SM_75', 'cc 7.0']",
        "bank-size = 8\nmin-share = 0\nmin-ways = 0\ntop = 1",
        "compile-commands = false",
        "compile-commands = '../build'",
        "[defines]\n_N = -4\nF = false\nT = ''",
        "[blocks]\n'*' = [256]\n'lib::k<4>' = [8, 8, 4]",
        "[levels]\nall = 'allow'",
        "[[paths]]\nfiles = []\nlevels = {}",
    ] {
        read(text).unwrap();
        assert_eq!(complaints(&validator, text).unwrap(), [] as [&str; 0], "{text}");
    }
}

#[test]
fn the_schema_has_the_keys_words_and_rules_of_the_parser() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    let keys = |schema: &serde_json::Value| {
        schema["properties"].as_object().unwrap().keys().cloned().collect::<BTreeSet<String>>()
    };
    // The parser says what it knows when it is asked for what nobody could mean.
    let known = |text: &str| -> BTreeSet<String> {
        let text = refusal(text).replace("\n          ", " ");
        let list = text.split_once("= help: there are ").expect("a list").1;
        list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    assert_eq!(keys(&schema), known("zzzzzzzzzzzz = 1"));
    let entry = &schema["properties"]["paths"]["items"];
    assert_eq!(keys(entry), known("[[paths]]\nzzzzzzzzzzzz = 1"));
    assert_eq!(entry["required"], serde_json::json!(["files", "levels"]));
    let rules = std::iter::once("all").chain(crate::rules::ALL.iter().map(|rule| rule.id));
    let rules: BTreeSet<String> = rules.map(str::to_owned).collect();
    assert_eq!(keys(&schema["properties"]["levels"]), rules);
    let described = |value: &serde_json::Value| value["description"].as_str().is_some_and(|it| it.len() > 10);
    for (key, value) in schema["properties"].as_object().unwrap() {
        assert!(described(value), "{key}");
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
    let of_runs = (config.baseline.is_some(), config.format.unwrap().value, config.top.unwrap().value.get());
    assert_eq!(of_runs, (true, "short".to_owned(), 10));
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

/// The error of the first file that has one.
fn error_of(files: &[(&str, &str)], file: &str) -> String {
    let (configs, _) = configs(files);
    configs.of(Path::new(file));
    configs.take_errors().first().expect("an error").to_string()
}

#[test]
fn what_is_extended_comes_behind_its_file_and_before_those_above() {
    let (configs, _) = configs(&[
        ("/p/cudalint.toml", "targets = ['sm_70']\nbank-size = 4\nmin-ways = 2"),
        ("/p/a/cudalint.toml", "extends = '../common/base.toml'\ntargets = ['sm_80']"),
        (
            "/p/common/base.toml",
            "extends = 'deeper.toml'\ntargets = ['sm_90']\nbank-size = 8\ninclude = ['inc']",
        ),
        (
            "/p/common/deeper.toml",
            "exclude = ['/gen/', '*_old.cu']\nbaseline = 'known.json'\n[levels]\nall = 'note'",
        ),
    ]);
    let chain = configs.of(Path::new("a/x.cu"));
    assert_eq!(configs.take_errors(), []);
    let paths: Vec<_> = chain.iter().map(|config| config.path.display().to_string()).collect();
    assert_eq!(paths, ["a/cudalint.toml", "common/base.toml", "common/deeper.toml", "cudalint.toml"]);
    let base = &chain[1];
    assert_eq!(base.include[0].value, Path::new("common/inc"), "paths count from their file");
    assert_eq!(chain[2].baseline.as_ref().unwrap().value, Path::new("common/known.json"));
    let excluded = |path: &str| chain.iter().any(|config| config.excludes(Path::new(path), false));
    assert!(excluded("/p/a/gen/x.cu") && excluded("/p/a/x_old.cu"), "patterns from the one that extends");
    assert!(!excluded("/p/common/gen/x.cu") && !excluded("/p/a/b/gen/x.cu"));
    assert_eq!(chain[2].level(Path::new("/p/a/x.cu"), "bank-conflict").unwrap().value, Level::Note);
    assert_eq!(configs.of(Path::new("common/x.cu")).len(), 1, "only who extends it is under it");
}

#[test]
fn what_is_in_force_anyway_may_be_extended() {
    let (configs, _) = configs(&[
        ("/p/cudalint.toml", "targets = ['sm_70']\nextends = 'a/b/cudalint.toml'"),
        ("/p/a/cudalint.toml", "extends = '../cudalint.toml'"),
        ("/p/a/b/cudalint.toml", "targets = ['sm_80']"),
    ]);
    let paths = |file: &str| -> Vec<String> {
        configs.of(Path::new(file)).iter().map(|config| config.path.display().to_string()).collect()
    };
    assert_eq!(paths("a/x.cu"), ["a/cudalint.toml", "cudalint.toml", "a/b/cudalint.toml"]);
    let own_first = ["a/b/cudalint.toml", "a/cudalint.toml", "cudalint.toml", "a/b/cudalint.toml"];
    assert_eq!(paths("a/b/x.cu"), own_first);
    assert_eq!(configs.take_errors(), []);
}

#[test]
fn what_cannot_be_extended_is_shown_where_it_is_named() {
    let a = "/p/cudalint.toml";
    assert_eq!(
        error_of(&[(a, "# first\nextends = 'b.toml'"), ("/p/b.toml", "extends = './cudalint.toml'")], "x.cu"),
        "\
error: the files extend each other in a circle: `cudalint.toml` extends `b.toml` extends `cudalint.toml`
  ┌─ b.toml:1:11
  │
1 │ extends = './cudalint.toml'
  │           ^^^^^^^^^^^^^^^^^"
    );
    let error = error_of(&[(a, "extends = 'cudalint.toml'")], "x.cu");
    assert!(
        error.contains("the files extend each other in a circle: `cudalint.toml` extends `cudalint.toml`\n"),
        "{error}"
    );
    let error = error_of(&[(a, "extends = '../no/such.toml'")], "x.cu");
    assert!(error.contains("there is no file `/no/such.toml`\n") && error.contains("cudalint.toml:1:11"));
    let error = error_of(&[(a, "extends = 'secret/cudalint.toml'")], "x.cu");
    assert!(error.contains("cannot read `secret/cudalint.toml`: no permission\n"), "{error}");
    let error = error_of(&[(a, "extends = 'b.toml'"), ("/p/b.toml", "\ntragets = []")], "x.cu");
    assert!(error.contains("no key `tragets`\n  ┌─ b.toml:2:1"), "{error}");
    let (several, _) = configs(&[
        ("/p/a/cudalint.toml", "extends = '../b.toml'"),
        ("/p/c/cudalint.toml", "extends = '../b.toml'"),
        ("/p/b.toml", "tragets = []"),
    ]);
    several.of(Path::new("a/x.cu"));
    several.of(Path::new("c/x.cu"));
    assert_eq!(several.take_errors().len(), 1, "told once");
    let many: Vec<(String, String)> =
        (0..40).map(|at| (format!("/p/{at}.toml"), format!("extends = '{}.toml'", at + 1))).collect();
    let mut files: Vec<(&str, &str)> =
        many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.push((a, "extends = '0.toml'"));
    assert!(error_of(&files, "x.cu").contains("more than 16 files extend each other"));
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let (configs, _) = configs(&[("/p/cudalint.toml", "oops")]);
    assert_eq!(configs.of(Path::new("secret/x.cu")).len(), 0);
    let errors: Vec<String> = configs.take_errors().iter().map(|it| it.message.clone()).collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[1].contains("cannot read `secret/cudalint.toml`: no permission"), "{errors:?}");
}
