//! What can be said on the command line?

mod levels;
mod order;
mod values;

use crate::shape::BlockOption;
pub use levels::Levels;
pub use order::{nearest_subcommand, subcommand_first};
pub use values::element_bytes;

use crate::analysis::{Options, Wanted};
use crate::config::WhichCommands;
use crate::diagnostic::Level;
use crate::rules;
use crate::syntax;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::LazyLock;

/// Finds shared-memory bank conflicts and divergent barriers in CUDA source, without a GPU or a compiler.
#[derive(Debug, Parser)]
#[command(
    name = "cudalint",
    version = VERSION.as_str(),
    args_conflicts_with_subcommands = true,
    after_help = EXIT_CODES
)]
pub struct Cli {
    /// What to do; without it, `check`.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The arguments of `check`.
    #[command(flatten)]
    pub check: CheckArgs,
}

/// The version of this program and of the grammar it parses with.
static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (tree-sitter-cuda {})", env!("CARGO_PKG_VERSION"), syntax::GRAMMAR_VERSION));

const EXIT_CODES: &str = "\
Exit codes:
  0  no findings at level warn or above
  1  findings; 0 with --exit-zero
  2  wrong usage, or a file that could not be checked

Comments in the source:
  // cudalint: allow(RULE): reason           on or above a line, or above a kernel; also expect(RULE)
  // cudalint: allow-file(RULE): reason      anywhere in the file
  // cudalint: block(32, 8)                  above a kernel

Examples:
  cudalint                                   check every CUDA file in the current folder
  cudalint --target sm_80 --block 32,8 k.cu  judge for one device and one block shape
  cudalint --changed-since main... src       only what a branch adds
  cudalint --top 3 --min-share 10 src        the three most expensive findings
  cudalint accesses --summary src            how much is known, and what is missing
  cudalint accesses --races src              which kernels are proved free of races";

const BANKS_HELP: &str = "\
Exit codes:
  0  done; with --requests, the model agrees with every measured request
  1  the model disagrees with a measured request
  2  wrong usage, or a file that is not a table of requests

Examples:
  cudalint banks --elem float --shape 32x33
  cudalint banks --elem double --shape 16,16 --target sm_20,sm_90
  cudalint banks --requests measured.csv --target sm_90";

const EXPLAIN_HELP: &str = "\
Exit codes:
  0  explained
  2  wrong usage, or nothing to explain at this place

Examples:
  cudalint explain bank-conflict             what the rule finds, why it matters, its limits
  cudalint explain src/transpose.cu:14       lanes and banks of the accesses on line 14
  cudalint explain tile.cuh:14:9 src --target sm_80,sm_90
  cudalint rules                             list the rules";

const DUMP_HELP: &str = "\
For work on cudalint itself: the format may change with any version.

Exit codes:
  0  shown
  2  wrong usage, or a file that could not be read (the others are shown)

Examples:
  cudalint dump --stage hir src/transpose.cu  the lowered program, after macro expansion
  cudalint dump --stage events --block 32,8 src/transpose.cu
                                              what each run of a kernel recorded";

const LSP_HELP: &str = "\
Editors start this command and speak the Language Server Protocol with it over stdin and stdout.
It checks the open folders as `cudalint check FOLDER` does, and sees unsaved buffers.
docs/editors.md shows how to set up an editor.

Exit codes:
  0  the editor ended the session, or closed the connection
  2  wrong usage, or messages outside the protocol";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check files and folders (the default)
    #[command(after_help = EXIT_CODES)]
    Check(CheckArgs),
    /// List every shared-memory access with its verdict, known or not
    Accesses(AccessesArgs),
    /// Query the bank model: the banks of an array, or the wavefronts of requests in a file
    #[command(after_help = BANKS_HELP)]
    Banks(BanksArgs),
    /// List the rules, or write a page about each
    Rules(RulesArgs),
    /// Print the settings that apply to a file, and where each comes from
    Config(ConfigArgs),
    /// Write a commented cudalint.toml
    Init(InitArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for each command
    Man(ManArgs),
    /// Explain a rule, or draw the accesses and barriers of a line: which lanes use which bank
    #[command(after_help = EXPLAIN_HELP)]
    Explain(ExplainArgs),
    /// Run a language server: findings, fixes and explanations in an editor, while you type
    #[command(after_help = LSP_HELP)]
    Lsp(LspArgs),
    /// Show the output of one stage of the analysis, for work on cudalint itself; the format may change
    #[command(after_help = DUMP_HELP)]
    Dump(DumpArgs),
}

