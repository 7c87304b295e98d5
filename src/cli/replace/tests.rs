//! Is the file replaced that is meant, whole, and no other?

use super::*;
use std::fs;

#[test]
fn links_are_looked_for_where_others_may_have_put_them() {
    let named = |arguments: &'static [&'static str]| -> Vec<PathBuf> {
        arguments.iter().map(PathBuf::from).collect()
    };
    let home = PathBuf::from("/home/me/project");
    let split = |arguments: &'static [&'static str], path: &str| {
        let arguments = named(arguments);
        let (from, below) = Named { home: home.clone(), arguments: &arguments }.split(Path::new(path));
        (from.display().to_string(), below.display().to_string())
    };
    let pair = |from: &str, below: &str| (from.to_owned(), below.to_owned());
    assert_eq!(split(&["src"], "src/d/a.cu"), pair(".", "src/d/a.cu"));
    assert_eq!(split(&["./src"], "./src/a.cu"), pair(".", "src/a.cu"));
    assert_eq!(
        split(&["/home/me/project/src"], "/home/me/project/src/a.cu"),
        pair("/home/me/project", "src/a.cu")
    );
    assert_eq!(split(&["/data/src"], "/data/src/d/a.cu"), pair("/data", "src/d/a.cu"));
    assert_eq!(split(&["/data/src/a.cu"], "/data/src/a.cu"), pair("/data/src", "a.cu"));
    assert_eq!(split(&["/data/src/*/a.cu"], "/data/src/d/a.cu"), pair("/data", "src/d/a.cu"));
    assert_eq!(split(&["../lib"], "../lib/d/a.cu"), pair("..", "lib/d/a.cu"));
    assert_eq!(split(&[".."], "../lib/d/a.cu"), pair("..", "lib/d/a.cu"));
    assert_eq!(split(&["/data/src/d", "/data/src"], "/data/src/d/a.cu"), pair("/data", "src/d/a.cu"));
    assert_eq!(split(&["/"], "/data/a.cu"), pair("/", "data/a.cu"));
}

