//! A store that cannot be used: a clear error, status 2, and not a byte of it touched.

use std::fs;

use super::Place;

fn refuses(place: &Place, words: &str, also_to_read: bool) {
    let bytes = fs::read(place.store()).unwrap();
    let read: &[&[&str]] = &[&["show", "--thread", "t"], &["list"], &["recall", "--thread", "t"]];
    let write: &[&[&str]] =
        &[&["update", "--thread", "t", "{\"n\":1}"], &["set", "--thread", "t", "x"], &["clear", "--thread", "t"]];
    for command in read.iter().filter(|_| also_to_read).chain(write) {
        let output = place.run(&[&["memory"], *command].concat());
        assert!(output.code == 2 && output.out.is_empty(), "{command:?}: {output:?}");
        let expected = format!("curtail: store {}: ", place.store().display());
        assert!(output.err.starts_with(&expected) && output.err.contains(words), "{command:?}: {}", output.err);
        assert_eq!(fs::read(place.store()).unwrap(), bytes, "{command:?} touched it");
    }
    let names = fs::read_dir(place.0.path()).unwrap().count();
    assert_eq!(names, 1, "something was left beside it");
}

fn filled() -> Place {
    let place = Place::new();
    place.out(&["memory", "set", "--thread", "t", "notes"]);
    place
}

#[test]
fn a_truncated_store() {
    let place = filled();
    let bytes = fs::read(place.store()).unwrap();
    for (length, words) in
        [(0, "the file is empty"), (60, "truncated"), (4096, "truncated"), (bytes.len() - 1, "truncated")]
    {
        fs::write(place.store(), &bytes[..length]).unwrap();
        refuses(&place, words, true);
    }
}

#[test]
fn another_file() {
    let place = Place::new();
    fs::write(place.store(), "{\"role\":\"user\",\"content\":\"Hi\"}\n").unwrap();
    refuses(&place, "not an SQLite file", true);
}

#[test]
fn the_database_of_another_program() {
    let place = Place::new();
    let foreign = rusqlite::Connection::open(place.store()).unwrap();
    foreign.execute_batch("CREATE TABLE entry (number INTEGER PRIMARY KEY, body TEXT)").unwrap();
    drop(foreign);
    refuses(&place, "an SQLite file of another program", true);
}

#[test]
fn a_store_of_a_newer_version() {
    let place = filled();
    let raw = rusqlite::Connection::open(place.store()).unwrap();
    raw.pragma_update(None, "user_version", 2).unwrap();
    drop(raw);
    refuses(&place, "written by a newer curtail (version 2; this one reads up to 1)", true);
}

#[test]
fn a_read_only_store() {
    let place = filled();
    let mut permissions = fs::metadata(place.store()).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(place.store(), permissions).unwrap();
    refuses(&place, "read-only", false);
    assert_eq!(place.out(&["memory", "show", "--thread", "t"]), "notes\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_file_is_told_once() {
    let place = Place::new();
    let output = place.run(&["memory", "set", "--thread", "t", "--store", "/proc/state.db", "x"]);
    assert_eq!((output.code, output.err.as_str()), (2, "curtail: store /proc/state.db: no such file or directory\n"));
}
