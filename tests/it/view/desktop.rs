//! The browser that `--open` starts, and the pager of a terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::CHAT;
use crate::program::{Place, isolated, program, terminal, text, wait_until};

/// A program of this name in the folder `bin`.
fn install(place: &Place, name: &str, script: &str) {
    let file = format!("bin/{name}");
    place.write(&file, format!("#!/bin/sh\n{script}\n").as_bytes());
    fs::set_permissions(place.path(&file), fs::Permissions::from_mode(0o755)).unwrap();
}

/// What a program wrote that nobody waits for.
fn written(path: &Path) -> String {
    let read = || fs::read_to_string(path).unwrap_or_default();
    wait_until(&path.display().to_string(), || read().ends_with('\n'));
    read()
}

/// Opens the page of a chat with a browser that notes what it was given.
fn opened(flags: &[&str]) -> (Place, String) {
    let place = Place::new();
    place.write("chat.jsonl", CHAT.as_bytes());
    install(&place, "xdg-open", &format!("printf '%s\\n' \"$@\" > '{}'", place.path("opened").display()));
    let path = format!("{}:/usr/bin:/bin", place.path("bin").display());
    let mut command = place.curtail(&["view", "chat.jsonl", "--open"]);
    let done = command.args(flags).env("PATH", path).env("TMPDIR", place.path("")).output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(text(&done.stdout), "", "the page is opened, not printed");
    let shown = written(&place.path("opened")).trim_end().to_owned();
    (place, shown)
}

#[test]
fn a_page_is_opened_in_the_browser() {
    let (place, shown) = opened(&["-o", "page.html"]);
    assert_eq!(Path::new(&shown), place.path("page.html").canonicalize().unwrap());
    let (_place, shown) = opened(&[]);
    assert!(
        Path::new(&shown).extension().is_some_and(|end| end == "html")
            && fs::read_to_string(&shown).unwrap().contains("At 17:58."),
        "{shown}"
    );
    let (place, shown) = opened(&["-O", "pages"]);
    assert_eq!(Path::new(&shown), place.path("pages/index.html").canonicalize().unwrap());
}

#[test]
fn a_missing_browser_is_an_error_with_the_page() {
    let place = Place::new();
    place.write("chat.jsonl", CHAT.as_bytes());
    let mut command = place.curtail(&["view", "chat.jsonl", "-o", "page.html", "--open"]);
    let done = command.env("PATH", place.path("")).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    let stderr = text(&done.stderr);
    assert!(stderr.contains("page.html: no browser could be started"), "{stderr}");
    assert!(place.path("page.html").exists());
}

/// What a terminal shows of `--text`, with these variables.
fn on_terminal(place: &Place, variables: &[(&str, &str)]) -> String {
    let line = format!("{} view chat.jsonl --text", program());
    text(&terminal(&line, &place.path("")).envs(variables.iter().copied()).output().unwrap().stdout)
}

/// What a terminal shows of a page, and the status; `path` is where the browser is looked for.
fn page_on_terminal(place: &Place, flags: &str, path: &str) -> (String, bool) {
    let line = format!("{} view chat.jsonl {flags}", program());
    let mut script = isolated("/usr/bin/script", &place.path(""));
    script.args(["-qec", &line, "/dev/null"]).env("PATH", path).env("TMPDIR", place.path(""));
    let output = script.output().unwrap();
    (text(&output.stdout), output.status.success())
}

#[test]
fn a_page_is_never_printed_on_a_terminal() {
    let place = Place::new();
    place.write("chat.jsonl", CHAT.as_bytes());
    let noted = place.path("opened");
    install(&place, "xdg-open", &format!("printf '%s\\n' \"$@\" > '{}'", noted.display()));
    let path = format!("{}:/usr/bin:/bin", place.path("bin").display());
    let (shown, done) = page_on_terminal(&place, "", &path);
    assert!(done && !shown.contains('<'), "{shown}");
    let opened = written(&noted).trim_end().to_owned();
    assert!(fs::read_to_string(&opened).unwrap().contains("At 17:58.") && shown.contains(&opened), "{shown}");
    let (shown, done) = page_on_terminal(&place, "", &place.path("").display().to_string());
    assert!(done && !shown.contains('<') && shown.contains("no browser could be started; open it"), "{shown}");
    let (shown, done) = page_on_terminal(&place, "-o -", &path);
    assert!(!done && shown.contains("a page cannot be shown in a terminal"), "{shown}");
}

#[test]
fn a_terminal_has_a_pager() {
    let place = Place::new();
    place.write("chat.jsonl", CHAT.as_bytes());
    let noted = "cat > piped; printf 'LESS=%s\\n' \"$LESS\" > settings";
    assert_eq!(on_terminal(&place, &[("PAGER", noted)]), "", "the pager shows the text, not we");
    let piped = text(&place.read("piped"));
    assert!(piped.contains("At 17:58.") && piped.contains('\u{1b}'), "{piped}");
    assert_eq!(text(&place.read("settings")), "LESS=FRX\n");
    on_terminal(&place, &[("PAGER", noted), ("LESS", "-S"), ("NO_COLOR", "1")]);
    assert!(!text(&place.read("piped")).contains('\u{1b}'));
    assert_eq!(text(&place.read("settings")), "LESS=-S\n");
    // No pager, and a pager that is not there: the text is printed.
    for pager in ["", "no-such-pager 2>/dev/null"] {
        assert!(on_terminal(&place, &[("PAGER", pager)]).contains("At 17:58."), "{pager:?}");
    }
}

#[test]
fn a_pager_that_is_quit_early_is_no_error() {
    let place = Place::new();
    place.write("chat.jsonl", CHAT.repeat(2_000).as_bytes());
    let shown = on_terminal(&place, &[("PAGER", "head -n 1")]);
    assert_eq!(shown.matches("openai").count(), 1, "{shown}");
}

#[test]
fn a_pipe_has_no_pager() {
    let place = Place::new();
    place.write("chat.jsonl", CHAT.as_bytes());
    let mut command = place.curtail(&["view", "chat.jsonl", "--text"]);
    let done = command.env("PAGER", "cat > piped").output().unwrap();
    assert!(text(&done.stdout).contains("At 17:58.") && !place.path("piped").exists());
}
