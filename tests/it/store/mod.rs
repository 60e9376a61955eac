//! The store as the program uses it: what is kept, refused and exported.

mod processes;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use curtail_memory::store::{Clash, Export, Filter, Record, RecordKey, Refusal, Scope, Shelf, Store, StoreError};
use proptest::prelude::*;
use rusqlite::Connection;
use tempfile::TempDir;

fn key(id: &str) -> RecordKey<'_> {
    RecordKey { shelf: Shelf::Memory, scope: Scope::Thread, id }
}

fn write(store: &mut Store, id: &str, body: &str) {
    let done: Result<(), StoreError> = store.update(key(id), |record| record.write(body));
    done.unwrap();
}

fn fresh() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    (folder, path)
}

/// A store with one entry.
fn filled() -> (TempDir, PathBuf) {
    let (folder, path) = fresh();
    write(&mut Store::open(&path).unwrap(), "a", "{\"n\":1}");
    (folder, path)
}

fn refusal(path: &Path) -> Refusal {
    match Store::open(path) {
        Err(StoreError::Refused { why, .. }) => why,
        other => panic!("not refused: {other:?}"),
    }
}

/// Opens for both kinds of access, expects `why`, and no trace of the attempt.
fn refuses_untouched(folder: &TempDir, path: &Path, why: Refusal) {
    let names = || {
        let entries = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let (bytes, before) = (fs::read(path).unwrap(), names());
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    assert_eq!(refusal(path), why);
    if why != Refusal::ReadOnly {
        assert!(matches!(Store::open_existing(path), Err(StoreError::Refused { why: again, .. }) if again == why));
    }
    assert_eq!(fs::read(path).unwrap(), bytes, "{why:?}");
    assert_eq!(fs::metadata(path).unwrap().modified().unwrap(), modified, "{why:?}");
    assert_eq!(names(), before, "{why:?}");
}

#[test]
fn what_is_written_is_there_when_opened_again() {
    let (_folder, path) = fresh();
    assert!(Store::open_existing(&path).unwrap().is_none());
    assert!(!path.exists(), "looking made a file");
    let ids = ["", "a", "ä 🦀", "two\nlines", "nul\0nul", "'; DROP TABLE entry; --", " a"];
    let mut store = Store::open(&path).unwrap();
    for id in ids {
        write(&mut store, id, &format!("body of {id}"));
    }
    drop(store);
    let store = Store::open_existing(&path).unwrap().unwrap();
    for id in ids {
        assert_eq!(store.read_body(key(id)).unwrap(), Some(format!("body of {id}")));
    }
    assert_eq!(store.read_body(key("b")).unwrap(), None);
    let elsewhere = RecordKey { shelf: Shelf::Summary, ..key("a") };
    assert_eq!(store.read_body(elsewhere).unwrap(), None);
    let elsewhere = RecordKey { scope: Scope::Resource, ..key("a") };
    assert_eq!(store.read_body(elsewhere).unwrap(), None);
    assert_eq!(store.list(Filter::default()).unwrap().len(), ids.len());
}

#[test]
fn a_change_that_fails_changes_nothing() {
    let (_folder, path) = filled();
    let mut store = Store::open(&path).unwrap();
    let failed: Result<(), Box<dyn std::error::Error>> = store.update(key("a"), |record| {
        record.write("{\"n\":2}")?;
        record.add_applied_id("call_1")?;
        record.set_aside("no")?;
        Err("the caller thought better of it".into())
    });
    assert!(failed.is_err());
    assert_eq!(store.read_body(key("a")).unwrap().as_deref(), Some("{\"n\":1}"));
    assert!(store.set_aside(key("a")).unwrap().is_empty());
    assert_eq!(store.list(Filter::default()).unwrap()[0].applied_ids, 0);
}

#[test]
fn applied_ids_outlive_a_cleared_body_and_what_is_set_aside_stays() {
    let (_folder, path) = filled();
    let mut store = Store::open(&path).unwrap();
    let step = |record: &mut Record<'_>| -> Result<usize, StoreError> {
        record.add_applied_id("call_1")?;
        record.add_applied_id("call_1")?;
        record.set_aside("not what the schema wants")?;
        record.write("{\"n\":3}")?;
        record.clear()?;
        Ok(record.applied_ids()?.len())
    };
    assert_eq!(store.update(key("a"), step).unwrap(), 1);
    drop(store);
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.read_body(key("a")).unwrap(), None);
    let aside = store.set_aside(key("a")).unwrap();
    assert_eq!((aside.len(), aside[0].body.as_str()), (1, "{\"n\":1}"));
    assert_eq!(aside[0].reason, "not what the schema wants");
    let applied = store.update(key("a"), |record| record.applied_ids()).unwrap();
    assert_eq!(applied, ["call_1".to_owned()].into());
    assert!(store.remove(key("a")).unwrap());
    assert!(!store.remove(key("a")).unwrap());
    let applied = store.update(key("a"), |record| record.applied_ids()).unwrap();
    assert!(applied.is_empty() && store.set_aside(key("a")).unwrap().is_empty());
}

