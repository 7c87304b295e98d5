//! For which file is a kernel judged, and with which launches?
//!
//! A launch means a kernel that its own program sees: the file and the headers it includes. Where
//! those only declare it, it means a kernel of another file, the nearest that can be linked:
//!
//! | `p/main.cu` launches `fill` and sees | kernels `fill` | means |
//! |---|---|---|
//! | a definition in `p/fill.cuh` | there and in `p/fill.cu` | that of the header |
//! | a declaration | `p/fill.cu`, `q/fill.cu` | the one in `p` |
//! | a declaration | `p/old.cu` with a `main` of its own, `q/fill.cu` | the one in `q`: two `main`s are two programs |
//! | a declaration | `p/a.cu`, `p/b.cu` | either: it counts for both, and their verdicts say so |
//!
//! A kernel is judged in a program that launches it, once for each [`Context`] in which it is launched. The
//! kernel of a header that no one launches is judged for the files that include it, if the header
//! itself was given.

use super::context::Context;
use super::load::{Launched, Loaded};
use crate::events::LaunchSite;
use crate::headers::{Headers, normalise};
use crate::ir::{Function, FunctionKind, Module, Name, Type};
use crate::source::{FileId, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most contexts of one kernel in which it is judged.
const MOST_CONTEXTS: usize = 16;

/// A file and its headers.
pub(super) type Modules = Arc<[Arc<Module>]>;

/// A kernel to be judged for a file.
#[derive(Debug)]
pub(super) struct Work {
    /// The kernel as the file sees it.
    pub kernel: Arc<Function>,
    /// What launches it.
    pub launches: Vec<LaunchSite>,
    /// In how many more contexts it should be judged, and is not.
    pub left_out: usize,
}

/// Who launches what, over all files.
#[derive(Debug, Default)]
pub struct Links {
    /// By file: what is to be judged for it.
    work: FxHashMap<FileId, Vec<Work>>,
    /// What the files with any launch of a kernel are made of, by its name.
    hosts: FxHashMap<Name, Vec<Modules>>,
}

impl Links {
    /// The kernels to judge for a file.
    pub(super) fn work(&self, file: FileId) -> &[Work] {
        self.work.get(&file).map_or(&[], Vec::as_slice)
    }

    /// The files that launch a kernel of this name, each with its headers.
    pub(super) fn hosts(&self, name: &Name) -> &[Modules] {
        self.hosts.get(name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn new<'a>(files: impl IntoIterator<Item = &'a Loaded>, headers: &Headers) -> Links {
        let mut units: Vec<Unit<'a>> = files.into_iter().filter_map(|it| Unit::of(it, headers)).collect();
        units.sort_by(|a, b| a.path.cmp(&b.path));
        let units = Units::new(units, headers);
        let mut links = Links::default();
        for unit in &units.list {
            let launches = &unit.loaded.launches;
            let names: FxHashSet<&Name> = launches.iter().map(|launch| &launch.site.kernel.name).collect();
            let modules: Modules = unit.loaded.program.modules.clone().into();
            for name in names {
                links.hosts.entry(name.clone()).or_default().push(Arc::clone(&modules));
            }
        }
        let seen = units.seen();
        let joined = units.joined();
        for (place, readings) in units.readings() {
            let seen = seen.get(&place).map_or(&[][..], Vec::as_slice);
            let joined = joined.get(&place).map_or(&[][..], Vec::as_slice);
            let found = units.judged(place, &readings, seen, joined);
            let left_out = found.len().saturating_sub(MOST_CONTEXTS);
            for (at, (unit, kernel, launches)) in found.into_iter().take(MOST_CONTEXTS).enumerate() {
                let left_out = if at + 1 == MOST_CONTEXTS { left_out } else { 0 };
                let work = Work { kernel, launches: unlike(launches), left_out };
                links.work.entry(units.list[unit].file).or_default().push(work);
            }
        }
        for (file, work) in &mut links.work {
            work.sort_by_cached_key(|work| {
                let place = work.kernel.name_span;
                (place.file != *file, headers.sources().get(place.file).path.clone(), place.start, place.nth)
            });
        }
        links
    }
}

/// A file that is compiled, or judged, by itself.
struct Unit<'a> {
    loaded: &'a Loaded,
    file: FileId,
    path: PathBuf,
    /// Whether it is a program, not a part of one.
    has_main: bool,
}

impl<'a> Unit<'a> {
    fn of(loaded: &'a Loaded, headers: &Headers) -> Option<Unit<'a>> {
        let file = loaded.file().filter(|_| !loaded.is_left)?;
        let path = normalise(&headers.sources().get(file).path);
        let mut mains = loaded.program.functions("main").iter();
        let has_main = mains.any(|it| it.body.is_some() && it.owner.is_none() && it.namespace.is_empty());
        Some(Unit { loaded, file, path, has_main })
    }

    /// Whether both may be parts of one program.
    fn may_be_linked(&self, other: &Unit<'_>) -> bool {
        self.file != other.file && !(self.has_main && other.has_main)
    }
}

/// Launches of a kernel by programs that see its definition, and say the same of it.
struct Seen<'a> {
    context: &'a Context,
    /// The programs, by number.
    units: Vec<usize>,
    launches: Vec<&'a LaunchSite>,
}

/// A launch of a kernel that its own program only declares.
struct Joined<'a> {
    launch: &'a LaunchSite,
    way: Way,
    /// Another kernel that it may mean as well.
    rival: Option<Span>,
}

