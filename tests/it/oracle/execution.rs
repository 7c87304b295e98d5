//! What did each launch of a kernel file do, in terms of its text?
//!
//! The trace knows addresses and program counters; here they become arrays with offsets and places.

use super::compile::Compiled;
use super::program::{Place, Program, Variable};
use super::trace::{self, Kind, RawLaunch};
use std::collections::{BTreeSet, HashMap};

/// A kernel ran for one block of threads.
#[derive(Debug)]
pub struct Launch {
    /// With its template arguments: `tile<float, 16>`.
    pub kernel: String,
    pub block: [u32; 3],
    /// Whether it took too long and nothing is known.
    pub given_up: bool,
    pub variables: Vec<Variable>,
    pub sites: Vec<Site>,
    /// What the lanes of each warp did, in order.
    pub warps: Vec<Vec<Step>>,
}

/// A place in the text as it was reached on one path of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    pub place: Place,
    /// The program counter.
    pub counter: u32,
    /// Whether a statement that the compiler wrote stands there: a class is copied as a whole.
    pub implicit: bool,
}

/// Numbers of `Launch::sites` and `Launch::variables`.
pub type SiteId = usize;
pub type VariableId = usize;

#[derive(Debug)]
pub enum Step {
    Access(Access),
    /// Lanes arrived at a barrier of the block; `interval` is how many came before.
    Barrier {
        site: SiteId,
        mask: u32,
        interval: u32,
    },
    /// Lanes met at a barrier of the warp, which orders what they do.
    WarpSync(Meeting),
    /// Lanes met at a shuffle or a vote, which orders nothing.
    WarpOp(Meeting),
    /// A subscript left its array.
    Subscript(Subscript),
    /// Arithmetic that C++ does not define.
    Undefined {
        site: SiteId,
    },
    /// An address was no multiple of what the type of the access asks for.
    Misaligned {
        site: SiteId,
    },
}

/// Lanes came to an intrinsic of the warp together.
#[derive(Debug)]
pub struct Meeting {
    pub site: SiteId,
    pub mask: u32,
    /// Whether all came that are named and had not left the kernel.
    pub is_complete: bool,
    /// Whether each lane that came is in the mask that it gave.
    pub are_named: bool,
    /// Whether some lane that came reads one that did, or its own value, or no lane reads another.
    pub reads_some: bool,
    /// Whether all that are named came, also those that had left the kernel.
    pub are_all: bool,
}

/// A request of a warp to shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    pub kind: Kind,
    pub site: SiteId,
    pub bytes: u32,
    pub is_volatile: bool,
    /// For atomics: whether it adds, and whether every lane adds 1.
    pub adds: bool,
    pub adds_one: bool,
    /// For atomics: whether it compares and swaps.
    pub swaps: bool,
    /// How many barriers of the block came before.
    pub interval: u32,
    pub lanes: Vec<Lane>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    pub lane: u8,
    pub variable: VariableId,
    /// From the first byte of the variable; outside it, if the access left it.
    pub offset: i64,
}

/// A subscript that left its array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscript {
    pub site: SiteId,
    /// As the compiler writes it: `float [4]`.
    pub array: String,
    /// The lane, and its subscript.
    pub lanes: Vec<(u8, i32)>,
}

/// How shared memory is laid out while a kernel file runs: each variable has a stretch to itself.
const SLOT: u64 = 1 << 18;
/// How far below a variable an access is still taken for one of it.
const BELOW: u64 = SLOT / 8;
/// A flag of warp-wide operations: lanes of the mask did not come.
const NOT_ALL: u8 = 8;
/// Another: each of the lanes reads one that did not come.
const NO_SOURCE: u8 = 16;
/// The name of all dynamic shared memory.
pub const DYNAMIC: &str = "dynamic";

/// The launches of a compiled file, in order.
pub fn read(compiled: &Compiled) -> Vec<Launch> {
    let executable = std::fs::read(&compiled.executable).unwrap();
    let raw = trace::read(&std::fs::read(&compiled.trace).unwrap());
    let steps = raw.iter().flat_map(|launch| launch.warps.iter().flatten().map(|step| step.pc));
    let calls = raw.iter().flat_map(|launch| launch.paths.iter().skip(1).map(|path| path.1));
    let counters: BTreeSet<u32> = steps.chain(calls).collect();
    let program = Program::read(&executable, counters.into_iter());
    raw.iter().map(|raw| Reading::new(raw, &program).launch()).collect()
}

struct Reading<'a> {
    raw: &'a RawLaunch,
    program: &'a Program,
    variables: Vec<Variable>,
    sites: Vec<Site>,
    site_numbers: HashMap<(u32, u32), SiteId>,
    kernel: Option<String>,
}

impl<'a> Reading<'a> {
    fn new(raw: &'a RawLaunch, program: &'a Program) -> Self {
        let (address, bytes) = (u64::from(raw.dynamic.0), u64::from(raw.dynamic.1));
        let dynamic =
            Variable { name: DYNAMIC.to_owned(), address, bytes, extents: vec![bytes], element_bytes: 1 };
        let mut variables = program.variables.clone();
        variables.push(dynamic);
        variables.sort_by_key(|variable| variable.address);
        Reading { raw, program, variables, sites: Vec::new(), site_numbers: HashMap::new(), kernel: None }
    }

