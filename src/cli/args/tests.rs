use super::*;
use crate::diagnostic::Level;
use clap::CommandFactory;

fn check(line: &str) -> CheckArgs {
    let words = std::iter::once("cudalint").chain(line.split_whitespace());
    match Cli::try_parse_from(words).unwrap() {
        Cli { command: Some(Command::Check(check)), .. } => check,
        Cli { command: None, check } => check,
        other => panic!("{other:?}"),
    }
}

fn refusal(line: &str) -> String {
    let words = std::iter::once("cudalint").chain(line.split_whitespace());
    Cli::try_parse_from(words).unwrap_err().to_string()
}

#[test]
fn definitions_are_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn check_is_what_happens_without_a_subcommand() {
    for line in ["a.cu -q --block 32,8 b.cu", "check a.cu -q --block 32,8 b.cu"] {
        let args = check(line);
        assert_eq!(args.analysis.paths, ["a.cu", "b.cu"].map(PathBuf::from));
        assert!(args.analysis.quiet);
        assert_eq!(
            args.analysis.blocks,
            [BlockOption { kernel: None, shape: [32, 8, 1], configured: false }]
        );
    }
}

#[test]
fn a_file_may_have_a_subcommands_name() {
    assert_eq!(check("./banks").analysis.paths, [PathBuf::from("./banks")]);
    assert_eq!(check("check rules").analysis.paths, [PathBuf::from("rules")]);
}

#[test]
fn paths_may_be_left_out_and_one_may_be_stdin() {
    let meant = |line: &str| {
        let args = check(line).analysis.with_stdin().with_default_path();
        let name = args.stdin_filename.map(|path| path.display().to_string());
        (args.paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(), name)
    };
    let (here, stdin) = (vec![".".to_owned()], Some("stdin.cu".to_owned()));
    assert_eq!([meant("-q"), meant("check")], [(here.clone(), None), (here, None)]);
    assert_eq!(meant("-"), (vec![], stdin.clone()));
    assert_eq!(meant("- src"), (vec!["src".to_owned()], stdin));
    assert_eq!(meant("--stdin-filename a.cu"), (vec![], Some("a.cu".to_owned())));
    assert_eq!(meant("--stdin-filename a.cu -"), (vec![], Some("a.cu".to_owned())));
    assert_eq!(meant("./-"), (vec!["./-".to_owned()], None));
}

#[test]
fn a_reason_needs_its_equals_sign() {
    assert_eq!(check("--add-allow src").add_allow.as_deref(), Some(""));
    assert_eq!(check("--add-allow=why src").add_allow.as_deref(), Some("why"));
    assert_eq!(check("--add-allow=why src").analysis.paths, [PathBuf::from("src")]);
}

#[test]
fn options_reach_the_analysis() {
    let args = check(
        "a.cu --target sm_70,9.0 --target sm_100a --bank-size 8 --block k=8,4,2 \
         --define N=4 --define E= --define F -I inc -Isys",
    );
    let options = args.analysis.options();
    assert_eq!(options.targets, ["sm_70", "9.0", "sm_100a"]);
    assert!(options.bank_size_eight);
    assert_eq!(
        options.blocks,
        [BlockOption { kernel: Some("k".into()), shape: [8, 4, 2], configured: false }]
    );
    let define = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(options.defines, [define("N", "4"), define("E", ""), define("F", "1")]);
    assert_eq!(options.include_dirs, ["inc", "sys"].map(PathBuf::from));
}

#[test]
fn wrong_values_are_refused_with_the_reason() {
    for (line, reason) in [
        ("--block 0 a.cu", "not a number of threads"),
        ("--block 32, a.cu", "not a number of threads"),
        ("--block 1,1,1,1 a.cu", "at most three dimensions"),
        ("--block 64,32 a.cu", "at most 1024 threads"),
        ("--block 4294967295,4294967295 a.cu", "at most 1024 threads"),
        ("--block 1,1,128 a.cu", "at most 64 threads along z"),
        ("--block =32 a.cu", "name is missing"),
        ("--target volta a.cu", "a target is written `sm_90` or `9.0`"),
        ("--target sm_ a.cu", "a target is written"),
        ("--bank-size 6 a.cu", "4, 8"),
        ("--define 1x a.cu", "`1x` is not a macro name"),
        ("--threads 0 a.cu", "zero"),
        ("-D bank-conflicts a.cu", "'bank-conflict'"),
    ] {
        assert!(refusal(line).contains(reason), "{line}: {}", refusal(line));
    }
}

#[test]
fn the_last_level_wins_across_flags() {
    let level = |line: &str, rule: &str| check(line).levels.of(rule, Level::Note);
    let bank = "bank-conflict";
    assert_eq!(level("a.cu", bank), Level::Note);
    assert_eq!(level("a.cu -W bank-conflict", bank), Level::Warn);
    assert_eq!(level("a.cu -W bank-conflict", "divergent-barrier"), Level::Note);
    assert_eq!(level("a.cu -D all", bank), Level::Deny);
    assert_eq!(level("a.cu -A all -W bank-conflict", bank), Level::Warn);
    assert_eq!(level("a.cu -W bank-conflict -A all", bank), Level::Allow);
    assert_eq!(level("a.cu --deny=bank-conflict -N bank-conflict", bank), Level::Note);
    assert_eq!(level("a.cu -N bank-conflict -Dbank-conflict", bank), Level::Deny);
}

#[test]
fn several_reports_go_to_several_places() {
    let reports = |line: &str| {
        let reports = check(line).reports()?;
        let shown = |it: &Report| {
            format!("{:?} {}", it.format, it.file.as_ref().map_or("-".into(), |it| it.display().to_string()))
        };
        Ok::<_, String>(reports.iter().map(shown).collect::<Vec<_>>().join(", "))
    };
    for (line, expected) in [
        ("a.cu", "Text -"),
        ("a.cu -o x", "Text x"),
        ("a.cu --format json", "Json -"),
        ("a.cu --format sarif=a=b.sarif", "Sarif a=b.sarif"),
        ("a.cu --format github --format sarif=s --format markdown=m", "Github -, Sarif s, Markdown m"),
        ("a.cu --format sarif=s --format short --output o", "Sarif s, Short o"),
    ] {
        assert_eq!(reports(line).unwrap(), expected, "{line}");
    }
    for (line, says) in [
        ("a.cu --format github --format sarif", "only one format can go to stdout"),
        ("a.cu --format sarif=s --output o", "--output needs a --format without a file"),
        ("a.cu --format sarif=s --format json=s", "two formats cannot be written into `s`"),
        ("a.cu --format sarif=s --format json -o s", "two formats cannot be written into `s`"),
    ] {
        assert!(reports(line).unwrap_err().contains(says), "{line}");
    }
    assert!(refusal("a.cu --format sarif=").contains("no file is named after `=`"));
    assert!(refusal("a.cu --format xml=a").contains("'xml'"), "{}", refusal("a.cu --format xml=a"));
}

#[test]
fn the_configuration_knows_the_same_words() {
    fn words<T: ValueEnum>() -> Vec<String> {
        let values = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        values.map(|value| value.get_name().to_owned()).collect()
    }
    assert_eq!(words::<Format>(), crate::config::FORMATS);
    assert_eq!(words::<Sort>(), crate::config::SORTS);
}