/// Folders up and folders down from one file to another.
type Way = (usize, usize);

/// A kernel to be judged: in which program, as that sees it, with which launches.
type Judged = (usize, Arc<Function>, Vec<LaunchSite>);

struct Units<'a> {
    /// In the order of their paths.
    list: Vec<Unit<'a>>,
    headers: &'a Headers,
    /// By file: the numbers of the programs that include it, and whether each gives it a meaning of its own.
    includers: FxHashMap<FileId, Vec<(usize, bool)>>,
}

/// A kernel, and the numbers of the files that it is in.
type Known<'k> = (&'k Arc<Function>, Vec<usize>);

impl<'a> Units<'a> {
    fn new(list: Vec<Unit<'a>>, headers: &'a Headers) -> Units<'a> {
        let mut includers: FxHashMap<FileId, Vec<(usize, bool)>> = FxHashMap::default();
        for (number, unit) in list.iter().enumerate() {
            for header in &unit.loaded.headers {
                includers.entry(header.file.id).or_default().push((number, !header.outside.is_empty()));
            }
        }
        Units { list, headers, includers }
    }

    /// The programs that include a file.
    fn includers(&self, file: FileId) -> &[(usize, bool)] {
        self.includers.get(&file).map_or(&[], Vec::as_slice)
    }

    /// The kernels worth judging, by the place of their name: who sees them, and as what.
    fn readings(&self) -> FxHashMap<Span, Vec<(usize, &'a Arc<Function>)>> {
        let mut readings: FxHashMap<Span, Vec<(usize, &Arc<Function>)>> = FxHashMap::default();
        for (number, unit) in self.list.iter().enumerate() {
            for kernel in &unit.loaded.worth {
                readings.entry(kernel.name_span).or_default().push((number, kernel));
            }
        }
        readings
    }

    /// The launches that see a definition, by the place of its name.
    fn seen(&self) -> FxHashMap<Span, Vec<Seen<'a>>> {
        let mut seen: FxHashMap<Span, Vec<Seen<'a>>> = FxHashMap::default();
        for (number, unit) in self.list.iter().enumerate() {
            for Launched { site, contexts } in &unit.loaded.launches {
                if self.is_of_includers(unit, site) {
                    continue;
                }
                for (place, context) in site.definitions.iter().zip(contexts) {
                    let groups = seen.entry(*place).or_default();
                    match groups.iter_mut().find(|group| group.context == context) {
                        Some(group) => {
                            group.launches.push(site);
                            if group.units.last() != Some(&number) {
                                group.units.push(number);
                            }
                        }
                        None => groups.push(Seen { context, units: vec![number], launches: vec![site] }),
                    }
                }
            }
        }
        seen
    }

    /// Whether a launch that a file's own text holds is really one of those who include the file: all
    /// of them give it a meaning of their own, and it is no program by itself.
    fn is_of_includers(&self, unit: &Unit<'_>, launch: &LaunchSite) -> bool {
        let includers = self.includers(unit.file);
        if unit.has_main || launch.span.file != unit.file || includers.iter().any(|(_, told)| !told) {
            return false;
        }
        includers
            .iter()
            .filter_map(|(number, _)| self.list.get(*number))
            .any(|includer| includer.loaded.launches.iter().any(|other| other.site.span == launch.span))
    }

    /// The launches that see no definition, by the place of the kernel's name that they mean.
    fn joined(&self) -> FxHashMap<Span, Vec<Joined<'a>>> {
        let mut joined: FxHashMap<Span, Vec<Joined<'a>>> = FxHashMap::default();
        let mut known: FxHashMap<&Name, Vec<Known<'_>>> = FxHashMap::default();
        for (number, unit) in self.list.iter().enumerate() {
            let open = unit.loaded.launches.iter().map(|it| &it.site).filter(|it| it.definitions.is_empty());
            for launch in open.filter(|launch| !self.is_for_includers(unit, launch)) {
                let kernels =
                    known.entry(&launch.kernel.name).or_insert_with_key(|name| self.kernels_named(name));
                let ways = kernels.iter().filter(|(kernel, _)| may_mean(launch, kernel));
                let ways = ways.filter_map(|(kernel, units)| Some((self.way(number, units)?, *kernel)));
                let ways: Vec<(Way, &Arc<Function>)> = ways.collect();
                let nearest = ways.iter().map(|(way, _)| *way).min();
                let meant = || ways.iter().filter(|(way, _)| Some(*way) == nearest).map(|(_, kernel)| kernel);
                for kernel in meant() {
                    let place = kernel.name_span;
                    let rival = meant().map(|other| other.name_span).find(|other| *other != place);
                    let found = nearest.map(|way| Joined { launch, way, rival });
                    joined.entry(place).or_default().extend(found);
                }
            }
        }
        for launches in joined.values_mut() {
            let nearest = launches.iter().map(|joined| joined.way).min();
            launches.retain(|joined| Some(joined.way) == nearest);
        }
        joined
    }

    /// Whether a launch by a header that someone includes means a kernel that he defines.
    fn is_for_includers(&self, unit: &Unit<'_>, launch: &LaunchSite) -> bool {
        let defines = |it: &Unit<'_>| {
            let mut kernels = it.loaded.program.functions(&launch.kernel.name).iter();
            kernels.any(|it| it.kind == FunctionKind::Kernel && it.body.is_some())
        };
        let includers = self.includers(unit.file);
        includers.iter().filter_map(|(number, _)| self.list.get(*number)).any(defines)
    }

    /// The definitions of this name, each with the programs that see it.
    fn kernels_named(&self, name: &Name) -> Vec<(&'a Arc<Function>, Vec<usize>)> {
        let mut found: Vec<(&Arc<Function>, Vec<usize>)> = Vec::new();
        for (number, unit) in self.list.iter().enumerate() {
            let named = unit.loaded.program.functions(name).iter();
            for kernel in named.filter(|it| it.kind == FunctionKind::Kernel && it.body.is_some()) {
                match found.iter_mut().find(|(known, _)| known.name_span == kernel.name_span) {
                    Some((_, units)) => units.push(number),
                    None => found.push((kernel, vec![number])),
                }
            }
        }
        found
    }

    /// How far it is from a program to the nearest of those that it can be linked with.
    fn way(&self, from: usize, to: &[usize]) -> Option<Way> {
        let from = self.list.get(from)?;
        let others = to.iter().filter_map(|number| self.list.get(*number));
        others.filter(|unit| from.may_be_linked(unit)).map(|unit| way(&from.path, &unit.path)).min()
    }

    /// Where a kernel is judged, and with which launches.
    fn judged(
        &self,
        place: Span,
        readings: &[(usize, &'a Arc<Function>)],
        seen: &[Seen<'a>],
        joined: &[Joined<'a>],
    ) -> Vec<Judged> {
        let as_launched = |joined: &Joined<'_>| LaunchSite { rival: joined.rival, ..joined.launch.clone() };
        // What is of the same folder and can mean nothing else is launched besides.
        let beside = || joined.iter().filter(|it| it.way == (0, 0) && it.rival.is_none());
        let in_context = |seen: &Seen<'a>| {
            let sees = |(unit, _): &&(usize, &Arc<Function>)| seen.units.contains(unit);
            let (unit, kernel) = readings.iter().find(sees)?;
            let launches = seen.launches.iter().map(|&launch| launch.clone());
            Some((*unit, Arc::clone(kernel), launches.chain(beside().map(as_launched)).collect()))
        };
        let found: Vec<Judged> = seen.iter().filter_map(in_context).collect();
        if !found.is_empty() {
            return found;
        }
        let launches = || joined.iter().map(as_launched).collect();
        let own = readings.iter().find(|(unit, _)| self.list[*unit].file == place.file);
        if let Some((unit, kernel)) = own {
            return vec![(*unit, Arc::clone(kernel), launches())];
        }
        if joined.is_empty() && !self.headers.is_given(place.file) {
            return Vec::new();
        }
        // Once for each set of macros that the header sees.
        let mut told = Vec::new();
        let mut found = Vec::new();
        for (unit, kernel) in readings {
            let mut headers = self.list[*unit].loaded.headers.iter();
            let Some(header) = headers.find(|header| header.file.id == place.file) else { continue };
            if !told.contains(&&header.outside) {
                told.push(&header.outside);
                found.push((*unit, Arc::clone(kernel), launches()));
            }
        }
        found
    }
}

/// Launches without repetition.
fn unlike(launches: Vec<LaunchSite>) -> Vec<LaunchSite> {
    let mut found: Vec<LaunchSite> = Vec::new();
    for launch in launches {
        match found.iter_mut().find(|other| other.same(&launch)) {
            Some(known) => known.agree(&launch),
            None => found.push(launch),
        }
    }
    found
}

/// The way from the folder of one file to that of another.
fn way(from: &Path, to: &Path) -> Way {
    let folder = |path: &Path| path.parent().map(Path::to_path_buf).unwrap_or_default();
    let (from, to) = (folder(from), folder(to));
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    (from.components().count() - shared, to.components().count() - shared)
}

/// Whether a launch that sees no definition may mean this one.
fn may_mean(launch: &LaunchSite, kernel: &Function) -> bool {
    let Some(declared) = &launch.declared else {
        return launch.args.len() <= kernel.params.len() || kernel.params.last().is_some_and(|it| it.pack);
    };
    declared.len() == kernel.params.len()
        && declared.iter().zip(&kernel.params).all(|(ty, param)| !surely_differ(ty, &param.ty))
}

/// Whether two types are different whatever names mean.
fn surely_differ(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Pointer(a) | Type::Array(a, _), Type::Pointer(b) | Type::Array(b, _)) => surely_differ(a, b),
        (
            Type::Scalar(_) | Type::Void | Type::Pointer(_),
            Type::Scalar(_) | Type::Void | Type::Pointer(_),
        ) => a != b,
        _ => false,
    }
}
