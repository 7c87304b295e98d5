//! Which of several functions of one name does a call mean?
//!
//! By owner, by how many parameters, and by how well the types of the arguments fit. Types are known
//! without `const` and without what `enable_if` asks of them, so the best may be several. If they do
//! the same it does not matter which is called. Else each of them may be: what they access is noted,
//! and what they return or change is not known.
//!
//! | candidates | `f(threadIdx.x)` |
//! |---|---|
//! | `f(int)`, `f(unsigned)` | `f(unsigned)`: an exact fit |
//! | `f(T)`, `f(float)` | `f(T)`: better than a conversion |
//! | `f(int &)`, `f(const int &)` | either |

use super::deduce::{NO_FIT, fit, strip};
use super::join::Join;
use super::machine::{Machine, Mode, OneOfSeveral};
use super::members::BASES;
use super::packs::{expansion_in, is_pack, mentions, takes_arguments, takes_count};
use super::partial_order::most_specialised;
use super::same_type::{same_binding, same_type};
use super::slots::Slot;
use super::subsumption::told_alike;
use super::types::Ty;
use super::value::{Pointer, Value};
use super::viable::is_conditional;
use crate::builtins;
use crate::domain::{Reason, Unknown, Variation};
use crate::ir::print;
use crate::ir::{Expr, ExprKind, Function, Name, Param, Path, Scalar, TemplateArg, TemplateParamKind, Type};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// The most functions of which each may be meant.
const MOST: usize = 8;

