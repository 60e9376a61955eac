//! A thread that is fed piece by piece writes what one run over the whole log writes, and notices a history that changed.

use std::fs;

use crate::program::{Place, text};

/// The output of a run that must succeed.
fn good(place: &Place, arguments: &[&str]) -> String {
    let done =
        place.curtail(&[&["summarize", "-n", "2", "--summary-tokens", "60"], arguments].concat()).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", text(&done.stderr));
    text(&done.stdout)
}

const THREAD: [&str; 4] = ["--store", "s.db", "--thread", "t"];

/// Logs with headers, state lines and other metadata, in dialects whose lines can be read by themselves.
const LOGS: &[(&str, &str)] = &[
    ("claude-code", "compaction.jsonl"),
    ("claude-code", "minimal.jsonl"),
    ("codex", "compacted-text.jsonl"),
    ("codex", "minimal.jsonl"),
    ("codex", "compacted.jsonl"),
    ("copilot", "in-flight.jsonl"),
    ("cursor", "minimal.jsonl"),
    ("droid", "in-flight.jsonl"),
    ("grok", "parallel.jsonl"),
    ("kimi", "in-flight.jsonl"),
    ("langchain", "events.jsonl"),
    ("pi", "minimal.jsonl"),
    ("qwen", "minimal.jsonl"),
];

