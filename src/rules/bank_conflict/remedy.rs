//! Which remedy is told of an array with conflicts, and how is it put into words?
//!
//! Longer rows whose edits are proved come first ([`padding`](super::padding)). Where they leave a conflict,
//! all layouts of [`remedy`](crate::remedy) are searched: the best is told as text to type, or that none helps.

use super::super::{Case, Fixed, KernelRun, plural};
use super::cost::rounds;
use super::declared::asked;
use super::padding::{self, Longer, Padding};
use super::rewrite::{self, Unwritten};
use super::spelling::{change, name};
use super::undecided::{no_layout, recast, uncounted_words, undecided_words, why_words};
use super::{Conflict, views, words};
use crate::banks::Target;
use crate::diagnostic::Fix;
use crate::events::{Access, Array, LaunchSite, Pattern};
use crate::remedy::{self, Found, Layout, PER_WAVEFRONT, Run, Tried, Undecided, Why};
use crate::source::Span;
use crate::verdict::{Example, moved_cost, moved_example};

/// What is known of the remedies of one array.
pub(super) struct Remedy<'a> {
    /// Longer rows, run and proved.
    pub padding: Option<Padding>,
    /// The wavefronts of an array of `wmma` tiles that no length of its rows makes fewer.
    pub fixed: Option<u64>,
    /// Other layouts, if they were searched.
    pub found: Option<Result<Found<'a>, Undecided>>,
    /// Whether a fix could write the best of them.
    pub is_written: bool,
    /// Of an array that is used for one thing after the other: what was found for each use, if that is better.
    pub views: Vec<Found<'a>>,
    /// The fix that writes the best of them where that is better than longer rows, or why none does.
    pub fix: Option<Result<Fix, Unwritten>>,
}