impl Machine<'_> {
    /// The definitions that a call may mean: by owner, number of parameters, then how well types fit.
    pub(super) fn choose_functions(&mut self, path: &Path, args: &[Expr]) -> Vec<Arc<Function>> {
        let owner = match path.qualifiers.last() {
            Some((name, _)) => Some(name.clone()),
            None if path.global => None,
            None => self.frame().and_then(|f| f.function.owner.clone()),
        };
        let all = self.program.functions(&path.name);
        let fits = |f: &&Arc<Function>| f.body.is_some() && may_be_meant(path, f) && takes_count(f, args);
        let from = self.namespace();
        let from: &[Name] = if path.global { &[] } else { &from };
        let of = |wanted: Option<&str>, qualifiers: &[(Name, Vec<TemplateArg>)]| -> Vec<Arc<Function>> {
            let fitting: Vec<Arc<Function>> =
                all.iter().filter(|f| f.owner.as_deref() == wanted).filter(fits).cloned().collect();
            self.program.in_sight(&path.name, &fitting, qualifiers, from).cloned().collect()
        };
        let before_owner = path.qualifiers.split_last().map_or(&[][..], |(_, before)| before);
        let is_alias = |it: &mut Self| match path.qualifiers.as_slice() {
            [(name, _)] if !path.global => it.alias_in_class(&Path::simple(name.clone())).is_some(),
            _ => false,
        };
        let mut candidates = match &owner {
            // In its class, a typedef hides what has its name outside.
            Some(_) if is_alias(self) => Vec::new(),
            Some(owner) => of(Some(owner), before_owner),
            None => of(None, &path.qualifiers),
        };
        // `using Base::f;`
        if path.qualifiers.is_empty()
            && !path.global
            && owner.is_some()
            && self.own_records().iter().any(|record| record.usings.contains(&path.name))
        {
            for class in self.own_bases() {
                candidates.extend(of(Some(&class), &[]));
            }
        }
        // A class by another name than its whole one: a member of a class around, a typedef.
        if candidates.is_empty()
            && let Some(layout) = self.qualifying_class(path)
        {
            candidates = of(Some(&layout.name), &[]);
            if candidates.is_empty() {
                let base = self.class_where(&layout, BASES, &|class| !of(Some(&class.name), &[]).is_empty());
                candidates = base.map(|base| of(Some(&base.name), &[])).unwrap_or_default();
            }
        }
        let first_of = |classes: Vec<Name>| {
            let mut found = classes.iter().map(|class| of(Some(class), &[]));
            found.find(|of| !of.is_empty()).unwrap_or_default()
        };
        let may_be_own = path.qualifiers.is_empty() && owner.is_some();
        if candidates.is_empty() && may_be_own {
            let mut classes = self.own_bases_seen(&path.name);
            classes.extend(self.bases_used_around(&path.name));
            classes.extend(self.enclosing_names());
            candidates = first_of(classes);
        }
        if candidates.is_empty()
            && (path.qualifiers.is_empty() || self.program.records(owner.as_deref().unwrap_or("")).is_empty())
        {
            candidates = of(None, &path.qualifiers);
        }
        if candidates.is_empty() && may_be_own {
            candidates = first_of(self.own_bases());
        }
        if path.qualifiers.is_empty() && !path.global && candidates.iter().all(|f| f.owner.is_none()) {
            self.add_associated(&mut candidates, all, args);
        }
        candidates = self.of_class_meant(path, candidates);
        if !candidates.is_empty() && self.is_of_undefined_class(path) {
            candidates.clear();
        }
        candidates = self.with_special_of(path, candidates);
        let explicit = path.args.as_deref().unwrap_or(&[]);
        let is_template = |f: &Arc<Function>| !f.template_params.is_empty() || !f.specialization.is_empty();
        // `f<>(x)` means a template, too.
        if path.args.is_some() && candidates.iter().any(is_template) {
            candidates.retain(is_template);
        }
        if let Some(count) = self.given_count(explicit)
            && candidates.iter().any(|f| takes_arguments(f, count))
        {
            candidates.retain(|f| takes_arguments(f, count));
        }
        self.best_of(candidates, explicit, args)
    }

    /// Whether a path names a member of a class template that is not defined for these arguments.
    fn is_of_undefined_class(&mut self, path: &Path) -> bool {
        let Some(((name, args), before)) = path.qualifiers.split_last() else { return false };
        let (qualifiers, name, args) = (before.to_vec(), name.clone(), Some(args.clone()));
        let has_args = args.as_ref().is_some_and(|args| !args.is_empty());
        has_args && self.is_left_undefined(&Path { qualifiers, name, args, global: path.global })
    }

    /// Of several definitions those whose parameters fit best: one of those that do the same.
    pub(super) fn best_of(
        &mut self,
        candidates: Vec<Arc<Function>>,
        explicit: &[TemplateArg],
        args: &[Expr],
    ) -> Vec<Arc<Function>> {
        if candidates.len() <= 1 {
            return candidates;
        }
        // How many arguments there are is not known.
        if expansion_in(args).is_some() && self.mode == Mode::Device {
            return candidates;
        }
        let text = || Ty::Pointer(Rc::new(Ty::Scalar(Scalar::I8)));
        let types: Vec<Ty> = args
            .iter()
            .map(|arg| if matches!(arg.kind, ExprKind::Str(_)) { text() } else { self.type_of(arg) })
            .collect();
        let candidates = self.without_foreign(candidates, explicit, &types);
        let named = args
            .iter()
            .zip(&types)
            .map(|(arg, ty)| self.with_enumerations(arg, ty.clone()))
            .collect::<Vec<_>>();
        let (candidates, sure) = self.viable(candidates, explicit, &named);
        let (candidates, open) = self.without_worse(candidates, &types, args);
        let may_be_none = |f: &Arc<Function>| is_conditional(f) && !sure.iter().any(|it| Arc::ptr_eq(it, f));
        let judged: Vec<(i32, Arc<Function>)> = candidates
            .into_iter()
            .map(|function| (self.points(&function, explicit, &types), function))
            .collect();
        let early: Vec<(i32, Arc<Function>)> =
            judged.iter().filter(|(_, function)| !self.is_declared_later(function)).cloned().collect();
        // What stands behind a template is found by the classes of arguments alone.
        let seen_first = match early.is_empty() || early.len() == judged.len() {
            true => Vec::new(),
            false => most_specialised(foremost(early).0, explicit, &types),
        };
        let (best, rest) = foremost(judged);
        let mut best = most_specialised(best, explicit, &types);
        if self.mode == Mode::Device {
            best.extend(in_doubt(&best, &rest, &types));
        }
        for function in seen_first {
            if !best.iter().any(|other| Arc::ptr_eq(other, &function)) {
                best.push(function);
            }
        }
        // Whether it is one of them may hang on more than how well the arguments fit.
        if best.iter().all(may_be_none) && self.mode == Mode::Device {
            let (sure, _) = foremost(rest.into_iter().filter(|(_, f)| !may_be_none(f)).collect());
            best.extend(sure);
        }
        // Host code is run for its launches alone.
        if self.mode == Mode::Host {
            best.truncate(1);
        }
        // Of two that fit equally well, the one without a pack is meant.
        let has_pack = |f: &Arc<Function>| f.params.iter().any(|param| is_pack(f, param));
        let told = types.iter().all(|ty| !matches!(ty, Ty::Unknown(_)))
            && best.iter().all(|f| !f.template_params.is_empty() && !may_be_none(f));
        if told && best.iter().any(has_pack) && best.iter().any(|f| !has_pack(f)) {
            best.retain(|f| !has_pack(f));
        }
        let mut best = self.those_that_ask_most(best, &sure);
        best.extend(
            open.into_iter()
                .filter(|it| !best.iter().any(|other| Arc::ptr_eq(it, other)))
                .collect::<Vec<_>>(),
        );
        let mut best = self.by_access(best, args);
        if let [first, rest @ ..] = best.as_slice()
            && rest.iter().all(|other| self.lookups.memo.does_the_same(first, other))
        {
            best.truncate(1);
        }
        best
    }

    /// Of templates that fit equally well, those that ask for more than the others. `sure`: those of which it is known
    /// that they can be called.
    fn those_that_ask_most(
        &self,
        mut best: Vec<Arc<Function>>,
        sure: &[Arc<Function>],
    ) -> Vec<Arc<Function>> {
        let is_known = |f: &Arc<Function>| sure.iter().any(|it| Arc::ptr_eq(it, f));
        if best.len() < 2 || !told_alike(&best) {
            return best;
        }
        // What asks for more is meant, if that is so.
        let (asking, plain): (Vec<_>, Vec<_>) = best.iter().partition(|f| is_conditional(f));
        if !asking.is_empty() && !plain.is_empty() && asking.iter().all(|f| is_known(f)) {
            best.retain(|f| is_conditional(f));
        }
        match best.len() > 1 && best.iter().all(is_known) {
            true => self.most_constrained(best),
            false => best,
        }
    }

    /// Without templates that cannot be called like this, if others can; and those of which it is known that they
    /// can.
    pub(super) fn viable(
        &mut self,
        candidates: Vec<Arc<Function>>,
        explicit: &[TemplateArg],
        types: &[Ty],
    ) -> (Vec<Arc<Function>>, Vec<Arc<Function>>) {
        let (mut viable, mut sure) = (Vec::new(), Vec::new());
        for function in &candidates {
            let verdict = self.is_viable(function, explicit, types);
            viable.extend((verdict != Some(false)).then(|| Arc::clone(function)));
            sure.extend((verdict == Some(true)).then(|| Arc::clone(function)));
        }
        (if viable.is_empty() { candidates } else { viable }, sure)
    }

    /// Without explicit specialisations of templates other than the one that is meant: which that is is told
    /// without them, and one belongs to a template that stands before it.
    fn without_foreign(
        &mut self,
        candidates: Vec<Arc<Function>>,
        explicit: &[TemplateArg],
        types: &[Ty],
    ) -> Vec<Arc<Function>> {
        let is_special = |f: &Arc<Function>| !f.specialization.is_empty();
        if candidates.iter().filter(|f| !is_special(f)).count() < 2 || !candidates.iter().any(is_special) {
            return candidates;
        }
        let primaries = candidates.iter().filter(|f| !is_special(f)).cloned();
        let judged: Vec<(i32, Arc<Function>)> =
            primaries.map(|function| (self.points(&function, explicit, types), function)).collect();
        let best = most_specialised(foremost(judged).0, explicit, types);
        let [meant] = best.as_slice() else { return candidates };
        let belongs = |f: &Arc<Function>| {
            !is_special(f)
                || !meant.template_params.is_empty()
                    && (f.span.file != meant.span.file || f.span.start > meant.span.start)
        };
        candidates.into_iter().filter(belongs).collect()
    }

    /// Whether a function is declared behind the template that is running and calls it.
    fn is_declared_later(&self, function: &Function) -> bool {
        let Some(caller) = self.frame().map(|frame| &frame.function) else { return false };
        if caller.template_params.is_empty() && caller.owner_params.is_empty() || function.owner.is_some() {
            return false;
        }
        let is_behind = |it: &Function| it.span.file == caller.span.file && it.span.start >= caller.span.end;
        let is_declaration = |it: &&Arc<Function>| {
            it.owner.is_none()
                && it.params.len() == function.params.len()
                && it.params.iter().zip(&function.params).all(|(x, y)| x.ty == y.ty)
        };
        is_behind(function)
            && self.program.functions(&function.name).iter().filter(is_declaration).all(|it| is_behind(it))
    }

    pub(super) fn points(&mut self, function: &Arc<Function>, explicit: &[TemplateArg], types: &[Ty]) -> i32 {
        let mut points = 0;
        if !function.specialization.is_empty() {
            let is_told = matches!(function.specialization.as_slice(), [TemplateArg::Type(Type::Auto)]);
            let fits = match explicit.is_empty() || is_told {
                true if self.is_not_by_default(function) => Some(false),
                // Its arguments are deduced: they are what the parameters say.
                true => {
                    let unlike = function.params.iter().zip(types).any(|(param, ty)| {
                        let param = self.resolve_written(&param.ty);
                        let (ty, param) = (super::deduce::decayed(ty), super::deduce::decayed(&param));
                        !matches!(ty, Ty::Unknown(_))
                            && (ty != param || same_type(&ty, &param) == Some(false))
                    });
                    let is_open = types.iter().any(|ty| matches!(ty, Ty::Unknown(_)));
                    if unlike { Some(false) } else { (!is_open).then_some(true) }
                }
                false => self.specialization_fits(function, explicit),
            };
            points += match fits {
                Some(true) => 100,
                // As good as the template itself.
                None => 0,
                Some(false) => -1000,
            };
        }
        if !explicit.is_empty() && function.template_params.is_empty() && function.specialization.is_empty() {
            points -= 100;
        }
        let of_params = |machine: &mut Self| {
            let params = function.params.iter().zip(types);
            params.map(|(param, ty)| fit(machine, function, &param.ty, ty)).sum::<i32>()
        };
        points
            + match function.owner.is_none() && function.namespace != self.namespace() {
                true => self.within(self.env(), &function.namespace, of_params),
                false => of_params(self),
            }
    }

    /// Whether an explicit specialisation is for other arguments than those that its template takes where neither the
    /// call nor its operands say any.
    fn is_not_by_default(&mut self, function: &Function) -> bool {
        let all = self.program.functions(&function.name);
        let is_primary = |it: &&Arc<Function>| {
            it.specialization.is_empty()
                && it.owner == function.owner
                && it.namespace == function.namespace
                && it.template_params.len() == function.specialization.len()
                && it.params.len() == function.params.len()
        };
        let Some(primary) = all.iter().filter(is_primary).find(|it| it.body.is_some()) else { return false };
        let primary = Arc::clone(primary);
        primary.template_params.iter().zip(&function.specialization).any(|(param, arg)| {
            let is_deduced = primary.params.iter().any(|it| mentions(&it.ty, &param.name));
            match (&param.kind, arg) {
                _ if is_deduced => false,
                (TemplateParamKind::Value(_, Some(default)), TemplateArg::Value(own)) => {
                    let (default, own) = (self.constant(default), self.constant(own));
                    default.zip(own).is_some_and(|(default, own)| default != own)
                }
                (TemplateParamKind::Type(Some(default)), TemplateArg::Type(own)) => {
                    let (default, own) = (self.resolve_argument(default), self.resolve_argument(own));
                    same_type(&default, &own) == Some(false)
                }
                _ => false,
            }
        })
    }

    /// Whether an explicit specialisation is that for these arguments; none if that is not known.
    fn specialization_fits(&mut self, function: &Function, explicit: &[TemplateArg]) -> Option<bool> {
        let mut fits = Some(true);
        for (pattern, arg) in function.specialization.iter().zip(explicit) {
            let (pattern, arg) = (self.bind_written(pattern), self.bind_written(arg));
            let same = same_binding(&pattern, &arg);
            match same {
                Some(true) => {}
                Some(false) => return same,
                None => fits = None,
            }
        }
        fits
    }

    /// Runs each of several functions of which one is called, on the part of an object that is its. `reads`: whether
    /// what is at the end of a reference that one hands back is read.
    pub(super) fn call_several(
        &mut self,
        several: Vec<(Arc<Function>, Option<Pointer>)>,
        path: &Path,
        args: &[Expr],
        (span, reads): (Span, bool),
    ) -> Value {
        // Each may lead to all of them again, where no type tells more than it did before.
        if let Some((function, this)) = several.iter().find(|(function, _)| self.is_running(function)) {
            return self.call_too_deep(function, this.as_ref(), args, span);
        }
        let words = format!("which of {} functions `{}` is called", several.len(), path.name);
        let why = Unknown::new(Reason::AmbiguousCall, span, words);
        let before = self.state.clone();
        let count = several.iter().map(|(function, _)| function.params.len()).max().unwrap_or(0);
        let is_by_value = |param: &Param| !param.pack && !matches!(param.ty, Type::Reference(_));
        let all_by_value = |at: usize| {
            let of = |(function, _): &(Arc<Function>, _)| function.params.get(at).is_some_and(is_by_value);
            several.iter().all(of)
        };
        let by_value: Rc<[bool]> = (0..count).map(all_by_value).collect();
        for (at, (function, this)) in several.into_iter().take(MOST).enumerate() {
            let held = (at > 0).then(|| std::mem::replace(&mut self.state, before.clone()));
            self.state.add_doubt(&why);
            let (by_value, doubt) = (Rc::clone(&by_value), (before.doubt.clone(), before.chosen));
            self.at_hand.several = Some(OneOfSeveral { is_first: at == 0, by_value, doubt });
            self.in_own_branch(true, |machine| {
                let result = machine.run_function(&function, path, this, args, span);
                if let (Value::Pointer(place), Type::Reference(_), true) =
                    (result, &function.return_type, reads)
                {
                    machine.read(&place, span);
                }
            });
            if let Some(held) = held {
                self.join(held, Join::Varying(why.clone()));
            }
        }
        (self.state.active, self.state.doubt) = (before.active.minus(&self.state.exited), before.doubt);
        Value::opaque(Variation::Maybe, why)
    }

    /// An argument for the parameter with this number, by value.
    pub(super) fn argument_of(
        &mut self,
        several: Option<&OneOfSeveral>,
        at: usize,
        param: &Param,
        arg: &Expr,
    ) -> Slot {
        let Some(several) = several.filter(|it| it.by_value.get(at) == Some(&true)) else {
            return self.argument(param, arg);
        };
        let (doubt, chosen) = (self.state.doubt.clone(), self.state.chosen);
        (self.state.doubt, self.state.chosen) = several.doubt.clone();
        let is_recording = self.recording;
        self.recording &= several.is_first;
        let slot = self.argument(param, arg);
        self.recording = is_recording;
        if self.state.doubt == several.doubt.0 {
            (self.state.doubt, self.state.chosen) = (doubt, chosen);
        }
        slot
    }
}