/// `cudalint check`
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// What to look at, and for what.
    #[command(flatten)]
    pub analysis: AnalysisArgs,
    /// How loud.
    #[command(flatten)]
    pub levels: Levels,
    /// Output format, `text` by default; FORMAT=FILE also writes that format to a file (repeatable)
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = values::Reports, help_heading = "Output")]
    pub format: Vec<Report>,
    /// Write the findings, or the diff, to this file instead of stdout
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// What is told.
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// Hide the findings listed in this file
    #[arg(long, value_name = "FILE", help_heading = "Baseline")]
    pub baseline: Option<PathBuf>,
    /// Ignore the baseline that cudalint.toml names
    #[arg(long, help_heading = "Baseline", conflicts_with = "baseline")]
    pub no_baseline: bool,
    /// Write the findings to a file for --baseline instead of reporting them
    #[arg(long, value_name = "FILE", help_heading = "Baseline", conflicts_with = "baseline")]
    pub write_baseline: Option<PathBuf>,
    /// Report only findings on lines that changed since this commit; `REV...` means since the current branch
    /// left REV
    #[arg(
        long,
        value_name = "REV",
        help_heading = "Baseline",
        conflicts_with_all = ["write_baseline", "stdin_filename"]
    )]
    pub changed_since: Option<String>,
    /// Apply the fixes that a second run confirms, and report what is left
    #[arg(long, help_heading = "Fixes", conflicts_with = "stdin_filename")]
    pub fix: bool,
    /// Print these fixes as a unified diff instead, and change nothing
    #[arg(long, help_heading = "Fixes", conflicts_with_all = ["fix", "format", "stdin_filename"])]
    pub diff: bool,
    /// Include fixes that may affect other code, such as a sizeof of the array or a function that takes it
    #[arg(long, help_heading = "Fixes")]
    pub unsafe_fixes: bool,
    /// Write comments that allow the findings instead, and report what is left; each ends with REASON, `not
    /// reviewed yet` by default
    #[arg(
        long,
        value_name = "REASON",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        help_heading = "Fixes",
        conflicts_with_all = ["fix", "diff", "write_baseline", "statistics", "stdin_filename"]
    )]
    pub add_allow: Option<String>,
    /// Colour in the text format; `auto` is on for a terminal, and follows NO_COLOR and CLICOLOR_FORCE
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", help_heading = "Output")]
    pub color: When,
    /// Links to files and rules in the text format; `auto` is on for terminals known to support them
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", help_heading = "Output")]
    pub hyperlinks: When,
    /// Exit with 0 whatever is found
    #[arg(long, help_heading = "Output")]
    pub exit_zero: bool,
    /// Check again whenever a file changes, until Ctrl-C
    #[arg(
        long,
        help_heading = "Output",
        conflicts_with_all = ["fix", "diff", "add_allow", "write_baseline", "stdin_filename"]
    )]
    pub watch: bool,
}

/// Which findings are told, and in which order.
#[derive(Clone, Debug, Default, Args)]
pub struct ChoiceArgs {
    /// Order of the findings: most expensive first, or by file and line; by default `cost` in the text,
    /// markdown and html formats, `path` in the others
    #[arg(long, value_enum, value_name = "ORDER", help_heading = "Output")]
    pub sort: Option<Sort>,
    /// Print only the N most expensive findings
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub top: Option<NonZeroUsize>,
    /// Print a table of rules, kernels and causes instead of the findings
    #[arg(
        long,
        help_heading = "Output",
        conflicts_with_all = ["format", "diff", "write_baseline", "top", "sort"]
    )]
    pub statistics: bool,
    /// Hide bank conflicts that cost less than this share of their kernel's shared-memory wavefronts
    #[arg(
        long,
        value_name = "PERCENT",
        value_parser = values::percent,
        help_heading = "Threshold"
    )]
    pub min_share: Option<u8>,
    /// Hide bank conflicts with fewer ways
    #[arg(long, value_name = "N", help_heading = "Threshold")]
    pub min_ways: Option<u32>,
}

/// `cudalint accesses`
#[derive(Debug, Args)]
pub struct AccessesArgs {
    /// What to look at, and for what.
    #[command(flatten)]
    pub analysis: AnalysisArgs,
    /// How the accesses are printed
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub format: TableFormat,
    /// Print only how many accesses are known, and why the others are not
    #[arg(long, help_heading = "Output")]
    pub summary: bool,
    /// Print for each kernel whether it is proved free of shared-memory races, and if not, why
    #[arg(long, help_heading = "Output", conflicts_with = "summary")]
    pub races: bool,
}

