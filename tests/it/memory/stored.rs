//! The scratchpad that outlives a run: scopes, replays, corrupt states, children.

use curtail_memory::memory::{
    MemoryError, NoId, Outcome, Owner, Replayed, Rules, Spawned, State, Unusable, Update, amend, clear, load, replay,
    set, spawn,
};
use curtail_memory::store::{Filter, Scope, Store};
use tempfile::TempDir;

fn fresh() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("state.db")).unwrap();
    (folder, store)
}

fn thread(id: &str) -> Owner<'_> {
    Owner { thread: Some(id), ..Owner::default() }
}

fn resource<'a>(id: &'a str, thread: Option<&'a str>) -> Owner<'a> {
    Owner { scope: Scope::Resource, resource: Some(id), thread }
}

fn run(store: &mut Store, owner: Owner<'_>, updates: &[(&str, &str)]) -> Replayed {
    let updates: Vec<_> = updates.iter().map(|(call_id, arguments)| Update { call_id, arguments }).collect();
    replay(store, owner, Rules::default(), &updates).unwrap()
}

fn json(store: &Store, owner: Owner<'_>) -> String {
    load(store, owner, Rules::default()).unwrap().state.to_json()
}

#[test]
fn a_replay_changes_nothing_and_what_is_new_is_taken() {
    let (_folder, mut store) = fresh();
    let updates = [("a", "{\"n\":1}"), ("b", "oops"), ("c", "{\"m\":2}")];
    let first = run(&mut store, thread("t"), &updates);
    assert_eq!(first.state.to_json(), "{\"n\":1,\"m\":2}");
    set(&mut store, thread("t"), Rules::default(), &State::given("{\"n\":7}")).unwrap();
    let again = run(&mut store, thread("t"), &updates);
    assert_eq!(again.outcomes[0], Outcome::AlreadyKnown);
    assert!(matches!(again.outcomes[1], Outcome::Malformed(_)));
    assert_eq!(json(&store, thread("t")), "{\"n\":7}");
    let more = run(&mut store, thread("t"), &[updates[0], updates[2], ("d", "{\"n\":8}")]);
    assert_eq!(more.outcomes, [Outcome::AlreadyKnown, Outcome::AlreadyKnown, Outcome::Applied]);
    assert_eq!(json(&store, thread("t")), "{\"n\":8}");
    clear(&mut store, thread("t")).unwrap();
    assert_eq!(run(&mut store, thread("t"), &updates[..1]).outcomes, [Outcome::AlreadyKnown]);
    assert_eq!(json(&store, thread("t")), "\"\"");
}

#[test]
fn scopes_and_ids_do_not_meet() {
    let (_folder, mut store) = fresh();
    let owners = [thread("x"), thread("y"), thread(""), resource("x", None), resource("x\ny", None)];
    for (number, owner) in owners.iter().enumerate() {
        run(&mut store, *owner, &[("a", &format!("{{\"n\":{number}}}"))]);
    }
    for (number, owner) in owners.iter().enumerate() {
        assert_eq!(json(&store, *owner), format!("{{\"n\":{number}}}"));
    }
    let nobody = Owner { thread: Some("x"), scope: Scope::Resource, resource: None };
    let error = load(&store, nobody, Rules::default()).unwrap_err();
    assert!(matches!(error, MemoryError::NoId(NoId(Scope::Resource))), "{error}");
}

#[test]
fn threads_of_one_resource_may_have_the_same_call_ids() {
    let (_folder, mut store) = fresh();
    for thread in ["t1", "t2"] {
        let owner = resource("r", Some(thread));
        assert_eq!(run(&mut store, owner, &[("call_0", "{\"a\":1}")]).outcomes, [Outcome::Applied]);
        assert_eq!(run(&mut store, owner, &[("call_0", "{\"a\":1}")]).outcomes, [Outcome::AlreadyKnown]);
    }
}

#[test]
fn a_child_gets_a_copy_of_resource_state_and_none_of_thread_state() {
    let (_folder, mut store) = fresh();
    assert_eq!(spawn(&mut store, resource("r", None), "c", false).unwrap(), Spawned::Nothing);
    run(&mut store, thread("p"), &[("a", "{\"mine\":1}")]);
    run(&mut store, resource("r", None), &[("a", "{\"ours\":1}")]);
    assert_eq!(spawn(&mut store, thread("p"), "c", false).unwrap(), Spawned::NotInherited);
    assert_eq!(json(&store, thread("c")), "\"\"");
    let copied = spawn(&mut store, resource("r", Some("p")), "c", false).unwrap();
    assert_eq!(copied, Spawned::Copied(State::given("{\"ours\":1}")));
    run(&mut store, thread("c"), &[("a", "{\"ours\":2}")]);
    assert_eq!(json(&store, resource("r", None)), "{\"ours\":1}", "the copy was none");
    let taken = spawn(&mut store, resource("r", None), "c", false).unwrap_err();
    assert!(matches!(taken, MemoryError::Taken(_)));
    assert_eq!(json(&store, thread("c")), "{\"ours\":2}");
    spawn(&mut store, resource("r", None), "c", true).unwrap();
    assert_eq!(json(&store, thread("c")), "{\"ours\":1}");
}