impl<'a> Remedy<'a> {
    /// Looks for longer rows of the array declared at `name`, and where they do not remove all conflicts or
    /// `all` is asked for, through all layouts.
    pub(super) fn search(case: &Case<'a>, name: Span, all: bool) -> Remedy<'a> {
        let is_dynamic =
            |run: &KernelRun| run.trace.arrays.iter().any(|array| array.name_span == name && array.dynamic);
        // Of dynamic shared memory each kernel has its own.
        if let Some(other) = (case.also_used)(name).filter(|_| !case.runs.iter().any(is_dynamic)) {
            return Remedy {
                padding: None,
                fixed: None,
                found: Some(Err(Undecided::AlsoUsed(other))),
                is_written: false,
                views: Vec::new(),
                fix: None,
            };
        }
        let of = |number: usize, run: &'a KernelRun| Run {
            trace: &run.trace,
            judgements: &run.judgements,
            block: run.block,
            dynamic_bytes: run.dynamic_bytes.map(|(bytes, _)| bytes),
            of: (number, &case.runs[number].trace),
        };
        let runs: Vec<Run<'a>> = case.runs.iter().enumerate().map(|(at, run)| of(at, run)).collect();
        let (padding, fixed) = match padding::search(case, &runs, name) {
            Longer::Help(padding) => (Some(*padding), None),
            Longer::None(wavefronts) => (None, Some(wavefronts)),
            Longer::Unknown => (None, None),
        };
        let is_complete = padding.as_ref().is_some_and(|padding| padding.complete && !padding.costs);
        let happens = case.launches.iter().filter(|launch| launch.refuted.is_none());
        let given = |launch: &LaunchSite| launch.dynamic_bytes.and_then(|bytes| u64::try_from(bytes).ok());
        let given: Option<Vec<u64>> = happens.map(given).collect();
        let found = (all || !is_complete).then(|| {
            let longer = |run| case.padder.run_whole(run, name, 1);
            let found = remedy::search(&runs, name, case.targets, given.as_deref(), &longer);
            let found = match found {
                // Then in each of them; subscripts that name rows are for one way.
                Err(Undecided::SeveralWays) => {
                    let ways = |(at, run): (usize, &'a KernelRun)| match case.padder.ways(at) {
                        [] => vec![of(at, run)],
                        ways => ways.iter().map(|way| of(at, way)).collect(),
                    };
                    let runs: Vec<Run<'a>> = case.runs.iter().enumerate().flat_map(ways).collect();
                    remedy::search(&runs, name, case.targets, None, &|_| None)?
                }
                found => found?,
            };
            match recast(case, found.array) {
                Some(span) => Err(Undecided::Recast(span)),
                None => Ok(found),
            }
        });
        let mut remedy = Remedy { padding, fixed, found, is_written: false, views: Vec::new(), fix: None };
        let best = remedy.known().and_then(|found| Some((found, found.best()?)));
        remedy.is_written = best.is_some_and(|(found, best)| rewrite::written(case, found, best).is_ok());
        if !is_complete && remedy.may_have_views(case) {
            let views = remedy::search_views(&runs, name, case.targets, given.as_deref());
            let saved = |found: &Found<'_>| {
                found.before.saturating_sub(
                    found.best().and_then(|best| best.wavefronts().ok()).unwrap_or(found.before),
                )
            };
            let whole = remedy.known().map_or(0, saved);
            let longer = remedy.padding.as_ref().map_or(0, |padding| padding.saved);
            let apart: u64 = views.iter().map(saved).sum();
            if apart > whole.max(longer) || (whole.max(longer) == 0 && remedy.known().is_none()) {
                remedy.views = views;
            }
        }
        if !is_complete
            && remedy.padding.is_none()
            && remedy.known().is_some_and(|found| found.ways.is_none())
        {
            remedy.padding = padding::of_rows_in_doubt(case, &runs, name);
        }
        if !is_complete && remedy.padding.is_none() && remedy.views.is_empty() {
            let best = remedy.known().and_then(Found::best).and_then(|best| best.wavefronts().ok());
            let better = |padding: &Padding| best.is_none_or(|best| padding.left < best);
            remedy.padding = padding::of_elements(case, &runs, name).filter(better);
        }
        // A fix is proved of the runs that there are.
        let alone = remedy.layout().filter(|(found, _)| found.ways.is_none() && found.uncounted.is_empty());
        remedy.fix = alone.map(|(found, best)| rewrite::written(case, found, best));
        remedy
    }

    /// That no fix writes the layout, and why.
    pub(super) fn unwritten(&self, case: &Case<'_>) -> Option<String> {
        let (found, _) = self.layout()?;
        let why = self.fix.as_ref()?.as_ref().err()?;
        Some(format!("no automatic fix: {}", why.words(case, &found.array.name)))
    }

    fn known(&self) -> Option<&Found<'a>> {
        self.found.as_ref()?.as_ref().ok()
    }

    /// Whether each use of the array may have a layout of its own: `wmma` calls are among its accesses, and one layout
    /// for all leaves conflicts.
    fn may_have_views(&self, case: &Case<'_>) -> bool {
        let name = match &self.found {
            Some(Ok(found)) => {
                let best = found.best().or_else(|| found.tried.first());
                if found.line_element.is_some() && best.is_some_and(|it| it.wavefronts() == Ok(found.bound)) {
                    return false;
                }
                Some(found.array.name_span)
            }
            _ => None,
        };
        let of_array = |run: &KernelRun, access: &Access| {
            access.tiles.fragment && name.is_none_or(|name| run.trace.arrays[access.array].name_span == name)
        };
        case.runs.iter().any(|run| run.trace.accesses.iter().any(|access| of_array(run, access)))
    }

    /// What was found for the use of the array that an access is of, by its run and number.
    fn of_access(&self, run: usize, number: usize) -> Option<&Found<'a>> {
        match self.views.is_empty() {
            true => self.known(),
            false => self.views.iter().find(|view| view.contains(run, number)),
        }
    }

    /// The layout for the use of the array that an access is of, where uses have layouts of their own.
    fn layout_of(&self, run: usize, number: usize) -> Option<(&Found<'a>, &Tried)> {
        if self.views.is_empty() {
            return self.layout();
        }
        let found = self.of_access(run, number)?;
        Some((found, found.best()?))
    }

    /// The layout that is better than longer rows, if there is one.
    fn layout(&self) -> Option<(&Found<'a>, &Tried)> {
        if !self.views.is_empty() {
            return None;
        }
        let found = self.known()?;
        let best = found.best()?;
        // Figures of several ways to run the kernel are compared with the same.
        let last = found.array.dimensions.len().saturating_sub(1);
        let left = |padding: &Padding| {
            let is_padding = |it: &&Tried| match it.layout {
                Layout::Longer { dimension, .. } => dimension == (last, padding.extra),
                _ => false,
            };
            match found.ways {
                None => Some(padding.left),
                Some(_) => found.tried.iter().find(is_padding)?.wavefronts().ok(),
            }
        };
        let is_less =
            |then: Option<u64>, now: Option<u64>| then.zip(now).is_some_and(|(then, now)| then < now);
        let better = |padding: &Padding| match padding {
            Padding { complete: true, costs: false, .. } => false,
            // What costs some accesses more is for where nothing else can be written.
            Padding { costs: true, .. } if self.is_written => true,
            Padding { price, .. } if !self.is_written && found.ways.is_none() => {
                is_less(found.price(best), price.checked_mul(PER_WAVEFRONT))
            }
            _ => is_less(best.wavefronts().ok(), left(padding)),
        };
        self.padding.as_ref().is_none_or(better).then_some((found, best))
    }

    /// The request of an access, by its run and number, in the layout that is better than longer rows, and what
    /// that is. `before`: the request as it is written. Nothing where the compiler joins accesses, as the layout
    /// may keep it from that.
    pub(super) fn laid_out(
        &self,
        case: &Case<'_>,
        (run, number): (usize, usize),
        before: &Example,
        target: &Target,
    ) -> Option<(String, Example)> {
        let is_drawn = |(found, _): &(&Found<'_>, &Tried)| !found.at_most && found.ways.is_none();
        let (found, best) = self.layout_of(run, number).filter(is_drawn)?;
        let access = &case.runs[run].trace.accesses[number];
        let is_same = |it: &&remedy::Moved<'_>| {
            let Pattern { first_warp, active, offsets, .. } = it.pattern;
            (it.way, it.number, *first_warp, *active) == (run, number, before.warp, before.active)
                && moved_cost(access, it.pattern, offsets, target) == Some(before.cost)
        };
        let moved = found.moved.iter().find(is_same)?;
        let after = moved_example(access, moved.pattern, &moved.offsets, target)?;
        Some((format!("as `{}`", name(case, found, &best.layout)), after))
    }

    /// Whether something helps the access of a conflict.
    pub(super) fn helps(&self, case: &Case<'_>, conflict: &Conflict<'_>) -> bool {
        let number = number(case, conflict);
        match number.and_then(|number| Some((self.layout_of(conflict.run, number)?, number))) {
            Some(((found, best), number)) => found.helps(best, conflict.run, number),
            None if !self.views.is_empty() => false,
            None => self.padding.as_ref().is_some_and(|padding| padding.helps(conflict.access)),
        }
    }

    /// What helps the access of a conflict, in words; and the fix that does it.
    pub(super) fn help(&self, case: &Case<'_>, conflict: &Conflict<'_>) -> (Option<String>, Option<Fix>) {
        if !self.views.is_empty() {
            let found = number(case, conflict).and_then(|number| self.of_access(conflict.run, number));
            let words = |found: &Found<'_>| match found.best() {
                Some(best) if self.helps(case, conflict) => {
                    Some(views::advice(case, &self.views, found, best))
                }
                Some(_) => None,
                None => no_remedy(case, found).map(|words| views::of_use(case, &[found]) + &words),
            };
            return (found.and_then(words), None);
        }
        if let Some((found, best)) = self.layout() {
            let fix = self.fix.as_ref().and_then(|fix| fix.as_ref().ok()).cloned();
            return match self.helps(case, conflict) {
                true => (Some(advice(case, found, best)), fix),
                false => (None, None),
            };
        }
        let padding = self.padding.as_ref().filter(|padding| padding.helps(conflict.access));
        match padding {
            Some(padding) => (Some(padding.help.clone()), padding.fix()),
            None if self.padding.is_some() || words::is_one_word(conflict) => (None, None),
            None => {
                // What was proved of the text comes first.
                let none = || {
                    let found = self.known()?;
                    Some(no_remedy(case, found)? + &uncounted_words(case, &found.uncounted))
                };
                let why = || Some(no_layout(case, conflict, self.found.as_ref()?.as_ref().err()?));
                (self.no_longer_rows(case, conflict).or_else(none).or_else(why), None)
            }
        }
    }

    /// That no length of the rows helps `wmma` calls.
    fn no_longer_rows(&self, case: &Case<'_>, conflict: &Conflict<'_>) -> Option<String> {
        let wavefronts = plural(self.fixed?, "wavefront");
        let array = &case.runs[conflict.run].trace.arrays[conflict.access.array].name;
        Some(format!(
            "longer rows of `{array}` do not help: with every length that `wmma` accepts, its accesses take \
             at least {wavefronts}, as now{}",
            rounds(case, &case.runs[conflict.run].trace.arrays[conflict.access.array])
        ))
    }

    /// Why no other layout was judged.
    pub(super) fn undecided(&self, case: &Case<'_>) -> Option<String> {
        if !self.views.is_empty() {
            return None;
        }
        match self.found.as_ref()? {
            Ok(_) => None,
            Err(why) => Some(format!("other layouts are not judged: {}", undecided_words(case, why))),
        }
    }

    /// All layouts that were tried, a row for each: name, wavefronts, bytes and operations more, verdict.
    /// Of the use of the array that this access is of, by its run and number.
    pub(super) fn table(&self, case: &Case<'_>, (run, number): (usize, usize)) -> Vec<[String; 5]> {
        let Some(found) = self.of_access(run, number) else { return Vec::new() };
        let layout = self.layout_of(run, number).map(|(_, best)| &best.layout);
        let last = found.array.dimensions.len().checked_sub(1);
        let is_padding = |layout: &Layout| match (layout, &self.padding) {
            (Layout::Longer { dimension: (at, by), .. }, Some(padding)) => {
                Some(*at) == last && *by == padding.extra
            }
            _ => false,
        };
        let is_best = |it: &Layout| layout.map_or_else(|| is_padding(it), |best| best == it);
        let row = |tried: &Tried| {
            let verdict = match tried.wavefronts() {
                Err(why) => why_words(case, &why),
                Ok(_) if tried.layout == Layout::Declared => "as written".to_owned(),
                Ok(sum) if is_best(&tried.layout) => match sum == found.bound {
                    true if found.is_proved() => "proved best".to_owned(),
                    _ => "best found".to_owned(),
                },
                Ok(_) if !found.is_worth(tried) => "costs more than the conflict".to_owned(),
                Ok(sum) if sum == found.bound && !found.at_most && found.uncounted.is_empty() => {
                    "minimal".to_owned()
                }
                Ok(_) => "better".to_owned(),
            };
            let sum = tried.wavefronts().map_or_else(|_| "-".to_owned(), |sum| sum.to_string());
            let (bytes, operations) = (tried.bytes.to_string(), tried.operations.to_string());
            [name(case, found, &tried.layout), sum, bytes, operations, verdict]
        };
        found.tried.iter().map(row).collect()
    }

    /// What no layout can pass, in words.
    pub(super) fn bound(&self, case: &Case<'_>, (run, number): (usize, usize)) -> Option<String> {
        let found = self.of_access(run, number)?;
        Some(match found.at_most {
            _ if !found.uncounted.is_empty() => {
                format!("for the counted accesses{}", uncounted_words(case, &found.uncounted))
            }
            false if found.by_data > 0 => format!(
                "no layout can take fewer than {} where the index is known; a data-dependent request counts \
                 at its worst",
                plural(found.bound, "wavefront")
            ),
            true => "upper bounds, because the compiler combines accesses or data decide which lanes are \
                     active"
                .to_owned(),
            false => format!("no layout can take fewer than {}", plural(found.bound, "wavefront")),
        })
    }
}

