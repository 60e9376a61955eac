//! Many processes at once, and processes killed at any point.

use std::io::Read as _;
use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::Value;

use super::Place;

fn state(place: &Place) -> Value {
    let shown = place.out(&["memory", "show", "--thread", "t", "--output-format", "json"]);
    serde_json::from_str(&shown).unwrap()
}

#[test]
fn eight_processes_on_one_thread_lose_no_update() {
    let place = Place::new();
    thread::scope(|scope| {
        for writer in 0..8 {
            let place = &place;
            scope.spawn(move || {
                for step in 0..6 {
                    let update = format!("{{\"w{writer}\":{{\"s{step}\":{step}}}}}");
                    place.out(&["memory", "update", "--thread", "t", &update]);
                }
            });
        }
    });
    let state = state(&place);
    for writer in 0..8 {
        let steps = state[format!("w{writer}")].as_object().unwrap();
        assert_eq!(steps.len(), 6, "{state}");
    }
}

#[test]
fn the_last_acknowledged_update_survives_every_kill() {
    let rounds: u64 = env::var("CURTAIL_KILL_ROUNDS").map_or(50, |rounds| rounds.parse().unwrap());
    let place = Place::new();
    // Some pages, so that a change takes a while.
    let ballast = place.file("ballast.txt", &"x".repeat(300_000));
    let ballast = fs::read_to_string(ballast).unwrap();
    let (mut kept, mut acknowledged, mut killed) = (0, 0, 0);
    // Kills fall between the start and a quarter past what a whole run takes here and now.
    let begun = Instant::now();
    place.out(&["memory", "update", "--thread", "other", &format!("{{\"ballast\":\"{}\"}}", &ballast[..90_000])]);
    let whole = u64::try_from(begun.elapsed().as_micros()).unwrap();
    for round in 1..=rounds {
        let update = format!("{{\"round\":{round},\"ballast\":\"{round}{}\"}}", &ballast[..90_000]);
        let mut child =
            place.command(&["memory", "update", "--thread", "t", &update]).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        let mut printed = String::new();
        // Every fifth is killed once it has printed everything, however slow it is.
        if round % 5 == 0 {
            out.read_to_string(&mut printed).unwrap();
        } else {
            thread::sleep(Duration::from_micros(whole * (round * 37 % 125) / 100));
        }
        child.kill().unwrap();
        out.read_to_string(&mut printed).unwrap();
        killed += u32::from(!child.wait().unwrap().success());
        acknowledged += u32::from(!printed.is_empty());
        let found = if place.has_store() { state(&place)["round"].as_u64().unwrap_or(0) } else { 0 };
        // A change is there whole or not at all; where it was acknowledged, it is there.
        assert!(found == round || (found == kept && printed.is_empty()), "round {round}: {found} after {kept}");
        kept = found;
    }
    assert!(acknowledged > 0, "{killed} killed, {acknowledged} acknowledged of {rounds}");
}