/// What is common to the commands that analyse files.
#[derive(Clone, Debug, Args)]
pub struct AnalysisArgs {
    /// Files, folders, or patterns such as 'src/**/*.cu'; `-` is stdin; the default is the current folder
    #[arg(value_name = "PATHS")]
    pub paths: Vec<PathBuf>,
    /// Read stdin as the content of this file, such as an editor's unsaved buffer
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub stdin_filename: Option<PathBuf>,
    /// Devices to judge for: sm_90, 7.0, ... (comma-separated)
    #[arg(
        long = "target",
        value_name = "TARGETS",
        value_delimiter = ',',
        value_parser = values::target,
        help_heading = "Model"
    )]
    pub targets: Vec<String>,
    /// Width of a bank in bytes, 4 by default; only compute capability 3.x has 8
    #[arg(long, value_name = "BYTES", value_parser = ["4", "8"], help_heading = "Model")]
    pub bank_size: Option<String>,
    /// Block shape for all kernels or for one: 32,8 or KERNEL=32,8 (repeatable)
    #[arg(
        long = "block",
        value_name = "[KERNEL=]X[,Y[,Z]]",
        value_parser = values::block,
        help_heading = "Model"
    )]
    pub blocks: Vec<BlockOption>,
    /// Define a macro, as a compiler's -D does (repeatable)
    #[arg(
        long = "define",
        value_name = "NAME[=VALUE]",
        value_parser = values::define,
        help_heading = "Model"
    )]
    pub defines: Vec<(String, String)>,
    /// Folder to search for #include (repeatable); a bare "name.h" found in none is searched for below PATHS
    #[arg(short = 'I', value_name = "DIR", help_heading = "Model")]
    pub include_dirs: Vec<PathBuf>,
    /// Where include folders, macros and targets are written.
    #[command(flatten)]
    pub build: BuildArgs,
    /// Also read these files and folders, but report only findings in PATHS and in kernels that they launch
    /// (repeatable)
    #[arg(long, value_name = "PATH", help_heading = "Files")]
    pub context: Vec<PathBuf>,
    /// Skip files and folders, even those named in PATHS; written as in .gitignore (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Files")]
    pub exclude: Vec<String>,
    /// Also check files that .gitignore excludes
    #[arg(long, help_heading = "Files")]
    pub no_ignore: bool,
    /// Number of threads, at most 256; the output is the same for any
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub threads: Option<NonZeroUsize>,
    /// No summary and no progress bar
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
    /// The levels of rules, where findings are asked for.
    #[arg(skip)]
    pub levels: Option<Levels>,
}

/// How the files are built.
#[derive(Clone, Debug, Args)]
pub struct BuildArgs {
    /// Read include folders, macros and targets from the compile_commands.json in this folder; by default,
    /// from one in a build folder of the project or, if there is none, macros from CMakeLists.txt and Makefile
    #[arg(short = 'p', value_name = "DIR", help_heading = "Model")]
    compile_commands: Option<PathBuf>,
    /// Do not look for a compile_commands.json, nor for macros in CMakeLists.txt and Makefile
    #[arg(long, help_heading = "Model", conflicts_with = "compile_commands")]
    no_compile_commands: bool,
}

impl BuildArgs {
    /// Which compile commands are to be read.
    #[must_use]
    pub fn which(&self) -> WhichCommands {
        match &self.compile_commands {
            Some(path) => WhichCommands::At(path.clone()),
            None if self.no_compile_commands => WhichCommands::Off,
            None => WhichCommands::Found,
        }
    }
}

impl CheckArgs {
    /// The reports that are to be made, at most one of them on stdout. An error is a sentence.
    pub fn reports(&self) -> Result<Vec<Report>, String> {
        let mut reports = self.format.clone();
        if reports.is_empty() {
            reports.push(Report { format: Format::default(), file: None });
        }
        let mut printed = reports.iter_mut().filter(|report| report.file.is_none());
        match (printed.next(), printed.next(), &self.output) {
            (_, Some(_), _) => {
                return Err("only one format can go to stdout: give the others a file, --format FORMAT=FILE"
                    .to_owned());
            }
            (Some(report), None, Some(path)) => report.file = Some(path.clone()),
            (None, _, Some(_)) => return Err("--output needs a --format without a file".to_owned()),
            (_, None, None) => {}
        }
        let mut files: Vec<&PathBuf> = reports.iter().filter_map(|report| report.file.as_ref()).collect();
        files.sort();
        match files.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("two formats cannot be written into `{}`", pair[0].display())),
            None => Ok(reports),
        }
    }
}