/// The tests of one way to do it.
macro_rules! tests_of {
    ($way:ident) => {
        mod $way {
            use super::super::Refusal;
            use super::super::$way::Place;
            use std::fs;
            use std::path::Path;

            fn replace(root: &Path, below: &str, old: &str, new: &str) -> Result<(), Refusal> {
                Place::find(root, Path::new(below))?.stage(old.as_bytes(), new.as_bytes())?.commit()
            }

            fn names(folder: &Path) -> Vec<String> {
                let entries = fs::read_dir(folder).unwrap();
                let mut names: Vec<String> =
                    entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
                names.sort();
                names
            }

            #[test]
            fn the_old_bytes_give_way_to_the_new() {
                let root = tempfile::tempdir().unwrap();
                fs::create_dir(root.path().join("d")).unwrap();
                let file = root.path().join("d/a.cu");
                fs::write(&file, "old").unwrap();
                replace(root.path(), "d/a.cu", "old", "newer").unwrap();
                assert_eq!(fs::read_to_string(&file).unwrap(), "newer");
                let refused = replace(root.path(), "d/a.cu", "old", "x").unwrap_err();
                assert!(matches!(refused, Refusal::Changed), "{refused}");
                let refused = replace(root.path(), "d", "", "x").unwrap_err();
                assert!(matches!(refused, Refusal::NotRegular), "{refused}");
                assert!(matches!(replace(root.path(), "none", "", "x"), Err(Refusal::System(_))));
                assert_eq!(fs::read_to_string(&file).unwrap(), "newer");
                assert_eq!(names(&root.path().join("d")), ["a.cu"]);
            }

            #[test]
            fn what_is_not_committed_leaves_nothing() {
                let root = tempfile::tempdir().unwrap();
                fs::write(root.path().join("a.cu"), "old").unwrap();
                let staged =
                    Place::find(root.path(), Path::new("a.cu")).unwrap().stage(b"old", b"new").unwrap();
                assert_eq!(names(root.path()).len(), 2);
                drop(staged);
                assert_eq!(names(root.path()), ["a.cu"]);
                assert_eq!(fs::read_to_string(root.path().join("a.cu")).unwrap(), "old");
            }

            #[test]
            fn what_is_read_only_stays() {
                let root = tempfile::tempdir().unwrap();
                let file = root.path().join("a.cu");
                fs::write(&file, "old").unwrap();
                let mut permissions = fs::metadata(&file).unwrap().permissions();
                permissions.set_readonly(true);
                fs::set_permissions(&file, permissions).unwrap();
                let refused = replace(root.path(), "a.cu", "old", "new").unwrap_err();
                assert!(matches!(refused, Refusal::ReadOnly), "{refused}");
                assert_eq!(fs::read_to_string(&file).unwrap(), "old");
            }

            #[cfg(unix)]
            #[test]
            fn no_link_is_followed_and_one_that_comes_is_replaced() {
                use std::os::unix::fs::symlink;
                let root = tempfile::tempdir().unwrap();
                let (inside, outside) = (root.path().join("in"), root.path().join("out"));
                for folder in [&inside, &outside] {
                    fs::create_dir(folder).unwrap();
                    fs::write(folder.join("a.cu"), "old").unwrap();
                }
                symlink("../out/a.cu", inside.join("file.cu")).unwrap();
                symlink("../out", inside.join("folder")).unwrap();
                for (below, link) in [("file.cu", "file.cu"), ("folder/a.cu", "folder")] {
                    match replace(&inside, below, "old", "new") {
                        Err(Refusal::Link(path)) => assert_eq!(path, inside.join(link)),
                        other => panic!("{other:?}"),
                    }
                }
                let staged = Place::find(&inside, Path::new("a.cu")).unwrap().stage(b"old", b"new").unwrap();
                fs::remove_file(inside.join("a.cu")).unwrap();
                symlink("../out/a.cu", inside.join("a.cu")).unwrap();
                staged.commit().unwrap();
                assert_eq!(fs::read_to_string(outside.join("a.cu")).unwrap(), "old");
                assert_eq!(fs::read_to_string(inside.join("a.cu")).unwrap(), "new");
                assert!(!fs::symlink_metadata(inside.join("a.cu")).unwrap().is_symlink());
                // One that comes before the bytes are compared is not read either.
                let place = Place::find(&inside, Path::new("a.cu")).unwrap();
                fs::remove_file(inside.join("a.cu")).unwrap();
                symlink("../out/a.cu", inside.join("a.cu")).unwrap();
                assert!(matches!(place.stage(b"old", b"new"), Err(Refusal::Link(_))));
            }

            #[cfg(unix)]
            #[test]
            fn permissions_stay() {
                use std::os::unix::fs::PermissionsExt;
                let root = tempfile::tempdir().unwrap();
                let file = root.path().join("a.cu");
                for mode in [0o600, 0o644, 0o664, 0o755, 0o620, 0o2755] {
                    fs::write(&file, "old").unwrap();
                    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
                    replace(root.path(), "a.cu", "old", "new").unwrap();
                    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, mode, "{mode:o}");
                }
            }
        }
    };
}

tests_of!(portable);
#[cfg(unix)]
tests_of!(unix);

#[cfg(unix)]
#[test]
fn a_folder_that_becomes_a_link_is_not_followed() {
    use std::os::unix::fs::symlink;
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    for folder in ["d", "out"] {
        fs::create_dir(path(folder)).unwrap();
        fs::write(path(folder).join("a.cu"), "old").unwrap();
    }
    let place = super::unix::Place::find(root.path(), Path::new("d/a.cu")).unwrap();
    fs::rename(path("d"), path("moved")).unwrap();
    symlink("out", path("d")).unwrap();
    place.stage(b"old", b"new").unwrap().commit().unwrap();
    assert_eq!(fs::read_to_string(path("out/a.cu")).unwrap(), "old");
    assert_eq!(fs::read_to_string(path("moved/a.cu")).unwrap(), "new");
}

#[cfg(unix)]
#[test]
fn all_files_are_made_ready_before_one_is_replaced() {
    let root = tempfile::tempdir().unwrap();
    let (a, b) = (root.path().join("a.cu"), root.path().join("b.cu"));
    fs::write(&a, "old").unwrap();
    fs::write(&b, "changed").unwrap();
    let arguments = [root.path().to_path_buf()];
    let named = Named::new(&arguments);
    let files = [&a, &b].map(|path| (path.as_path(), b"old".as_slice(), b"new".as_slice()));
    let (path, refused) = named.replace(files.into_iter()).unwrap_err();
    assert!(path == b && matches!(refused, Refusal::Changed));
    assert_eq!(fs::read_to_string(&a).unwrap(), "old");
    named.replace(files.into_iter().take(1)).unwrap();
    assert_eq!(fs::read_to_string(&a).unwrap(), "new");
}
