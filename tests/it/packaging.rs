//! The archive and the installer of a release, tried on this machine. Needs a POSIX shell, tar and curl.
#![cfg(target_os = "linux")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}: {stdout}{stderr}");
    stdout.into_owned()
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// A folder with the archive of this machine's static program (here the one under test), and the installers.
fn release(folder: &Path) -> String {
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let program = env!("CARGO_BIN_EXE_curtail");
    run(Command::new(root().join(".github/packaging/archive")).args([&target, program]).arg(folder));
    run(Command::new(root().join(".github/packaging/render"))
        .arg(folder)
        .env("REPOSITORY", "https://example.com/curtail"));
    target
}

/// Does what somebody does who can write to the server of the archives: replaces one, and the checksum beside it.
fn replace(folder: &Path, target: &str) {
    let name = format!("curtail-{target}.tar.gz");
    std::fs::write(folder.join(&name), "something else").expect("written");
    let sum = run(Command::new("sha256sum").arg(&name).current_dir(folder));
    std::fs::write(folder.join(format!("{name}.sha256")), sum).expect("written");
}

fn install(folder: &Path, into: &Path) -> Output {
    let mut shell = Command::new("sh");
    shell.arg(folder.join("install.sh")).env("CURTAIL_DOWNLOAD_BASE", format!("file://{}", folder.display()));
    shell.env("CURTAIL_INSTALL_DIR", into).output().expect("a shell")
}

#[test]
fn an_archive_has_the_program_and_what_belongs_to_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = release(folder.path());
    let list = run(Command::new("tar").arg("-tzf").arg(folder.path().join(format!("curtail-{target}.tar.gz"))));
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
    let folder = tempfile::tempdir().expect("a folder");
    release(folder.path());
    for name in ["install.sh", "install.ps1", "curtail.rb"] {
        let text = std::fs::read_to_string(folder.path().join(name)).expect(name);
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
    let folder = tempfile::tempdir().expect("a folder");
    let target = release(folder.path());
    let bin: PathBuf = folder.path().join("bin");
    let done = install(folder.path(), &bin);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let version = run(Command::new(bin.join("curtail")).arg("-V"));
    assert_eq!(version.trim(), format!("curtail {}", env!("CARGO_PKG_VERSION")));

    replace(folder.path(), &target);
    let other = folder.path().join("other");
    let refused = install(folder.path(), &other);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("does not match its checksum"));
    assert!(!other.join("curtail").exists());
}

/// Serves the files of `folder` until the test ends; returns the address.
fn serve(folder: &Path) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let folder = folder.to_owned();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = vec![0; 4096];
            let length = stream.read(&mut head).unwrap_or_default();
            let path = String::from_utf8_lossy(&head[..length]).split(' ').nth(1).unwrap_or("/").to_owned();
            let (status, body) = std::fs::read(folder.join(path.trim_start_matches('/')))
                .map_or_else(|_| ("404 Not Found", Vec::new()), |body| ("200 OK", body));
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    address
}

#[test]
fn the_npm_package_installs_what_matches_its_checksum_and_nothing_else() {
    if !has("node") {
        return println!("skipped: there is no node");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let target = release(folder.path());
    let server = serve(folder.path());
    run(Command::new("tar").args(["-xzf", "curtail-npm.tgz"]).current_dir(folder.path()));
    let package = folder.path().join("package");
    let install =
        || Command::new("node").arg(package.join("install.js")).env("CURTAIL_DOWNLOAD_BASE", &server).output();
    let done = install().expect("node");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let version = run(Command::new("node").arg(package.join("run.js")).arg("-V"));
    assert_eq!(version.trim(), format!("curtail {}", env!("CARGO_PKG_VERSION")));

    std::fs::remove_file(package.join("curtail")).expect("the program");
    replace(folder.path(), &target);
    let refused = install().expect("node");
    assert!(!refused.status.success() && !package.join("curtail").exists());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("does not match its checksum"));
}

/// Whoever replaces an archive can replace the checksum beside it.
#[test]
fn nothing_that_installs_downloads_a_checksum() {
    for name in [
        ".github/packaging/install.sh.in",
        ".github/packaging/install.ps1.in",
        ".github/packaging/npm/install.js",
        "action.yml",
    ] {
        let text = std::fs::read_to_string(root().join(name)).expect(name);
        assert!(!text.contains(".sha256"), "{name}");
    }
}

#[test]
fn a_release_with_a_missing_archive_is_not_rendered() {
    let folder = tempfile::tempdir().expect("a folder");
    release(folder.path());
    let mut render = Command::new(root().join(".github/packaging/render"));
    let done = render.arg(folder.path()).arg("--complete").env("REPOSITORY", "https://example.com/curtail").output();
    let done = done.expect("it starts");
    assert!(!done.status.success());
    assert!(String::from_utf8_lossy(&done.stderr).contains("apple-darwin.tar.gz is missing"));
}