/// The number of the access of a conflict, in the trace of its run.
fn number(case: &Case<'_>, conflict: &Conflict<'_>) -> Option<usize> {
    let accesses = &case.runs[conflict.run].trace.accesses;
    accesses.iter().position(|access| std::ptr::eq(access, conflict.access))
}

/// What to type, what it leaves and what it costs.
fn advice(case: &Case<'_>, found: &Found<'_>, best: &Tried) -> String {
    let after = best.wavefronts().unwrap_or(found.before);
    let least = least(found, after);
    let most = if found.at_most { "up to " } else { "" };
    let mut price = Vec::new();
    let most_of = if found.forms.len() > 1 { "up to " } else { "" };
    price.extend((best.bytes > 0).then(|| match found.array.dynamic {
        true => format!("up to {} bytes more at each launch", best.bytes),
        false => format!("{most_of}+{} bytes", best.bytes),
    }));
    if best.operations > 0 {
        price.push(format!("{} for each access", plural(best.operations.into(), "integer operation")));
    }
    let instances = instances(case, found, best);
    let by_data = by_data(case, found, best);
    let rounds = format!("{}{}", rounds(case, found.array), ways(found));
    let apart = uncounted_words(case, &found.uncounted);
    let stays = match found.in_registers && best.operations > 0 {
        true => ", if values now read from registers still are",
        false => "",
    };
    let price = if price.is_empty() { String::new() } else { format!(" ({})", price.join(", ")) };
    let asked = match best.layout {
        Layout::Longer { .. } | Layout::Swapped { .. } | Layout::Skewed { .. } | Layout::Rows { .. } => {
            asked(case, found.array)
        }
        _ => String::new(),
    };
    let reached = reached(case, found.array, &best.layout);
    format!(
        "{}{asked}{reached}: `{}` then takes {most}{} in total instead of \
         {}{rounds}{instances}{by_data}{stays}{apart}{least}\
         {price}",
        change(case, found, &best.layout),
        found.array.name,
        plural(after, "wavefront"),
        found.before,
    )
}

