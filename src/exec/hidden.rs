//! By what name is a type told from others that is not visible?
//!
//! Two types of one name have two sizes if they are members of two classes or made with other arguments:
//! `A::Storage` and `B::Storage`, `Block<float>` and `Block<double>`. So a type is known by all of that,
//! with names resolved where they stand. Namespaces do not count: what an unseen one holds may be
//! brought into sight by another.

use super::machine::{Frame, Machine};
use super::types::{Binding, Ty, nameless};
use super::value::Value;
use crate::events::LaunchArg;
use crate::ir::{Expr, Function, Name, Path, TemplateArg, Type, print};
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Bytes of a name; longer ones end in a number that stands for the rest.
const LONGEST: usize = 240;

impl Machine<'_> {
    /// The name of a type that is not visible.
    pub(super) fn hidden_name(&mut self, path: &Path) -> Name {
        if path.qualifiers.is_empty() && path.args.is_none() {
            return path.name.clone();
        }
        // Only a name is made: the run gets no further by it.
        let steps = self.steps;
        let name = self.whole_name(path);
        self.steps = steps;
        name
    }

    /// What a launch is given for a parameter of the kernel's template, where that is a class that is not visible and has
    /// a name that means the same elsewhere.
    pub(super) fn unseen_class_handed(
        &mut self,
        kernel: &Function,
        param: &Name,
        args: &[Expr],
    ) -> LaunchArg {
        let handed = kernel.params.iter().zip(args).take_while(|(taken, _)| !taken.pack);
        for (taken, arg) in handed {
            if let Some(Ty::Unknown(name)) = told_for(param, &taken.ty, &self.type_to_deduce_from(arg))
                && self.is_class_elsewhere(name)
            {
                return LaunchArg::Type(Type::Named(Box::new(Path::simple(name.clone()))));
            }
        }
        LaunchArg::Unknown
    }

    /// Whether a name is that of a class which is not visible, whatever text says it.
    fn is_class_elsewhere(&mut self, name: &Name) -> bool {
        let may_be_own = |machine: &mut Self, part: &str| {
            let part: Name = part.into();
            let is_own = |frame: &Frame| frame.function.owner_params.iter().any(|it| it.name == part);
            machine.program.may_be_class(&part)
                || machine.program.enumeration(&part).is_some()
                || machine.program.has_parameter(&part)
                || machine.state.frames.iter().any(is_own)
        };
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
        !nameless::ALL.contains(&&**name)
            && name.chars().all(is_letter)
            && !name.split("::").any(|part| part.is_empty() || may_be_own(self, part))
    }

    fn whole_name(&mut self, path: &Path) -> Name {
        let mut name = self.hidden_owner(path).unwrap_or_default();
        name.push_str(&path.name);
        if let Some(args) = path.args.as_deref().filter(|args| !args.is_empty()) {
            let args: Vec<String> = args.iter().map(|arg| self.hidden_argument(arg)).collect();
            name = format!("{name}<{}>", args.join(", "));
        }
        if name.len() > LONGEST {
            let mut hasher = FxHasher::default();
            hasher.write(name.as_bytes());
            name = format!("{}<{:x}>", path.name, hasher.finish());
        }
        name.into()
    }

    /// The class that a type is a member of.
    fn hidden_owner(&mut self, path: &Path) -> Option<String> {
        let ((owner, args), around) = path.qualifiers.split_last()?;
        let written = (!args.is_empty()).then(|| args.clone());
        let around = around.to_vec();
        let class = Path { qualifiers: around, args: written, ..Path::simple(owner.clone()) };
        Some(match self.resolve_named_type(&class) {
            Ty::Unknown(name) if name == *owner && !self.is_parameter(owner) => {
                if args.is_empty() {
                    return None;
                }
                // Which of a template's specialisations is meant is not known, but that it is another for others.
                let args: Vec<String> = args.iter().map(|arg| self.hidden_argument(arg)).collect();
                format!("{owner}<{}>::", args.join(", "))
            }
            Ty::Unknown(name) => format!("{name}::"),
            ty => format!("{}::", self.full_name(&ty)),
        })
    }

    fn is_parameter(&mut self, name: &Name) -> bool {
        if self.frame().is_some_and(|frame| frame.env.bindings.contains_key(name)) {
            return true;
        }
        if !self.program.has_parameter(name) {
            return false;
        }
        // It is one as long as that function runs.
        self.lookups.momentary += 1;
        self.state.frames.iter().any(|f| f.function.template_params.iter().any(|it| it.name == *name))
    }

    fn full_name(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Unknown(name) => name.to_string(),
            _ => self.closed_type(ty).map_or_else(|| ty.describe(), |ty| print::ty(&ty)),
        }
    }

    fn hidden_argument(&mut self, arg: &TemplateArg) -> String {
        let bound = match arg {
            TemplateArg::Type(ty) => Binding::Type(self.resolve_argument(ty)),
            TemplateArg::Value(expr) => Binding::Value(self.evaluate(expr)),
        };
        match (bound, arg) {
            (Binding::Type(ty), _) => self.full_name(&ty),
            (Binding::Value(Value::Int(int, _)), _) => match int.as_constant() {
                Some(number) => number.to_string(),
                None => format!("{:?}", int.canonical()),
            },
            (_, TemplateArg::Value(expr)) => format!("{}:{}", expr.span.file.0, expr.span.start),
            (_, TemplateArg::Type(ty)) => print::ty(ty),
        }
    }
}

/// What the type of an argument says that a template parameter is, where the type of the parameter is that, or a pointer
/// or reference to it.
fn told_for<'t>(param: &Name, pattern: &Type, ty: &'t Ty) -> Option<&'t Ty> {
    match (pattern, ty) {
        (Type::Reference(inner) | Type::Qualified(_, inner), _) => told_for(param, inner, ty),
        (Type::Pointer(inner), Ty::Pointer(ty)) => told_for(param, inner, ty),
        (_, Ty::Qualified(_, ty)) => told_for(param, pattern, ty),
        (Type::Named(path), _) => (*path.name == **param && path.args.is_none()).then_some(ty),
        _ => None,
    }
}
