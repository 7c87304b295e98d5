//! What does debug information say of a compiled kernel file: places, functions, shared arrays?

use addr2line::Context;
use addr2line::gimli::{
    self, AttributeValue, DebuggingInformationEntry, DwAt, EndianSlice, Operation, RunTimeEndian, UnitOffset,
};
use object::{Object as _, ObjectSection as _};
use std::collections::BTreeMap;

/// The alignment that `__shared__` gives (`cuda_runtime.h`).
const SHARED_ALIGNMENT: u64 = 1 << 18;

/// A place in the text.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// A function that was compiled.
#[derive(Clone, Debug)]
pub struct Function {
    start: u64,
    end: u64,
    /// With template arguments: `tile<float, 16>`.
    pub name: String,
    /// Whether the compiler wrote it: a copy constructor, an assignment of a class.
    pub implicit: bool,
}

/// An array or variable in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub address: u64,
    pub bytes: u64,
    /// Elements in each dimension, the outermost first; empty if it is no array.
    pub extents: Vec<u64>,
    pub element_bytes: u64,
}

#[derive(Debug, Default)]
pub struct Program {
    functions: Vec<Function>,
    places: BTreeMap<u32, Place>,
    pub variables: Vec<Variable>,
}

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;
type Entry<'a> = DebuggingInformationEntry<Slice<'a>>;

impl Program {
    /// Reads the debug information of an executable; `counters` are the return addresses to be located.
    pub fn read(executable: &[u8], counters: impl Iterator<Item = u32>) -> Program {
        let file = object::File::parse(executable).unwrap();
        let section = |id: gimli::SectionId| {
            let data = file.section_by_name(id.name()).and_then(|section| section.data().ok());
            Ok::<_, gimli::Error>(EndianSlice::new(data.unwrap_or_default(), RunTimeEndian::default()))
        };
        let mut program = Program::default();
        let dwarf = gimli::Dwarf::load(section).unwrap();
        let mut headers = dwarf.units();
        while let Some(header) = headers.next().unwrap() {
            let unit = dwarf.unit(header).unwrap();
            Reading { dwarf: &dwarf, unit: &unit }.all(&mut program);
        }
        program.functions.sort_by_key(|function| function.start);
        program.variables.sort_by_key(|variable| variable.address);
        program.variables.dedup_by_key(|variable| variable.address);
        let context = Context::from_dwarf(gimli::Dwarf::load(section).unwrap()).unwrap();
        for counter in counters {
            if program.places.contains_key(&counter) {
                continue;
            }
            // The call lies before the address to which it returns.
            let location = context.find_location(u64::from(counter) - 1).unwrap();
            let place = location.map_or_else(Place::default, |location| Place {
                file: relative(location.file.unwrap_or("")),
                line: location.line.unwrap_or(0),
                column: location.column.unwrap_or(0),
            });
            program.places.insert(counter, place);
        }
        program
    }

    /// Where the call is that returns to this address.
    pub fn place(&self, counter: u32) -> &Place {
        &self.places[&counter]
    }

    pub fn function(&self, counter: u32) -> Option<&Function> {
        let address = u64::from(counter) - 1;
        let at = self.functions.partition_point(|function| function.start <= address);
        self.functions[..at].last().filter(|function| address < function.end)
    }
}

/// The path of a file of the project without that of the project.
fn relative(file: &str) -> String {
    let inside = file.strip_prefix(env!("CARGO_MANIFEST_DIR")).map(|rest| rest.trim_start_matches('/'));
    inside.unwrap_or(file).to_owned()
}

/// Reads one unit.
struct Reading<'a, 'd> {
    dwarf: &'a gimli::Dwarf<Slice<'d>>,
    unit: &'a gimli::Unit<Slice<'d>>,
}

