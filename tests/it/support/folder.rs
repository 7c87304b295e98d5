//! A folder of files for one test, gone with it.

use std::fs;
use tempfile::TempDir;

/// The files, by path within the folder and text.
pub fn folder(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}
