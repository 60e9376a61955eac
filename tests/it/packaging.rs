//! The archive, the installers and the npm packages of a release, and the action, tried on this machine. Needs bash and tar;
//! what needs curl or npm is skipped without it.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tempfile::TempDir;

use crate::program::{Place, isolated, program, root, shell, text};

/// A script of the packaging, in `folder`.
fn packaging(script: &str, folder: &Path) -> Command {
    isolated(&root().join(".github/packaging").join(script).display().to_string(), folder)
}

/// A program that was installed, in its folder.
fn installed(bin: &Path, name: &str) -> Command {
    isolated(&bin.join(name).display().to_string(), bin)
}

fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}: {stdout}{stderr}");
    stdout.into_owned()
}

fn has(program: &str) -> bool {
    isolated(program, root()).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// The archive of this machine's static program (here the one under test), and the installers.
struct Release {
    folder: TempDir,
    target: String,
}

impl Release {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// A release, which no test changes: compressing a debug build takes seconds, so the tests that run at a time share one.
fn release() -> Arc<Release> {
    static SHARED: Mutex<Weak<Release>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(release) = shared.upgrade() {
        return release;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let mut archive = packaging("archive", folder.path());
    run(archive.args([&target, program()]).arg(folder.path()).env("GZIP", "-1"));
    run(packaging("render", folder.path())
        .arg(folder.path())
        .envs([("REPOSITORY", "https://example.com/curtail"), ("GZIP", "-1")]));
    let release = Arc::new(Release { folder, target });
    *shared = Arc::downgrade(&release);
    release
}

/// Does what somebody does who can write to the server of the archives: replaces one, and the checksum beside it.
fn replace(folder: &Path, name: &str) {
    std::fs::write(folder.join(name), "something else").expect("written");
    let sum = run(isolated("sha256sum", folder).arg(name));
    std::fs::write(folder.join(format!("{name}.sha256")), sum).expect("written");
}

fn install(folder: &Path, into: &Path) -> Output {
    let mut shell = isolated("sh", folder);
    shell.arg(folder.join("install.sh")).env("CURTAIL_DOWNLOAD_BASE", format!("file://{}", folder.display()));
    shell.env("CURTAIL_INSTALL_DIR", into).output().expect("a shell")
}

#[test]
fn an_archive_has_the_program_and_what_belongs_to_it() {
    let release = release();
    let target = &release.target;
    let list = run(isolated("tar", root()).arg("-tzf").arg(release.path(&format!("curtail-{target}.tar.gz"))));
    let names: Vec<&str> = list.lines().map(|line| line.trim_start_matches(&format!("curtail-{target}/"))).collect();
    for name in [
        "curtail",
        "README.md",
        "CHANGELOG.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "completions/curtail.bash",
        "completions/_curtail",
        "completions/curtail.fish",
        "completions/_curtail.ps1",
        "man/curtail.1",
        "man/curtail-window.1",
    ] {
        assert!(names.contains(&name), "{name} is missing from {list}");
    }
}

#[test]
fn installers_name_the_version_and_the_repository_and_nothing_is_left_to_fill_in() {
    let release = release();
    for name in ["install.sh", "install.ps1", "curtail.rb"] {
        let text = std::fs::read_to_string(release.path(name)).expect(name);
        assert!(text.contains("https://example.com/curtail/releases/download/"), "{name}");
        assert!(text.contains(env!("CARGO_PKG_VERSION")), "{name}");
        assert!(!text.contains("@VERSION@") && !text.contains("@REPOSITORY@") && !text.contains("@SHA_"), "{name}");
    }
}

#[test]
fn the_installer_installs_what_matches_its_checksum_and_nothing_else() {
    if !has("curl") {
        return println!("skipped: there is no curl");
    }
    let (release, folder) = (release(), tempfile::tempdir().expect("a folder"));
    let archive = format!("curtail-{}.tar.gz", release.target);
    for name in [&archive, "install.sh"] {
        std::fs::copy(release.path(name), folder.path().join(name)).expect(name);
    }
    let bin: PathBuf = folder.path().join("bin");
    let done = install(folder.path(), &bin);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let version = run(installed(&bin, "curtail").arg("-V"));
    assert_eq!(version.trim(), format!("curtail {}", env!("CARGO_PKG_VERSION")));

    // A relative folder is that of the user, not one of the installer.
    let mut relative = isolated("sh", folder.path());
    relative.arg("install.sh").env("CURTAIL_INSTALL_DIR", "./relative bin");
    run(relative.env("CURTAIL_DOWNLOAD_BASE", format!("file://{}", folder.path().display())));
    assert!(folder.path().join("relative bin/curtail").is_file());

    replace(folder.path(), &archive);
    let other = folder.path().join("other");
    let refused = install(folder.path(), &other);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("does not match its checksum"));
    assert!(!other.join("curtail").exists());
}

/// What npm installs: the package and that of this system, without the network and without scripts.
#[test]
fn the_npm_packages_run_the_program_of_this_system() {
    if !has("node") || !has("npm") {
        return println!("skipped: there is no node or no npm");
    }
    let (release, user) = (release(), tempfile::tempdir().expect("a folder"));
    let machine = if cfg!(target_arch = "x86_64") { "x64" } else { "arm64" };
    let package = |name: &str| release.path(name).display().to_string();
    let install = ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
    let npm = |packages: &[&str]| run(isolated("npm", user.path()).args(install).args(packages));
    npm(&["--omit=optional", &package("curtail-npm.tgz")]);
    let bin = user.path().join("node_modules/.bin");
    let alone = installed(&bin, "curtail").arg("-V").output().expect("it starts");
    assert_eq!(alone.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&alone.stderr);
    assert!(stderr.contains(&format!("the package curtail-cli-linux-{machine} is not installed")), "{stderr}");

    npm(&["--omit=optional", &package(&format!("curtail-npm-linux-{machine}.tgz")), &package("curtail-npm.tgz")]);
    for name in ["curtail", "curtail-cli"] {
        let version = run(installed(&bin, name).arg("-V"));
        assert_eq!(version.trim(), format!("curtail {}", env!("CARGO_PKG_VERSION")), "{name}");
    }
    let check = installed(&bin, "curtail").arg("check").arg(root().join("fixtures/check/broken.jsonl")).output();
    assert_eq!(check.expect("it starts").status.code(), Some(1));
}

/// Whoever replaces an archive can replace the checksum beside it.
#[test]
fn nothing_that_installs_downloads_a_checksum() {
    for name in [".github/packaging/install.sh.in", ".github/packaging/install.ps1.in", "action.yml"] {
        let text = std::fs::read_to_string(root().join(name)).expect(name);
        assert!(!text.contains(".sha256"), "{name}");
    }
}

#[test]
fn a_release_with_a_missing_archive_is_not_rendered() {
    let release = release();
    let done = packaging("render", release.folder.path())
        .arg(release.folder.path())
        .arg("--complete")
        .env("REPOSITORY", "https://example.com/curtail")
        .output();
    let done = done.expect("it starts");
    assert!(!done.status.success());
    assert!(String::from_utf8_lossy(&done.stderr).contains("apple-darwin.tar.gz is missing"));
}

/// The script of the action's step with this name.
fn step(name: &str) -> String {
    let action = std::fs::read_to_string(root().join("action.yml")).unwrap();
    let (_, after) = action.split_once(&format!("- name: {name}\n")).expect("a step");
    let (_, script) = after.split_once("run: |\n").expect("a script");
    let lines = script.lines().take_while(|line| line.is_empty() || line.starts_with("        "));
    lines.map(|line| line.trim_start_matches("        ").to_owned() + "\n").collect()
}

/// The action's check, as a runner would run it: annotations on the lines, the findings as SARIF, and the job fails.
#[test]
fn the_action_annotates_and_fails() {
    let place = Place::new();
    let run = |paths: &str, arguments: &str| {
        let mut shell = shell(&format!("bash -eo pipefail {}", place.path("step.sh").display()), root());
        shell.env("PATHS", paths).env("ARGS", arguments).env("RUNNER_TEMP", place.path(""));
        shell.env("GITHUB_OUTPUT", place.path("outputs")).output().expect("a shell")
    };
    place.write("step.sh", step("Check").as_bytes());
    let broken = run("fixtures/check/broken.jsonl\nfixtures/trip.jsonl", "--strict");
    let annotations = text(&broken.stdout);
    assert_eq!(broken.status.code(), Some(1), "{}", text(&broken.stderr));
    assert!(annotations.contains("::error file=fixtures/check/broken.jsonl,line=6"), "{annotations}");
    let sarif: serde_json::Value = serde_json::from_slice(&place.read("curtail.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 2);
    assert!(text(&place.read("outputs")).starts_with("sarif-file="));
    assert_eq!(run("fixtures/trip.jsonl", "").status.code(), Some(0));
}