impl<'d> Reading<'_, 'd> {
    fn all(&self, program: &mut Program) {
        let mut entries = self.unit.entries();
        while let Some(entry) = entries.next_dfs().unwrap() {
            match entry.tag() {
                gimli::DW_TAG_subprogram => program.functions.extend(self.function(entry)),
                gimli::DW_TAG_variable => program.variables.extend(self.variable(entry)),
                _ => {}
            }
        }
    }

    /// An attribute of the entry, or of the declaration to which it belongs.
    fn attribute(&self, entry: &Entry<'d>, name: DwAt) -> Option<AttributeValue<Slice<'d>>> {
        if let Some(value) = entry.attr_value(name) {
            return Some(value);
        }
        [gimli::DW_AT_specification, gimli::DW_AT_abstract_origin].into_iter().find_map(|link| {
            let AttributeValue::UnitRef(offset) = entry.attr_value(link)? else { return None };
            self.attribute(&self.entry(offset), name)
        })
    }

    fn entry(&self, offset: UnitOffset) -> Entry<'d> {
        self.unit.entry(offset).unwrap()
    }

    fn name(&self, entry: &Entry<'d>) -> Option<String> {
        let value = self.attribute(entry, gimli::DW_AT_name)?;
        Some(self.dwarf.attr_string(self.unit, value).ok()?.to_string_lossy().into_owned())
    }

    fn number(&self, entry: &Entry<'d>, name: DwAt) -> Option<u64> {
        self.attribute(entry, name)?.udata_value()
    }

    fn function(&self, entry: &Entry<'d>) -> Option<Function> {
        let mut ranges = self.dwarf.die_ranges(self.unit, entry).ok()?;
        let range = ranges.next().ok()??;
        let name = self.name(entry).unwrap_or_default();
        let artificial = self.attribute(entry, gimli::DW_AT_artificial);
        // The body of a lambda is written, though its class is not.
        let implicit =
            matches!(artificial, Some(AttributeValue::Flag(true))) && !name.starts_with("operator()");
        Some(Function { start: range.begin, end: range.end, name, implicit })
    }

    fn variable(&self, entry: &Entry<'d>) -> Option<Variable> {
        if self.number(entry, gimli::DW_AT_alignment)? < SHARED_ALIGNMENT {
            return None;
        }
        let AttributeValue::Exprloc(location) = self.attribute(entry, gimli::DW_AT_location)? else {
            return None;
        };
        let Operation::Address { address } = location.operations(self.unit.encoding()).next().ok()?? else {
            return None;
        };
        let AttributeValue::UnitRef(ty) = self.attribute(entry, gimli::DW_AT_type)? else { return None };
        let mut variable =
            Variable { name: self.name(entry)?, address, bytes: 0, extents: Vec::new(), element_bytes: 0 };
        self.describe(ty, &mut variable);
        variable.bytes = variable.element_bytes * variable.extents.iter().product::<u64>();
        Some(variable)
    }

    /// Follows a type down to the elements.
    fn describe(&self, ty: UnitOffset, variable: &mut Variable) {
        let entry = self.entry(ty);
        if entry.tag() == gimli::DW_TAG_array_type {
            let mut tree = self.unit.entries_tree(Some(ty)).unwrap();
            let mut children = tree.root().unwrap().children();
            while let Some(child) = children.next().unwrap() {
                let dimension = child.entry();
                if dimension.tag() == gimli::DW_TAG_subrange_type {
                    let last = dimension.attr_value(gimli::DW_AT_upper_bound).and_then(|it| it.udata_value());
                    let count = dimension.attr_value(gimli::DW_AT_count).and_then(|it| it.udata_value());
                    variable.extents.extend(count.or(last.map(|last| last + 1)));
                }
            }
        } else if let Some(bytes) = self.number(&entry, gimli::DW_AT_byte_size) {
            variable.element_bytes = bytes;
            return;
        } else if entry.tag() == gimli::DW_TAG_pointer_type {
            variable.element_bytes = 8;
            return;
        }
        if let Some(AttributeValue::UnitRef(inner)) = self.attribute(&entry, gimli::DW_AT_type) {
            self.describe(inner, variable);
        }
    }
}
