//! The pictures of the README: a chart of the benchmarks, and the program at work. Both are made here, from the page of the
//! benchmarks and from what the program prints about a fixture, so that neither can show what is no longer true.
//! `CURTAIL_BLESS=1 cargo test --test it pictures::` writes them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::program::{Place, root, text};

/// Compares a picture with what it has to be, or writes it.
fn is_current(name: &str, picture: &str) {
    let path = root().join("docs").join(name);
    if std::env::var_os("CURTAIL_BLESS").is_some() {
        std::fs::write(&path, picture).expect("a picture");
    }
    let current = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        current == picture,
        "docs/{name} is not current; CURTAIL_BLESS=1 cargo test --test it pictures:: writes it"
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Colors for light and for dark pages.
const COLORS: &str = "\
  svg { --back: #ffffff; --ink: #1f2328; --pale: #59636e; --line: #d1d9e0; --good: #1a7f37; --bar: #8c959f; --hit: #0969da; }
  @media (prefers-color-scheme: dark) {
    svg { --back: #0d1117; --ink: #e6edf3; --pale: #9198a1; --line: #3d444d; --good: #3fb950; --bar: #656c76; --hit: #58a6ff; }
  }
";

// The chart.

/// The rows of the chart, as the page of the benchmarks names them.
const ROWS: [(&str, &str); 4] = [
    ("**`curtail limit`**", "curtail limit"),
    ("tiktoken-rs, a loop in Rust", "tiktoken-rs in a loop"),
    ("tiktoken, a loop in Python", "tiktoken in a loop, Python"),
    ("LangChain, `trim_messages` with tiktoken", "LangChain, trim_messages"),
];

/// The seconds in the row of this name.
fn seconds(page: &str, name: &str) -> f64 {
    let row = page.lines().find(|line| line.strip_prefix("| ").is_some_and(|rest| rest.starts_with(name)));
    let cell = row.and_then(|row| row.split('|').nth(2)).unwrap_or_else(|| panic!("no row of {name}"));
    cell.trim().parse().expect("seconds")
}

#[test]
fn the_chart_shows_the_benchmarks() {
    let page = std::fs::read_to_string(root().join("docs/benchmarks.md")).expect("the benchmarks");
    let values = ROWS.map(|(name, label)| (label, seconds(&page, name)));
    let longest = values.iter().map(|(_, seconds)| *seconds).fold(0.0, f64::max);
    let title = values.map(|(label, seconds)| format!("{label} {seconds} s")).join(", ");
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 172\" role=\"img\" aria-label=\"Seconds to cut 14 MB to \
         4,000 tokens: {title}\">\n<style>\n{COLORS}  text {{ font: 15px system-ui, sans-serif; fill: var(--ink); }}\n  .pale \
         {{ fill: var(--pale); font-size: 13px; }}\n</style>\n<text class=\"pale\" x=\"0\" y=\"16\">Seconds to cut 14 MB of \
         transcripts to 4,000 tokens each; less is better</text>\n"
    );
    for (nth, (label, seconds)) in values.into_iter().enumerate() {
        let y = 30 + 36 * nth;
        let width = (480.0 * seconds / longest).max(3.0);
        let color = if nth == 0 { "good" } else { "bar" };
        let baseline = y + 19;
        let _ = writeln!(svg, "<text x=\"0\" y=\"{baseline}\">{label}</text>");
        let _ = writeln!(
            svg,
            "<rect x=\"210\" y=\"{y}\" width=\"{width:.1}\" height=\"26\" rx=\"3\" fill=\"var(--{color})\"/>"
        );
        let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{baseline}\">{seconds}</text>", 218.0 + width);
    }
    svg.push_str("</svg>\n");
    is_current("speed.svg", &svg);
}

// The program at work.

/// The seconds of each of three scenes.
const SCENE: u32 = 4;

/// The fixture that the pictures are about.
const SESSION: &str = "fixtures/replay/session.jsonl";