/// Where else indices have to change: a row or an address of the array that is kept leads to its elements, too.
fn reached(case: &Case<'_>, array: &Array, layout: &Layout) -> String {
    if matches!(layout, Layout::Declared | Layout::Longer { .. } | Layout::Apart { .. } | Layout::Rows { .. })
    {
        return String::new();
    }
    match case.padder.elements(array.name_span) {
        Err(Fixed::Whole(span) | Fixed::Address(span)) => {
            format!(", and do the same for what is reached from {}", (case.place)(span))
        }
        _ => String::new(),
    }
}

/// What a request takes at the most of which data decide the places.
fn by_data(case: &Case<'_>, found: &Found<'_>, best: &Tried) -> String {
    let other = |other: &Tried| {
        let known = plural(other.wavefronts().unwrap_or(found.before), "wavefront");
        format!(
            "; with `{}` that request takes 1, and `{}` takes {known} where the index is known",
            name(case, found, &other.layout),
            found.array.name
        )
    };
    let other = found.for_data.as_ref().map(other).unwrap_or_default();
    let own = match found.worst_by_data(best) {
        None => String::new(),
        Some((now, then)) if then < now => format!(
            " where the index is known, and a data-dependent request takes up to {then} instead of {now}"
        ),
        Some((now, _)) => {
            format!(" where the index is known, and a data-dependent request takes up to {now}, as now")
        }
    };
    own + &other
}

