//! Which of several kernels of one name does a launch mean?
//!
//! By how many parameters, and by how well the types of the arguments fit, as for a call. Where a type that may decide
//! is not known, it may be any of those that the others leave, and each says which other it may be.
//!
//! | kernels | launch | means |
//! |---|---|---|
//! | `k(T *)`, `k(complex<T> *)` | `k<<<1, 32>>>(p)` for a `double *p` | the first |
//! | the same | for a `complex<double> *p` | the second, with `double` for `T` |
//! | `k(float *)`, `k(double *)` | for a `p` of a type that is not known | either |
//! | `k<N>`, and `k<8>` by itself | `k<4><<<1, 32>>>(p)` | the template |
//! | the same | `k<8><<<1, 32>>>(p)` | its specialisation |

use super::deduce::{CONVERTED, deduce, fit};
use super::machine::Machine;
use super::overload::foremost;
use super::packs::takes_arguments;
use super::partial_order::most_specialised;
use super::same_type::same_type;
use super::subsumption::told_alike;
use super::types::{Binding, Env, Ty};
use super::value::Value;
use super::viable::is_conditional;
use crate::events::LaunchArg;
use crate::ir::namespace::meant;
use crate::ir::{Expr, Function, FunctionKind, Path, TemplateArg, TemplateParamKind, Type, print};
use crate::source::Span;
use std::sync::Arc;

/// What a launch may mean: a kernel with its declarations and specialisations.
pub(super) struct Meant {
    pub kernels: Vec<Arc<Function>>,
    /// As in [`LaunchSite::rival`](crate::events::LaunchSite::rival).
    pub rival: Option<Span>,
}