/// Columns and lines of the terminal.
const COLUMNS: usize = 82;
const LINES: usize = 14;

/// A machine with three sessions.
fn machine() -> Place {
    let place = Place::new();
    for (from, to, hours) in [
        (SESSION, ".claude/projects/-home-ada-rail/5c1e.jsonl", 0),
        ("fixtures/dialects/codex/full.jsonl", ".codex/sessions/2026/03/01/rollout-2026-03-01T08-00-00-7a.jsonl", 20),
        ("fixtures/dialects/pi/full.jsonl", ".pi/agent/sessions/--home-ada-mill--/2026-02-27_9d.jsonl", 70),
    ] {
        place.write(to, &std::fs::read(root().join(from)).expect("a fixture"));
        let file = std::fs::File::options().append(true).open(place.path(to)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(NOW - 240 - hours * 3_600)).unwrap();
    }
    place
}

/// When the pictures are taken, in seconds since 1970.
const NOW: u64 = 1_772_442_600;

fn run(place: &Place, arguments: &[&str]) -> String {
    let output = place.curtail(arguments).env("SOURCE_DATE_EPOCH", NOW.to_string()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout) + &text(&output.stderr)
}

/// A scene of a terminal: a command, and what it prints.
fn terminal(command: &str, printed: &str) -> String {
    let mut scene = format!("<text class=\"t in\" x=\"24\" y=\"58\">$ {}</text>\n", escaped(command));
    for (nth, line) in printed.lines().take(LINES).enumerate() {
        let mut shown: String = line.chars().take(COLUMNS).collect();
        if shown.len() < line.len() {
            shown.pop();
            shown.push('…');
        }
        let y = 84 + 22 * nth;
        let _ =
            writeln!(scene, "<text class=\"t\" x=\"24\" y=\"{y}\" xml:space=\"preserve\">{}</text>", escaped(&shown));
    }
    scene
}

