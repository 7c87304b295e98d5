//! Which numbers in types say how far the rows of a shared array lie apart, where its declaration alone does not?
//!
//! | in the text | what is made larger |
//! |---|---|
//! | `struct Storage { float tile[32][32]; };` | the member's last dimension |
//! | `struct Tile { T data[R * C]; T &at(int r, int c) { return data[r * C + c]; } };` | `C` in the length and the index |
//! | `fill(float (*t)[32])` of `float tile[32][32]` | the last dimension of both |
//! | `Body bodies[128]` | the class of the elements, by a word |
//!
//! What is found is tried: nothing here says that the kernel then finds the elements that it does now.

mod variables;

use super::pitch::sites::{Part, address, visit};
use super::runs::Subject;
use crate::ir::{BinaryOp, Declaration, Expr, ExprKind, Name, Record, Storage, Type};
use crate::rules::{Typed, TypedLength, TypedWhat, Use, UseForm};
use crate::source::Span;
use std::sync::Arc;
use variables::Together;

/// Classes within each other that are looked into.
const MOST_DEPTH: usize = 4;
/// Ways that are tried for one array.
const MOST: usize = 8;

/// What can be made larger, and what of that by its address in the program.
#[derive(Clone)]
pub(super) struct Candidate {
    pub typed: Typed,
    pub addresses: Vec<usize>,
}

/// What may be made larger so that rows of the array whose name is declared at `array` become longer. `first`: the
/// number of the first that is found.
pub(super) fn candidates(subject: &Subject<'_>, array: Span, first: usize) -> Vec<Candidate> {
    let Some(declaration) = declared(subject, array).filter(|it| it.storage == Storage::Shared) else {
        return Vec::new();
    };
    let mut members = Members { subject, found: Vec::new() };
    members.look_into(&declaration.ty, 0);
    if !members.found.is_empty() {
        subject.program.seek_whole();
    }
    let mut found: Vec<Candidate> = Vec::new();
    for InClass { what, addresses, class } in members.found.into_iter().take(MOST) {
        let is_closed = matches!(what, TypedWhat::Members(_)) && is_plain(subject, class, declaration);
        let uses = uses_of(subject, class, declaration);
        let typed = Typed { number: 0, what, arrays: vec![array], named: Vec::new(), uses, is_closed };
        found.push(Candidate { typed, addresses });
    }
    if let Some(Together { what, addresses, arrays, named, uses }) = variables::together(subject, declaration)
    {
        let is_closed = uses.is_some();
        let uses = uses.unwrap_or_default();
        let typed = Typed { number: 0, what, arrays, named, uses, is_closed };
        found.push(Candidate { typed, addresses });
    }
    for (candidate, number) in found.iter_mut().zip(first..) {
        candidate.typed.number = number;
    }
    found
}

/// The declaration of a shared variable, in a function or outside of all.
fn declared<'p>(subject: &Subject<'p>, array: Span) -> Option<&'p Declaration> {
    let program = subject.program;
    let mut of_files = program.modules.iter().flat_map(|module| &module.variables);
    if let Some(variable) = of_files.find(|it| it.name_span == array) {
        return Some(variable);
    }
    let functions = program.modules.iter().flat_map(|module| &module.functions);
    let around = |span: Span| span.file == array.file && span.start <= array.start && array.end <= span.end;
    let mut found = None;
    for function in functions.filter(|function| around(function.span)) {
        visit(function.body.as_deref().unwrap_or(&[]), &mut |part| {
            if let Part::Declaration(declaration) = part
                && declaration.name_span == array
            {
                found = Some(declaration);
            }
        });
    }
    found
}

/// In which forms the text may name a class and the one object of it.
fn uses_of(subject: &Subject<'_>, class: &Record, object: &Declaration) -> Vec<Use> {
    let is_nameless = class.name.starts_with('(') || class.name.is_empty();
    let (name, declared) = match is_nameless {
        true => (String::new(), Span { end: class.extent.start, ..class.extent }),
        false => (class.name.to_string(), class.span),
    };
    let members = class.fields.iter().map(|field| (field.name.to_string(), lengths(&field.ty).len()));
    let form = UseForm::Class { extent: class.extent, object: object.name_span };
    let object = Use {
        name: object.name.to_string(),
        declared: object.name_span,
        scope: Some(subject.kernel.span),
        form: UseForm::Object(members.collect()),
    };
    vec![Use { name, declared, scope: None, form }, object]
}

/// Whether a class has data only, and a declaration of the kernel is of one object of it.
fn is_plain(subject: &Subject<'_>, class: &Record, object: &Declaration) -> bool {
    let classes = Members { subject, found: Vec::new() };
    let is_of_it = classes.class(&object.ty).is_some_and(|it| it.extent == class.extent);
    let mut functions = subject.program.modules.iter().flat_map(|module| &module.functions);
    let (kernel, name) = (subject.kernel.span, object.name_span);
    is_of_it
        && class.template_params.is_empty()
        && class.bases.is_empty()
        && !class.is_polymorphic
        && (kernel.file == name.file && kernel.start <= name.start && name.end <= kernel.end)
        && !functions.any(|it| it.owner.as_ref() == Some(&class.name))
}

