//! Which calls mean a launch, a block barrier or eight-byte banks?

use super::Found;
use crate::syntax::{SyntaxTree, field};
use tree_sitter::Node;

/// What a call is, if it is one of those that matter.
pub(super) fn meaning(tree: &SyntaxTree, call: Node<'_>) -> Option<Found> {
    let callee = field(call, "function")?;
    match callee.kind() {
        "identifier" => match tree.text(callee) {
            "__syncthreads"
            | "__syncthreads_and"
            | "__syncthreads_or"
            | "__syncthreads_count"
            | "__barrier_sync"
            | "__barrier_sync_count" => Some(Found::Barrier),
            // `synchronize(group)` of cooperative groups, with or without their namespace.
            "sync" | "synchronize" => {
                let arguments = field(call, "arguments")?;
                (arguments.named_child_count() == 1).then_some(Found::Barrier)
            }
            "cudaLaunchKernel"
            | "cudaLaunchKernelExC"
            | "cudaLaunchKernelEx"
            | "cudaLaunchCooperativeKernel"
            | "cuLaunchKernel"
            | "cuLaunchKernelEx"
            | "cuLaunchCooperativeKernel"
            | "hipLaunchKernelGGL"
            | "hipLaunchKernel" => Some(Found::Launch),
            "cudaDeviceSetSharedMemConfig" | "cudaFuncSetSharedMemConfig" => {
                asks_for_eight(tree, call).then_some(Found::EightByteBanks)
            }
            _ => None,
        },
        "qualified_identifier" => {
            let last = tree.text(callee).rsplit_once("::")?.1.trim_start();
            matches!(last, "sync" | "synchronize" | "__syncthreads" | "__barrier_sync")
                .then_some(Found::Barrier)
        }
        "field_expression" => {
            let method = field(callee, "field")?;
            let is_name = method.kind() == "field_identifier";
            (is_name && tree.text(method) == "sync").then_some(Found::Barrier)
        }
        _ => None,
    }
}

fn asks_for_eight(tree: &SyntaxTree, call: Node<'_>) -> bool {
    let Some(arguments) = field(call, "arguments") else { return false };
    let mut cursor = arguments.walk();
    let mut names = arguments.named_children(&mut cursor).filter(|it| it.kind() == "identifier");
    names.any(|name| tree.text(name) == "cudaSharedMemBankSizeEightByte")
}
