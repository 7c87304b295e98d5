//! How is a configuration file written?

use super::{Config, Error, PathLevels, Set, WhichCommands};
use crate::banks::ComputeCapability;
use crate::diagnostic::Level;
use crate::{rules, shape};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;

mod types;

/// A file to begin with.
pub const TEMPLATE: &str = include_str!("template.toml");

/// The levels, as written.
pub(super) const LEVELS: [(&str, Level); 4] =
    [("allow", Level::Allow), ("note", Level::Note), ("warn", Level::Warn), ("deny", Level::Deny)];

type Table<T> = BTreeMap<Spanned<String>, Spanned<T>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Written {
    targets: Option<Spanned<Vec<Spanned<String>>>>,
    bank_size: Option<Spanned<i64>>,
    min_share: Option<Spanned<i64>>,
    min_ways: Option<Spanned<i64>>,
    #[serde(default)]
    include: Vec<Spanned<PathBuf>>,
    #[serde(default)]
    exclude: Vec<Spanned<String>>,
    compile_commands: Option<Spanned<PathOrSwitch>>,
    #[serde(default)]
    defines: Table<Value>,
    #[serde(default)]
    blocks: Table<Vec<u32>>,
    #[serde(default)]
    levels: Table<String>,
    #[serde(default)]
    paths: Vec<Paths>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Paths {
    files: Vec<Spanned<String>>,
    levels: Table<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Number(i64),
    Switch(bool),
    Text(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PathOrSwitch {
    Switch(bool),
    Path(PathBuf),
}

/// Reads a file's text. `shown` makes a path fit for output.
pub(super) fn read(
    text: &str,
    folder: &Path,
    path: &Path,
    shown: &dyn Fn(&Path) -> PathBuf,
) -> Result<Config, Error> {
    let file = File { text, path, folder };
    let written: Written = toml::from_str(text).map_err(|error| file.not_toml(&error))?;
    let mut targets = None;
    if let Some(list) = written.targets {
        for target in list.get_ref() {
            let known = target.get_ref().parse::<ComputeCapability>();
            known.map_err(|_| {
                let message = format!("`{}` is not a target", target.get_ref());
                file.error(target, message, "a target is written `sm_90` or `9.0`")
            })?;
        }
        let names = list.get_ref().iter().map(|target| target.get_ref().clone()).collect();
        targets = Some(file.set(&list, names));
    }
    let bank_size = match &written.bank_size {
        None => None,
        Some(size) => match size.get_ref() {
            4 => Some(file.set(size, 4)),
            8 => Some(file.set(size, 8)),
            _ => return Err(file.error(size, "a bank is 4 or 8 bytes wide".to_owned(), "write 4 or 8")),
        },
    };
    let min_share = written.min_share.as_ref().map(|share| match u8::try_from(*share.get_ref()) {
        Ok(percent @ 0..=100) => Ok(file.set(share, percent)),
        _ => Err(file.error(share, "a share is 0 to 100 percent".to_owned(), "write a number: 5")),
    });
    let min_ways = written.min_ways.as_ref().map(|ways| match u32::try_from(*ways.get_ref()) {
        Ok(number) => Ok(file.set(ways, number)),
        Err(_) => Err(file.error(ways, "ways are counted from 2".to_owned(), "write a number: 4")),
    });
    let mut blocks = Vec::new();
    for (kernel, block) in &written.blocks {
        let numbers: Vec<String> = block.get_ref().iter().map(ToString::to_string).collect();
        let shape = shape::block(&numbers.join(","))
            .map_err(|error| file.error(block, error, "one to three numbers of threads: [32, 8]"))?;
        let kernel = Some(kernel.get_ref().clone()).filter(|name| name != "*");
        blocks.push(file.set(block, (kernel, shape)));
    }
    let mut defines = Vec::new();
    for (name, value) in &written.defines {
        let text = match value.get_ref() {
            Value::Number(number) => number.to_string(),
            Value::Switch(on) => i32::from(*on).to_string(),
            Value::Text(text) => text.clone(),
        };
        let word = name.get_ref();
        let starts = word.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
        if !starts || word.contains(|c: char| !(c == '_' || c.is_ascii_alphanumeric())) {
            return Err(file.error(name, format!("`{word}` is not a macro name"), "a name of C++"));
        }
        defines.push(file.set(name, (word.clone(), text)));
    }
    let mut paths = Vec::new();
    for entry in &written.paths {
        paths.push(PathLevels { files: file.globs(&entry.files)?, levels: file.levels(&entry.levels)? });
    }
    let compile_commands = written.compile_commands.as_ref().map(|it| {
        let which = match it.get_ref() {
            PathOrSwitch::Switch(true) => WhichCommands::Found,
            PathOrSwitch::Switch(false) => WhichCommands::Off,
            PathOrSwitch::Path(path) => WhichCommands::At(folder.join(path)),
        };
        file.set(it, which)
    });
    let include = written.include.iter().map(|it| file.set(it, shown(&folder.join(it.get_ref()))));
    Ok(Config {
        targets,
        bank_size,
        min_share: min_share.transpose()?,
        min_ways: min_ways.transpose()?,
        include: include.collect(),
        compile_commands,
        defines,
        blocks,
        excluded: file.globs(&written.exclude)?,
        exclude: written.exclude.iter().map(|glob| file.set(glob, glob.get_ref().clone())).collect(),
        levels: file.levels(&written.levels)?,
        paths,
        path: path.to_path_buf(),
        folder: folder.to_path_buf(),
    })
}

struct File<'a> {
    text: &'a str,
    path: &'a Path,
    folder: &'a Path,
}

impl File<'_> {
    fn set<T, U>(&self, at: &Spanned<T>, value: U) -> Set<U> {
        let before = self.text.get(..at.span().start).unwrap_or("");
        Set { value, line: before.matches('\n').count() + 1 }
    }

    fn error<T>(&self, at: &Spanned<T>, message: String, help: &str) -> Error {
        Error {
            file: self.path.display().to_string(),
            text: self.text.to_owned(),
            span: at.span(),
            message,
            help: Some(help.to_owned()),
        }
    }

    fn not_toml(&self, error: &toml::de::Error) -> Error {
        let span = error.span().unwrap_or(0..0);
        let (message, help) = match unknown_key(error.message()) {
            Some((key, nearest)) => {
                (format!("there is no key `{key}`"), Some(format!("did you mean `{nearest}`?")))
            }
            None => match types::expected(self.text, &span) {
                Some((what, example)) => (what, Some(format!("write it as in `{example}`"))),
                None => (error.message().to_owned(), None),
            },
        };
        let (file, text) = (self.path.display().to_string(), self.text.to_owned());
        Error { file, text, span, message, help }
    }

    fn globs(&self, globs: &[Spanned<String>]) -> Result<Gitignore, Error> {
        if globs.is_empty() {
            return Ok(Gitignore::empty());
        }
        let mut builder = GitignoreBuilder::new(self.folder);
        builder.allow_unclosed_class(false);
        for glob in globs {
            builder.add_line(None, glob.get_ref()).map_err(|error| {
                let message = format!("`{}` is not a pattern: {error}", glob.get_ref());
                self.error(glob, message, "patterns are written as in `.gitignore`")
            })?;
        }
        let broken = |error: ignore::Error| match globs.first() {
            Some(first) => self.error(first, error.to_string(), "patterns are written as in `.gitignore`"),
            None => Error::unreadable(self.path, &std::io::Error::other(error.to_string())),
        };
        builder.build().map_err(broken)
    }

    fn levels(&self, table: &Table<String>) -> Result<Vec<Set<(String, Level)>>, Error> {
        let mut found = Vec::new();
        for (rule, level) in table {
            let name = rule.get_ref();
            if name != "all" && rules::find(name).is_none() {
                let help = match rules::nearest(name) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "`cudalint rules` lists them; `all` is every rule".to_owned(),
                };
                return Err(self.error(rule, format!("there is no rule `{name}`"), &help));
            }
            let known = LEVELS.iter().find(|(word, _)| word == level.get_ref());
            let Some((_, value)) = known else {
                let message = format!("`{}` is not a level", level.get_ref());
                return Err(self.error(level, message, "write `allow`, `note`, `warn` or `deny`"));
            };
            found.push(self.set(rule, (name.clone(), *value)));
        }
        Ok(found)
    }
}

/// The key that is not known and the known one nearest to it, of what serde says:
/// "unknown field `targts`, expected one of `targets`, `include`".
fn unknown_key(message: &str) -> Option<(String, String)> {
    let quoted = message.strip_prefix("unknown field ")?;
    let mut words = quoted.split('`').skip(1).step_by(2);
    let key = words.next()?;
    let nearest = words.min_by_key(|known| strsim::damerau_levenshtein(known, key))?;
    Some((key.to_owned(), nearest.to_owned()))
}
