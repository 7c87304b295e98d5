//! What is visible from one file, its own module and those of the headers that it includes?

use super::defaults;
use super::namespace::{Named, answers, meant};
use super::opened::{Opened, Qualifier, is_seen_in, seen_in};
use super::{Alias, Declaration, Function, FunctionKind, Module, Name, Path, Record, Scalar, Type};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The items visible from one file, by name.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// The file's own module first, then headers in order of inclusion.
    pub modules: Vec<Arc<Module>>,
    /// What names stand for that no module has.
    standard: Option<Arc<Module>>,
    index: Arc<Index>,
    /// What is looked up, if somebody wants to know.
    sought: Option<Arc<Sought>>,
}

/// What has been looked up in a program.
#[derive(Debug, Default)]
pub(crate) struct Sought {
    functions: Mutex<FxHashSet<Name>>,
    all: AtomicBool,
    whole: AtomicBool,
}

impl Sought {
    /// Whether functions of this name were asked for.
    #[must_use]
    pub(crate) fn function(&self, name: &str) -> bool {
        self.functions.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
    }

    /// Whether all functions were looked through.
    #[must_use]
    pub(crate) fn whole(&self) -> bool {
        self.whole.load(Ordering::Relaxed)
    }

    /// Whether all functions were asked whether they name the kernel.
    #[must_use]
    pub(crate) fn all(&self) -> bool {
        self.all.load(Ordering::Relaxed)
    }
}

/// What has one name, mostly one item.
type Items<T> = SmallVec<[Arc<T>; 1]>;

#[derive(Debug, Default)]
struct Index {
    functions: FxHashMap<Name, Items<Function>>,
    records: FxHashMap<Name, Items<Record>>,
    /// Class templates that have specialisations, and are themselves only declared.
    declared: FxHashMap<Name, Items<Record>>,
    variables: FxHashMap<Name, Items<Declaration>>,
    aliases: FxHashMap<Name, Items<Alias>>,
    enums: FxHashMap<Name, Enumerations>,
    conversions: FxHashMap<Name, Items<Function>>,
    has_destructors: bool,
    has_host_destructors: bool,
    has_own_copies: bool,
    has_specialisations: bool,
    /// The names that no module has.
    standard: FxHashSet<Name>,
    /// Names of a library, with the namespace, that modules have in other namespaces.
    apart: FxHashSet<(Name, Name)>,
    opened: Opened,
    /// The names of member typedefs of all classes, once somebody asks.
    member_types: OnceLock<FxHashSet<Name>>,
    /// The names of the members of all classes that are references, once somebody asks.
    reference_members: OnceLock<FxHashSet<Name>>,
    /// The names of the template parameters of all functions, once somebody asks.
    parameters: OnceLock<FxHashSet<Name>>,
}

/// The enumerations that have one name.
#[derive(Debug)]
struct Enumerations {
    /// As the first says.
    underlying: Option<Type>,
    /// How many are defined: in namespaces and classes of their own, or under conditions.
    definitions: u32,
    /// Whether all say the same underlying type.
    agree: bool,
}

impl Index {
    /// Adds what a module has under the names that are wanted.
    fn add(&mut self, module: &Module, wanted: &dyn Fn(&Name, &[Name]) -> bool) {
        let is_wanted = |it: &&Arc<Function>| wanted(it.owner.as_ref().unwrap_or(&it.name), &it.namespace);
        for function in module.functions.iter().filter(is_wanted) {
            self.functions.entry(function.name.clone()).or_default().push(Arc::clone(function));
            self.has_destructors |= is_destructor(function);
            self.has_host_destructors |= ends_on_host(function);
            self.has_own_copies |= may_copy(function);
            self.has_specialisations |= !function.specialization.is_empty() && !function.span.is_built_in();
            if let (Some(owner), true) = (&function.owner, is_conversion(&function.name)) {
                self.conversions.entry(owner.clone()).or_default().push(Arc::clone(function));
            }
        }
        for record in module.records.iter().filter(|it| wanted(&it.name, &it.namespace)) {
            self.records.entry(record.name.clone()).or_default().push(Arc::clone(record));
            self.has_specialisations |= !record.specialization.is_empty() && !record.extent.is_built_in();
        }
        for variable in module.variables.iter().filter(|it| wanted(&it.name, &it.namespace)) {
            self.variables.entry(variable.name.clone()).or_default().push(Arc::clone(variable));
        }
        for alias in module.aliases.iter().filter(|it| wanted(&it.name, &it.namespace)) {
            self.aliases.entry(alias.name.clone()).or_default().push(Arc::clone(alias));
        }
        for found in module.enums.iter().filter(|it| wanted(&it.name, &[])) {
            let first = || Enumerations { underlying: found.underlying.clone(), definitions: 0, agree: true };
            let named = self.enums.entry(found.name.clone()).or_insert_with(first);
            named.definitions += u32::from(found.is_defined);
            named.agree &= named.underlying == found.underlying;
        }
    }

