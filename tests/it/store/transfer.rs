//! Export and import of a store as lines of JSON, and what is refused.

use curtail_memory::store::{Clash, Filter, Record, RecordKey, Scope, Shelf, Store, StoreError};
use proptest::prelude::*;
use tempfile::TempDir;

use super::{fresh, key, write};

/// A store with a plain entry, and one with marks, a body set aside and a body that no number type holds.
fn filled() -> (TempDir, Store) {
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
    let taken = store.import(&mut text.as_bytes(), Clash::Refuse);
    taken.unwrap_err().to_string()
}

fn exported(store: &Store) -> String {
    let mut out = Vec::new();
    store.export(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn an_import_is_taken_in_whole_or_not_at_all() {
    let (_one, store) = filled();
    let text = exported(&store);
    let (_other, path) = fresh();
    let mut copy = Store::open(&path).unwrap();
    let whole = "\"shelf\":\"memory\",\"scope\":\"thread\",\"id\":\"line";
    let broken = text.replacen(whole, "\"id\":\"line", 1);
    assert!(broken != text && fault(&mut copy, &broken).contains("line 3"));
    assert!(copy.list(Filter::default()).unwrap().is_empty(), "half an import");
    assert_eq!(copy.import(&mut text.as_bytes(), Clash::Refuse).unwrap(), 2);
    assert_eq!(exported(&copy), text);
}

#[test]
fn a_clash_is_settled_as_the_caller_says() {
    let (_one, mut store) = filled();
    let text = exported(&store);
    let error = fault(&mut store, &text);
    assert!(error.contains("line 2") && error.contains("\"a\""), "{error}");
    write(&mut store, "a", "{\"n\":9}");
    assert_eq!(store.import(&mut text.as_bytes(), Clash::Keep).unwrap(), 0);
    assert_eq!(store.read_body(key("a")).unwrap().as_deref(), Some("{\"n\":9}"));
    assert_eq!(store.import(&mut text.as_bytes(), Clash::Replace).unwrap(), 2);
    assert_eq!(exported(&store), text);
}

#[test]
fn an_import_says_what_is_wrong_with_it() {
    let (_folder, path) = fresh();
    let mut store = Store::open(&path).unwrap();
    let shelf = "{\"curtail-store\":1}\n{\"shelf\":\"x\",\"scope\":\"thread\",\"id\":\"a\",\
                 \"updated\":0,\"body\":null,\"marks\":[],\"aside\":[]}\n";
    let cases = [
        ("", "first line of an export"),
        ("{\"curtail-store\":99}\n", "newer"),
        ("{\"role\":\"user\"}\n", "not an export of a store; name a file that `curtail store export` wrote"),
        (shelf, "unknown shelf or scope: x"),
    ];
    for (text, expected) in cases {
        let error = fault(&mut store, text);
        assert!(error.contains(expected), "{text:?}: {error}");
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
        copy.import(&mut text.as_bytes(), Clash::Refuse).unwrap();
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
        let again =
            store.update(key("order-7"), |record| record.add_applied_id("call_1 1 e6c4774818f97f1010978665d9a12b90"));
        assert!(!again.unwrap(), "an applied call is applied again");
        write(&mut store, "order-7", "{\"goal\":\"ship v3\"}");
        let (_other, copy) = fresh();
        let mut copy = Store::open(&copy).unwrap();
        copy.import(&mut text.as_bytes(), Clash::Refuse).unwrap();
        assert_eq!(exported(&copy), text, "{}", old.display());
    }
}
