//! How is a configuration file written?

use super::patterns::Patterns;
use super::{Config, Error, Extends, FORMATS, PathLevels, SORTS, Set, WhichCommands};
use crate::banks::ComputeCapability;
use crate::diagnostic::Level;
use crate::headers::normalise;
use crate::{rules, shape};
use serde::Deserialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use toml::Spanned;

mod keys;

/// A file to begin with.
pub const TEMPLATE: &str = include_str!("template.toml");

/// The levels, as written.
pub(super) const LEVELS: [(&str, Level); 4] =
    [("allow", Level::Allow), ("note", Level::Note), ("warn", Level::Warn), ("deny", Level::Deny)];

type Table<T> = BTreeMap<Spanned<String>, Spanned<T>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Written {
    extends: Option<Spanned<PathBuf>>,
    targets: Option<Spanned<Vec<Spanned<String>>>>,
    bank_size: Option<Spanned<i64>>,
    min_share: Option<Spanned<i64>>,
    min_ways: Option<Spanned<i64>>,
    #[serde(default)]
    include: Vec<Spanned<PathBuf>>,
    #[serde(default)]
    exclude: Vec<Spanned<String>>,
    compile_commands: Option<Spanned<PathOrSwitch>>,
    baseline: Option<Spanned<PathBuf>>,
    format: Option<Spanned<String>>,
    sort: Option<Spanned<String>>,
    top: Option<Spanned<i64>>,
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

/// The keys of the file, with the schemas of what stands behind them.
pub(super) fn top_keys() -> impl Iterator<Item = (String, Json)> {
    let top = keys::KEYS.iter().filter_map(|key| <[&str; 1]>::try_from(key.path).ok());
    top.map(|[name]| (name.to_owned(), keys::value_of(&[name])))
}

/// A file that is read.
pub(super) struct File<'a> {
    /// What is in it.
    pub text: &'a str,
    /// Its path, as it is shown.
    pub path: &'a Path,
    /// The absolute folder that it lies in, from which its paths count.
    pub base: &'a Path,
    /// The absolute folder that it is about, from which its patterns count.
    pub folder: &'a Path,
}

/// The name of a kernel, if it is of one only, and a shape.
type Block = (Option<String>, [u32; 3]);

/// Reads a file's text. `shown` makes a path fit for output.
pub(super) fn read(file: &File<'_>, shown: &dyn Fn(&Path) -> PathBuf) -> Result<Config, Error> {
    let written: Written = toml::from_str(file.text).map_err(|error| file.not_toml(&error))?;
    let targets = written.targets.as_ref().map(|list| file.targets(list)).transpose()?;
    let bank_size = match &written.bank_size {
        None => None,
        Some(size) => match size.get_ref() {
            4 => Some(file.set(size, 4)),
            8 => Some(file.set(size, 8)),
            _ => return Err(file.error(size, "a bank is 4 or 8 bytes wide".to_owned(), "write 4 or 8")),
        },
    };
    let min_share = file.number(written.min_share.as_ref(), "a share is 0 to 100 percent", 5, |number| {
        u8::try_from(number).ok().filter(|percent| *percent <= 100)
    })?;
    let min_ways = file
        .number(written.min_ways.as_ref(), "ways are counted from 2", 4, |number| number.try_into().ok())?;
    let top = file.number(written.top.as_ref(), "findings are counted from 1", 10, |number| {
        usize::try_from(number).ok().and_then(NonZeroUsize::new)
    })?;
    let blocks =
        written.blocks.iter().map(|(kernel, block)| file.block(kernel, block)).collect::<Result<_, _>>()?;
    let defines =
        written.defines.iter().map(|(name, value)| file.define(name, value)).collect::<Result<_, _>>()?;
    let mut paths = Vec::new();
    for entry in &written.paths {
        paths.push(PathLevels { files: file.patterns(&entry.files)?, levels: file.levels(&entry.levels)? });
    }
    let here = |path: &Spanned<PathBuf>| file.set(path, shown(&file.base.join(path.get_ref())));
    Ok(Config {
        extends: written.extends.as_ref().map(|path| file.extends(path)).transpose()?,
        targets,
        bank_size,
        min_share,
        min_ways,
        include: written.include.iter().map(here).collect(),
        compile_commands: written.compile_commands.as_ref().map(|it| file.compile_commands(it)),
        baseline: written.baseline.as_ref().map(here),
        format: file.word(written.format.as_ref(), "format", &FORMATS)?,
        sort: file.word(written.sort.as_ref(), "order", &SORTS)?,
        top,
        defines,
        blocks,
        excluded: file.patterns(&written.exclude)?,
        exclude: written.exclude.iter().map(|glob| file.set(glob, glob.get_ref().clone())).collect(),
        levels: file.levels(&written.levels)?,
        paths,
        path: file.path.to_path_buf(),
        folder: file.folder.to_path_buf(),
    })
}