    /// Adds what a class template is declared with that its definition does not say: what its parameters are by
    /// default, or that there is one, if only specialisations are defined.
    fn declare(&mut self, declared: &Arc<Record>) {
        let Some(named) = self.records.get_mut(&declared.name) else { return };
        let is_primary = |it: &&mut Arc<Record>| {
            it.namespace == declared.namespace
                && it.specialization.is_empty()
                && it.template_params.len() == declared.template_params.len()
        };
        match named.iter_mut().find(is_primary) {
            Some(primary) => defaults::of_class(primary, declared),
            None => self.declared.entry(declared.name.clone()).or_default().push(Arc::clone(declared)),
        }
    }

    /// Whether a record, an alias or a variable has this name in a namespace that nothing is around.
    fn has_in(&self, name: &Name, within: &Name) -> bool {
        fn any<T: Named>(all: Option<&[Arc<T>]>, within: &Name) -> bool {
            all.is_some_and(|all| all.iter().any(|it| **it.namespace() == *std::slice::from_ref(within)))
        }
        any(self.records.get(name).map(|all| &**all), within)
            || any(self.aliases.get(name).map(|all| &**all), within)
            || any(self.variables.get(name).map(|all| &**all), within)
    }

    /// Whether an alias has this name, and nothing else.
    fn has_only_alias(&self, name: &Name) -> bool {
        self.aliases.contains_key(name)
            && !self.standard.contains(name)
            && !self.functions.contains_key(name)
            && !self.records.contains_key(name)
            && !self.variables.contains_key(name)
            && !self.enums.contains_key(name)
    }

    /// Whether anything has this name.
    fn has(&self, name: &Name) -> bool {
        self.functions.contains_key(name)
            || self.records.contains_key(name)
            || self.variables.contains_key(name)
            || self.aliases.contains_key(name)
            || self.enums.contains_key(name)
    }
}

impl Program {
    /// Indexes the modules. Of what has one name all are kept: overloads, specialisations, namesakes
    /// in other namespaces. `standard`: types and constants that count where no module has the name.
    #[must_use]
    pub(crate) fn new(modules: Vec<Arc<Module>>, standard: Option<Arc<Module>>) -> Program {
        let mut index = Index::default();
        for module in &modules {
            index.add(module, &|_, _| true);
            index.opened.add(module);
        }
        if let Some(module) = &standard {
            let records = module.records.iter().map(|it| &it.name);
            let names = records.chain(module.variables.iter().map(|it| &it.name));
            let names = names.chain(module.aliases.iter().map(|it| &it.name));
            index.standard = names.filter(|name| !index.has(name)).cloned().collect();
            let standard = index.standard.clone();
            let places = module.records.iter().map(|it| (&it.name, &it.namespace));
            let places = places.chain(module.aliases.iter().map(|it| (&it.name, &it.namespace)));
            let places = places.chain(module.variables.iter().map(|it| (&it.name, &it.namespace)));
            let apart = places.filter(|(name, _)| index.has(name)).flat_map(|(name, at)| {
                let seen_in = seen_in(at).iter().map(|within| Name::from(*within));
                seen_in.map(|within| (name.clone(), within))
            });
            index.apart = apart.filter(|(name, within)| !index.has_in(name, within)).collect();
            let apart = index.apart.clone();
            let is_apart = |name: &Name, at: &[Name]| {
                seen_in(at).iter().any(|within| apart.contains(&(name.clone(), Name::from(*within))))
            };
            index.add(module, &|name, at| standard.contains(name) || is_apart(name, at));
            // `using barrier = cuda::barrier<cuda::thread_scope_block>;` takes nothing away from the class.
            let beside: Vec<_> =
                module.records.iter().filter(|it| index.has_only_alias(&it.name)).cloned().collect();
            for record in beside {
                index.records.entry(record.name.clone()).or_default().push(record);
            }
        }
        for module in modules.iter().chain(&standard) {
            module.declared_classes.iter().for_each(|declared| index.declare(declared));
        }
        let functions = modules.iter().flat_map(|module| &module.functions);
        for function in functions.filter(|it| defaults::has_any(it)) {
            if let Some(named) = index.functions.get_mut(&function.name) {
                defaults::of_functions(named, function);
            }
        }
        Program { modules, standard, index: Arc::new(index), sought: None }
    }

