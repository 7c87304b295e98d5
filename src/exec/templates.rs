//! Which specialisation of a template is meant?

use super::deduce::{is_named, perhaps_const};
use super::machine::{Chosen, Machine, Specialised};
use super::parameters::Given;
use super::same_type::{same_binding, same_type, surely_same};
use super::subsumption::Head;
use super::types::{Binding, Env, Layout, Ty};
use super::value::Value;
use super::viable::TYPEDEFS;
use crate::ir::namespace::Namespace;
use crate::ir::{
    Declaration, Expr, ExprKind, Name, Record, Scalar, TemplateArg, TemplateParam, TemplateParamKind, Type,
};
use std::rc::Rc;
use std::sync::Arc;

/// Whether one of several specialisations is meant is not known.
pub(super) struct Undecided;

/// A specialisation that is held against arguments.
struct Match<'a> {
    record: &'a Arc<Record>,
    env: Env,
    /// How much of its patterns is not left open: of two that match, the one with more is meant.
    fixed: usize,
    undecided: bool,
}

impl Match<'_> {
    /// Goes on where it is not known whether something matches, and keeps that in mind.
    fn note(&mut self, same: Option<bool>) -> bool {
        self.undecided |= same.is_none();
        same != Some(false)
    }

    fn so_far(&self) -> Rc<Env> {
        Rc::new(Env { bindings: self.env.bindings.clone() })
    }
}

/// The parameter of a specialisation that a pattern is.
fn parameter_of(record: &Record, pattern: &TemplateArg) -> Option<Name> {
    let path = match pattern {
        TemplateArg::Type(Type::Named(path)) => path,
        TemplateArg::Value(Expr { kind: ExprKind::Path(path), .. }) => path,
        _ => return None,
    };
    let own = record.template_params.iter().any(|param| param.name == path.name);
    (own && path.qualifiers.is_empty() && path.args.is_none()).then(|| path.name.clone())
}

/// Whether a template argument is a reference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refers {
    No,
    /// `T` of a `T &&` that is deduced.
    Perhaps,
    Surely,
}

/// Whether a pattern is met by `const` types alone, or by `volatile` ones.
fn asks_for_const(arg: &TemplateArg) -> bool {
    fn in_type(ty: &Type) -> bool {
        match ty {
            Type::Qualified(..) => true,
            Type::Pointer(inner) | Type::Reference(inner) | Type::Array(inner, _) => in_type(inner),
            Type::Named(path) => path.args.iter().flatten().any(asks_for_const),
            _ => false,
        }
    }
    matches!(arg, TemplateArg::Type(ty) if in_type(ty))
}

/// A pack of nothing, as in `struct Sum<>`.
fn is_nothing(arg: &TemplateArg) -> bool {
    matches!(arg, TemplateArg::Value(Expr { kind: ExprKind::Expansion(name), .. }) if name.is_empty())
}

/// A part of a pattern.
fn inner_pattern(pattern: &Type) -> TemplateArg {
    TemplateArg::Type(pattern.clone())
}

/// Whether a type is written as a template of classes with its arguments.
fn is_of_template(layout: &Layout, written: &Type) -> bool {
    matches!((written, &layout.record), (Type::Named(path), Some(record)) if record.name == path.name)
}

/// For how many lists of arguments it is remembered which specialisation of a template is meant.
const ARGUMENTS: usize = 64;