/// A scene of the page: the first prompt, the tokens before and after, and a block for each message, as wide as its tokens.
fn page(place: &Place, policy: &[&str]) -> String {
    let counts = ["count", "--by", "message", "--top", "1000", "--output-format", "json", "@claude"];
    let counts: Value = serde_json::from_str(&run(place, &counts)).expect("JSON");
    let rows = counts["rows"].as_array().expect("rows");
    let number = |row: &Value| {
        let name = row["message"].as_str().expect("a name");
        name.split(" message ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok()).expect("a number")
    };
    let mut messages: Vec<(usize, u64)> =
        rows.iter().map(|row| (number(row), row["tokens"].as_u64().unwrap())).collect();
    messages.sort_unstable();
    let explained = run(place, &[policy, &["--explain=json", "--dry-run", "@claude"]].concat());
    let decisions: Vec<Value> = explained.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let is_dropped = |decision: &&Value| decision["action"] == "dropped";
    let place_of = |decision: &Value| usize::try_from(decision["message"].as_u64()?).ok();
    let dropped: Vec<usize> = decisions.iter().filter(is_dropped).filter_map(place_of).collect();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for decision in decisions.iter().filter(is_dropped) {
        *reasons.entry(decision["reason"].as_str().expect("a reason")).or_default() += 1;
    }
    let all: u64 = messages.iter().map(|(_, tokens)| tokens).sum();
    let kept: u64 = messages.iter().filter(|(nth, _)| !dropped.contains(nth)).map(|(_, tokens)| tokens).sum();
    let prompt = run(place, &["sessions", "--agent", "claude", "--output-format", "json"]);
    let prompt: Value = serde_json::from_str(&prompt).expect("JSON");
    let prompt: String = prompt["sessions"][0]["prompt"].as_str().expect("a prompt").chars().take(72).collect();
    let kept_count = messages.len() - dropped.len();
    let mut scene = format!(
        "<text class=\"h\" x=\"24\" y=\"66\">{}…</text>\n<text class=\"pale\" x=\"24\" y=\"92\">Claude Code · {} messages · {all} \
         tokens</text>\n<text class=\"pale\" x=\"24\" y=\"140\">{}: {kept} of {all} tokens, {kept_count} of {} messages are \
         kept</text>\n",
        escaped(prompt.trim()),
        messages.len(),
        policy.join(" "),
        messages.len(),
    );
    let mut x = 24.0;
    for (nth, tokens) in &messages {
        #[expect(clippy::cast_precision_loss, reason = "a width, exact to a pixel")]
        let width = 712.0 * *tokens as f64 / all as f64;
        let class = if dropped.contains(nth) { "gone" } else { "kept" };
        let shown = (width - 1.0).max(0.6);
        let _ = writeln!(scene, "<rect class=\"{class}\" x=\"{x:.1}\" y=\"156\" width=\"{shown:.1}\" height=\"40\"/>");
        x += width;
    }
    scene.push_str(
        "<rect class=\"gone\" x=\"24\" y=\"214\" width=\"14\" height=\"14\"/><text class=\"pale\" x=\"46\" \
         y=\"226\">dropped</text>\n<rect class=\"kept\" x=\"230\" y=\"214\" width=\"14\" height=\"14\"/><text class=\"pale\" \
         x=\"252\" y=\"226\">kept, byte for byte</text>\n",
    );
    for (nth, (reason, count)) in reasons.into_iter().enumerate() {
        let y = 268 + 24 * nth;
        let _ = writeln!(scene, "<text class=\"pale\" x=\"24\" y=\"{y}\">{count} messages: {}</text>", escaped(reason));
    }
    scene
}

#[test]
fn the_program_is_shown_at_work() {
    let place = machine();
    let policy = ["limit", "-t", "4k"];
    let sessions = run(&place, &["sessions"]);
    let text_of = run(&place, &["view", "@claude", "--policy", &policy.join(" "), "--text"]);
    let scenes = [
        terminal("curtail sessions", &sessions),
        terminal(&format!("curtail view @claude --policy '{}' --text", policy.join(" ")), &after_head(&text_of)),
        page(&place, &policy),
    ];
    let seconds = SCENE * 3;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 400\" role=\"img\" aria-label=\"curtail lists sessions, \
         shows the effect of a policy, and writes it as a page\">\n<style>\n{COLORS}  .t {{ font: 14px ui-monospace, monospace; \
         fill: var(--ink); }}\n  .in {{ fill: var(--hit); }}\n  .h {{ font: bold 17px system-ui, sans-serif; fill: var(--ink); \
         }}\n  .pale {{ font: 13px system-ui, sans-serif; fill: var(--pale); }}\n  .kept {{ fill: var(--good); }}\n  .gone {{ \
         fill: var(--line); }}\n  .s {{ opacity: 0; animation: show {seconds}s infinite; }}\n  @keyframes show {{ 0%, 32% {{ \
         opacity: 1; }} 33.4%, 100% {{ opacity: 0; }} }}\n  @media (prefers-reduced-motion: reduce) {{ .s {{ animation: none; }} \
         .s:last-of-type {{ opacity: 1; }} }}\n</style>\n<rect x=\".5\" y=\".5\" width=\"759\" height=\"399\" rx=\"8\" \
         fill=\"var(--back)\" stroke=\"var(--line)\"/>\n<g fill=\"var(--line)\"><circle cx=\"22\" cy=\"20\" r=\"5\"/><circle \
         cx=\"40\" cy=\"20\" r=\"5\"/><circle cx=\"58\" cy=\"20\" r=\"5\"/></g>\n"
    );
    for (nth, scene) in (0..).zip(scenes) {
        let delay = SCENE * nth;
        let _ = write!(svg, "<g class=\"s\" style=\"animation-delay:{delay}s\">\n{scene}</g>\n");
    }
    svg.push_str("</svg>\n");
    is_current("demo.svg", &svg);
}

/// A text without the folder of its file in the first line.
fn after_head(text: &str) -> String {
    text.split_once("  ").map_or_else(|| text.to_owned(), |(_, rest)| rest.to_owned())
}