    /// The same program, and what will have been looked up in it.
    #[must_use]
    pub(crate) fn watched(&self) -> (Program, Arc<Sought>) {
        let sought = Arc::new(Sought::default());
        let (modules, standard) = (self.modules.clone(), self.standard.clone());
        let index = Arc::clone(&self.index);
        (Program { modules, standard, index, sought: Some(Arc::clone(&sought)) }, sought)
    }

    /// Other modules, that what is looked up in them counts as looked up here.
    #[must_use]
    pub(crate) fn beside(&self, modules: Vec<Arc<Module>>) -> Program {
        Program { sought: self.sought.clone(), ..Program::new(modules, self.standard.clone()) }
    }

    /// Somebody looks through all functions.
    pub(crate) fn seek_whole(&self) {
        self.sought.iter().for_each(|sought| sought.whole.store(true, Ordering::Relaxed));
    }

    /// Somebody asks all functions whether they name the kernel.
    pub(crate) fn seek_all(&self) {
        self.sought.iter().for_each(|sought| sought.all.store(true, Ordering::Relaxed));
    }

    /// Whether a class has a destructor that does something on the device.
    #[must_use]
    pub(crate) fn has_destructors(&self) -> bool {
        self.index.has_destructors
    }

    /// Whether a class has a destructor that does something in host code.
    #[must_use]
    pub(crate) fn has_host_destructors(&self) -> bool {
        self.index.has_host_destructors
    }

    /// Whether a class may say itself what a copy of an object is.
    #[must_use]
    pub(crate) fn has_own_copies(&self) -> bool {
        self.index.has_own_copies
    }

    /// Whether a template of the program's own is specialised, so that two types of one size may differ in more.
    #[must_use]
    pub(crate) fn has_specialisations(&self) -> bool {
        self.index.has_specialisations
    }

    /// Functions of this name: overloads, specialisations, methods of any class.
    #[must_use]
    pub(crate) fn functions(&self, name: &str) -> &[Arc<Function>] {
        let Some((name, found)) = self.index.functions.get_key_value(name) else { return &[] };
        if let Some(sought) = &self.sought {
            let mut names = sought.functions.lock().unwrap_or_else(PoisonError::into_inner);
            if !names.contains(name) {
                names.insert(name.clone());
            }
        }
        found
    }

    /// Records of this name: the primary template and its specialisations.
    #[must_use]
    pub(crate) fn records(&self, name: &str) -> &[Arc<Record>] {
        self.index.records.get(name).map_or(&[], SmallVec::as_slice)
    }

    /// The conversion operators of a class: `operator T *()`.
    #[must_use]
    pub(crate) fn conversions(&self, owner: &str) -> &[Arc<Function>] {
        self.index.conversions.get(owner).map_or(&[], SmallVec::as_slice)
    }

    /// Whether any class has conversion operators.
    #[must_use]
    pub(crate) fn has_conversions(&self) -> bool {
        !self.index.conversions.is_empty()
    }

    /// File-scope variables and constants of this name, in any namespace.
    #[must_use]
    pub(crate) fn variables(&self, name: &str) -> &[Arc<Declaration>] {
        self.index.variables.get(name).map_or(&[], SmallVec::as_slice)
    }

    /// Type aliases of this name, in any namespace.
    #[must_use]
    pub(crate) fn aliases(&self, name: &str) -> &[Arc<Alias>] {
        self.index.aliases.get(name).map_or(&[], SmallVec::as_slice)
    }

