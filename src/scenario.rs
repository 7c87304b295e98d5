//! With which block shapes and template arguments is a kernel run?
//!
//! Best first: a directive above the kernel, the command line, every launch found in the files
//! given, `__launch_bounds__`, the shape that the kernel's own subscripts imply, and last a shape
//! that is only an assumption. Of the last kinds several shapes are run, and a verdict that they
//! do not share is not a verdict.

use crate::analysis::BlockOption;
use crate::exec::entry::{Setting, constant_in_kernel, run_host, run_kernel};
use crate::ir::program::Program;
use crate::ir::visit::called_names;
use crate::ir::{Function, FunctionKind, Name};
use crate::source::Span;
use crate::trace::{LaunchArg, LaunchSite, Trace};
use crate::verdict::BlockFrom;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The most scenarios of one kernel.
const MOST: usize = 16;

/// One way to run a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Block, template arguments and arguments.
    pub setting: Setting,
    /// Where the block shape came from.
    pub block_from: BlockFrom,
    /// The launch, if it came from one.
    pub launch: Option<Span>,
    /// Other shapes that are as likely; a verdict has to hold for them too.
    pub alternatives: Vec<[u32; 3]>,
}

/// The scenarios of a kernel.
#[must_use]
pub fn scenarios(
    program: &Program,
    kernel: &Arc<Function>,
    launches: &[LaunchSite],
    blocks: &[BlockOption],
) -> Vec<Scenario> {
    let own: Vec<&LaunchSite> = launches.iter().filter(|launch| fits(launch, kernel)).collect();
    let fixed = kernel
        .block_directive
        .map(|shape| (shape, BlockFrom::Directive))
        .or_else(|| flag(kernel, blocks).map(|shape| (shape, BlockFrom::Flag)))
        .filter(|(shape, _)| valid(*shape));
    let mut found: Vec<Scenario> = Vec::new();
    let mut add = |scenario: Scenario| {
        let same = |s: &Scenario| {
            s.setting.block == scenario.setting.block
                && s.setting.template_args == scenario.setting.template_args
                && s.setting.args == scenario.setting.args
        };
        if found.len() < MOST && !found.iter().any(same) {
            found.push(scenario);
        }
    };
    let mut seen_args: Vec<Vec<LaunchArg>> = Vec::new();
    for launch in &own {
        let template_args = launch.template_args.clone().unwrap_or_default();
        let block = fixed.map(|(shape, _)| shape).or_else(|| known_shape(launch.block));
        let Some(block) = block else {
            if !seen_args.contains(&template_args) {
                seen_args.push(template_args);
            }
            continue;
        };
        let block_from = fixed.map_or(BlockFrom::Launch, |(_, from)| from);
        let setting = Setting {
            block,
            template_args,
            args: launch.args.clone(),
            pads: Vec::new(),
            residues: Vec::new(),
        };
        add(Scenario { setting, block_from, launch: Some(launch.span), alternatives: Vec::new() });
    }
    if !found.is_empty() {
        return found;
    }
    if seen_args.is_empty() {
        seen_args.push(Vec::new());
    }
    seen_args
        .into_iter()
        .take(MOST)
        .map(|template_args| match fixed {
            Some((block, block_from)) => Scenario {
                setting: Setting {
                    block,
                    template_args,
                    args: Vec::new(),
                    pads: Vec::new(),
                    residues: Vec::new(),
                },
                block_from,
                launch: None,
                alternatives: Vec::new(),
            },
            None => without_launch(program, kernel, template_args),
        })
        .collect()
}

/// The shape when no launch tells it.
fn without_launch(program: &Program, kernel: &Arc<Function>, template_args: Vec<LaunchArg>) -> Scenario {
    let setting = |block| Setting {
        block,
        template_args: template_args.clone(),
        args: Vec::new(),
        pads: Vec::new(),
        residues: Vec::new(),
    };
    let bound = kernel
        .launch_bounds
        .first()
        .and_then(|expr| constant_in_kernel(program, kernel, &template_args, expr));
    let bound = bound.and_then(|n| u32::try_from(n).ok()).filter(|n| (1..=1024).contains(n));
    let probe = run_kernel(program, kernel, &setting([bound.unwrap_or(256), 1, 1]));
    let flat = !probe.axes[1] && !probe.axes[2];
    let scenario = |block, block_from, alternatives| Scenario {
        setting: setting(block),
        block_from,
        launch: None,
        alternatives,
    };
    match (flat, bound) {
        (true, Some(n)) => scenario([n, 1, 1], BlockFrom::LaunchBounds, Vec::new()),
        (true, None) => scenario([256, 1, 1], BlockFrom::Default, vec![[128, 1, 1], [512, 1, 1]]),
        (false, Some(n)) => {
            let mut shapes = rectangles(n);
            let first = shapes.remove(0);
            scenario(first, BlockFrom::LaunchBounds, shapes)
        }
        (false, None) => match implied(&probe) {
            Some(block) => scenario(block, BlockFrom::Implied, Vec::new()),
            None => scenario([32, 8, 1], BlockFrom::Default, vec![[16, 16, 1], [32, 32, 1], [8, 8, 4]]),
        },
    }
}