impl File<'_> {
    fn targets(&self, list: &Spanned<Vec<Spanned<String>>>) -> Result<Set<Vec<String>>, Error> {
        for target in list.get_ref() {
            let known = target.get_ref().parse::<ComputeCapability>();
            known.map_err(|error| {
                let message = format!("`{}` is not a target", target.get_ref());
                let near = target.get_ref().contains(|c: char| c.is_ascii_digit());
                let help = match near {
                    true => format!("did you mean `{}`?", error.nearest),
                    false => "a target is written `sm_90` or `9.0`".to_owned(),
                };
                self.error(target, message, &help)
            })?;
        }
        let names = list.get_ref().iter().map(|target| target.get_ref().clone()).collect();
        Ok(self.set(list, names))
    }

    fn block(&self, kernel: &Spanned<String>, block: &Spanned<Vec<u32>>) -> Result<Set<Block>, Error> {
        let numbers: Vec<String> = block.get_ref().iter().map(ToString::to_string).collect();
        let shape = shape::block(&numbers.join(","))
            .map_err(|error| self.error(block, error, "one to three numbers of threads: [32, 8]"))?;
        let kernel = Some(kernel.get_ref().clone()).filter(|name| name != "*");
        Ok(self.set(block, (kernel, shape)))
    }

    fn define(&self, name: &Spanned<String>, value: &Spanned<Value>) -> Result<Set<(String, String)>, Error> {
        let text = match value.get_ref() {
            Value::Number(number) => number.to_string(),
            Value::Switch(on) => i32::from(*on).to_string(),
            Value::Text(text) => text.clone(),
        };
        let word = name.get_ref();
        let starts = word.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
        if !starts || word.contains(|c: char| !(c == '_' || c.is_ascii_alphanumeric())) {
            return Err(self.error(name, format!("`{word}` is not a macro name"), "a name of C++"));
        }
        Ok(self.set(name, (word.clone(), text)))
    }

    fn compile_commands(&self, written: &Spanned<PathOrSwitch>) -> Set<WhichCommands> {
        let which = match written.get_ref() {
            PathOrSwitch::Switch(true) => WhichCommands::Found,
            PathOrSwitch::Switch(false) => WhichCommands::Off,
            PathOrSwitch::Path(path) => WhichCommands::At(self.base.join(path)),
        };
        self.set(written, which)
    }

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
            Some((key, help)) => (format!("there is no key `{key}`"), Some(help)),
            None => match keys::expected(self.text, &span) {
                Some((what, example)) => (what, Some(format!("write it as in `{example}`"))),
                None => (error.message().to_owned(), None),
            },
        };
        let (file, text) = (self.path.display().to_string(), self.text.to_owned());
        Error { file, text, span, message, help }
    }

    /// What `extends` leads to.
    fn extends(&self, path: &Spanned<PathBuf>) -> Result<Extends, Error> {
        if path.get_ref().extension().is_none_or(|extension| extension != "toml") {
            let message = format!("`{}` is not the name of a configuration file", path.get_ref().display());
            return Err(self.error(path, message, "name a file that ends in `.toml`"));
        }
        let target = normalise(&self.base.join(path.get_ref()));
        Ok(Extends { path: target, text: self.text.to_owned(), span: path.span() })
    }

    /// A number, if `take` takes it; else `what` it should be is said.
    fn number<T>(
        &self,
        written: Option<&Spanned<i64>>,
        what: &str,
        example: u8,
        take: impl Fn(i64) -> Option<T>,
    ) -> Result<Option<Set<T>>, Error> {
        let Some(number) = written else { return Ok(None) };
        match take(*number.get_ref()) {
            Some(value) => Ok(Some(self.set(number, value))),
            None => Err(self.error(number, what.to_owned(), &format!("write a number: {example}"))),
        }
    }

    /// A word, if it is one of those that are known.
    fn word(
        &self,
        written: Option<&Spanned<String>>,
        what: &str,
        known: &[&str],
    ) -> Result<Option<Set<String>>, Error> {
        let Some(word) = written else { return Ok(None) };
        if known.contains(&word.get_ref().as_str()) {
            return Ok(Some(self.set(word, word.get_ref().clone())));
        }
        let message = format!("there is no {what} `{}`", word.get_ref());
        Err(self.error(word, message, &meant(word.get_ref(), known)))
    }

    fn patterns(&self, globs: &[Spanned<String>]) -> Result<Patterns, Error> {
        let written = globs.iter().map(|glob| glob.get_ref().as_str());
        Patterns::new(self.folder, written).map_err(|(number, why)| match globs.get(number) {
            Some(glob) => {
                let message = format!("`{}` is not a pattern: {why}", glob.get_ref());
                self.error(glob, message, "patterns are written as in `.gitignore`")
            }
            None => Error::unreadable(self.path, &std::io::Error::other(why)),
        })
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

/// The key that is not known and what may be meant, of what serde says:
/// "unknown field `targts`, expected one of `targets`, `include`".
fn unknown_key(message: &str) -> Option<(String, String)> {
    let quoted = message.strip_prefix("unknown field ")?;
    let mut words = quoted.split('`').skip(1).step_by(2);
    let key = words.next()?;
    Some((key.to_owned(), meant(key, &words.collect::<Vec<_>>())))
}

/// The known word that is nearest to one that is not known; where none is near, all of them.
fn meant(word: &str, known: &[&str]) -> String {
    let distance = |known: &str| strsim::damerau_levenshtein(known, &word.to_lowercase().replace('_', "-"));
    let near = known.iter().map(|known| (distance(known), known)).min();
    match near.filter(|(distance, known)| *distance <= (known.len() / 3).max(1)) {
        Some((_, known)) => format!("did you mean `{known}`?"),
        None => {
            let all: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
            format!("there are {}", all.join(", "))
        }
    }
}