impl Machine<'_> {
    /// The kernels of a name that a launch with these arguments may mean.
    pub(super) fn kernels_meant(&mut self, kernel: &Path, args: &[Expr]) -> Vec<Meant> {
        let kernels = self.kernels_taking(kernel, args.len());
        let is_primary = |f: &&Arc<Function>| f.body.is_some() && f.specialization.is_empty();
        let primaries: Vec<Arc<Function>> = kernels.iter().filter(is_primary).cloned().collect();
        let is_alike = args.is_empty() || same_params(&primaries);
        if primaries.len() < 2 || is_alike && !primaries.iter().any(|f| is_conditional(f)) {
            return vec![Meant { kernels, rival: None }];
        }
        let chosen = self.overloads_meant(primaries, kernel, args);
        let beside: Vec<Arc<Function>> = kernels.iter().filter(|f| !is_primary(f)).cloned().collect();
        let of = |function: &Arc<Function>| {
            let is_rival = |other: &&Arc<Function>| other.name_span != function.name_span;
            let rival = chosen.iter().find(is_rival).map(|other| other.name_span);
            // What is no template has no specialisations.
            let is_own = |other: &&Arc<Function>| {
                other.specialization.is_empty() || !function.template_params.is_empty()
            };
            let beside = beside.iter().filter(is_own).cloned();
            Meant { kernels: std::iter::once(Arc::clone(function)).chain(beside).collect(), rival }
        };
        chosen.iter().map(of).collect()
    }

    /// Of a kernel with its specialisations, those that a launch with these template arguments may mean, by the place
    /// of their names. If that is not known, each may be another, as told by the second of the two.
    pub(super) fn definitions_for(
        &mut self,
        kernels: &[Arc<Function>],
        args: Option<&[LaunchArg]>,
    ) -> (Vec<Span>, Option<Span>) {
        let places = |of: &[&Arc<Function>]| of.iter().map(|it| it.name_span).collect::<Vec<_>>();
        let defined = kernels.iter().filter(|it| it.body.is_some());
        let (special, primaries): (Vec<&Arc<Function>>, Vec<_>) =
            defined.partition(|it| !it.specialization.is_empty());
        // A template that is only declared may have its bodies in specialisations.
        let declared = kernels.iter().find(|it| it.specialization.is_empty());
        let (false, Some(primary)) = (special.is_empty(), primaries.first().copied().or(declared)) else {
            return (places(&[special, primaries].concat()), None);
        };
        let mut open = Vec::new();
        for kernel in &special {
            match self.is_specialised_for(kernel, primary, args.unwrap_or_default()) {
                Some(true) => return (vec![kernel.name_span], None),
                Some(false) => {}
                None => open.push(*kernel),
            }
        }
        if primaries.is_empty() && open.is_empty() {
            return (places(&special), None);
        }
        let rival = open.get(usize::from(primaries.is_empty())).map(|it| it.name_span);
        (places(&[primaries, open].concat()), rival)
    }

    /// Whether an explicit specialisation of a kernel is that for these template arguments; none if that is not known.
    fn is_specialised_for(
        &mut self,
        special: &Function,
        primary: &Function,
        args: &[LaunchArg],
    ) -> Option<bool> {
        let own = match special.specialization.as_slice() {
            // `template <> void k(float *)`: its parameters tell.
            [TemplateArg::Type(Type::Auto)] => {
                let mut env = Env::default();
                for (pattern, param) in primary.params.iter().zip(&special.params) {
                    let ty = self.resolve_type(&param.ty);
                    deduce(self, &mut env, primary, &pattern.ty, &ty);
                }
                let bound = primary.template_params.iter().map(|param| env.bindings.get(&param.name));
                bound.map(|binding| self.bound_argument(binding)).collect()
            }
            written => self.launch_arguments(written),
        };
        let mut fits = Some(true);
        for (at, own) in own.iter().enumerate() {
            let same = match (own, args.get(at).unwrap_or(&LaunchArg::Unknown)) {
                (LaunchArg::Unknown, _) | (_, LaunchArg::Unknown) => None,
                (LaunchArg::Type(one), LaunchArg::Type(other)) => {
                    let (one, other) = (self.resolve_argument(one), self.resolve_argument(other));
                    same_type(&one, &other)
                }
                (one, other) => Some(one == other),
            };
            match same {
                Some(true) => {}
                Some(false) => return Some(false),
                None => fits = None,
            }
        }
        fits
    }

    /// What is bound to a template parameter, as an argument of a launch.
    pub(super) fn bound_argument(&mut self, binding: Option<&Binding>) -> LaunchArg {
        match binding {
            Some(Binding::Type(ty)) => self.closed_type(ty).map_or(LaunchArg::Unknown, LaunchArg::Type),
            Some(Binding::Value(Value::Int(int, _))) => {
                int.as_constant().map_or(LaunchArg::Unknown, LaunchArg::Value)
            }
            _ => LaunchArg::Unknown,
        }
    }

    /// The kernels of a name that a launch with so many arguments may mean.
    fn kernels_taking(&self, kernel: &Path, count: usize) -> Vec<Arc<Function>> {
        let inside = self.namespace();
        let named = meant(self.program.functions(&kernel.name), &kernel.qualifiers, &inside);
        let mut kernels: Vec<Arc<Function>> =
            named.filter(|f| f.kind == FunctionKind::Kernel).cloned().collect();
        // Of overloads, those that take just these arguments. Where none are seen, they may be in an array.
        if count > 0 && kernels.iter().any(|f| f.params.len() == count) {
            kernels.retain(|f| f.params.len() == count);
        }
        kernels
    }

    /// Of kernels that differ in their parameters, those that may be meant.
    fn overloads_meant(
        &mut self,
        kernels: Vec<Arc<Function>>,
        path: &Path,
        args: &[Expr],
    ) -> Vec<Arc<Function>> {
        let explicit = path.args.as_deref().unwrap_or(&[]);
        let types: Vec<Ty> = args.iter().map(|arg| self.type_of(arg)).collect();
        let mut kernels = kernels;
        if kernels.iter().any(|kernel| self.takes_written(kernel, explicit)) {
            kernels.retain(|kernel| self.takes_written(kernel, explicit));
        }
        let named: Vec<Ty> =
            args.iter().zip(&types).map(|(arg, ty)| self.with_enumerations(arg, ty.clone())).collect();
        let (mut kernels, sure) = self.viable(kernels, explicit, &named);
        let takes = |machine: &mut Self, kernel: &Function| {
            let mut params = kernel.params.iter().zip(&types);
            params.all(|(param, ty)| fit(machine, kernel, &param.ty, ty) >= CONVERTED)
        };
        if kernels.iter().any(|kernel| takes(self, kernel)) {
            kernels.retain(|kernel| takes(self, kernel));
        }
        let is_open = |(at, ty): (usize, &Ty)| is_open(ty) && !same_param(&kernels, at);
        if types.iter().enumerate().any(is_open) {
            return kernels;
        }
        let judged =
            kernels.into_iter().map(|kernel| (self.points(&kernel, explicit, &types), kernel)).collect();
        let best = most_specialised(foremost(judged).0, explicit, &types);
        match told_alike(&best) && best.iter().all(|it| sure.iter().any(|sure| Arc::ptr_eq(it, sure))) {
            true => self.most_constrained(best),
            false => best,
        }
    }

    /// Whether a kernel's template can be given the arguments that are written: no more than it takes, types for types
    /// and numbers for numbers.
    fn takes_written(&mut self, kernel: &Function, explicit: &[TemplateArg]) -> bool {
        if self.given_count(explicit).is_some_and(|count| !takes_arguments(kernel, count)) {
            return false;
        }
        let params = kernel.template_params.iter().take_while(|param| !param.pack);
        params.zip(explicit).all(|(param, arg)| {
            let takes_number = matches!(param.kind, TemplateParamKind::Value(..));
            self.gives_number(arg).is_none_or(|gives| gives == takes_number)
        })
    }
}

/// Whether something of a type is not known.
fn is_open(ty: &Ty) -> bool {
    match ty {
        Ty::Unknown(_) => true,
        Ty::Pointer(inner) | Ty::Array(inner, _) => is_open(inner),
        _ => false,
    }
}

/// Whether all kernels have the same parameters, as they are written.
fn same_params(kernels: &[Arc<Function>]) -> bool {
    let count = kernels.iter().map(|kernel| kernel.params.len()).max().unwrap_or(0);
    (0..count).all(|at| same_param(kernels, at))
}

/// Whether the parameter with this number is the same in all kernels, as it is written.
fn same_param(kernels: &[Arc<Function>], at: usize) -> bool {
    let written = |kernel: &Arc<Function>| kernel.params.get(at).map(|param| print::ty(&param.ty));
    kernels.windows(2).all(|pair| written(&pair[0]) == written(&pair[1]))
}