    /// Those of `items`, all called `name`, that are meant behind qualifiers in the namespace `from`.
    pub(crate) fn in_sight<'i, 'p, T: Named>(
        &'p self,
        name: &'p Name,
        items: &'i [Arc<T>],
        qualifiers: &'p [Qualifier],
        from: &'p [Name],
    ) -> impl Iterator<Item = &'i Arc<T>> + Clone + use<'i, 'p, T> {
        let index = &self.index;
        let is_enumeration = |name: &Name| index.enums.contains_key(name);
        let is_seen = move |item: &&Arc<T>| {
            index.opened.is_in_sight(name, item.namespace(), qualifiers, is_enumeration)
        };
        meant(items, qualifiers, from).filter(is_seen)
    }

    /// Those of `items`, which have the path's name, that the path means in the namespace `from`.
    fn meant<'i, 'p, T: Named>(
        &'p self,
        items: &'i [Arc<T>],
        path: &'p Path,
        from: &'p [Name],
    ) -> impl Iterator<Item = &'i Arc<T>> + Clone + use<'i, 'p, T> {
        let from = around(path, from);
        let qualifiers = self.qualifiers(items, path);
        let last = qualifiers.last().map(|(name, _)| name);
        let standard = self.index.standard.contains(&path.name);
        // Only the library has such a name where the path says.
        let apart = last.filter(|last| {
            !self.index.apart.is_empty() && self.index.apart.contains(&(path.name.clone(), (*last).clone()))
        });
        let has_args = path.args.is_some();
        self.in_sight(&path.name, items, qualifiers, from).filter(move |item| {
            (!standard || is_standard(item.namespace(), (last, has_args), from))
                && apart.is_none_or(|apart| is_seen_in(item.namespace(), apart))
        })
    }

    /// What stands before a name, with what an alias of a namespace stands for, unless something is called so as it
    /// is written.
    fn qualifiers<'p, T: Named>(&'p self, items: &[Arc<T>], path: &'p Path) -> &'p [Qualifier] {
        let written = path.qualifiers.as_slice();
        match written {
            [(first, args)] if args.is_empty() => match self.index.opened.alias(first) {
                Some(Some(whole)) if !items.iter().any(|it| answers(it.namespace(), written)) => whole,
                _ => written,
            },
            _ => written,
        }
    }

    /// The records that a path in the namespace `from` means.
    pub(crate) fn records_meant<'a>(
        &'a self,
        path: &'a Path,
        from: &'a [Name],
    ) -> impl Iterator<Item = &'a Arc<Record>> + Clone {
        let is_of_library = |record: &Record| record.extent.is_built_in();
        let around = around(path, from);
        let records = self.records(&path.name);
        let last = self.qualifiers(records, path).last().map(|(name, _)| name);
        let has_args = path.args.is_some();
        self.meant(records, path, from)
            .filter(move |it| !is_of_library(it) || is_standard(it.namespace(), (last, has_args), around))
    }

    /// The class template that a path in the namespace `from` means, of which only specialisations are defined.
    #[must_use]
    pub(crate) fn declared_class_meant(&self, path: &Path, from: &[Name]) -> Option<&Arc<Record>> {
        let declared = self.index.declared.get(&path.name)?;
        self.meant(declared, path, from).next()
    }

    /// The file-scope variable or constant that a path in the namespace `from` means.
    #[must_use]
    pub(crate) fn variable_meant(&self, path: &Path, from: &[Name]) -> Option<&Arc<Declaration>> {
        self.meant(self.variables(&path.name), path, from).next()
    }

    /// The type alias that a path in the namespace `from` means.
    #[must_use]
    pub(crate) fn alias_meant(&self, path: &Path, from: &[Name]) -> Option<&Arc<Alias>> {
        self.meant(self.aliases(&path.name), path, from).next()
    }

    /// Whether a class, a typedef or a member typedef of any class has this name: what is in front of `::` and has
    /// not is a namespace, or not seen.
    #[must_use]
    pub(crate) fn may_be_class(&self, name: &Name) -> bool {
        let index = &self.index;
        index.records.contains_key(name) || index.aliases.contains_key(name) || self.has_member_type(name)
    }

    /// Whether any class has a member typedef of this name.
    #[must_use]
    pub(crate) fn has_member_type(&self, name: &Name) -> bool {
        let of_members = || {
            let records = self.index.records.values().flatten();
            records.flat_map(|record| &record.aliases).map(|alias| alias.name.clone()).collect()
        };
        self.index.member_types.get_or_init(of_members).contains(name)
    }

    /// Whether something has a path's name in a namespace that ends in what stands before it.
    #[must_use]
    pub(crate) fn has_in_namespace(&self, path: &Path) -> bool {
        fn any<T: Named>(all: &[Arc<T>], path: &Path) -> bool {
            all.iter().any(|it| answers(it.namespace(), &path.qualifiers))
        }
        let free = |it: &Arc<Function>| it.owner.is_none() && answers(&it.namespace, &path.qualifiers);
        any(self.records(&path.name), path)
            || any(self.aliases(&path.name), path)
            || any(self.variables(&path.name), path)
            || self.index.functions.get(&path.name).is_some_and(|all| all.iter().any(free))
    }

    /// Whether a template parameter of any function has this name.
    #[must_use]
    pub(crate) fn has_parameter(&self, name: &Name) -> bool {
        let functions = || self.index.functions.values().flatten();
        let of_functions =
            || functions().flat_map(|it| &it.template_params).map(|it| it.name.clone()).collect();
        self.index.parameters.get_or_init(of_functions).contains(name)
    }

    /// The underlying type of the enum of this name, if it is one.
    #[must_use]
    pub(crate) fn enumeration(&self, name: &str) -> Option<&Option<Type>> {
        self.index.enums.get(name).map(|it| &it.underlying)
    }

    /// Whether several enumerations have this name, and if so, whether their underlying types are the same.
    #[must_use]
    pub(crate) fn several_enumerations(&self, name: &str) -> Option<bool> {
        self.index.enums.get(name).filter(|it| it.definitions > 1).map(|it| it.agree)
    }

    /// Whether a class has a member of this name that is a reference.
    #[must_use]
    pub(crate) fn has_reference_member(&self, name: &str) -> bool {
        let fields = || self.modules.iter().flat_map(|it| &it.records).flat_map(|it| &it.fields);
        let references = || {
            let are_references = fields().filter(|it| matches!(it.ty, Type::Reference(_)));
            are_references.map(|it| it.name.clone()).collect()
        };
        self.index.reference_members.get_or_init(references).contains(name)
    }

    /// Whether there may be an enumeration whose numbers have this type.
    #[must_use]
    pub(crate) fn has_enumeration_of(&self, numbers: Scalar) -> bool {
        self.index.enums.values().any(|it| match &it.underlying {
            None => numbers == Scalar::I32,
            Some(Type::Scalar(scalar)) => *scalar == numbers,
            Some(_) => true,
        })
    }

    /// Whether a part of the text may not be compiled, because nothing tells what an `#if` around it comes to.
    #[must_use]
    pub(crate) fn is_undecided(&self, part: Span) -> bool {
        let holds = |span: &Span| span.file == part.file && span.start <= part.start && part.end <= span.end;
        self.modules.iter().any(|module| module.undecided.iter().any(holds))
    }

    /// The kernels defined in the file itself.
    pub(crate) fn own_kernels(&self) -> impl Iterator<Item = &Arc<Function>> {
        let own = self.modules.first().map_or(&[][..], |module| module.functions.as_slice());
        own.iter().filter(|f| f.kind == FunctionKind::Kernel && f.body.is_some())
    }
}