impl CheckArgs {
    /// What the reports need of the analysis.
    #[must_use]
    pub fn wanted(&self) -> Wanted<'static> {
        match self.format.iter().any(|report| report.format == Format::Html) {
            true => Wanted::Views,
            false => Wanted::Findings,
        }
    }
}

/// The file that stdin is taken for when `-` stands for it.
const STDIN: &str = "stdin.cu";

impl AnalysisArgs {
    /// The same with the file that is meant by `-` among the paths.
    #[must_use]
    pub fn with_stdin(&self) -> AnalysisArgs {
        let mut args = self.clone();
        args.paths.retain(|path| path.as_os_str() != "-");
        if args.paths.len() < self.paths.len() {
            args.stdin_filename.get_or_insert_with(|| PathBuf::from(STDIN));
        }
        args
    }

    /// The same with the working folder where no path is given.
    #[must_use]
    pub fn with_default_path(mut self) -> AnalysisArgs {
        if self.paths.is_empty() && self.stdin_filename.is_none() {
            self.paths.push(PathBuf::from("."));
        }
        self
    }

    /// The same for other paths.
    #[must_use]
    pub fn with_paths(&self, paths: Vec<PathBuf>) -> AnalysisArgs {
        AnalysisArgs { paths, ..self.clone() }
    }

    /// Whether a rule is on, where no file says more.
    fn asks_for(&self, rule: &rules::Rule) -> bool {
        self.levels.as_ref().is_some_and(|levels| levels.of(rule.id, rule.level) != Level::Allow)
    }

    /// What the analysis needs to know of it, where no file says more.
    #[must_use]
    pub fn options(&self) -> Options {
        Options {
            targets: self.targets.clone(),
            bank_size_eight: self.bank_size.as_deref() == Some("8"),
            blocks: self.blocks.clone(),
            defines: self.defines.clone(),
            include_dirs: self.include_dirs.clone(),
            global_memory: self.asks_for(&rules::global_race::RULE),
            needless_barriers: self.asks_for(&rules::redundant_barrier::RULE),
        }
    }
}

/// `cudalint banks`
#[derive(Debug, Args)]
pub struct BanksArgs {
    /// Element type or size in bytes: float, float4, 8
    #[arg(long, value_name = "TYPE", required_unless_present = "requests")]
    pub elem: Option<String>,
    /// Shape of the array: 32x32 or 32,32
    #[arg(long, value_name = "SHAPE", required_unless_present = "requests")]
    pub shape: Option<String>,
    /// Devices to judge for: sm_90, 7.0, ... (comma-separated)
    #[arg(long = "target", value_name = "TARGETS", value_delimiter = ',', value_parser = values::target)]
    pub targets: Vec<String>,
    /// Width of a bank in bytes; only compute capability 3.x has 8
    #[arg(long, value_name = "BYTES", default_value = "4", value_parser = ["4", "8"])]
    pub bank_size: String,
    /// Judge every request of a CSV file instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["elem", "shape"])]
    pub requests: Option<PathBuf>,
}

/// `cudalint rules`
#[derive(Debug, Args)]
pub struct RulesArgs {
    /// Write a Markdown page about each rule to this folder instead, and an index
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub markdown: Option<PathBuf>,
}

/// `cudalint config`
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// The file or folder to show settings for
    #[arg(required_unless_present = "schema")]
    pub file: Option<PathBuf>,
    /// Print the JSON schema of cudalint.toml instead, for editors
    #[arg(long, conflicts_with_all = ["file", "compile_commands", "no_compile_commands"])]
    pub schema: bool,
    /// Where include folders, macros and targets are written.
    #[command(flatten)]
    pub build: BuildArgs,
}

/// `cudalint init`
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The folder to write it into
    #[arg(default_value = ".")]
    pub folder: PathBuf,
    /// Also write the JSON schema beside the file and name it in the first line, for editors that complete and
    /// check TOML
    #[arg(long)]
    pub schema: bool,
}

/// `cudalint completions`
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// `cudalint man`
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write this page and one for each command to a folder instead: cudalint.1, cudalint-explain.1, ...
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
}

