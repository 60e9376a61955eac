//! Several processes on one file, and processes killed at any point. Every process is a real one: this
//! program starts itself again with one test, the worker.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, thread};

use curtail_memory::store::{RecordKey, Scope, Shelf, Store, StoreError};

const COUNTER: RecordKey<'static> = RecordKey { shelf: Shelf::Memory, scope: Scope::Thread, id: "counter" };

/// Adds one to the counter, `CURTAIL_TEST_TIMES` times, and says so after each.
#[test]
#[ignore = "a process of the tests below, not a test"]
fn worker() {
    let path = PathBuf::from(env::var_os("CURTAIL_TEST_STORE").expect("started by another test"));
    let times: u32 = env::var("CURTAIL_TEST_TIMES").unwrap().parse().unwrap();
    let mut store = Store::open(&path).unwrap();
    for _ in 0..times {
        let count = add_one(&mut store);
        let mut out = std::io::stdout().lock();
        writeln!(out, "ack {count}").unwrap();
        out.flush().unwrap();
    }
}

/// Changes the file in the middle of a transaction, says so, and waits for the kill.
#[test]
#[ignore = "a process of the tests below, not a test"]
fn worker_that_never_commits() {
    let path = env::var_os("CURTAIL_TEST_STORE").expect("started by another test");
    let raw = rusqlite::Connection::open(path).unwrap();
    // With a cache of one page, pages go to the file before the commit.
    let sql = "PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE entry SET body = body || body;";
    raw.execute_batch(sql).unwrap();
    println!("ack 0");
    thread::sleep(Duration::from_mins(1));
}

fn add_one(store: &mut Store) -> u32 {
    let change = |record: &mut curtail_memory::store::Record<'_>| -> Result<u32, StoreError> {
        let count = record.body().map_or(0, |body| body.parse().unwrap()) + 1;
        record.add_applied_id(&format!("call_{count}"))?;
        // A body of some pages, so that a change is more than one page long.
        record.write(&format!("{count:0>20000}"))?;
        Ok(count)
    };
    store.update(COUNTER, change).unwrap()
}

fn start(path: &Path, times: u32) -> Child {
    start_worker("worker", path, times)
}

fn start_worker(name: &str, path: &Path, times: u32) -> Child {
    // The harness names a test by its module, without the name of the program.
    let (_, module) = module_path!().split_once("::").unwrap();
    Command::new(env::current_exe().unwrap())
        .args(["--exact", &format!("{module}::{name}"), "--ignored", "--nocapture"])
        .env("CURTAIL_TEST_STORE", path)
        .env("CURTAIL_TEST_TIMES", times.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// The number in the file, after `SQLite` has looked over every page.
fn count(path: &Path) -> u32 {
    let Some(store) = Store::open_existing(path).unwrap() else {
        return 0;
    };
    let body = store.read_body(COUNTER).unwrap();
    drop(store);
    let raw = rusqlite::Connection::open(path).unwrap();
    let sql = "SELECT (SELECT integrity_check FROM pragma_integrity_check), (SELECT count(*) FROM mark)";
    let (verdict, marks): (String, u32) = raw.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let count = body.map_or(0, |body| body.parse().unwrap());
    assert_eq!((verdict.as_str(), marks), ("ok", count));
    count
}

#[test]
fn eight_processes_lose_no_update() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    // No store yet: the eight make it together as well.
    let children: Vec<Child> = (0..8).map(|_| start(&path, 25)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(count(&path), 8 * 25);
}

/// Several processes in a row may take the lock before one that waits for it.
#[test]
fn a_store_is_opened_and_read_however_long_others_change_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    add_one(&mut Store::open(&path).unwrap());
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let change = thread::spawn(move || {
        // Longer than SQLite is told to wait by default.
        thread::sleep(Duration::from_secs(7));
        other.execute_batch("COMMIT").unwrap();
    });
    assert_eq!(count(&path), 1);
    change.join().unwrap();
}

/// The worker's last word before it was killed: `wait` after its first word if `has_begun`, else `wait` after its start.
fn killed(path: &Path, has_begun: bool, wait: Duration) -> Option<u32> {
    let mut child = start(path, 100_000);
    let out = BufReader::new(child.stdout.take().unwrap());
    let (sender, receiver) = mpsc::channel();
    let reader = thread::spawn(move || {
        let lines = out.lines().map_while(Result::ok);
        for count in lines.filter_map(|line| line.strip_prefix("ack ")?.parse::<u32>().ok()) {
            sender.send(count).unwrap();
        }
    });
    let first = has_begun.then(|| receiver.recv().expect("the worker writes before it ends"));
    thread::sleep(wait);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
    receiver.try_iter().last().or(first)
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let rounds = env::var("CURTAIL_KILL_ROUNDS").map_or(20, |rounds| rounds.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let mut found_before = 0;
    for round in 0..rounds {
        // Every second worker is killed in the middle of its writing, the others from before the file is there, in uneven steps.
        let wait = Duration::from_micros(1_000 + u64::from(round) * 7_919 % 60_000);
        let acknowledged = killed(&path, round % 2 == 1, wait);
        let found = count(&path);
        let least = acknowledged.unwrap_or(found_before);
        // One more may have been committed, with the process killed before it could say so.
        assert!(found == least || found == least + 1, "round {round}: said {least}, found {found}");
        found_before = found;
    }
    assert!(found_before >= rounds / 2, "every second round has written");
}

#[test]
fn half_a_change_is_rolled_back_by_whoever_looks_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    add_one(&mut Store::open(&path).unwrap());
    let before = std::fs::read(&path).unwrap();
    let mut child = start_worker("worker_that_never_commits", &path, 0);
    let out = BufReader::new(child.stdout.take().unwrap());
    let mut lines = out.lines().map_while(Result::ok);
    assert!(lines.any(|line| line.ends_with("ack 0")));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_ne!(std::fs::read(&path).unwrap(), before, "nothing was half done");
    assert!(folder.path().join("state.db-journal").exists());
    assert_eq!(count(&path), 1);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
