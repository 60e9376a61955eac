//! Twice the input takes twice the time: nothing is quadratic in messages, calls, results or faults.

use std::fmt::Write as _;
use std::fs;

use crate::program::Place;

/// The processor time of all finished children, in ticks of 10 ms; `None` if the system does not report it.
fn ticks() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(fields.get(13)?.parse::<u64>().ok()? + fields.get(14)?.parse::<u64>().ok()?)
}

fn call(id: &str) -> String {
    format!(r#"{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#)
}

/// One message with all the calls, and what follows it.
fn one_message(calls: usize, answered: bool) -> String {
    let spelt: Vec<String> = (0..calls).map(|nth| call(&format!("c{nth}"))).collect();
    let mut text = format!(
        "{}\n{{\"role\":\"assistant\",\"content\":\"ok\",\"tool_calls\":[{}]}}\n",
        r#"{"role":"user","content":"go"}"#,
        spelt.join(",")
    );
    for nth in (0..calls).filter(|_| answered) {
        let _ = writeln!(text, r#"{{"role":"tool","tool_call_id":"c{nth}","content":"ok"}}"#);
    }
    text + "{\"role\":\"user\",\"content\":\"and?\"}\n"
}

/// Calls without ids in one message, all answered in the next.
fn gemini(calls: usize) -> String {
    let called = vec![r#"{"functionCall":{"name":"f","args":{}}}"#; calls].join(",");
    let answered = vec![r#"{"functionResponse":{"name":"f","response":{"output":"ok"}}}"#; calls].join(",");
    format!(
        "{{\"role\":\"user\",\"parts\":[{{\"text\":\"go\"}}]}}\n{{\"role\":\"model\",\"parts\":[{called}]}}\n\
         {{\"role\":\"user\",\"parts\":[{answered}]}}\n{{\"role\":\"model\",\"parts\":[{{\"text\":\"done\"}}]}}\n"
    )
}

/// Consecutive calls whose results all come later, after a text.
fn detached(calls: usize) -> String {
    let mut text = String::from("{\"role\":\"user\",\"content\":\"go\"}\n");
    for nth in 0..calls {
        let _ = writeln!(text, r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, call(&format!("c{nth}")));
    }
    text.push_str("{\"role\":\"user\",\"content\":\"and?\"}\n");
    for nth in 0..calls {
        let _ = writeln!(text, r#"{{"role":"tool","tool_call_id":"c{nth}","content":"ok"}}"#);
    }
    text
}

/// Calls whose results come three calls later, each beside a text: a window that drops a call takes a text out of the round in
/// flight, reaches less far back, and drops the next call.
pub fn retreating(calls: usize) -> String {
    let asks = "{\"role\":\"user\",\"content\":\"go\"}\n";
    let mut text = String::from(asks);
    for nth in 0..calls {
        let call = format!(r#"{{"type":"tool_use","id":"c{nth}","name":"f","input":{{}}}}"#);
        let _ = writeln!(text, r#"{{"role":"assistant","content":[{{"type":"text","text":"so"}},{call}]}}"#);
        if nth == 0 {
            let says = "{\"role\":\"assistant\",\"content\":\"well\"}\n";
            text.push_str(&[says, asks, says].concat());
        }
        if let Some(answered) = nth.checked_sub(3) {
            let result = format!(r#"{{"type":"tool_result","tool_use_id":"c{answered}","content":"ok"}}"#);
            let _ = writeln!(text, r#"{{"role":"user","content":[{result},{{"type":"text","text":"and"}}]}}"#);
        }
    }
    text
}

/// Calls behind one that is still pending, in a log of Claude Code: the notes about them have one place.
fn behind_pending(calls: usize) -> String {
    let mut text = String::new();
    let mut line = |role: &str, content: &str| {
        let message = format!(r#"{{"role":"{role}","content":{content}}}"#);
        let _ = writeln!(text, r#"{{"sessionId":"s","parentUuid":null,"type":"{role}","message":{message}}}"#);
    };
    let call = |id: &str, name: &str| format!(r#"[{{"type":"tool_use","id":"{id}","name":"{name}","input":{{}}}}]"#);
    line("user", "\"go\"");
    line("assistant", &call("first", "g"));
    for nth in 0..calls {
        line("assistant", &call(&format!("c{nth}"), "f"));
    }
    for nth in 0..calls {
        line("user", &format!(r#"[{{"type":"tool_result","tool_use_id":"c{nth}","content":"ok"}}]"#));
    }
    text
}

/// Calls in a log of Claude Code, and a first kept message that hangs from a long line of kept records before them.
fn behind_a_long_line(records: usize) -> String {
    let mut text = String::new();
    let mut line = |parent: usize, own: usize, rest: &str| {
        let links = format!("\"parentUuid\":\"u{parent}\",\"uuid\":\"u{own}\",\"isSidechain\":false");
        let _ = writeln!(text, r#"{{"sessionId":"s",{links},{rest}}}"#);
    };
    let said =
        |role: &str, content: &str| format!(r#""type":"{role}","message":{{"role":"{role}","content":{content}}}"#);
    for nth in 1..=records {
        line(nth - 1, nth, r#""type":"system","content":"ok""#);
    }
    for nth in records + 1..=records * 2 {
        line(
            nth - 1,
            nth,
            &said("assistant", &format!(r#"[{{"type":"tool_use","id":"c{nth}","name":"f","input":{{}}}}]"#)),
        );
    }
    for nth in records + 1..=records * 2 {
        let result = format!(r#"[{{"type":"tool_result","tool_use_id":"c{nth}","content":"ok"}}]"#);
        line(nth + records - 1, nth + records, &said("user", &result));
    }
    line(records, records * 3 + 1, &said("user", "\"and?\""));
    text
}

/// Many short messages, in lines.
fn messages(count: usize) -> String {
    "{\"role\":\"user\",\"content\":\"and another of the many words in a row\"}\n".repeat(count)
}

/// A hundred short messages that templates of these tests render, and between them others that they do not.
fn marked(count: usize, others: &str) -> String {
    let said = |nth: usize| if nth.is_multiple_of(count / 100) { "mark" } else { others };
    (0..count).map(|nth| format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", said(nth))).collect()
}

/// A pretty-printed list of records.
fn list(records: usize) -> String {
    let record = "{\n  \"messages\": [\n    {\"role\": \"user\", \"content\": \"one\"}\n  ]\n}";
    format!("[\n{}\n]\n", vec![record; records].join(",\n"))
}

type GrowthCase = (&'static str, &'static [&'static str], fn(usize) -> String);

const CASES: &[GrowthCase] = &[
    ("filter one message", &["filter", "-x", "f"], |n| one_message(n, true)),
    ("filter with notes", &["filter", "-x", "f", "--persist-results"], |n| one_message(n, true)),
    ("filter with notes at one place", &["filter", "-x", "f", "--persist-results"], behind_pending),
    ("filter with notes behind a long line", &["filter", "-x", "f", "--persist-results"], behind_a_long_line),
    ("limit by a template that says little", &["limit", "-t", "60", "--template", "brief.jinja"], |n| {
        marked(n, "and another of the many words in a row")
    }),
    ("limit by a template that says more", &["limit", "-t", "60", "--template", "long.jinja"], |n| marked(n, "")),
    ("check one message", &["check", "--exit-zero", "-q"], |n| one_message(n, true)),
    ("check unanswered", &["check", "--exit-zero", "-q"], |n| one_message(n, false)),
    ("stub", &["repair", "--mode", "stub"], |n| one_message(n, false)),
    ("drop", &["repair", "--mode", "drop"], |n| one_message(n, false)),
    ("move detached", &["repair", "--mode", "move"], detached),
    ("check detached", &["check", "--exit-zero", "-q"], detached),
    ("drop detached", &["repair"], detached),
    ("limit gemini", &["limit", "-t", "30"], gemini),
    ("check gemini", &["check", "--exit-zero", "-q"], gemini),
    ("window", &["window", "-n", "3"], detached),
    ("window with a retreating round", &["window", "-n", "3"], retreating),
    ("count messages", &["count", "--by", "message", "--top", "3"], messages),
    ("count records of a list", &["count", "--by", "transcript", "--top", "3"], list),
    ("replay records of a list", &["replay"], list),
];

/// Processor time of a command on a file, in ticks.
fn cost(place: &Place, arguments: &[&str], text: &str) -> Option<u64> {
    place.write("in.jsonl", text.as_bytes());
    let before = ticks()?;
    let output = place.curtail(arguments).arg("in.jsonl").output().unwrap();
    assert_ne!(output.status.code(), Some(2), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(ticks()? - before)
}

/// `CURTAIL_GROWTH=100000` measures further doublings up to that size.
#[test]
fn twice_the_input_takes_twice_the_time() {
    let most = std::env::var("CURTAIL_GROWTH").ok().and_then(|size| size.parse().ok()).unwrap_or(8_000);
    let place = Place::new();
    for (name, says) in [("brief.jinja", "and "), ("long.jinja", "and then more ")] {
        let template = format!("{{% for m in messages if m.content == 'mark' %}}{says}{{% endfor %}}");
        place.write(name, template.as_bytes());
    }
    for (name, arguments, input) in CASES {
        let mut size = most / 8;
        let mut last: Option<u64> = None;
        while size <= most {
            let Some(cost) = cost(&place, arguments, &input(size)) else { return println!("the system does not tell") };
            println!("{name}: {size} in {} ms", cost * 10);
            // Short runs are mostly start-up and rounding.
            if let Some(last) = last.filter(|last| *last >= 20) {
                assert!(cost <= last * 3, "{name}: {size} takes {cost} ticks, half of it {last}");
            }
            assert!(cost < 1_500, "{name}: {size} takes {cost} ticks");
            (last, size) = (Some(cost), size * 2);
        }
    }
}
