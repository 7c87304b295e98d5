//! What does one file hold, lowered on its own?

use super::found_later::FoundLater;
use super::namespace::Namespace;
use super::{Declaration, Function, Name, Path, Record, TemplateParam, Type, writes};
use crate::preproc::comments::Directive;
use crate::source::{FileId, Span};
use std::sync::Arc;

/// `typedef T Name;` and `using Name = T;`
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Alias {
    /// The new name.
    pub name: Name,
    /// The namespaces around it.
    pub namespace: Namespace,
    /// Its template parameters.
    pub template_params: Vec<TemplateParam>,
    /// What it stands for.
    pub ty: Type,
}

/// An enumeration that has a name.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Enumeration {
    /// Its name alone, without those of the namespaces and classes around it.
    pub name: Name,
    /// The type of its numbers, if written.
    pub underlying: Option<Type>,
    /// Whether its enumerators stand there: `enum Side;` has none.
    pub is_defined: bool,
}

/// One file, lowered on its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// Functions and methods, class members among them, in order of appearance.
    pub functions: Vec<Arc<Function>>,
    /// Structs, classes and unions, nested ones too.
    pub records: Vec<Arc<Record>>,
    /// Class templates that are only declared, without members: `template <class T, int N = 4> struct S;`.
    pub declared_classes: Vec<Arc<Record>>,
    /// File-scope variables and constants, enumerators too (each with an initialiser).
    pub variables: Vec<Arc<Declaration>>,
    /// Type aliases at file or namespace scope.
    pub aliases: Vec<Arc<Alias>>,
    /// `namespace fs = std::filesystem;`: the name, and those that it stands for. Of one that stands for different
    /// namespaces in the file nothing is here.
    pub namespace_aliases: Vec<(Name, Vec<Name>)>,
    /// Enumerations that have a name, nested ones too.
    pub enums: Vec<Enumeration>,
    /// Class templates that have a deduction guide that is no template: `Buffer(char) -> Buffer<int>;`.
    pub guided: Vec<Name>,
    /// Explicit instantiations: `template __global__ void k<float, 4>(...)`.
    pub instantiations: Vec<Path>,
    /// Those of classes: `template class Buffer<float>`.
    pub class_instantiations: Vec<Path>,
    /// Parts that did not parse.
    pub damage: Vec<Span>,
    /// Whether `cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte)` (or the per-function
    /// form) is visible in the text.
    pub eight_byte_banks: bool,
    /// Whether a variable, a member or an alias outside any function is `volatile`.
    pub volatile: bool,
    /// What its comments ask of the tool.
    pub comments: Vec<Directive>,
    /// The variables that its initialisers outside of functions may change, found when first asked for.
    pub writes: FoundLater<Vec<writes::Write>>,
    /// Names in text that is not modelled, in order: what happens to them there is not known.
    pub unfollowed: Vec<Name>,
    /// Whether a header was left out or not run to its end, so that macros may be missing.
    pub is_cut_short: bool,
    /// What stands under an `#if` that asks a macro which nothing defines: it may not be compiled.
    pub undecided: Vec<Span>,
    /// The file; `None` only for an empty module.
    pub file: Option<FileId>,
}
