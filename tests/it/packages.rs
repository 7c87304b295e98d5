//! Do the packages say the same of the project, and nothing of the machine that they were made on?

use serde_json::Value;
use std::fs;

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap()
}

fn json(path: &str) -> Value {
    serde_json::from_str(&read(path)).unwrap()
}

#[test]
fn all_packages_have_one_version() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(json("editors/vscode/package.json")["version"], version);
    let lock = json("editors/vscode/package-lock.json");
    assert_eq!((&lock["version"], &lock["packages"][""]["version"]), (&version.into(), &version.into()));
    let recipe = read("conda/recipe.yaml");
    assert!(recipe.contains(&format!("\n  version: \"{version}\"\n")), "{recipe}");
}

#[test]
fn what_is_installed_is_told_by_name_and_hash_and_not_by_where_from() {
    let lock = json("editors/vscode/package-lock.json");
    let packages = lock["packages"].as_object().unwrap();
    assert!(packages.len() > 100);
    for (path, package) in packages.iter().filter(|(path, _)| !path.is_empty()) {
        assert!(package["integrity"].as_str().is_some_and(|hash| hash.starts_with("sha512-")), "{path}");
        assert!(package["resolved"].is_null(), "{path}");
    }
    // Programs for other machines than the one that wrote the file are in it, too: `npm ci` asks for them.
    for (path, package) in packages {
        for name in package["optionalDependencies"].as_object().into_iter().flat_map(|all| all.keys()) {
            let end = format!("node_modules/{name}");
            assert!(packages.keys().any(|other| other.ends_with(&end)), "{path} lacks {name}");
        }
    }
}

#[test]
fn a_released_binary_is_called_what_cargo_binstall_looks_for() {
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let binstall = &manifest["package"]["metadata"]["binstall"];
    let release = read(".github/workflows/release.yml");
    let folder = |template: &str| template.replace("{ name }", "cudalint").replace("{ target }", "$TARGET");
    let url = folder(binstall["pkg-url"].as_str().unwrap());
    let name = url.rsplit('/').next().unwrap().strip_suffix("{ archive-suffix }").unwrap();
    assert!(release.contains(&format!("folder={name}\n")), "{name}");
    let inside = folder(binstall["bin-dir"].as_str().unwrap());
    assert_eq!(inside, format!("{name}/{{ bin }}{{ binary-ext }}"));
    // The whole address comes from one place.
    assert!(url.starts_with("{ repo }/releases/download/v{ version }/"), "{url}");
}