impl Machine<'_> {
    /// The specialisation that is meant of those of one record, and what its own parameters stand for;
    /// none if the primary template is. `env`: what the primary template's parameters stand for.
    pub(super) fn specialization_of(
        &mut self,
        primary: &Record,
        records: &[Arc<Record>],
        explicit: &[TemplateArg],
        env: &Env,
    ) -> Result<Option<Chosen>, Undecided> {
        let asks = |record: &Arc<Record>| {
            !record.extent.is_built_in() && record.specialization.iter().any(asks_for_const)
        };
        if records.iter().any(asks) && explicit.iter().any(|arg| self.may_be_const(arg)) {
            return Err(Undecided);
        }
        let args = match primary.specialization.is_empty() {
            true => self.arguments_of(primary, explicit, env)?,
            false => self.arguments_like(records, explicit)?,
        };
        let refers: Vec<Refers> = explicit.iter().map(|arg| self.refers(arg)).collect();
        if refers.contains(&Refers::Surely) {
            return self.match_specialisations(primary, records, &args, &refers);
        }
        let found = self.specialisation_known(primary, records, args)?;
        // What is meant for a type may not be for a reference to it.
        let is_told = |(record, _): &Chosen| {
            let mut patterns = record.specialization.iter().zip(&refers);
            patterns.all(|(pattern, refers)| *refers == Refers::No || parameter_of(record, pattern).is_some())
        };
        match found.as_ref().is_none_or(is_told) {
            true => Ok(found),
            false => Err(Undecided),
        }
    }

    /// The specialisation that is meant for arguments that are no references.
    fn specialisation_known(
        &mut self,
        primary: &Record,
        records: &[Arc<Record>],
        args: Vec<Binding>,
    ) -> Result<Option<Chosen>, Undecided> {
        let key = (primary.name.clone(), primary.span);
        let known = self.lookups.memo.specialisations.get(&key);
        let is_same = |known: &&Specialised| {
            known.0.len() == args.len() && known.0.iter().zip(&args).all(|(a, b)| a.same(b))
        };
        if let Some((_, found)) = known.and_then(|known| known.iter().find(is_same)) {
            return Ok(found.clone());
        }
        let momentary = self.lookups.momentary;
        let found = self.match_specialisations(primary, records, &args, &[])?;
        if self.lookups.momentary == momentary {
            let known = self.lookups.memo.specialisations.entry(key).or_default();
            if known.len() >= ARGUMENTS {
                known.clear();
            }
            known.push((args, found.clone()));
        }
        Ok(found)
    }

    /// Whether a template argument is a reference, which its type does not tell.
    fn refers(&self, arg: &TemplateArg) -> Refers {
        match arg {
            TemplateArg::Type(ty) if self.env().refers(ty) => Refers::Surely,
            TemplateArg::Type(ty) if self.may_refer(ty) => Refers::Perhaps,
            _ => Refers::No,
        }
    }

    /// The specialisation that these arguments match, if there is one. `refers`: whether each of them is a reference.
    fn match_specialisations(
        &mut self,
        primary: &Record,
        records: &[Arc<Record>],
        args: &[Binding],
        refers: &[Refers],
    ) -> Result<Option<Chosen>, Undecided> {
        let mut matching: Vec<Match<'_>> = Vec::new();
        for record in records {
            let mut matched = Match { record, env: Env::default(), fixed: 0, undecided: false };
            // A reference is not what it refers to.
            let is_other = |(pattern, refers): (&TemplateArg, &Refers)| {
                *refers == Refers::Surely
                    && !matches!(pattern, TemplateArg::Type(Type::Reference(_)))
                    && parameter_of(record, pattern).is_none()
            };
            if record.specialization.iter().zip(refers).any(is_other) {
                continue;
            }
            if !self.all_match(primary, &mut matched, args) || !self.meets_constraints(&mut matched) {
                continue;
            }
            matching.push(matched);
        }
        if matching.iter().any(|matched| matched.undecided) {
            return Err(Undecided);
        }
        let beats = |one: &Match<'_>, other: &Match<'_>| match one.fixed == other.fixed {
            true => self.asks_more(Head::from(&**one.record), Head::from(&**other.record)),
            false => one.fixed > other.fixed,
        };
        let is_best = |at: &usize| {
            (0..matching.len()).all(|other| other == *at || beats(&matching[*at], &matching[other]))
        };
        match (0..matching.len()).find(is_best) {
            Some(best) => {
                let best = matching.swap_remove(best);
                Ok(Some((Arc::clone(best.record), Rc::new(best.env))))
            }
            None if matching.is_empty() => Ok(None),
            None => Err(Undecided),
        }
    }

    /// Whether it is not known if a template argument is `const`: a parameter that was deduced behind a pointer.
    fn may_be_const(&self, arg: &TemplateArg) -> bool {
        let path = match arg {
            TemplateArg::Type(Type::Named(path)) => path,
            TemplateArg::Value(Expr { kind: ExprKind::Path(path), .. }) => path,
            _ => return false,
        };
        let bindings = self.frame().map(|frame| &frame.env.bindings);
        path.qualifiers.is_empty()
            && path.args.is_none()
            && bindings.is_some_and(|bindings| bindings.contains_key(&perhaps_const(&path.name)))
    }

    /// What the parameters of the primary template stand for, a pack in full.
    fn arguments_of(
        &mut self,
        primary: &Record,
        explicit: &[TemplateArg],
        env: &Env,
    ) -> Result<Vec<Binding>, Undecided> {
        let mut args = Vec::new();
        for (at, param) in primary.template_params.iter().enumerate() {
            if param.pack {
                for given in self.in_full(explicit).into_iter().skip(at) {
                    args.push(self.bind_given(&param.kind, given)?);
                }
                break;
            }
            let bound = match (env.bindings.get(&param.name), explicit.get(at), &param.kind) {
                (Some(bound), ..) if !param.name.is_empty() => Some(bound.clone()),
                (_, Some(arg), kind) => Some(self.bind_one(kind, arg)),
                (_, None, TemplateParamKind::Type(Some(ty)) | TemplateParamKind::Template(Some(ty))) => {
                    Some(Binding::Type(self.resolve_argument(ty)))
                }
                (_, None, TemplateParamKind::Value(_, Some(expr))) => {
                    Some(Binding::Value(self.evaluate(expr)))
                }
                _ => None,
            };
            args.push(bound.ok_or(Undecided)?);
        }
        Ok(args)
    }

    /// The same where the primary template has no body, or none that is seen: whether an argument is a type or a
    /// number is what the specialisations say.
    fn arguments_like(
        &mut self,
        records: &[Arc<Record>],
        explicit: &[TemplateArg],
    ) -> Result<Vec<Binding>, Undecided> {
        let kind_at = |at: usize| {
            // `Sum<>` says nothing of what others are given.
            let mut told = records.iter().filter(|record| !record.specialization.iter().any(is_nothing));
            let at_place = |record: &'_ Arc<Record>| record.specialization.get(at).is_some();
            let record = told.clone().find(|record| at_place(record)).or_else(|| told.next())?;
            let pattern = record.specialization.get(at).or(record.specialization.last())?;
            let name = match pattern {
                TemplateArg::Type(Type::Named(path)) if path.args.is_none() => &path.name,
                TemplateArg::Value(Expr { kind: ExprKind::Path(path), .. }) => &path.name,
                TemplateArg::Value(Expr { kind: ExprKind::Expansion(name), .. }) => name,
                TemplateArg::Type(_) => return Some(TemplateParamKind::Type(None)),
                TemplateArg::Value(_) => {
                    return Some(TemplateParamKind::Value(Type::Auto, None));
                }
            };
            let own = record.template_params.iter().find(|param| param.name == *name);
            Some(own.map_or(TemplateParamKind::Type(None), |param| param.kind.clone()))
        };
        let given = self.in_full(explicit);
        let bound = given.into_iter().enumerate();
        bound.map(|(at, given)| self.bind_given(&kind_at(at).ok_or(Undecided)?, given)).collect()
    }

    fn bind_given(&mut self, kind: &TemplateParamKind, given: Given<'_>) -> Result<Binding, Undecided> {
        match given {
            Given::Written(arg) => Ok(self.bind_one(kind, arg)),
            Given::Bound(bound) => Ok(bound),
            Given::Open => Err(Undecided),
        }
    }

    /// Whether an explicit specialisation of a variable is the one for these arguments.
    pub(super) fn is_specialized_for(
        &mut self,
        special: &Declaration,
        args: &[Option<Binding>],
    ) -> Option<bool> {
        match special.template_params.is_empty() {
            true => self.are_written(&special.specialization, &special.namespace, args),
            false => None,
        }
    }

    /// Whether arguments are those that are written in a namespace; none if that is not known.
    pub(super) fn are_written(
        &mut self,
        written: &[TemplateArg],
        namespace: &Namespace,
        args: &[Option<Binding>],
    ) -> Option<bool> {
        if written.len() != args.len() {
            return None;
        }
        let mut all = Some(true);
        for (written, arg) in written.iter().zip(args) {
            let env = self.env();
            let written = self.within(env, namespace, |machine| match (written, arg) {
                // `N` in `S<N>` may be written like a type.
                (TemplateArg::Type(Type::Named(path)), Some(Binding::Value(_))) => {
                    Binding::Value(machine.number_named(path))
                }
                (TemplateArg::Type(ty), _) => Binding::Type(machine.resolve_argument(ty)),
                (TemplateArg::Value(Expr { kind: ExprKind::Path(path), .. }), Some(Binding::Type(_))) => {
                    Binding::Type(machine.resolve_named_type(path))
                }
                (TemplateArg::Value(expr), _) => Binding::Value(machine.evaluate(expr)),
            });
            match arg.as_ref().and_then(|arg| surely_same(&written, arg)) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => all = None,
            }
        }
        all
    }

    /// Whether what is matched is what a `requires` asks for, as far as is known: then more is said of it.
    fn meets_constraints(&mut self, matched: &mut Match<'_>) -> bool {
        let record = matched.record;
        // A type for a number: what looks like the type of a number is a concept of a header.
        let is_concept = |param: &TemplateParam| {
            let bound = matched.env.bindings.get(&param.name);
            matches!(param.kind, TemplateParamKind::Value(..)) && matches!(bound, Some(Binding::Type(_)))
        };
        if record.template_params.iter().any(is_concept) {
            matched.undecided = true;
        }
        let is_asked = |param: &&TemplateParam| param.name.is_empty();
        for param in record.template_params.iter().filter(is_asked) {
            let TemplateParamKind::Type(Some(ty)) = &param.kind else { continue };
            let (env, namespace) = (matched.so_far(), &record.namespace);
            let exists = self.within(env, namespace, |machine| machine.exists(ty, TYPEDEFS));
            if !matched.note(exists) {
                return false;
            }
        }
        true
    }

    fn all_match(&mut self, primary: &Record, matched: &mut Match<'_>, args: &[Binding]) -> bool {
        let record = matched.record;
        let (patterns, pack) = match record.specialization.split_last() {
            Some((TemplateArg::Value(Expr { kind: ExprKind::Expansion(name), .. }), before)) => {
                (before, Some(name))
            }
            _ => (record.specialization.as_slice(), None),
        };
        let pack = pack.filter(|name| !name.is_empty());
        let fits = match pack {
            Some(_) => args.len() >= patterns.len(),
            None => args.len() == patterns.len() || self.are_defaults(primary, matched, args),
        };
        if !fits {
            return false;
        }
        match pack {
            Some(name) => {
                let rest: Vec<Binding> = args.iter().skip(patterns.len()).cloned().collect();
                matched.env.bind(name, Binding::Pack(rest.into()));
            }
            // Of two that match, the one without a pack is meant.
            None => matched.fixed += 1,
        }
        patterns.iter().zip(args).all(|(pattern, arg)| self.matches(matched, pattern, arg))
    }

    /// Whether the arguments behind those that a specialisation writes are what the primary template says by default:
    /// `template <> struct Block<3>` of `template <int, int = 0> struct Block` is that of `Block<3, 0>`.
    fn are_defaults(&mut self, primary: &Record, matched: &mut Match<'_>, args: &[Binding]) -> bool {
        let (record, params) = (matched.record, &primary.template_params);
        let written = &record.specialization;
        let is_short = written.len() < args.len() && args.len() == params.len();
        if !is_short || !primary.specialization.is_empty() {
            return false;
        }
        let env = self.within(self.lookups.memo.no_env(), &record.namespace, |machine| {
            machine.bind(params, Some(written), &Env::default())
        });
        let env = Rc::new(env);
        params.iter().zip(args).skip(written.len()).all(|(param, arg)| {
            let named = env.bindings.get(&param.name).filter(|_| !param.name.is_empty()).cloned();
            let own = named.or_else(|| {
                self.within(Rc::clone(&env), &primary.namespace, |machine| match &param.kind {
                    TemplateParamKind::Value(_, Some(expr)) => Some(Binding::Value(machine.evaluate(expr))),
                    TemplateParamKind::Type(Some(ty)) => Some(Binding::Type(machine.resolve_argument(ty))),
                    _ => None,
                })
            });
            own.is_some_and(|own| matched.note(surely_same(&own, arg)))
        })
    }

    /// Whether an argument is what a pattern says, as far as is known.
    fn matches(&mut self, matched: &mut Match<'_>, pattern: &TemplateArg, arg: &Binding) -> bool {
        if let Some(name) = parameter_of(matched.record, pattern) {
            return match matched.env.bindings.get(&name) {
                // The same parameter again: `Same<A, A>`.
                Some(bound) => {
                    matched.fixed += 1;
                    let bound = bound.clone();
                    matched.note(surely_same(&bound, arg))
                }
                None => {
                    matched.env.bindings.insert(name, arg.clone());
                    true
                }
            };
        }
        match (pattern, arg) {
            (TemplateArg::Type(pattern), Binding::Type(ty)) => self.type_matches(matched, pattern, ty),
            (_, Binding::Pack(_)) => matched.note(None),
            (TemplateArg::Value(expr), Binding::Type(ty)) => match &expr.kind {
                ExprKind::Path(path) => self.type_matches(matched, &Type::Named(path.clone()), ty),
                _ => false,
            },
            (TemplateArg::Value(expr), arg) => {
                matched.fixed += 1;
                let value = self.within(matched.so_far(), &matched.record.namespace, |it| it.evaluate(expr));
                matched.note(same_binding(&Binding::Value(value), arg))
            }
            (TemplateArg::Type(Type::Named(path)), arg) => {
                matched.fixed += 1;
                let (env, namespace) = (matched.so_far(), &matched.record.namespace);
                let value = self.within(env, namespace, |machine| machine.number_named(path));
                matched.note(same_binding(&Binding::Value(value), arg))
            }
            (TemplateArg::Type(_), Binding::Value(_)) => false,
        }
    }

    fn names_enumeration(&self, pattern: &Type) -> bool {
        matches!(pattern, Type::Named(path) if self.program.enumeration(&path.name).is_some())
    }

    fn type_matches(&mut self, matched: &mut Match<'_>, pattern: &Type, ty: &Ty) -> bool {
        match (pattern, ty) {
            (Type::Qualified(asked, pattern), Ty::Qualified(has, inner)) => {
                matched.fixed += usize::from(asked.constant) + usize::from(asked.volatile);
                let Some(left) = has.without(*asked) else { return false };
                let rest = (**inner).clone().qualified(left);
                self.matches(matched, &inner_pattern(pattern), &Binding::Type(rest))
            }
            // What is not known is taken to be no `const`.
            (Type::Qualified(..), _) => false,
            (_, Ty::Unknown(_)) => matched.note(None),
            // What may be an enumeration is perhaps not the type that its numbers have.
            (_, Ty::Enum(None, numbers)) if !self.names_enumeration(pattern) => {
                self.type_matches(matched, pattern, numbers) && matched.note(None)
            }
            (Type::Pointer(pattern), Ty::Pointer(pointee)) => {
                matched.fixed += 1;
                self.matches(matched, &inner_pattern(pattern), &Binding::Type((**pointee).clone()))
            }
            (Type::Array(pattern, written), Ty::Array(element, length)) => {
                matched.fixed += 1;
                let same = match (written, length) {
                    (Some(written), Some(length)) => {
                        let length = Binding::Value(Value::Int((**length).clone(), Scalar::U64));
                        self.matches(matched, &TemplateArg::Value((**written).clone()), &length)
                    }
                    (None, None) => true,
                    _ => false,
                };
                same && self.matches(matched, &inner_pattern(pattern), &Binding::Type((**element).clone()))
            }
            (Type::Pointer(_) | Type::Array(..), _) => false,
            // A reference is not told from what it refers to.
            (Type::Reference(_), _) => matched.note(None),
            (Type::Named(path), Ty::Record(layout))
                if path.args.is_some()
                    && layout.record.as_ref().is_some_and(|record| record.name == path.name) =>
            {
                if !is_named(self.program, layout, path, &matched.record.namespace) {
                    return false;
                }
                matched.fixed += 1;
                let Some(record) = layout.record.clone() else { return false };
                let args = path.args.as_deref().unwrap_or_default();
                if args.len() != record.template_params.len() || !record.specialization.is_empty() {
                    return matched.note(None);
                }
                args.iter().zip(&record.template_params).all(|(pattern, param)| {
                    match layout.env.bindings.get(&param.name) {
                        Some(bound) => self.matches(matched, pattern, &bound.clone()),
                        None => matched.note(None),
                    }
                })
            }
            // What it says of its parameters may make no sense for these arguments.
            (Type::Decltype(_), _) if !matched.record.template_params.is_empty() => matched.note(None),
            _ => {
                matched.fixed += 1;
                let (env, namespace) = (matched.so_far(), &matched.record.namespace);
                let written = self.within(env, namespace, |machine| machine.resolve_argument(pattern));
                let is_made = matches!(pattern, Type::Named(path)
                    if path.args.is_some() || !path.qualifiers.is_empty());
                match written {
                    Ty::Unknown(_) => matched.note(None),
                    // `long` is not `long long`; what the standard library says of one holds for the other.
                    written if written == *ty && same_type(&written, ty) != Some(false) => {
                        let is_long = matches!(written.innermost(), Ty::Scalar(Scalar::I64 | Scalar::U64));
                        let is_told = !is_long || matched.record.extent.is_built_in();
                        matched.note(same_type(&written, ty).filter(|_| is_told))
                    }
                    written if same_type(&written, ty).is_none() => matched.note(None),
                    // Not an instance of that template.
                    Ty::Record(of) if is_of_template(&of, pattern) => false,
                    _ => is_made && !matched.record.template_params.is_empty() && matched.note(None),
                }
            }
        }
    }
}