#[test]
fn a_replay_of_known_ids_leaves_the_time_of_the_last_change() {
    let (_folder, path) = filled();
    let mut store = Store::open(&path).unwrap();
    let add = |store: &mut Store| store.update(key("a"), |record| record.add_applied_id("call_1")).unwrap();
    add(&mut store);
    let bytes = fs::read(&path).unwrap();
    add(&mut store);
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn listing_and_pruning_agree() {
    let (_folder, path) = fresh();
    let mut store = Store::open(&path).unwrap();
    for id in ["old", "older", "new"] {
        write(&mut store, id, "{}");
    }
    drop(store);
    // Two entries of two days and of ten days ago.
    let raw = Connection::open(&path).unwrap();
    for (id, days) in [("old", 2_i64), ("older", 10)] {
        let sql = "UPDATE entry SET updated = updated - ?1 WHERE id = ?2";
        raw.execute(sql, (days * 86_400_000, id)).unwrap();
    }
    drop(raw);
    let mut store = Store::open(&path).unwrap();
    let older_than = |days: u64| Filter {
        older_than: Some(Duration::from_secs(days * 86_400)),
        shelf: Some(Shelf::Memory),
        ..Filter::default()
    };
    let other_shelf = Filter { shelf: Some(Shelf::Summary), ..older_than(1) };
    assert!(store.prune(other_shelf).unwrap().is_empty());
    let shown = store.list(older_than(1)).unwrap();
    let ids: Vec<_> = shown.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, ["old", "older"]);
    assert_eq!(store.prune(older_than(5)).unwrap()[0].id, "older");
    assert_eq!(store.prune(older_than(1)).unwrap().len(), 1);
    let left = store.list(Filter::default()).unwrap();
    assert_eq!((left.len(), left[0].id.as_str()), (1, "new"));
    let time = &left[0].updated;
    assert!(time.len() == 20 && time.ends_with('Z') && time.contains('T'), "{time}");
}

#[test]
fn files_that_are_no_store_are_refused_and_left_alone() {
    let junk: [(&[u8], Refusal); 4] = [
        (b"", Refusal::Empty),
        (b"SQLite for", Refusal::Truncated),
        (b"SQLite format 3\0 and then it was cut", Refusal::Truncated),
        (b"{\"role\":\"user\"}\n", Refusal::NotSqlite),
    ];
    for (bytes, why) in junk {
        let (folder, path) = fresh();
        fs::write(&path, bytes).unwrap();
        refuses_untouched(&folder, &path, why);
    }
    for mode in ["DELETE", "WAL"] {
        let (folder, path) = fresh();
        let foreign = Connection::open(&path).unwrap();
        foreign.pragma_update(None, "journal_mode", mode).unwrap();
        foreign.execute_batch("CREATE TABLE places (url TEXT)").unwrap();
        drop(foreign);
        refuses_untouched(&folder, &path, Refusal::Foreign);
    }
    let (folder, _) = fresh();
    assert_eq!(refusal(folder.path()), Refusal::NotAFile);
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_refused_and_left_alone() {
    let (folder, path) = fresh();
    std::os::unix::fs::symlink(folder.path().join("nowhere.db"), &path).unwrap();
    let Err(StoreError::Refused { why, .. }) = Store::open(&path) else { panic!("it was opened") };
    assert_eq!(why, Refusal::BrokenLink);
    assert!(path.is_symlink() && !path.exists());
}

#[test]
fn a_newer_store_is_refused_and_left_alone() {
    let (folder, path) = filled();
    let raw = Connection::open(&path).unwrap();
    raw.pragma_update(None, "user_version", 7).unwrap();
    drop(raw);
    refuses_untouched(&folder, &path, Refusal::Newer { found: 7, known: 1 });
    let text = Store::open(&path).unwrap_err().to_string();
    assert!(text.contains("state.db: written by a newer curtail (version 7;") && text.contains("upgrade"), "{text}");
}

#[test]
fn a_store_cut_off_anywhere_is_refused_and_left_alone() {
    let (_whole, path) = filled();
    let bytes = fs::read(&path).unwrap();
    for keep in [1, 15, 50, 99, 100, 4096, 5000, bytes.len() / 2, bytes.len() - 1] {
        let (folder, path) = fresh();
        fs::write(&path, &bytes[..keep]).unwrap();
        let why = refusal(&path);
        assert!(matches!(why, Refusal::Truncated | Refusal::Damaged | Refusal::NotSqlite), "{keep}: {why:?}");
        refuses_untouched(&folder, &path, why);
    }
}

#[test]
fn a_read_only_store_may_be_read() {
    let (folder, path) = filled();
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    refuses_untouched(&folder, &path, Refusal::ReadOnly);
    let mut store = Store::open_existing(&path).unwrap().unwrap();
    assert_eq!(store.read_body(key("a")).unwrap().as_deref(), Some("{\"n\":1}"));
    let written: Result<(), StoreError> = store.update(key("a"), |record| record.write("{}"));
    assert!(matches!(written, Err(StoreError::Refused { why: Refusal::ReadOnly, .. })), "{written:?}");
}

#[test]
fn a_store_has_the_version_of_this_program() {
    let (_folder, path) = fresh();
    write(&mut Store::open(&path).unwrap(), "a", "{}");
    let raw = Connection::open(&path).unwrap();
    let version: i32 = raw.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 1);
}