    fn launch(mut self) -> Launch {
        let warps = self.raw.warps.iter().enumerate();
        let warps = warps.map(|(warp, steps)| steps.iter().map(|step| self.step(warp, step)).collect());
        let warps = warps.collect();
        Launch {
            kernel: self.kernel.unwrap_or_else(|| self.raw.kernel.clone()),
            block: self.raw.block,
            given_up: self.raw.given_up,
            variables: self.variables,
            sites: self.sites,
            warps,
        }
    }

    fn step(&mut self, warp: usize, step: &trace::Step) -> Step {
        let site = self.site(step.path, step.pc);
        let lanes = self.raw.lanes(step);
        match step.kind {
            Kind::Barrier => Step::Barrier { site, mask: step.mask, interval: step.interval },
            Kind::WarpSync => Step::WarpSync(self.meeting(warp, site, step)),
            Kind::WarpOp => Step::WarpOp(self.meeting(warp, site, step)),
            Kind::Misaligned => Step::Misaligned { site },
            Kind::Undefined => Step::Undefined { site },
            Kind::Subscript => Step::Subscript(Subscript {
                site,
                array: self.raw.subscripts[step.bytes as usize].0.trim_matches('\'').to_owned(),
                lanes: lanes.map(|(lane, index)| (lane, index as i32)).collect(),
            }),
            kind => {
                let operation = step.flags >> 4;
                let is_atomic = kind == Kind::Atomic;
                let adds = is_atomic && (operation <= 1 || operation >= 9);
                Step::Access(Access {
                    kind,
                    site,
                    bytes: step.bytes.into(),
                    is_volatile: !is_atomic && step.flags & 2 != 0,
                    adds,
                    adds_one: adds && step.flags & 4 != 0,
                    swaps: is_atomic && operation == 8,
                    interval: step.interval,
                    lanes: lanes.map(|(lane, address)| self.lane(lane, address.into())).collect(),
                })
            }
        }
    }

    fn meeting(&self, warp: usize, site: SiteId, step: &trace::Step) -> Meeting {
        // `__activemask` names nobody.
        let named = |(lane, named): (u8, u32)| named == 0 || named >> lane & 1 == 1;
        let threads = self.raw.block.iter().product::<u32>();
        let lanes_of_warp = u32::MAX >> (32 - (threads - 32 * warp as u32).min(32));
        let named_of_warp = |(_, named): (u8, u32)| named & lanes_of_warp & !step.mask == 0;
        Meeting {
            are_all: self.raw.lanes(step).all(named_of_warp),
            site,
            mask: step.mask,
            reads_some: step.flags & NO_SOURCE == 0,
            is_complete: step.flags & NOT_ALL == 0,
            are_named: self.raw.lanes(step).all(named),
        }
    }

    /// The variable that an address belongs to. What lies behind one belongs to it up to the next.
    fn lane(&self, lane: u8, address: u64) -> Lane {
        let after = self.variables.partition_point(|variable| variable.address <= address);
        let variable = match self.variables.get(after) {
            Some(next) if after == 0 || next.address - address <= BELOW => after,
            _ => after - 1,
        };
        Lane { lane, variable, offset: address as i64 - self.variables[variable].address as i64 }
    }

    /// The place where something was written, not what the compiler or our headers made of it.
    fn site(&mut self, path: u32, pc: u32) -> SiteId {
        if let Some(&site) = self.site_numbers.get(&(path, pc)) {
            return site;
        }
        // The calls that lead there, outermost first. The first two are ours: the launch.
        let mut calls = vec![pc];
        let mut at = path;
        while at != 0 {
            let (parent, address) = self.raw.paths[at as usize];
            calls.push(address);
            at = parent;
        }
        calls.reverse();
        let calls = calls.get(2..).unwrap_or_default();
        if self.kernel.is_none()
            && let Some(kernel) = calls.first().and_then(|call| self.program.function(*call))
        {
            self.kernel = Some(kernel.name.clone());
        }
        let is_ours = |call: u32| {
            let implicit = self.program.function(call).is_none_or(|function| function.implicit);
            implicit || self.program.place(call).file.contains("tests/oracle/cuda/")
        };
        let written = calls.iter().rposition(|call| !is_ours(*call)).unwrap_or(0);
        let place = calls.get(written).map_or_else(Place::default, |call| self.program.place(*call).clone());
        let site = Site { place, counter: pc, implicit: written + 1 < calls.len() };
        // The same place on another path is another site: what reaches it there may differ.
        self.sites.push(site);
        self.site_numbers.insert((path, pc), self.sites.len() - 1);
        self.sites.len() - 1
    }
}

impl Launch {
    /// The requests to shared memory, warp by warp.
    pub fn accesses(&self) -> impl Iterator<Item = (usize, &Access)> {
        let warps = self.warps.iter().enumerate();
        warps.flat_map(|(warp, steps)| {
            steps.iter().filter_map(move |step| match step {
                Step::Access(access) => Some((warp, access)),
                _ => None,
            })
        })
    }

    pub fn place(&self, site: SiteId) -> &Place {
        &self.sites[site].place
    }
}