/// Those that are meant if the ones that seem to fit best do not take an argument whose type is not known: no pointer
/// is converted to one to another type, and few classes are.
fn in_doubt(best: &[Arc<Function>], rest: &Judged, types: &[Ty]) -> Vec<Arc<Function>> {
    let open = types.iter().enumerate().filter(|(_, ty)| match ty {
        Ty::Pointer(inner) | Ty::Array(inner, _) => matches!(**inner, Ty::Unknown(_)),
        _ => false,
    });
    let open: Vec<usize> = open.map(|(at, _)| at).collect();
    let may_be_other = |f: &Arc<Function>| {
        let differs = |at: &usize| {
            let of = |f: &Arc<Function>| f.params.get(*at).map(|param| strip(&param.ty).clone());
            let is_own = |f: &Arc<Function>, ty: &Type| {
                f.template_params.iter().any(|param| mentions(ty, &param.name)) || *ty == Type::Opaque
            };
            best.iter().all(|best| match of(best) {
                Some(taken) => Some(&taken) != of(f).as_ref() && !is_own(best, &taken),
                None => false,
            })
        };
        open.iter().any(differs)
    };
    let mut found = Vec::new();
    for (points, function) in rest {
        if *points > NO_FIT / 2 && may_be_other(function) {
            found.push(Arc::clone(function));
        }
    }
    found
}