/// That figures are of several ways to run the kernel, of which no launch tells the right one.
fn ways(found: &Found<'_>) -> String {
    let many = |ways: usize| format!(", summed over {} to run the kernel", plural(ways as u64, "way"));
    found.ways.map(many).unwrap_or_default()
}

/// What is left in each instance of the kernel, where they give the array several dimensions.
fn instances(case: &Case<'_>, found: &Found<'_>, best: &Tried) -> String {
    if found.forms.len() < 2 {
        return String::new();
    }
    let mut names: Vec<&str> = Vec::new();
    let mut left: Vec<(&str, u64, u64)> = Vec::new();
    for of in found.by_run(best) {
        let name = case.runs[of.run].kernel.as_str();
        if !names.contains(&name) {
            names.push(name);
        }
        if of.after > of.ideal {
            left.push((name, of.after, of.ideal));
        }
    }
    if names.len() < 2 {
        return String::new();
    }
    let free = names.iter().filter(|name| left.iter().all(|(other, ..)| other != *name)).count();
    let worst = left.into_iter().max_by_key(|(_, after, ideal)| after - ideal);
    let most = if found.at_most { "up to " } else { "" };
    match worst {
        None => format!(", conflict-free in all {}", plural(free as u64, "instance")),
        Some((name, after, ideal)) => {
            let all = plural(names.len() as u64, "instance");
            let free = if free == 0 { String::new() } else { format!(", conflict-free in {free} of {all}") };
            let after = plural(after, "wavefront");
            format!("{free}; `{name}` still takes {most}{after}, where the minimum is {ideal}")
        }
    }
}

