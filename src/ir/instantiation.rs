//! Which template arguments does an explicit instantiation give?
//!
//! Those that it writes, `template void f<float, 4>(float *);`, and those that its parameters tell:
//!
//! | declared | instantiated | `T`, `N` |
//! |---|---|---|
//! | `template <class T> void f(T *out, int n)` | `template void f(float *, int);` | `float` |
//! | `template <class T, int N> void g(Rows<T, N> &rows)` | `template void g(Rows<half, 8> &);` | `half`, 8 |
//! | `template <int N, class T> void h(T *out)` | `template void h<2>(float *);` | 2, `float` |
//!
//! The types of both are compared as they are written: by an alias of a type, nothing is told.

use super::{Expr, ExprKind, Function, Name, Path, TemplateArg, Type, print};

/// An explicit instantiation of a function: `template void f<float, 4>(float *);`.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Instantiation {
    /// The function, with the template arguments that are written.
    pub path: Path,
    /// The types of its parameters.
    pub params: Vec<Type>,
}

impl Instantiation {
    /// The template arguments that it gives a function of its name; `None` if it is none of this one, or tells nothing.
    #[must_use]
    pub fn args_of(&self, function: &Function) -> Option<Vec<TemplateArg>> {
        let written = self.path.args.as_deref().unwrap_or_default();
        let template_params = &function.template_params;
        let has_pack = function.params.iter().any(|param| param.pack);
        let has_other_count = function.params.len() != self.params.len() && !has_pack;
        if self.path.name != function.name || template_params.is_empty() || has_other_count {
            return None;
        }
        if written.len() >= template_params.len() || template_params.iter().any(|param| param.pack) {
            return self.path.args.clone();
        }
        let mut told: Vec<(Name, TemplateArg)> =
            template_params.iter().map(|it| it.name.clone()).zip(written.iter().cloned()).collect();
        let free: Vec<&Name> = template_params.iter().map(|param| &param.name).collect();
        // Types that are written differently may be the same through an alias.
        let mut params = function.params.iter().zip(&self.params);
        let agrees = params.all(|(param, ty)| tell(&param.ty, ty, &free, &mut told));
        if !agrees {
            return self.path.args.clone();
        }
        let told_of = |name: &Name| told.iter().find(|(of, _)| of == name).map(|(_, arg)| arg.clone());
        let args: Vec<TemplateArg> = template_params.iter().map_while(|param| told_of(&param.name)).collect();
        (!args.is_empty()).then_some(args)
    }
}

/// Notes what a type says of template parameters, held against the one that is declared; false where it is another.
fn tell(declared: &Type, given: &Type, free: &[&Name], told: &mut Vec<(Name, TemplateArg)>) -> bool {
    match (declared, given) {
        (Type::Pointer(declared), Type::Pointer(given))
        | (Type::Reference(declared), Type::Reference(given))
        | (Type::Array(declared, _), Type::Array(given, _)) => tell(declared, given, free, told),
        (Type::Qualified(_, declared), given) => tell(declared, given, free, told),
        (declared, Type::Qualified(_, given)) => tell(declared, given, free, told),
        (Type::Named(path), given) if is_free(path, free) => {
            note(&path.name, TemplateArg::Type(given.clone()), told)
        }
        (Type::Named(of), Type::Named(given)) if of.args.is_some() || given.args.is_some() => {
            let (Some(args), Some(given_args)) = (&of.args, &given.args) else { return false };
            of.name == given.name
                && args.len() == given_args.len()
                && args.iter().zip(given_args).all(|(arg, given)| tell_argument(arg, given, free, told))
        }
        // What stands behind a name of the declared type is not looked up: `typename T::type`.
        (Type::Named(path), _) if !path.qualifiers.is_empty() => true,
        (Type::Decltype(_) | Type::Auto | Type::Opaque, _) | (_, Type::Opaque) => true,
        _ => print::ty(declared) == print::ty(given),
    }
}

fn tell_argument(
    declared: &TemplateArg,
    given: &TemplateArg,
    free: &[&Name],
    told: &mut Vec<(Name, TemplateArg)>,
) -> bool {
    match (declared, given) {
        (TemplateArg::Type(declared), TemplateArg::Type(given)) => tell(declared, given, free, told),
        (TemplateArg::Type(Type::Named(path)), given) if is_free(path, free) => {
            note(&path.name, given.clone(), told)
        }
        (TemplateArg::Value(Expr { kind: ExprKind::Path(path), .. }), given) if is_free(path, free) => {
            note(&path.name, given.clone(), told)
        }
        // What numbers are made of is not compared.
        _ => true,
    }
}

fn is_free(path: &Path, free: &[&Name]) -> bool {
    path.qualifiers.is_empty() && path.args.is_none() && free.contains(&&path.name)
}

/// Notes what a template parameter stands for; false where that is something else.
fn note(name: &Name, arg: TemplateArg, told: &mut Vec<(Name, TemplateArg)>) -> bool {
    let print = |arg: &TemplateArg| match arg {
        TemplateArg::Type(ty) => print::ty(ty),
        TemplateArg::Value(value) => print::expr(value),
    };
    match told.iter().find(|(of, _)| of == name) {
        Some((_, known)) => print(known) == print(&arg),
        None => {
            told.push((name.clone(), arg));
            true
        }
    }
}