/// Packed, as UTF-16 and in a folder, a log is the same log, as for every other command.
#[test]
fn a_thread_reads_what_others_read() {
    let place = Place::new();
    let line = |n: usize| format!("{{\"role\":\"{}\",\"content\":\"line {n}\"}}\n", ["user", "assistant"][n % 2]);
    let log: String = (0..6).map(line).collect();
    place.write("log.jsonl", log.as_bytes());
    place.write("log.jsonl.gz", &crate::program::gzip(&log));
    place.write("wide.jsonl", &format!("\u{feff}{log}").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    place.write("folder/log.jsonl", log.as_bytes());
    let memory = |file: &str| good(&place, &["--store", "s.db", "--thread", file, file]);
    let expected = memory("log.jsonl");
    for file in ["log.jsonl.gz", "wide.jsonl", "folder"] {
        assert_eq!(memory(file), expected, "{file}");
    }
    let follow = place.curtail(&["summarize", "--follow", "log.jsonl.gz"]).output().unwrap();
    assert!(text(&follow.stderr).contains("this one is compressed"), "{}", text(&follow.stderr));
}

/// A request that was saved, or a row of a dataset: its messages are in one object.
#[test]
fn a_record_is_summarized_as_its_messages_are() {
    let place = Place::new();
    let message = |n: usize| format!("{{\"role\":\"{}\",\"content\":\"line {n}\"}}", ["user", "assistant"][n % 2]);
    let messages: Vec<String> = (0..12).map(message).collect();
    place.write("list.json", format!("[{}]\n", messages.join(",")).as_bytes());
    place.write("record.jsonl", format!("{{\"messages\":[{}]}}\n", messages.join(",")).as_bytes());
    place.write("request.json", format!("{{\n\"model\":\"m\",\n\"messages\":[{}]}}\n", messages.join(",")).as_bytes());
    let summaries = |file: &str| {
        let state = good(&place, &["--emit", "state", "--store", "s.db", "--thread", file, file]);
        let state: serde_json::Value = serde_json::from_str(&state).unwrap();
        state["summaries"].as_array().unwrap().iter().map(|summary| summary["text"].clone()).collect::<Vec<_>>()
    };
    let expected = summaries("list.json");
    assert!(!expected.is_empty());
    for file in ["record.jsonl", "request.json"] {
        assert_eq!(summaries(file), expected, "{file}");
        // Another record is another transcript.
        place.write("other.jsonl", b"{\"messages\":[{\"role\":\"user\",\"content\":\"new\"}]}\n");
        let other = place.curtail(&["summarize", "--store", "s.db", "--thread", file, "other.jsonl"]).output().unwrap();
        assert_eq!(other.status.code(), Some(2), "{}", text(&other.stdout));
        assert!(text(&other.stderr).contains("2 transcripts"), "{}", text(&other.stderr));
        assert_eq!(summaries(file), expected, "{file}");
    }
}

#[test]
fn a_log_in_pieces_is_the_log_in_one_go() {
    for (dialect, name) in LOGS {
        let path = format!("{}/fixtures/dialects/{dialect}/{name}", env!("CARGO_MANIFEST_DIR"));
        let log = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = log.split_inclusive('\n').collect();
        let place = Place::new();
        let whole = good(&place, &["--framing", "lines", "--dialect", dialect, &path]);
        for pieces in [1, 2, 3, lines.len()] {
            let id = format!("{pieces}");
            let mut last = String::new();
            for piece in lines.chunks(lines.len().div_ceil(pieces)) {
                place.write("piece.jsonl", piece.concat().as_bytes());
                let thread = ["--store", "s.db", "--thread", &id, "--framing", "lines", "--dialect", dialect];
                last = good(&place, &[&thread[..], &["piece.jsonl"]].concat());
            }
            assert_eq!(last, whole, "{dialect}/{name} in {pieces} pieces");
        }
    }
}

/// A session whose state lines change, and whose messages have ids.
fn session(rounds: usize) -> Vec<String> {
    let mut lines = vec![r#"{"type":"summary","summary":"trains","leafUuid":"u1"}"#.to_owned()];
    let line = |kind: &str, id: &str, parent: &str, body: &str| {
        format!(
            r#"{{"parentUuid":{parent},"sessionId":"s","type":"{kind}","uuid":"{id}","message":{body},"timestamp":"2026-01-01T00:00:00Z"}}"#
        )
    };
    let mut parent = String::from("null");
    for round in 1..=rounds {
        let (user, reply) = (format!("u{round}"), format!("a{round}"));
        lines.push(format!(r#"{{"type":"mode","mode":"mode {}","sessionId":"s"}}"#, round / 3));
        lines.push(line("user", &user, &parent, &format!(r#"{{"role":"user","content":"question {round}"}}"#)));
        let message =
            format!(r#"{{"id":"m{round}","role":"assistant","content":[{{"type":"text","text":"answer {round}"}}]}}"#);
        lines.push(line("assistant", &reply, &format!("\"{user}\""), &message));
        parent = format!("\"{reply}\"");
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

#[test]
fn a_session_that_grows_is_given_whole_each_time() {
    let (place, lines) = (Place::new(), session(9));
    for upto in [4, 10, 11, 17, 28] {
        place.write("log.jsonl", lines[..upto].concat().as_bytes());
        let grown = good(&place, &[&THREAD[..], &["log.jsonl"]].concat());
        assert_eq!(grown, good(&place, &["log.jsonl"]), "{upto} lines");
        assert_eq!(good(&place, &[&THREAD[..], &["log.jsonl"]].concat()), grown, "twice is once");
        assert_eq!(good(&place, &[&THREAD[..], &["--from", "1", "log.jsonl"]].concat()), grown, "by number");
    }
}

#[test]
fn a_changed_history_is_said_and_accepted_on_request() {
    let lines = session(6);
    let chat: Vec<String> = (1..=8)
        .map(|nth| {
            format!("{{\"role\":\"{}\",\"content\":\"line {nth}\"}}\n", if nth % 2 == 1 { "user" } else { "assistant" })
        })
        .collect();
    for (lines, from, changed) in
        [(&lines, &[][..], "question 2"), (&lines, &["--from", "1"], "answer 5"), (&chat, &["--from", "1"], "line 2")]
    {
        let place = Place::new();
        let append = |more: &[&str]| {
            let done = place.curtail(
                &[&["summarize", "-n", "2", "--summary-tokens", "60"], &THREAD[..], from, more, &["log.jsonl"]]
                    .concat(),
            );
            let done = { done }.output().unwrap();
            (done.status.code(), text(&done.stdout), text(&done.stderr))
        };
        place.write("log.jsonl", lines.concat().as_bytes());
        let (_, before, _) = append(&[]);
        place.write("log.jsonl", lines.concat().replace(changed, "something else").as_bytes());
        let (status, out, stderr) = append(&[]);
        assert_eq!((status, out.as_str()), (Some(2), ""), "{changed}: {stderr}");
        assert!(stderr.contains("is not the one that the thread took") && stderr.contains("--rewind"), "{stderr}");
        assert_eq!(good(&place, &THREAD), before, "the thread is as it was");
        let (status, rewound, stderr) = append(&["--rewind"]);
        assert_eq!(status, Some(0), "{stderr}");
        assert_eq!(rewound, good(&place, &["log.jsonl"]), "the thread starts over");
        // What the thread took before it started over is a change again.
        place.write("log.jsonl", lines.concat().as_bytes());
        assert_eq!(append(&[]).0, Some(2));
    }
}

/// Some logs write a reply as several messages with one id. A changed piece inside the history is a change, like any other; a
/// piece behind the end is new.
#[test]
fn a_changed_piece_of_a_reply_is_said() {
    let line = |uuid: &str, parent: &str, id: &str, block: &str| {
        format!(
            "{{\"type\":\"assistant\",\"uuid\":\"{uuid}\",\"parentUuid\":\"{parent}\",\"sessionId\":\"s\",\"message\":{{\"id\":\"{id}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"{block}\"}}]}}}}\n"
        )
    };
    let user = |uuid: &str, parent: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":\"Question {uuid}\"}}}}\n"
        )
    };
    let reply = [line("a1", "u1", "m1", "Piece one."), line("a2", "a1", "m1", "Piece two.")];
    let begin = user("u1", "null") + &reply.concat();
    let end = user("u2", "\"a2\"") + &line("a3", "u2", "m2", "Piece three.");
    let more = line("a4", "a3", "m2", "Piece four.");
    for (history, fits) in [
        (format!("{begin}{end}{more}"), true),
        (format!("{begin}{end}{more}").replace("Piece two", "Another piece"), false),
        (format!("{begin}{end}{more}").replace("Piece one", "Another piece"), false),
    ] {
        let place = Place::new();
        place.write("log.jsonl", format!("{begin}{end}").as_bytes());
        let append =
            || place.curtail(&[&["summarize", "-n", "9"], &THREAD[..], &["log.jsonl"]].concat()).output().unwrap();
        assert!(append().status.success());
        place.write("log.jsonl", history.as_bytes());
        let done = append();
        assert_eq!(done.status.success(), fits, "{history}{}", text(&done.stderr));
        assert!(fits || text(&done.stderr).contains("--rewind"), "{}", text(&done.stderr));
        assert!(!fits || text(&done.stdout) == history, "{}", text(&done.stdout));
    }
}

/// A snapshot that belongs to the message after it goes with that message, also when no message is left before it.
#[test]
fn metadata_ahead_of_a_message_goes_with_it() {
    let message = |n: usize| {
        let (kind, parent) =
            (["user", "assistant"][n % 2], n.checked_sub(1).map_or("null".into(), |n| format!("\"u{n}\"")));
        let line = format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"u{n}\",\"parentUuid\":{parent},\"sessionId\":\"s\",\"message\":{{\"role\":\"{kind}\",\"content\":[{{\"type\":\"text\",\"text\":\"Message {n}\"}}]}}}}\n"
        );
        let snapshot = format!(
            "{{\"type\":\"file-history-snapshot\",\"messageId\":\"u{n}\",\"snapshot\":{{\"messageId\":\"u{n}\"}}}}\n"
        );
        [snapshot, line].concat()
    };
    let place = Place::new();
    for n in 0..8 {
        place.write("piece.jsonl", message(n).as_bytes());
        let last =
            good(&place, &[&THREAD[..], &["--dialect", "claude-code", "--framing", "lines", "piece.jsonl"]].concat());
        place.write("whole.jsonl", (0..=n).map(message).collect::<String>().as_bytes());
        assert_eq!(last, good(&place, &["--dialect", "claude-code", "whole.jsonl"]), "after {n}");
    }
}

/// Instructions beside a question stay in force when the question leaves the window, and so does a message of instructions.
#[test]
fn instructions_in_the_middle_stay_in_a_thread() {
    let rule = |nth: usize| {
        format!("{{\"type\":\"mid_conv_system\",\"content\":[{{\"type\":\"text\",\"text\":\"Rule {nth}.\"}}]}}")
    };
    let question = |nth: usize, rule: &str| {
        format!("{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":\"Question {nth}?\"}}{rule}]}}\n")
    };
    let answer = |nth: usize| {
        format!("{{\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"Answer {nth}.\"}}]}}\n")
    };
    let mut lines = Vec::new();
    for nth in 1..=5 {
        let beside = if nth % 2 == 1 { format!(",{}", rule(nth)) } else { String::new() };
        lines.extend([question(nth, &beside), answer(nth)]);
    }
    lines.insert(4, format!("{{\"role\":\"user\",\"content\":[{}]}}\n", rule(9)));
    let place = Place::new();
    place.write("chat.jsonl", lines.concat().as_bytes());
    let whole = good(&place, &["--dialect", "anthropic", "chat.jsonl"]);
    for nth in [1, 3, 5, 9] {
        assert!(whole.contains(&rule(nth)), "rule {nth} is gone: {whole}");
    }
    assert!(
        !whole.contains("{\"type\":\"text\",\"text\":\"Question 1?\"}"),
        "the question is outside the window: {whole}"
    );
    for pieces in 1..=lines.len() {
        let (id, mut last) = (format!("{pieces}"), String::new());
        for piece in lines.chunks(lines.len().div_ceil(pieces)) {
            place.write("piece.jsonl", piece.concat().as_bytes());
            let thread = ["--store", "s.db", "--thread", &id, "--dialect", "anthropic", "piece.jsonl"];
            last = good(&place, &thread);
        }
        assert_eq!(last, whole, "in {pieces} pieces");
        let again = ["--store", "s.db", "--thread", &id, "--from", "1", "--dialect", "anthropic", "chat.jsonl"];
        assert_eq!(good(&place, &again), whole, "what the thread has is known, as it was read");
    }
}

/// Nine messages that span two lines each, with `between` in turn between them, and `end` behind the last one.
fn spaced(between: &[&str], end: &str) -> String {
    let line = |n: usize| {
        let role = ["user", "assistant"][n % 2];
        format!("{{\"role\": \"{role}\",\n \"content\": \"line {n}\"}}")
    };
    let lines = (0..9).map(|n| if n == 0 { line(n) } else { format!("{}{}", between[n % between.len()], line(n)) });
    lines.collect::<String>() + end
}

/// The log in pieces that end with a line of the log and begin with a message.
fn pieces(log: &str) -> Vec<&str> {
    let ends = log.match_indices("}\n").map(|(at, _)| at + 2).filter(|&end| !log[end..].trim().is_empty());
    let mut start = 0;
    ends.chain([log.len()]).map(|end| &log[std::mem::replace(&mut start, end)..end]).collect()
}

/// The bytes between lines and behind the last one are those of the log, in whatever pieces it comes.
#[test]
fn what_stands_between_lines_is_kept() {
    for log in [
        spaced(&["\n"], ""),
        spaced(&["\n"], "\n\n"),
        spaced(&["\r\n"], "\r\n"),
        spaced(&["\n", "\n\n", "\n \n"], "\n"),
        spaced(&["\n", "", " "], ""),
        format!("\u{feff}{}", spaced(&["\n"], "\n")),
    ] {
        let place = Place::new();
        place.write("log.jsonl", log.as_bytes());
        for window in ["2", "3", "20"] {
            let run = |thread: &str, more: &[&str]| {
                let base = ["summarize", "--summary-tokens", "60", "--framing", "lines", "--dialect", "openai"];
                let store = ["--store", "s.db", "--thread", thread];
                let store = if thread.is_empty() { &[][..] } else { &store[..] };
                let done = place.curtail(&[&base[..], &["-n", window], store, more].concat()).output().unwrap();
                assert!(done.status.success(), "{log:?}: {}", text(&done.stderr));
                text(&done.stdout)
            };
            // A thread ends its last line, because the next message follows on a line of its own.
            let mut whole = run("", &["log.jsonl"]);
            whole.extend((!whole.ends_with('\n')).then_some('\n'));
            let (one, many) = (format!("one{window}"), format!("many{window}"));
            assert_eq!(run(&one, &["log.jsonl"]), whole, "{log:?}");
            assert_eq!(run(&one, &["--from", "1", "log.jsonl"]), whole, "twice: {log:?}");
            let feed = |piece: &&str| {
                place.write("piece.jsonl", piece.as_bytes());
                run(&many, &["piece.jsonl"])
            };
            let fed: Vec<String> = pieces(&log).iter().map(feed).collect();
            assert_eq!(fed.last(), Some(&whole), "in pieces: {log:?}");
        }
    }
}

/// A boundary that is kept for what follows it belongs to no interaction: the summaries are written behind it, as in one go.
#[test]
fn a_boundary_stays_in_front_of_the_summaries() {
    let line = |kind: &str, id: &str, parent: &str, rest: &str| {
        format!("{{\"parentUuid\":{parent},\"sessionId\":\"s\",\"type\":\"{kind}\",\"uuid\":\"{id}\",{rest}}}\n")
    };
    let record = |n: usize, parent: &str| {
        let role = ["user", "assistant"][n % 2];
        let message =
            format!("\"message\":{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"Message {n}\"}}]}}");
        line(role, &format!("u{n}"), parent, &message)
    };
    let mut log = vec![
        record(0, "null"),
        line("system", "b", "null", "\"subtype\":\"compact_boundary\""),
        line("user", "c", "\"b\"", "\"isCompactSummary\":true,\"message\":{\"role\":\"user\",\"content\":\"So far.\"}"),
    ];
    log.extend((1..10).map(|n| record(n, &if n == 1 { String::from("\"c\"") } else { format!("\"u{}\"", n - 1) })));
    let place = Place::new();
    for upto in 3..=log.len() {
        place.write("piece.jsonl", if upto == 3 { log[..3].concat() } else { log[upto - 1].clone() }.as_bytes());
        let dialect = ["--dialect", "claude-code", "--framing", "lines"];
        let last = good(&place, &[&THREAD[..], &dialect, &["piece.jsonl"]].concat());
        place.write("whole.jsonl", log[..upto].concat().as_bytes());
        assert_eq!(last, good(&place, &[&dialect[..], &["whole.jsonl"]].concat()), "after {upto}");
    }
}

/// A line of Codex: message `n`, of the user and of the assistant in turn.
fn codex_message(n: usize) -> String {
    let (role, kind) = [("user", "input_text"), ("assistant", "output_text")][n % 2];
    format!(
        "{{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{{\"type\":\"{kind}\",\"text\":\"Message {n}\"}}]}}}}\n"
    )
}

/// An event of Codex that rolls back turns.
fn codex_rollback(turns: usize) -> String {
    format!(
        "{{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{{\"type\":\"thread_rolled_back\",\"num_turns\":{turns}}}}}\n"
    )
}

/// Turns that are rolled back are not counted. Those that the thread may have summarized cannot be: that is a changed history.
#[test]
fn turns_that_were_rolled_back_are_not_counted() {
    let range = |range: std::ops::Range<usize>| range.map(codex_message).collect::<String>();
    let dialect = ["--dialect", "codex", "--framing", "lines"];
    for (pieces, fits) in [
        (vec![range(0..8) + &codex_rollback(1) + &range(8..14)], true),
        (vec![range(0..2), codex_rollback(1), range(2..9)], true),
        (vec![range(0..6), range(6..10) + &codex_rollback(2), range(10..12)], true),
        (vec![range(0..6), codex_rollback(1)], false),
        (vec![range(0..6), range(6..8) + &codex_rollback(2)], false),
    ] {
        let place = Place::new();
        place.write("whole.jsonl", pieces.concat().as_bytes());
        let whole = good(&place, &[&dialect[..], &["whole.jsonl"]].concat());
        let append = |more: &[&str], name: &str| {
            let base = ["summarize", "-n", "2", "--summary-tokens", "60"];
            place.curtail(&[&base[..], &THREAD[..], &dialect, more, &[name]].concat()).output().unwrap()
        };
        let feed = |piece: &String| {
            place.write("piece.jsonl", piece.as_bytes());
            append(&[], "piece.jsonl")
        };
        let fed: Vec<_> = pieces.iter().map(feed).collect();
        let last = fed.last().unwrap();
        assert_eq!(last.status.success(), fits, "{pieces:?}: {}", text(&last.stderr));
        if fits {
            assert_eq!(text(&last.stdout), whole, "{pieces:?}");
        } else {
            assert!(text(&last.stderr).contains("takes back turns"), "{}", text(&last.stderr));
            let rewound = append(&["--rewind", "--from", "1"], "whole.jsonl");
            assert_eq!(text(&rewound.stdout), whole, "{pieces:?}: {}", text(&rewound.stderr));
        }
    }
}

/// With `--rewind`, the input is the whole conversation: where it differs from what the thread took, is shorter or is the same, the
/// memory is that of one run. Messages need no ids.
#[test]
fn a_conversation_given_whole_is_the_conversation_in_one_go() {
    let line = |nth: usize, text: &str| {
        format!("{{\"role\":\"{}\",\"content\":\"{text} {nth}\"}}\n", if nth % 2 == 1 { "user" } else { "assistant" })
    };
    let chat = |count: usize| (1..=count).map(|nth| line(nth, "line")).collect::<String>();
    let changed = chat(14).replace("line 3\"", "another 3\"");
    let place = Place::new();
    for (nth, log) in [chat(12), changed.clone(), changed, chat(9), chat(2), chat(16), chat(17)].iter().enumerate() {
        place.write("log.jsonl", log.as_bytes());
        for emit in ["state", "context"] {
            let whole = good(&place, &["--emit", emit, "log.jsonl"]);
            let rewound = good(&place, &[&THREAD[..], &["--rewind", "--emit", emit, "log.jsonl"]].concat());
            assert_eq!(without(&rewound, "ts"), without(&whole, "ts"), "{nth}, {emit}");
        }
    }
}

/// The memory without the values of a key: the time of the run, or links that a cut updates.
fn without(memory: &str, key: &str) -> String {
    let key = format!("\"{key}\":");
    let pieces: Vec<&str> = memory.split(key.as_str()).collect();
    let rest = pieces[1..].iter().map(|piece| piece.find([',', '}']).map_or("", |end| &piece[end..]));
    std::iter::once(pieces[0]).chain(rest).collect::<Vec<_>>().join(&key)
}

/// A session whose user went back: neither the state nor the summaries know what was rolled back, in one go as in a thread.
#[test]
fn what_was_rolled_back_is_in_no_state() {
    let record = |id: usize, parent: usize, said: &str| {
        let (role, reply) =
            if id % 2 == 1 { ("user", String::new()) } else { ("assistant", format!("\"id\":\"m{id}\",")) };
        format!(
            "{{\"parentUuid\":\"u{parent}\",\"isSidechain\":false,\"type\":\"{role}\",\"message\":{{{reply}\"role\":\"{role}\",\"content\":\"{said}\"}},\"uuid\":\"u{id}\",\"timestamp\":\"2026-01-01T00:00:0{id}Z\",\"sessionId\":\"s\"}}\n"
        )
    };
    let begin = record(1, 0, "Paint the door.").replace("\"u0\"", "null") + &record(2, 1, "Painted it red.");
    let back = record(3, 2, "Take it back: blue.") + &record(4, 3, "Blue it is.");
    let log = begin + &back + &record(5, 2, "No, green.") + &record(6, 5, "Green it is.");
    let place = Place::new();
    for (nth, log) in [log.clone() + &record(7, 6, "Thanks."), log].iter().enumerate() {
        place.write("log.jsonl", log.as_bytes());
        for window in ["1", "2", "3", "9"] {
            let state = |more: &[&str]| {
                let base = ["summarize", "-n", window, "--emit", "state"];
                let done = place.curtail(&[&base[..], more, &["log.jsonl"]].concat()).output().unwrap();
                (text(&done.stdout), text(&done.stderr))
            };
            let (whole, _) = state(&[]);
            assert!(whole.contains("reen") && !whole.contains("lue"), "{whole}");
            let thread = format!("{nth}.{window}");
            let (stored, stderr) = state(&["--store", "s.db", "--thread", &thread]);
            assert_eq!(without(&stored, "parentUuid"), without(&whole, "parentUuid"), "{stderr}");
        }
    }
}

/// A thread reads no more than one transcript may have, and waits for no line that is longer.
#[test]
fn a_transcript_past_the_limit_is_not_read() {
    let place = Place::new();
    place.write("log.jsonl", codex_message(0).repeat(100).as_bytes());
    place.write("line.jsonl", &[b' '; 5000]);
    let endless = if cfg!(unix) { "/dev/zero" } else { "line.jsonl" };
    for arguments in [&["log.jsonl"][..], &[endless], &["--follow", "line.jsonl"]] {
        let limit = ["summarize", "--max-record", "1000", "--framing", "lines", "--dialect", "codex"];
        let done = place.curtail(&[&limit[..], &THREAD, arguments].concat()).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        assert!(text(&done.stderr).contains("--max-record"), "{arguments:?}: {}", text(&done.stderr));
    }
}