/// Functions, and how well each fits.
pub(super) type Judged = Vec<(i32, Arc<Function>)>;

/// Those that fit best, and the others.
pub(super) fn foremost(judged: Judged) -> (Vec<Arc<Function>>, Judged) {
    let top = judged.iter().map(|(points, _)| *points).max();
    let (best, rest): (Vec<_>, Vec<_>) = judged.into_iter().partition(|(points, _)| Some(*points) == top);
    (best.into_iter().map(|(_, function)| function).collect(), rest)
}

/// The only one.
pub(super) fn only(mut functions: Vec<Arc<Function>>) -> Option<Arc<Function>> {
    if functions.len() == 1 { functions.pop() } else { None }
}

impl super::machine::Memo {
    /// The same as [`do_the_same`], which is asked at each call.
    fn does_the_same(&mut self, a: &Arc<Function>, b: &Arc<Function>) -> bool {
        let key = (Arc::as_ptr(a).addr(), Arc::as_ptr(b).addr());
        *self.same.entry(key).or_insert_with(|| do_the_same(a, b))
    }
}

/// Whether it makes no difference which of two functions is called, as far as their text tells: the
/// `const` and the other one of an accessor.
fn do_the_same(a: &Function, b: &Function) -> bool {
    let types = |f: &Function| f.params.iter().map(|param| print::ty(&param.ty)).collect::<Vec<_>>();
    a.name == b.name
        && a.owner == b.owner
        && a.namespace == b.namespace
        // Not as trees: in `View<N - 1>` an expression knows where it stands.
        && print::ty(&a.return_type) == print::ty(&b.return_type)
        && a.template_params.len() == b.template_params.len()
        && a.constraints == b.constraints
        && types(a) == types(b)
        && print::body(a) == print::body(b)
}

/// Whether a path may mean a function of its name: `::min` means CUDA's, and none in a namespace.
fn may_be_meant(path: &Path, function: &Function) -> bool {
    let is_bare = path.global && path.qualifiers.is_empty();
    !is_bare || function.namespace.is_empty() || builtins::kind(&path.name).is_none()
}