/// What can be made larger in a class.
struct InClass<'p> {
    what: TypedWhat,
    addresses: Vec<usize>,
    class: &'p Record,
}

/// The members of the classes that an array is made of.
struct Members<'s, 'p> {
    subject: &'s Subject<'p>,
    found: Vec<InClass<'p>>,
}

impl<'p> Members<'_, 'p> {
    fn look_into(&mut self, ty: &'p Type, depth: usize) {
        if depth > MOST_DEPTH {
            return;
        }
        match ty {
            Type::Array(inner, _) => {
                let element = element(inner);
                if let Some(record) = self.class(element).filter(|record| !record.union) {
                    let what = TypedWhat::Class { name: record.name.to_string(), extent: record.extent };
                    self.add(what, vec![Arc::as_ptr(record).addr()], record);
                }
                self.look_into(element, depth);
            }
            Type::Qualified(_, inner) => self.look_into(inner, depth),
            Type::Named(_) => {
                if let Some(record) = self.class(ty) {
                    record.bases.iter().for_each(|base| self.look_into(base, depth + 1));
                    for field in &record.fields {
                        self.note_field(record, &field.name, &field.ty);
                        self.look_into(&field.ty, depth + 1);
                    }
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, what: TypedWhat, addresses: Vec<usize>, class: &'p Record) {
        if !self.found.iter().any(|known| known.what == what) {
            self.found.push(InClass { what, addresses, class });
        }
    }

    /// The class that a type names, if it is the only one that it may.
    fn class(&self, ty: &'p Type) -> Option<&'p Arc<Record>> {
        let Type::Named(path) = ty else { return None };
        let program = self.subject.program;
        let mut records = program.records_meant(path, &self.subject.kernel.namespace);
        match (records.next(), records.next()) {
            (Some(record), None) => Some(record),
            (None, _) => match program.aliases(&path.name) {
                [alias] => self.class(&alias.ty),
                _ => None,
            },
            _ => None,
        }
    }

    fn note_field(&mut self, record: &'p Record, name: &Name, ty: &'p Type) {
        let all = lengths(ty);
        let spans: Option<Vec<Span>> = all.iter().map(|it| it.map(|length| length.span)).collect();
        let (Some(spans), Some(Some(last))) = (spans, all.last()) else { return };
        let of = TypedLength { name: name.to_string(), of: record.name.to_string(), lengths: spans };
        if all.len() > 1 {
            self.add(TypedWhat::Members(vec![of]), vec![address(last)], record);
            return;
        }
        // Rows that only the methods know.
        for factor in factors(last) {
            let ExprKind::Path(path) = &factor.kind else { continue };
            let mut places = vec![factor];
            for function in self.subject.program.modules.iter().flat_map(|module| &module.functions) {
                let is_own = function.owner.as_ref() == Some(&record.name)
                    && *function.namespace == *record.namespace
                    && record.holds(function.name_span);
                if is_own {
                    places.extend(factors_in(function.body.as_deref().unwrap_or(&[]), &path.name));
                }
            }
            if places.len() > 1 {
                let what = TypedWhat::Factors {
                    of: of.clone(),
                    places: places.iter().map(|place| place.span).collect(),
                };
                self.add(what, places.into_iter().map(address).collect(), record);
            }
        }
    }
}

/// The type of the elements of an array.
fn element(ty: &Type) -> &Type {
    match ty {
        Type::Array(inner, _) | Type::Qualified(_, inner) => element(inner),
        _ => ty,
    }
}

/// The lengths of an array, outermost first.
fn lengths(ty: &Type) -> Vec<Option<&Expr>> {
    match ty {
        Type::Array(inner, length) => {
            let mut all = vec![length.as_deref()];
            all.extend(lengths(inner));
            all
        }
        Type::Qualified(_, inner) => lengths(inner),
        _ => Vec::new(),
    }
}

/// The names that are factors of a product.
fn factors(expr: &Expr) -> Vec<&Expr> {
    fn collect<'e>(expr: &'e Expr, found: &mut Vec<&'e Expr>) {
        match &expr.kind {
            ExprKind::Binary(BinaryOp::Mul, a, b) => {
                collect(a, found);
                collect(b, found);
            }
            ExprKind::Path(path) if path.qualifiers.is_empty() => found.push(expr),
            _ => {}
        }
    }
    let mut found = Vec::new();
    if matches!(expr.kind, ExprKind::Binary(BinaryOp::Mul, ..)) {
        collect(expr, &mut found);
    }
    found
}

/// Where a name is a factor in a body.
fn factors_in<'p>(body: &'p [crate::ir::Stmt], name: &Name) -> Vec<&'p Expr> {
    let mut found: Vec<&Expr> = Vec::new();
    visit(body, &mut |part| {
        let Part::Expr(Expr { kind: ExprKind::Binary(BinaryOp::Mul, a, b), .. }) = part else { return };
        let is_name = |expr: &&&Expr| {
            matches!(&expr.kind, ExprKind::Path(path)
            if path.qualifiers.is_empty() && path.name == *name)
        };
        found.extend([&**a, &**b].iter().filter(is_name));
    });
    found
}