/// `cudalint explain`
#[derive(Debug, Args)]
#[command(mut_arg("paths", |paths| paths.help(MORE_PATHS)))]
pub struct ExplainArgs {
    /// A rule's id, or a place in the source
    #[arg(
        value_name = "RULE|FILE:LINE[:COLUMN]",
        value_parser = values::Subject,
        hide_possible_values = true
    )]
    pub subject: String,
    /// What to look at, and for what.
    #[command(flatten)]
    pub analysis: AnalysisArgs,
    /// Colour; `auto` is on for a terminal, and follows NO_COLOR and CLICOLOR_FORCE
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", help_heading = "Output")]
    pub color: When,
}

const MORE_PATHS: &str =
    "More files and folders, such as those with the launches; the file of the place need not be listed";

/// `cudalint dump`
#[derive(Debug, Args)]
pub struct DumpArgs {
    /// The stage to show
    #[arg(long, value_enum, value_name = "STAGE", help_heading = "Output")]
    pub stage: Stage,
    /// What to look at, and for what.
    #[command(flatten)]
    pub analysis: AnalysisArgs,
}

/// `cudalint lsp`
#[derive(Clone, Debug, Args)]
pub struct LspArgs {
    /// Accepted because some editors pass it: stdin and stdout are always used
    #[arg(long)]
    pub stdio: bool,
    /// Where include folders, macros and targets are written.
    #[command(flatten)]
    pub build: BuildArgs,
    /// How loud.
    #[command(flatten)]
    pub levels: Levels,
    /// Hide the findings listed in this file
    #[arg(long, value_name = "FILE", help_heading = "Baseline")]
    pub baseline: Option<PathBuf>,
    /// Also check files that .gitignore excludes
    #[arg(long, help_heading = "Files")]
    pub no_ignore: bool,
    /// Offer inlay hints: the ways of a bank conflict, after the access
    #[arg(long, help_heading = "Output")]
    pub inlay_hints: bool,
    /// Number of threads, at most 256; the findings are the same for any
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub threads: Option<NonZeroUsize>,
}

impl LspArgs {
    /// What `cudalint check` would be given for these paths, or for what stdin holds for a file.
    #[must_use]
    pub fn check(&self, paths: Vec<PathBuf>, stdin_filename: Option<PathBuf>) -> CheckArgs {
        let analysis = AnalysisArgs {
            paths,
            stdin_filename,
            targets: Vec::new(),
            bank_size: None,
            blocks: Vec::new(),
            defines: Vec::new(),
            include_dirs: Vec::new(),
            build: self.build.clone(),
            context: Vec::new(),
            exclude: Vec::new(),
            no_ignore: self.no_ignore,
            threads: self.threads,
            quiet: true,
            levels: Some(self.levels.clone()),
        };
        CheckArgs {
            analysis,
            levels: self.levels.clone(),
            format: Vec::new(),
            output: None,
            choice: ChoiceArgs::default(),
            baseline: self.baseline.clone(),
            no_baseline: false,
            write_baseline: None,
            changed_since: None,
            fix: false,
            diff: false,
            unsafe_fixes: true,
            color: When::Never,
            hyperlinks: When::Never,
            exit_zero: false,
            watch: false,
            add_allow: None,
        }
    }
}

/// A stage of the analysis, by what it hands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Stage {
    /// The lowered program: kernels, device functions, host functions that launch, and their shared declarations
    Hir,
    /// What happened in each run of a kernel: accesses, barriers and loops in order, and who reached each barrier
    Events,
    /// The requests of each access: the distinct requests of warps, and how often they occur
    Requests,
}

/// A report of the findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How it is written.
    pub format: Format,
    /// Where to; `None` for stdout.
    pub file: Option<PathBuf>,
}

/// In which order findings come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// By file, line and column
    Path,
    /// Errors, warnings, then notes; bank conflicts by cost
    Cost,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Source lines, notes and helps, in the style of rustc
    #[default]
    Text,
    /// `file:line:col: level[rule]: message`
    Short,
    /// One object per line; schemas/check-2.json
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// GitHub Actions annotations
    Github,
    /// A GitLab Code Quality report
    Gitlab,
    /// A JUnit report
    Junit,
    /// A page for a job summary
    Markdown,
    /// A page for browsers: kernels by waste, findings, source, lanes and banks
    Html,
}

/// How a table is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// A table for each file
    #[default]
    Text,
    /// One object per line
    Json,
}

/// When something is printed that only terminals show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal that shows it
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[cfg(test)]
mod tests;