#[test]
fn read_only_writes_nothing_at_all() {
    let (_folder, mut store) = fresh();
    let rules = Rules { read_only: true, ..Rules::default() };
    let update = Update { call_id: "a", arguments: "{\"n\":1}" };
    let found = replay(&mut store, thread("t"), rules, &[update]).unwrap();
    assert_eq!((found.state, found.outcomes), (State::Text(String::new()), vec![Outcome::Ignored]));
    let refused = set(&mut store, thread("t"), rules, &State::given("x")).unwrap_err();
    assert!(matches!(refused, MemoryError::ReadOnly));
    assert!(store.list(Filter::default()).unwrap().is_empty());
}

#[test]
fn a_template_stands_where_nothing_was_kept() {
    let (_folder, mut store) = fresh();
    let template = State::given("# Name:\n# Goal:\n");
    let rules = Rules { template: Some(&template), ..Rules::default() };
    assert_eq!(load(&store, thread("t"), rules).unwrap().state, template);
    let update = Update { call_id: "a", arguments: "{\"goal\":\"ship\"}" };
    let found = replay(&mut store, thread("t"), rules, &[update]).unwrap();
    assert_eq!(found.state.to_json(), "{\"_previous\":\"# Name:\\n# Goal:\\n\",\"goal\":\"ship\"}");
    assert_eq!(load(&store, thread("t"), rules).unwrap().state, found.state);
}

#[test]
fn a_body_that_is_no_state_is_set_aside_and_kept() {
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    for body in ["{\"cut", "[1]", "7", deep.as_str()] {
        let (_folder, mut store) = fresh();
        let key = thread("t").key().unwrap();
        store.update(key, |record| record.write(body)).unwrap();
        let found = load(&store, thread("t"), Rules::default()).unwrap();
        assert!(matches!(found.unusable, Some(Unusable::Left(_))) && found.state == State::empty_object());
        assert_eq!(store.read_body(key).unwrap().as_deref(), Some(body), "looking changed it");
        let read_only = Rules { read_only: true, ..Rules::default() };
        let found = replay(&mut store, thread("t"), read_only, &[]).unwrap();
        assert!(matches!(found.unusable, Some(Unusable::Left(_))) && store.set_aside(key).unwrap().is_empty());
        let found = run(&mut store, thread("t"), &[("a", "{\"n\":1}")]);
        assert_eq!(found.state.to_json(), "{\"n\":1}");
        let aside = store.set_aside(key).unwrap();
        assert_eq!((aside.len(), aside[0].body.as_str()), (1, body));
        assert_eq!(found.unusable, Some(Unusable::SetAside(aside[0].reason.clone())));
        assert_eq!(run(&mut store, thread("t"), &[]).unusable, None);
    }
}

#[test]
fn a_state_that_fails_its_schema_is_set_aside_by_what_is_applied_and_refusals_stay_refused() {
    let schema =
        curtail_memory::memory::Schema::parse(r#"{"properties":{"n":{"type":"number"}},"required":["n"]}"#).unwrap();
    let rules = Rules { schema: Some(&schema), ..Rules::default() };
    let (_folder, mut store) = fresh();
    run(&mut store, thread("t"), &[("a", "{\"n\":\"old\"}")]);
    let early = Update { call_id: "b", arguments: "{\"m\":1}" };
    let found = replay(&mut store, thread("t"), rules, &[early]).unwrap();
    let reason = "/n: \"old\" is not of type \"number\"";
    assert_eq!(found.unusable, Some(Unusable::Left(reason.into())));
    assert_eq!(found.outcomes, [Outcome::Refused("\"n\" is a required property".into())]);
    assert_eq!(found.state, State::empty_object());
    assert_eq!(json(&store, thread("t")), "{\"n\":\"old\"}");
    let good = Update { call_id: "c", arguments: "{\"n\":1}" };
    // Now that `n` is there, the early one would pass; but it was decided on.
    let found = replay(&mut store, thread("t"), rules, &[early, good]).unwrap();
    assert_eq!(found.unusable, Some(Unusable::SetAside(reason.into())));
    let found = replay(&mut store, thread("t"), rules, &[early, good]).unwrap();
    assert_eq!(found.outcomes, [Outcome::AlreadyKnown, Outcome::AlreadyKnown]);
    assert_eq!(found.state.to_json(), "{\"n\":1}");
    let refused = set(&mut store, thread("t"), rules, &State::given("text")).unwrap_err();
    assert!(matches!(refused, MemoryError::Refused(_)));
}

#[test]
fn an_update_by_hand_counts_however_often_it_comes() {
    let (_folder, mut store) = fresh();
    for (arguments, expected) in [("{\"n\":1}", 1), ("{\"n\":2}", 2), ("{\"n\":1}", 1)] {
        let found = amend(&mut store, thread("t"), Rules::default(), arguments).unwrap();
        assert_eq!(found.outcomes, [Outcome::Applied]);
        assert_eq!(json(&store, thread("t")), format!("{{\"n\":{expected}}}"));
    }
    assert_eq!(store.list(Filter::default()).unwrap()[0].applied_ids, 0);
    let read_only = Rules { read_only: true, ..Rules::default() };
    let found = amend(&mut store, thread("t"), read_only, "{\"n\":3}").unwrap();
    assert_eq!((found.outcomes, found.state), (vec![Outcome::Ignored], State::given("{\"n\":1}")));
}
