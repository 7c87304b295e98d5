//! Which calls mean a launch, a block barrier or eight-byte banks?

use super::Found;
use crate::builtins::{self, GroupMember, Kind};
use crate::syntax::{SyntaxTree, field};
use tree_sitter::Node;

/// What a call is, if it is one of those that matter.
pub(super) fn meaning(tree: &SyntaxTree, call: Node<'_>) -> Option<Found> {
    let callee = field(call, "function")?;
    match callee.kind() {
        "identifier" => match builtins::kind(tree.text(callee)) {
            Some(Kind::BlockBarrier | Kind::BlockVote | Kind::NamedBarrier) => Some(Found::Barrier),
            // `synchronize(group)` of cooperative groups, with or without their namespace.
            Some(Kind::GroupBarrier) => {
                let arguments = field(call, "arguments")?;
                (arguments.named_child_count() == 1).then_some(Found::Barrier)
            }
            Some(Kind::Launch | Kind::OtherLaunch) => Some(Found::Launch),
            Some(Kind::BankSize) => asks_for_eight(tree, call).then_some(Found::EightByteBanks),
            _ => None,
        },
        "qualified_identifier" => {
            let last = tree.text(callee).rsplit_once("::")?.1.trim_start();
            let kind = builtins::kind(last)?;
            let waits = matches!(
                kind,
                Kind::BlockBarrier | Kind::BlockVote | Kind::NamedBarrier | Kind::GroupBarrier
            );
            waits.then_some(Found::Barrier)
        }
        "field_expression" => {
            let method = field(callee, "field")?;
            let is_name = method.kind() == "field_identifier";
            (is_name && GroupMember::of(tree.text(method)) == Some(GroupMember::Sync))
                .then_some(Found::Barrier)
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
