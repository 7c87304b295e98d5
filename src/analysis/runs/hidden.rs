//! What may make threads of a kernel wait for each other, or lanes meet, where nothing in its text says so?
//!
//! Constructors, destructors and operators run without being named, and not all of them are followed:
//!
//! ```text
//! struct Waits { __device__ ~Waits() { __syncthreads(); } };
//!
//! Waits{};      the end of a temporary
//! ```
//!
//! Only those count that may run on the device, of classes of which the kernel may come to have an object. A call
//! operator is called where its object is: it is followed, or the call is known to lead anywhere.

use super::Subject;
use crate::builtins;
use crate::events::LaunchArg;
use crate::facts::{Between, Facts};
use crate::ir::names::{mentioned_names, type_names};
use crate::ir::{Function, FunctionKind, Name, TemplateArg, TemplateParam, TemplateParamKind, Type};
use crate::reach::{last_part, names_met};
use crate::scenario::Scenario;
use std::sync::Arc;

impl Subject<'_> {
    /// A function that is run without being named and may wait.
    pub(super) fn hidden_barrier(&self, scenario: &Scenario) -> Option<&Arc<Function>> {
        self.nameless(scenario, &|it| it.mentions.barrier).into_iter().next()
    }

    /// Whether something that is run without being named may bring lanes together.
    pub(super) fn meets_hidden(&self, scenario: &Scenario) -> bool {
        !self.nameless(scenario, &|it| it.mentions.lanes).is_empty()
    }

    /// Takes back the races that something may keep from happening which is run without being named, in a
    /// function that it calls: a barrier, or a `__syncwarp`.
    pub(super) fn drop_hidden_orders(&self, scenario: &Scenario, facts: &mut Facts) {
        let shared = [&facts.races, &facts.rounds, &facts.overwritten];
        let is_empty = shared.iter().all(|races| races.is_empty()) && facts.possible.is_empty();
        if is_empty && facts.memory.is_empty() {
            return;
        }
        let called = |function: &Function| -> Vec<&Arc<Function>> {
            let names = mentioned_names(function);
            let named = names.iter().flat_map(|name| self.program.functions(name));
            named.filter(|it| may_be_of_device(it)).collect()
        };
        let says = |function: &Function| mentioned_names(function).iter().any(|it| &**it == "__syncwarp");
        let waits = |function: &Function| called(function).iter().any(|it| it.mentions.barrier);
        let meets = |function: &Function| says(function) || called(function).into_iter().any(|it| says(it));
        if !self.nameless(scenario, &waits).is_empty() {
            facts.races.clear();
            facts.rounds.clear();
            facts.overwritten.clear();
            facts.possible.clear();
            facts.memory.retain(|race| race.blocks.is_some());
        } else if !self.nameless(scenario, &meets).is_empty() {
            facts.races.retain(|race| race.between == Between::Warps || race.is_update);
            facts.rounds.retain(|race| race.between == Between::Warps);
            facts.overwritten.clear();
        }
    }

    /// What the kernel may run without naming it, and may be passed over, of what is `wanted`.
    fn nameless(&self, scenario: &Scenario, wanted: &dyn Fn(&Function) -> bool) -> Vec<&Arc<Function>> {
        let functions = self.program.modules.iter().flat_map(|module| &module.functions);
        let is_hidden = |it: &&Arc<Function>| it.is_nameless() && &*it.name != "operator()";
        let mut all: Vec<&Arc<Function>> =
            functions.filter(is_hidden).filter(|it| wanted(it) && may_be_of_device(it)).collect();
        if !all.is_empty()
            && let Some(given) = self.given_names(scenario)
        {
            let met = names_met(self.program, self.kernel, given);
            let is_met = |owner: &Name| met.contains(owner) || met.contains(last_part(owner));
            all.retain(|it| it.owner.as_ref().is_none_or(is_met));
        }
        all
    }

    /// The names in the types that the launch gives the kernel; none if one of these may be any.
    fn given_names(&self, scenario: &Scenario) -> Option<Vec<Name>> {
        let is_type = |param: &TemplateParam| !matches!(param.kind, TemplateParamKind::Value(..));
        let setting = &scenario.setting;
        let args = &setting.template_args;
        if self.kernel.owner_params.iter().any(is_type) || args.contains(&LaunchArg::Unknown) {
            return None;
        }
        if self.kernel.template_params.iter().skip(args.len()).any(is_type) {
            return None;
        }
        let given = args.iter().filter_map(|arg| match arg {
            LaunchArg::Type(ty) => Some(ty),
            _ => None,
        });
        let given: Vec<&Type> = given.chain(setting.types.iter().map(|(_, ty)| ty)).collect();
        if given.iter().any(|ty| self.is_open(ty)) {
            return None;
        }
        let names = given.into_iter().flat_map(type_names);
        Some(names.chain(self.kernel.owner.clone()).collect())
    }

    /// Whether it is not known which type, or which part of one, this is.
    fn is_open(&self, ty: &Type) -> bool {
        match ty {
            Type::Opaque | Type::Auto | Type::Decltype(_) => true,
            Type::Pointer(inner) | Type::Reference(inner) | Type::Qualified(_, inner) => self.is_open(inner),
            Type::Array(inner, _) => self.is_open(inner),
            Type::Named(path) => {
                let args =
                    path.qualifiers.iter().flat_map(|(_, args)| args).chain(path.args.iter().flatten());
                let open_arg = |arg: &TemplateArg| match arg {
                    TemplateArg::Type(ty) => self.is_open(ty),
                    TemplateArg::Value(_) => false,
                };
                let is_seen = !self.program.records(&path.name).is_empty();
                // A lambda has no name, and its text belongs to the function around it.
                path.name.starts_with('(')
                    || (!is_seen && self.program.has_parameter(&path.name))
                    || args.into_iter().any(open_arg)
            }
            Type::Void | Type::Scalar(_) => false,
        }
    }
}

/// Whether a function may run on the device: macros that are not seen may say so.
fn may_be_of_device(function: &Function) -> bool {
    let calls_cuda = || mentioned_names(function).iter().any(|name| builtins::is_reserved(name));
    function.kind != FunctionKind::Host || calls_cuda()
}
