//! Does the language server work with a real editor's client?
//!
//! Needs Neovim. Without it the test says that it was skipped; with `CUDALINT_NEEDS_NEOVIM=1`, as `.ci/run`
//! sets it, it fails.

use crate::support::folder::folder;
use std::fs;
use std::process::Command;

/// What Neovim does: it edits, asks and repairs, and writes a line for each step.
const SCRIPT: &str = r#"
local log = assert(io.open('log.txt', 'w'))
local function say(text) log:write(text .. '\n') log:flush() end
local function found() return vim.diagnostic.get(0) end
local function wait(count)
  if not vim.wait(100000, function() return #found() == count end, 20) then say('never ' .. count) end
  return found()
end
vim.cmd('edit turn.cu')
say(vim.bo.filetype)
local client = vim.lsp.start_client({ name = 'cudalint', cmd = { CUDALINT, 'lsp' }, root_dir = vim.fn.getcwd(),
  workspace_folders = { { uri = vim.uri_from_fname(vim.fn.getcwd()), name = 'root' } } })
vim.lsp.buf_attach_client(0, client)
local first = wait(1)[1]
say(string.format('%d:%d %s %s', first.lnum, first.col, first.user_data.lsp.code, vim.split(first.message, '\n')[1]))
vim.api.nvim_buf_set_text(0, 1, 0, 1, 0, { '// \u{1d6fc}', '' })
vim.wait(100000, function() local all = found() return #all == 1 and all[1].lnum == 5 end, 20)
say('moved to ' .. found()[1].lnum)
local line = vim.api.nvim_buf_get_lines(0, 2, 3, true)[1]
vim.api.nvim_buf_set_lines(0, 2, 3, true, { (line:gsub('%[32%]%[32%]', '[32][33]')) })
say('edited: ' .. #wait(0))
vim.api.nvim_buf_set_lines(0, 2, 3, true, { line })
wait(1)
local place = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = 5, character = 24 } }
local hover = vim.lsp.buf_request_sync(0, 'textDocument/hover', place, 100000)[client].result
say('hover: ' .. tostring(hover.contents.value:match('32 wavefronts instead of 1')))
local lenses = vim.lsp.buf_request_sync(0, 'textDocument/codeLens', place, 100000)[client].result
say('lens: ' .. lenses[1].command.title)
local range = { start = place.position, ['end'] = place.position }
local params = { textDocument = place.textDocument, range = range, context = { diagnostics = {} } }
local actions = vim.lsp.buf_request_sync(0, 'textDocument/codeAction', params, 100000)[client].result
vim.lsp.util.apply_workspace_edit(actions[1].edit, 'utf-16')
say('repaired: ' .. #wait(0))
vim.cmd('write')
vim.lsp.stop_client(client)
vim.wait(100000, function() return vim.lsp.client_is_stopped(client) end, 20)
say('stopped')
vim.cmd('qa!')
"#;

#[test]
fn neovim_shows_findings_and_repairs_them() {
    let is_there = Command::new("nvim").arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        assert!(std::env::var_os("CUDALINT_NEEDS_NEOVIM").is_none(), "there is no `nvim`");
        println!("skipped: there is no `nvim`");
        return;
    }
    let kernel = "__global__ void turn(float* out) {\n  __shared__ float tile[32][32];\n  tile[threadIdx.y][threadIdx.x] = \
                  1;\n  __syncthreads();\n  out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];\n}\n";
    let launch =
        "__global__ void turn(float* out);\nvoid run(float* out) { turn<<<1, dim3(32, 32)>>>(out); }\n";
    let script = SCRIPT.replace("CUDALINT", &format!("{:?}", env!("CARGO_BIN_EXE_cudalint")));
    let root = folder(&[("turn.cu", kernel), ("run.cu", launch), ("script.lua", &script)]);
    let mut command = Command::new("nvim");
    command.args(["--headless", "--clean", "-n", "-c", "luafile script.lua", "-c", "cquit"]);
    command.current_dir(root.path()).env("HOME", root.path());
    let output = command.output().unwrap();
    let log = fs::read_to_string(root.path().join("log.txt")).unwrap_or_default();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}\n{said}");
    let expected = "\
cuda
4:21 bank-conflict `tile`: 32-way bank conflict costs 94 % of this kernel's shared-memory wavefronts
moved to 5
edited: 0
hover: 32 wavefronts instead of 1
lens: 1 shared array, 4 KiB, 1 access with conflicts, proved race-free
repaired: 0
stopped
";
    assert_eq!(log, expected, "{said}");
    let text = fs::read_to_string(root.path().join("turn.cu")).unwrap();
    assert!(text.contains("tile[32][33]"), "{text}");
}
