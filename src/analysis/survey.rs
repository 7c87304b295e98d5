//! Which kernels of all files are worth judging, for which file, and which launches do the files lead to?

use super::Run;
use super::context::{Context, Definers};
use super::followed::Asking;
use super::load::{Launched, Loaded};
use crate::events::LaunchSite;
use crate::exec::entry::Led;
use crate::headers::Headers;
use crate::ir::{Function, FunctionKind};
use crate::preproc::Included;
use crate::reach::Reach;
use crate::relevance::JudgedKernels;
use crate::scenario;
use crate::scenario::hosts::Question;
use crate::source::{FileId, SourceFile, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::PathBuf;
use std::sync::Arc;

/// What is known of all files before host code is followed.
#[derive(Debug)]
pub struct Survey {
    /// The kernels worth judging.
    pub(super) kernels: JudgedKernels,
    /// By header: the file that is judged for it where no one launches its kernels.
    keepers: FxHashMap<FileId, FileId>,
}

impl Survey {
    pub(super) fn new(kernels: JudgedKernels, files: &[&Loaded], headers: &Headers) -> Survey {
        let file_of = |id: FileId| headers.sources().get(id);
        let included: FxHashSet<FileId> =
            files.iter().flat_map(|loaded| &loaded.headers).map(|header| header.file.id).collect();
        let mut keepers: FxHashMap<FileId, (bool, PathBuf, FileId)> = FxHashMap::default();
        for (loaded, file) in files.iter().filter_map(|loaded| Some((loaded, loaded.file()?))) {
            let file = file_of(file);
            if !file.is_compiled() && included.contains(&file.id) {
                continue;
            }
            for header in loaded.headers.iter().filter(|header| !header.file.is_compiled()) {
                let rank = (!header.outside.is_empty(), file.path.clone(), file.id);
                let known = keepers.entry(header.file.id).or_insert_with(|| rank.clone());
                if rank < *known {
                    *known = rank;
                }
            }
        }
        keepers.retain(|header, _| headers.is_given(*header));
        Survey { kernels, keepers: keepers.into_iter().map(|(header, (.., file))| (header, file)).collect() }
    }

    /// Whether a file is a header that is judged where it is included.
    pub(super) fn is_left(&self, file: FileId) -> bool {
        self.keepers.contains_key(&file)
    }

    /// The headers that a file is judged for.
    pub(super) fn kept_by(&self, file: FileId) -> FxHashSet<FileId> {
        self.keepers.iter().filter(|(_, keeper)| **keeper == file).map(|(header, _)| *header).collect()
    }
}

impl Run {
    /// The kernels of all files that are worth judging, and who is judged for which header.
    #[must_use]
    pub fn survey<'a>(&self, files: impl IntoIterator<Item = &'a Loaded>) -> Survey {
        let files: Vec<&Loaded> = files.into_iter().collect();
        let names = files.iter().flat_map(|loaded| &loaded.worth).map(|kernel| kernel.name.clone());
        let handed = files.iter().flat_map(|loaded| &loaded.handed).cloned();
        let names = self.memory.names(names.chain(handed).collect());
        Survey::new(JudgedKernels::new(names), &files, &self.headers)
    }

    /// Finds the launches of `wanted` kernels that a file's host code leads to.
    #[must_use]
    pub fn follow(&self, mut loaded: Loaded, survey: &Survey) -> Loaded {
        let wanted = &survey.kernels;
        if let Some((replayed, words)) = loaded.waiting.take() {
            let mut files: Vec<&SourceFile> = replayed.headers.iter().map(|header| &*header.file).collect();
            files.push(&replayed.file);
            if !wanted.may_be_launched(words, &files) && !wanted.may_be_defined(&replayed.file) {
                return loaded;
            }
            loaded.headers.clone_from(&replayed.headers);
            loaded.program = self.program(replayed, loaded.settings);
        }
        let Some(file) = loaded.file() else { return loaded };
        loaded.is_left = survey.is_left(file);
        if loaded.is_left {
            return loaded;
        }
        loaded.keeps = survey.kept_by(file);
        let told = loaded.headers.iter().filter(|header| !header.outside.is_empty());
        let own = told.map(|header| header.file.id).chain(loaded.keeps.iter().copied()).collect();
        let asking = Asking::new(&loaded.program, &loaded.headers, loaded.settings);
        let led = |question: &Question<'_>, run: &dyn Fn() -> Led| self.followed.led(&asking, question, run);
        let find = |own: &FxHashSet<FileId>| scenario::hosts::launches(&loaded.program, wanted, own, &led);
        let launches = self.memory.launches(file, &loaded.program, wanted.names(), own, find);
        loaded.launches = self.in_context(&loaded, launches);
        let more = self.reached_kernels(&loaded, wanted);
        loaded.worth.extend(more);
        loaded
    }

    /// The kernels worth judging of given headers that are left to the file or that it launches.
    fn reached_kernels(&self, loaded: &Loaded, wanted: &JudgedKernels) -> Vec<Arc<Function>> {
        let launched: FxHashSet<_> = loaded.launches.iter().flat_map(|it| &it.site.definitions).collect();
        let mut known: FxHashSet<_> = loaded.worth.iter().map(|kernel| kernel.name_span).collect();
        let global_memory = self.settings[loaded.settings].asks.races;
        let mut reach = None;
        let mut found = Vec::new();
        for function in loaded.program.modules.iter().skip(1).flat_map(|module| &module.functions) {
            let is_kernel = function.kind == FunctionKind::Kernel && function.body.is_some();
            let place = function.name_span;
            let meant = || loaded.keeps.contains(&place.file) || launched.contains(&place);
            if is_kernel && wanted.contains(&function.name) && meant() && known.insert(place) {
                let reach = reach.get_or_insert_with(|| Reach::new(&loaded.program));
                let is_worth = global_memory || reach.worth_running(function);
                found.extend(is_worth.then(|| Arc::clone(function)));
            }
        }
        found
    }

    /// The launches of a file, with what it says of the kernels of headers that they mean.
    fn in_context(&self, loaded: &Loaded, launches: Vec<LaunchSite>) -> Vec<Launched> {
        let headers: FxHashMap<FileId, &Included> =
            loaded.headers.iter().map(|header| (header.file.id, header)).collect();
        let mut homes: FxHashMap<FileId, Option<FxHashSet<FileId>>> = FxHashMap::default();
        let mut definers = None;
        let mut with = |site: LaunchSite| {
            let args = site.template_args.as_deref().unwrap_or_default();
            let mut context = |place: &Span| {
                let Some(header) = headers.get(&place.file) else { return Context::default() };
                let reached = || Some(self.surroundings(loaded.settings).reached(&header.file)?.into_iter());
                let home = homes.entry(place.file).or_insert_with(|| reached().map(Iterator::collect));
                let mut named = loaded.program.functions(&site.kernel.name).iter();
                let (Some(home), Some(kernel)) = (home, named.find(|it| it.name_span == *place)) else {
                    return Context::of_macros(&header.outside);
                };
                let definers: &mut Definers<'_> =
                    definers.get_or_insert_with(|| Definers::new(&loaded.program));
                definers.context(kernel, args, home, &header.outside)
            };
            let contexts = site.definitions.iter().map(&mut context).collect();
            Launched { site, contexts }
        };
        launches.into_iter().map(&mut with).collect()
    }
}