#[test]
fn names_that_sqlite_would_read_as_more_are_names() {
    let folder = tempfile::tempdir().unwrap();
    for name in [":memory:", "file:x?mode=memory", "a b%20c"] {
        let path = folder.path().join("new folder").join(name);
        write(&mut Store::open(&path).unwrap(), "a", "{}");
        assert!(path.is_file(), "{name}");
    }
}

/// Damage anywhere gives an answer or an error, never a panic.
#[test]
fn damage_anywhere_is_answered() {
    let (_folder, path) = filled();
    let bytes = fs::read(&path).unwrap();
    for round in 0..400_usize {
        let mut damaged = bytes.clone();
        for step in 0..=round % 4 {
            let at = (round * 7_919 + step * 104_729) % damaged.len();
            // Half of the hits go where the header and the tables' descriptions are.
            let at = if round % 2 == 0 { at % 512 } else { at };
            damaged[at] ^= u8::try_from(round % 255).unwrap() + 1;
        }
        let (_folder, path) = fresh();
        fs::write(&path, &damaged).unwrap();
        let Ok(mut store) = Store::open(&path) else {
            continue;
        };
        let _ = (store.read_body(key("a")), store.list(Filter::default()), store.set_aside(key("a")));
        let _ = store.export(&mut Vec::new());
        let _: Result<(), StoreError> = store.update(key("b"), |record| record.write("{}"));
    }
}

// Export and import of a store as lines of JSON, and what is refused.

/// A store with a plain entry, and one with marks, a body set aside and a body that no number type holds.
fn with_every_kind() -> (TempDir, Store) {
    let (folder, path) = fresh();
    let mut store = Store::open(&path).unwrap();
    write(&mut store, "a", "{\"n\":1}");
    let busy = |record: &mut Record<'_>| -> Result<(), StoreError> {
        record.add_applied_id("call_2")?;
        record.write("not even JSON \u{1}")?;
        record.set_aside("not JSON")?;
        record.write("{\"big\":123456789012345678901234567890}")
    };
    store.update(key("line\nbreak"), busy).unwrap();
    (folder, store)
}

fn fault(store: &mut Store, text: &str) -> String {
    let taken = Export::read(&mut text.as_bytes()).and_then(|export| store.import(&export, Clash::Refuse));
    taken.unwrap_err().to_string()
}

fn export_in(text: &str) -> Export {
    Export::read(&mut text.as_bytes()).unwrap()
}