/// Two-dimensional blocks of `n` threads with the usual row lengths.
fn rectangles(n: u32) -> Vec<[u32; 3]> {
    let mut shapes: Vec<[u32; 3]> =
        [32, 16, 8, 64].iter().filter(|x| n % **x == 0).map(|&x| [x, n / x, 1]).collect();
    shapes.push([n, 1, 1]);
    shapes.dedup();
    shapes
}

/// The block that subscripts by bare coordinates imply: `tile[threadIdx.y][threadIdx.x]` in a
/// `[16][17]` tile is a block of 16 x 16 (rows are padded by at most 4 elements).
fn implied(probe: &Trace) -> Option<[u32; 3]> {
    let extent = |axis: usize| -> Option<u32> {
        if !probe.axes[axis] {
            return Some(1);
        }
        let length = u32::try_from(probe.extents[axis]?).ok()?;
        let rounded = if length.is_power_of_two() { length } else { (length + 1).next_power_of_two() / 2 };
        Some(if length - rounded <= 4 { rounded } else { length })
    };
    let shape = [extent(0)?, extent(1)?, extent(2)?];
    valid(shape).then_some(shape)
}

fn valid(shape: [u32; 3]) -> bool {
    let threads = shape.iter().try_fold(1u32, |n, &d| n.checked_mul(d));
    threads.is_some_and(|n| (1..=1024).contains(&n))
}

fn known_shape(block: [Option<i64>; 3]) -> Option<[u32; 3]> {
    let [x, y, z] = block.map(|d| d.and_then(|d| u32::try_from(d).ok()));
    Some([x?, y?, z?]).filter(|shape| valid(*shape))
}

fn flag(kernel: &Function, blocks: &[BlockOption]) -> Option<[u32; 3]> {
    let named = blocks.iter().rev().find(|b| b.kernel.as_deref() == Some(&*kernel.name));
    named.or_else(|| blocks.iter().rev().find(|b| b.kernel.is_none())).map(|b| b.shape)
}

/// Whether a launch by this kernel's name can mean this kernel.
fn fits(launch: &LaunchSite, kernel: &Function) -> bool {
    let params = kernel.params.len();
    launch.kernel.name == kernel.name
        && (launch.args.is_empty() || launch.args.len() <= params)
        && launch.template_args.as_ref().is_none_or(|args| {
            kernel.template_params.iter().any(|p| p.pack) || args.len() <= kernel.template_params.len()
        })
}

/// The launches that a file's host code leads to. Host functions that reach a launch are run from
/// the outermost, so that shapes and template arguments passed down are seen.
#[must_use]
pub fn launches(program: &Program) -> Vec<LaunchSite> {
    let own: Vec<&Arc<Function>> =
        program.modules.first().map_or(&[][..], |m| m.functions.as_slice()).iter().collect();
    if !program.modules.iter().any(|m| m.functions.iter().any(|f| f.mentions.launch)) {
        return Vec::new();
    }
    let hosts: Vec<&Arc<Function>> =
        own.into_iter().filter(|f| f.kind == FunctionKind::Host && f.body.is_some()).collect();
    let calls: Vec<FxHashSet<Name>> = hosts.iter().map(|f| called_names(f).into_iter().collect()).collect();
    // Headers' host functions that launch count as launching when they are called.
    let mut launching: FxHashSet<Name> = program
        .modules
        .iter()
        .flat_map(|m| &m.functions)
        .filter(|f| f.mentions.launch && f.kind == FunctionKind::Host)
        .map(|f| f.name.clone())
        .collect();
    loop {
        let before = launching.len();
        for (function, calls) in hosts.iter().zip(&calls) {
            if calls.iter().any(|name| launching.contains(name)) {
                launching.insert(function.name.clone());
            }
        }
        if launching.len() == before {
            break;
        }
    }
    let mut called: FxHashMap<&Name, usize> = FxHashMap::default();
    for (function, calls) in hosts.iter().zip(&calls) {
        if launching.contains(&function.name) {
            for name in calls.iter().filter(|name| **name != function.name) {
                *called.entry(name).or_default() += 1;
            }
        }
    }
    let mut found: Vec<LaunchSite> = Vec::new();
    let mut later = Vec::new();
    for function in hosts.iter().filter(|f| launching.contains(&f.name)) {
        if called.contains_key(&function.name) {
            later.push(function);
        } else {
            found.extend(run_host(program, function));
        }
    }
    // What no outer function led to, by itself.
    for function in later {
        let inside = |launch: &LaunchSite| {
            launch.span.file == function.span.file
                && launch.span.start >= function.span.start
                && launch.span.end <= function.span.end
        };
        if function.mentions.launch && !found.iter().any(inside) {
            found.extend(run_host(program, function));
        }
    }
    let mut unique: Vec<LaunchSite> = Vec::new();
    for launch in found {
        let same = |l: &LaunchSite| {
            l.span == launch.span
                && l.block == launch.block
                && l.template_args == launch.template_args
                && l.args == launch.args
        };
        if !unique.iter().any(same) {
            unique.push(launch);
        }
    }
    unique
}