fn is_destructor(function: &Function) -> bool {
    let works = function.body.as_ref().is_some_and(|body| !body.is_empty());
    works && function.kind == FunctionKind::Device && function.name.starts_with('~')
}

fn ends_on_host(function: &Function) -> bool {
    function.name.starts_with('~')
        && !function.span.is_built_in()
        && function.body.as_ref().is_some_and(|body| !body.is_empty())
}

/// A constructor from a reference, or an assignment.
fn may_copy(function: &Function) -> bool {
    let first = function.params.first().map(|param| &param.ty);
    let makes = function.owner.as_ref() == Some(&function.name) || &*function.name == "operator=";
    function.body.is_some() && makes && matches!(first, Some(Type::Reference(_)))
}

/// Whether a path means what a library has in the namespace `at`, by the last name before it and whether it has
/// template arguments: `cuda::std::array` is like `std::array`, and a bare name may be brought into sight from `std`
/// or `at`. What is named as part of anything else is not seen.
fn is_standard(at: &[Name], (last, has_args): (Option<&Name>, bool), from: &[Name]) -> bool {
    match last {
        Some(name) => is_seen_in(at, name),
        // A call of a function that is not seen looks like one of these without arguments.
        None => {
            let may_be_bare = matches!(at, [only] if matches!(&**only, "std" | "at"));
            from == at || at.is_empty() || has_args && (from.starts_with(at) || may_be_bare)
        }
    }
}

/// The namespaces around a use of a path: none where it begins with `::`.
fn around<'a>(path: &Path, from: &'a [Name]) -> &'a [Name] {
    if path.global { &[] } else { from }
}

/// `operator float *` converts; `operator+` and `operator new` do not.
#[must_use]
pub(crate) fn is_conversion(name: &str) -> bool {
    let Some(to) = name.strip_prefix("operator ") else { return false };
    !matches!(to.trim(), "new" | "delete")
        && to.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == ':')
}