fn exported(store: &Store) -> String {
    let mut out = Vec::new();
    store.export(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn an_import_is_taken_in_whole_or_not_at_all() {
    let (_one, store) = with_every_kind();
    let text = exported(&store);
    let (_other, path) = fresh();
    let mut copy = Store::open(&path).unwrap();
    let whole = "\"shelf\":\"memory\",\"scope\":\"thread\",\"id\":\"line";
    let broken = text.replacen(whole, "\"id\":\"line", 1);
    assert!(broken != text && fault(&mut copy, &broken).contains("line 3"));
    assert!(copy.list(Filter::default()).unwrap().is_empty(), "half an import");
    let marked = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    assert_eq!(copy.import(&export_in(&marked), Clash::Refuse).unwrap(), 2);
    assert_eq!(exported(&copy), text);
}

#[test]
fn a_clash_is_settled_as_the_caller_says() {
    let (_one, mut store) = with_every_kind();
    let text = exported(&store);
    let error = fault(&mut store, &text);
    assert!(error.contains("line 2") && error.contains("\"a\""), "{error}");
    write(&mut store, "a", "{\"n\":9}");
    assert_eq!(store.import(&export_in(&text), Clash::Keep).unwrap(), 0);
    assert_eq!(store.read_body(key("a")).unwrap().as_deref(), Some("{\"n\":9}"));
    assert_eq!(store.import(&export_in(&text), Clash::Replace).unwrap(), 2);
    assert_eq!(exported(&store), text);
}

#[test]
fn an_import_says_what_is_wrong_with_it() {
    let shelf = "{\"curtail-store\":1}\n{\"shelf\":\"x\",\"scope\":\"thread\",\"id\":\"a\",\
                 \"updated\":0,\"body\":null,\"marks\":[],\"aside\":[]}\n";
    let cases = [
        ("", "first line of an export"),
        ("{\"curtail-store\":99}\n", "newer"),
        ("{\"curtail-store\":-7}\n", "no version of an export: -7"),
        ("{\"role\":\"user\"}\n", "not an export of a store; name a file that `curtail store export` wrote"),
        (shelf, "unknown shelf or scope: x"),
        (&shelf.replace('x', "memory").replace(":0", ":9223372036854775807"), "`updated` is not a time"),
    ];
    for (text, expected) in cases {
        // It is said before there is a store.
        let Err(error) = Export::read(&mut text.as_bytes()) else { panic!("{text:?} is read") };
        assert!(error.to_string().contains(expected), "{text:?}: {error}");
    }
}

proptest! {
    #![proptest_config(crate::properties::property(24))]

    /// A store is a map from shelf, scope and id to text, whatever the text.
    #[test]
    fn a_store_is_a_map(steps in prop::collection::vec((0..2usize, 0..2usize, "[ab\\PC]{0,2}", prop::option::of(".{0,9}")), 1..12)) {
        let (_folder, path) = fresh();
        let mut model = std::collections::BTreeMap::new();
        let mut store = Store::open(&path).unwrap();
        for (shelf, scope, id, body) in &steps {
            let key = RecordKey { shelf: Shelf::ALL[*shelf], scope: Scope::ALL[*scope], id };
            match body {
                Some(body) => store.update(key, |record| record.write(body)).unwrap(),
                None => { store.remove(key).unwrap(); }
            }
            model.insert(key, body.clone());
        }
        for (key, body) in &model {
            prop_assert_eq!(&store.read_body(*key).unwrap(), body);
        }
        let text = exported(&store);
        let (_other, path) = fresh();
        let mut copy = Store::open(&path).unwrap();
        copy.import(&export_in(&text), Clash::Refuse).unwrap();
        prop_assert_eq!(exported(&copy), text);
    }
}

/// A store that an earlier program wrote opens as it is, keeps everything, and can be continued.
#[test]
fn a_store_of_every_earlier_version_is_read_and_continued() {
    let folder = crate::program::root().join("fixtures/store");
    for entry in std::fs::read_dir(folder).unwrap() {
        let old = entry.unwrap().path();
        let (_folder, path) = fresh();
        std::fs::copy(&old, &path).unwrap();
        let mut store = Store::open(&path).unwrap();
        let text = exported(&store);
        assert_eq!(text.lines().count(), 4, "{}: {text}", old.display());
        let goal = store.read_body(key("order-7")).unwrap().unwrap();
        assert_eq!(goal, r#"{"goal":"ship v2","due":{"day":"Friday","hour":17},"steps":["build","test"]}"#);
        let applied = store.update(key("order-7"), |record| record.applied_ids()).unwrap();
        assert!(applied.contains("call_1 1 e6c4774818f97f1010978665d9a12b90"), "an applied call is applied again");
        write(&mut store, "order-7", "{\"goal\":\"ship v3\"}");
        let (_other, copy) = fresh();
        let mut copy = Store::open(&copy).unwrap();
        copy.import(&export_in(&text), Clash::Refuse).unwrap();
        assert_eq!(exported(&copy), text, "{}", old.display());
    }
}