/// What is known of all layouts, one taking `after` wavefronts.
fn least(found: &Found<'_>, after: u64) -> String {
    match found.at_most || found.by_data > 0 || !found.uncounted.is_empty() {
        true => String::new(),
        false if after == found.bound => "; no layout can take fewer".to_owned(),
        false => format!("; no layout can take fewer than {}", found.bound),
    }
}

/// That no layout helps, or that none is worth it.
fn no_remedy(case: &Case<'_>, found: &Found<'_>) -> Option<String> {
    let array = &found.array.name;
    if found.bound == found.before && !found.at_most {
        return Some(format!(
            "no layout of `{array}` can take fewer wavefronts: every request is at its minimum"
        ));
    }
    let is_judged = |tried: &&Tried| {
        !matches!(tried.wavefronts(), Err(Why::Shifted | Why::Often | Why::NoCost | Why::Steps))
    };
    let tried = found.tried.iter().skip(1).filter(is_judged).count();
    if tried == 0 {
        let sized = if found.array.dynamic { ", which is sized at launch" } else { "" };
        let none = || {
            format!(
                "no other layout that cudalint tries fits `{array}`{sized}{}{}{}",
                least(found, found.before),
                if found.bound < found.before { rounds(case, found.array) } else { String::new() },
                ways(found)
            )
        };
        return (found.tried.len() == 1).then(none);
    }
    match found.fewest() {
        Some(fewest) => {
            let saved = found.before.saturating_sub(fewest.wavefronts().unwrap_or(found.before));
            Some(
                format!(
                    "no other layout of `{array}` is worth it: `{}` saves {} of {} and adds {} to each of {}",
                    name(case, found, &fewest.layout),
                    saved,
                    plural(found.before, "wavefront"),
                    plural(fewest.operations.into(), "integer operation"),
                    plural(found.requested.indexed, "request"),
                ) + &summed(case, found)
                    + &rounds(case, found.array)
                    + &ways(found),
            )
        }
        None if found.forms.len() > 1 => Some(format!(
            "none of {} tried helps `{array}` in one instance of the kernel without hurting another{}{}",
            plural(tried as u64, "other layout"),
            least(found, found.before),
            ways(found),
        )),
        None => Some(format!(
            "none of {} tried takes fewer than the {} that `{array}` takes now{}{}",
            plural(tried as u64, "other layout"),
            plural(found.before, "wavefront"),
            least(found, found.before),
            summed(case, found) + &rounds(case, found.array) + &ways(found),
        )),
    }
}

/// That figures are of all instances together, and which of these are free of conflicts as they are.
fn summed(case: &Case<'_>, found: &Found<'_>) -> String {
    let Some(declared) = found.tried.first() else { return String::new() };
    let runs = found.by_run(declared);
    let mut names: Vec<&str> = runs.iter().map(|of| case.runs[of.run].kernel.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let is_free = |name: &&str| {
        let mut own = runs.iter().filter(|of| case.runs[of.run].kernel == **name);
        own.all(|of| of.after == of.ideal)
    };
    let free = names.iter().copied().find(|name| is_free(name));
    match (names.len(), free) {
        (0 | 1, _) => String::new(),
        (many, None) => format!(", summed over {}", plural(many as u64, "instance")),
        (many, Some(free)) => {
            format!(", summed over {}, of which `{free}` has no conflict", plural(many as u64, "instance"))
        }
    }
}
