//! What fits on a terminal: tables, reports and help at three widths, each run by `script` in a terminal of its own.

use std::time::{Duration, SystemTime};

use unicode_width::UnicodeWidthStr as _;

use crate::program::{Place, chat, terminal, text};

const WIDTHS: [usize; 3] = [80, 100, 120];

/// Command lines, one for each kind of report.
const LINES: &[&str] = &[
    "curtail -h",
    "curtail filter -h",
    "curtail sessions",
    "curtail sessions --tokens --paths",
    "curtail count logs",
    "curtail count --by tool logs/station/timetables/2026/january-and-february.jsonl",
    "curtail count --by message --top 5 logs/station/timetables/2026/january-and-february.jsonl",
    "curtail limit -t 90 --explain --stats logs/station/timetables/2026/january-and-february.jsonl -o short.jsonl",
    "curtail filter -x look --dry-run rows.jsonl",
    "curtail check broken.jsonl",
    "curtail check --error \"unexpected tool_use_id found in tool_result blocks\" broken.jsonl",
    "curtail replay --policy 'limit -t 90' --policy 'window -n 4' --columns all logs",
    "curtail replay logs/station",
    "curtail verify logs/station/timetables/2026/january-and-february.jsonl short.jsonl",
    "curtail show broken.jsonl",
    "curtail rule",
    "curtail schema",
    "curtail dialects",
    "curtail tokenizers",
    "curtail run --list-presets",
];

/// A machine with sessions, long names and broken pairs.
fn machine() -> Place {
    let place = Place::new();
    let trip = include_bytes!("../../fixtures/trip.jsonl");
    place.write("logs/station/timetables/2026/january-and-february.jsonl", trip);
    place.write("logs/station/a.jsonl", chat("a", 3).as_bytes());
    place.write("rows.jsonl", format!("{}{}", chat("a", 2), chat("b", 2)).as_bytes());
    place.write("broken.jsonl", include_bytes!("../../fixtures/check/broken.jsonl"));
    let line = |prompt: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"sessionId\":\"s\",\"cwd\":\"/work/kiln\",\"timestamp\":\"2026-01-01T10:00:00Z\",\"message\":{{\"role\":\"user\",\"content\":\"{prompt}\"}}}}\n"
        )
    };
    let prompts = [
        "Glaze the cups.",
        "Find out why the kiln stops at 900 degrees, and mend it so that it reaches 1,280 degrees again, please.",
        "釉薬の温度を調べて、窯が止まる理由を説明してください。できれば今日中にお願いします。",
    ];
    for (nth, prompt) in (1..).zip(prompts) {
        let name = format!(".claude/projects/-work-kiln/{nth}.jsonl");
        place.write(&name, line(prompt).as_bytes());
        let file = std::fs::File::options().append(true).open(place.path(&name)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_000_000 - nth * 4_000)).unwrap();
    }
    place
}

/// What `line` prints on a terminal of this width.
fn on_terminal(place: &Place, line: &str, width: usize) -> String {
    let mut command = terminal(&format!("stty cols {width} rows 50; {line}"), &place.path(""));
    command.env("SOURCE_DATE_EPOCH", "1767000000").env("TERM", "xterm-256color");
    let output = command.output().expect("script of util-linux");
    text(&output.stdout).replace("\r\n", "\n").replace(&*place.path("").to_string_lossy(), "/home/ada/")
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// The time and the speed, which differ from run to run.
fn without_times(text: &str) -> String {
    let line = |line: &str| match line.contains(" MB/s") {
        true => String::from("[time]"),
        false => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn everything_fits_the_width() {
    let place = machine();
    let mut wide = Vec::new();
    for width in WIDTHS {
        let mut all = String::new();
        for line in LINES {
            let printed = plain(&on_terminal(&place, line, width));
            // Paths and commands to copy are whole.
            let is_copied =
                |line: &str| ["/home/", "curtail "].iter().any(|begin| line.trim_start().starts_with(begin));
            let too_wide = printed.lines().filter(|line| line.width() > width && !is_copied(line));
            wide.extend(too_wide.map(|row| format!("{line} at {width}:\n{row}")));
            all.push_str(&format!("$ {line}\n{}\n\n", without_times(&printed)));
        }
        insta::with_settings!({ snapshot_path => "terminal", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("{width}"), all);
        });
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

#[test]
fn names_paths_and_counts_have_colors_where_they_are_wanted() {
    let place = machine();
    let reports =
        ["curtail sessions --paths", "curtail count logs", "curtail check --statistics broken.jsonl", "curtail rule"];
    for line in reports {
        assert!(on_terminal(&place, line, 100).contains("\u{1b}["), "{line} has no colors");
        for without in [format!("NO_COLOR=1 {line}"), format!("CLICOLOR=0 {line}"), format!("{line} --color never")] {
            let printed = on_terminal(&place, &without, 100);
            assert!(!printed.contains('\u{1b}'), "{without}: {printed:?}");
        }
        let piped = on_terminal(&place, &format!("{line} | cat"), 100);
        assert!(!piped.contains('\u{1b}'), "{line} in a pipe: {piped:?}");
        let forced = on_terminal(&place, &format!("{line} --color always | cat"), 100);
        assert!(forced.contains("\u{1b}["), "{line} --color always");
    }
}

/// A pipe gets everything, whatever the width of the terminal is.
#[test]
fn nothing_is_shortened_in_a_pipe() {
    let place = machine();
    let printed = on_terminal(&place, "curtail count logs | cat", 60);
    assert!(printed.contains("logs/station/timetables/2026/january-and-february.jsonl "), "{printed}");
}
