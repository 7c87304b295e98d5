//! Does the recipe of `docs/editors.md` for Emacs work?
//!
//! Needs Emacs with Eglot. Without them the test says that it was skipped; with `CUDALINT_NEEDS_EMACS=1`, as
//! `.ci/run` sets it, it fails.

use crate::support::folder::folder;
use std::fs;
use std::path::Path;
use std::process::Command;

const KERNEL: &str = "\
__global__ void turn(float* out) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void run(float* out) { turn<<<1, dim3(32, 32)>>>(out); }
";

/// What Emacs does: it starts the server, waits for a finding, follows a launch to its kernel, edits.
const SCRIPT: &str = r#"
(require 'eglot)
(define-derived-mode cuda-mode c++-mode "CUDA") ; stands in for the package of that name
(add-to-list 'auto-mode-alist '("\\.cu\\'" . cuda-mode))
RECIPE
(setq eglot-sync-connect 100 vc-handled-backends nil)
(defun found ()
  (mapcar (lambda (it) (car (split-string (flymake-diagnostic-text it) "\n"))) (flymake-diagnostics)))
(defun wait (count)
  (let ((end (+ (float-time) 100)))
    (while (and (< (float-time) end) (/= (length (found)) count))
      (flymake-start)
      (accept-process-output nil 0.1))
    (found)))
(find-file "turn.cu")
(apply #'eglot (eglot--guess-contact))
(let ((log (list (format "%S" (wait 1)))))
  (search-forward "turn<<<")
  (backward-char 5)
  (let ((place (xref-item-location (car (xref-backend-definitions 'eglot (xref-backend-identifier-at-point 'eglot))))))
    (push (format "kernel: line %d" (xref-location-line place)) log))
  (goto-char (point-min))
  (search-forward "[32][32]")
  (replace-match "[32][33]" t t)
  (eglot--signal-textDocument/didChange)
  (push (format "edited: %S" (wait 0)) log)
  (eglot-shutdown (eglot-current-server))
  (set-buffer-modified-p nil)
  (write-region (concat (mapconcat #'identity (reverse log) "\n") "\n") nil "log.txt"))
"#;

#[test]
fn emacs_shows_findings_and_finds_kernels() {
    let emacs = |folder: &Path| {
        let mut command = Command::new("emacs");
        command.args(["--batch"]).current_dir(folder).env("HOME", folder);
        command
    };
    let root = folder(&[("turn.cu", KERNEL)]);
    let is_there = emacs(root.path()).args(["--eval", "(require 'eglot)"]).output();
    if !is_there.is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("CUDALINT_NEEDS_EMACS").is_none(), "there is no `emacs` with Eglot");
        println!("skipped: there is no `emacs` with Eglot");
        return;
    }
    let page = fs::read_to_string("docs/editors.md").unwrap();
    let recipe = page.split("```elisp\n").find(|block| block.contains("eglot-server-programs")).unwrap();
    let recipe = recipe.split("```").next().unwrap();
    assert!(recipe.contains("\"cudalint\" \"lsp\""), "{recipe}");
    let recipe = recipe.replace("\"cudalint\"", &format!("{:?}", env!("CARGO_BIN_EXE_cudalint")));
    fs::write(root.path().join("script.el"), SCRIPT.replace("RECIPE", &recipe)).unwrap();
    let output = emacs(root.path()).args(["--load", "script.el"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let log = fs::read_to_string(root.path().join("log.txt")).unwrap_or_default();
    let expected = "\
(\"cudalint [bank-conflict]: `tile`: 32-way bank conflict costs 94 % of this kernel's shared-memory wavefronts\")
kernel: line 1
edited: nil
";
    assert_eq!(log, expected, "{said}");
}
