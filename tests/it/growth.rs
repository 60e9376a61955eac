//! Twice the input takes twice the work: nothing is quadratic in messages, calls, results, faults or records. A debug build
//! counts its steps and its memory, so the numbers are the same whatever else the machine does; `benches/growth.py` measures
//! seconds.

mod inputs;

use self::inputs::{
    behind_a_long_line, behind_pending, chat, clearings, compactions, compactions_by_time, dataset, detached, exported,
    facts, gemini, images, kept_prompts, list, marked, messages, misnamed, noise, one_message, one_side, open_tags,
    orphans_in_a_list, preference, preserving_compactions, prompts_before_a_reply, rarely, recorded, records_in_a_list,
    retreating, rolled_back, rollout, side_conversations, signing_thoughts, silent, summed_usages, talkative, thoughts,
    unknown_beside_parts, unknown_roles,
};
use crate::program::{Place, Work, gzip, text};

type MemoryCase = (&'static str, &'static str, &'static [&'static str], fn(usize) -> Vec<u8>);

const MEMORY_CASES: &[MemoryCase] = &[
    ("view empty records", "in.jsonl", &["view", "-o", "out.html", "--force"], |times| {
        "[]\n".repeat(16_000 * times).into_bytes()
    }),
    ("count packed records", "in.jsonl.gz", &["count"], |times| gzip(&"{\"messages\":[]}\n".repeat(64_000 * times))),
];

type GrowthCase = (&'static str, &'static [&'static str], fn(usize) -> String);

const CASES: &[GrowthCase] = &[
    ("filter one message", &["filter", "-x", "f"], |n| one_message(n, true)),
    ("filter with notes", &["filter", "-x", "f", "--persist-results"], |n| one_message(n, true)),
    ("filter with notes at one place", &["filter", "-x", "f", "--persist-results"], behind_pending),
    ("filter with notes behind a long line", &["filter", "-x", "f", "--persist-results"], behind_a_long_line),
    ("filter side conversations", &["filter", "-x", "f", "--persist-results"], side_conversations),
    ("check side conversations", &["check", "--exit-zero", "-q"], side_conversations),
    ("window of side conversations", &["window", "-n", "3"], side_conversations),
    ("repair side conversations", &["repair", "--mode", "stub"], side_conversations),
    ("limit by a template that says little", &["limit", "-t", "60", "--template", "brief.jinja"], |n| {
        marked(n, "and another of the many words in a row")
    }),
    ("limit by a template that says more", &["limit", "-t", "60", "--template", "long.jinja"], |n| marked(n, "")),
    ("split by a template", &["split", "-t", "90", "--template", "each.jinja"], prompts_before_a_reply),
    ("split a log", &["split", "-t", "60", "-o", "out.jsonl", "--force"], rollout),
    ("check one message", &["check", "--exit-zero", "-q"], |n| one_message(n, true)),
    ("check unanswered", &["check", "--exit-zero", "-q"], |n| one_message(n, false)),
    ("stub", &["repair", "--mode", "stub"], |n| one_message(n, false)),
    ("drop", &["repair", "--mode", "drop"], |n| one_message(n, false)),
    ("move detached", &["repair", "--mode", "move"], detached),
    ("check detached", &["check", "--exit-zero", "-q"], detached),
    ("drop detached", &["repair"], detached),
    ("limit gemini", &["limit", "-t", "30", "--on-overflow", "empty"], gemini),
    ("check gemini", &["check", "--exit-zero", "-q"], gemini),
    ("window of an export", &["window", "-n", "3"], exported),
    ("count unknown texts", &["count"], unknown_beside_parts),
    ("window of a preference", &["window", "-n", "10"], preference),
    ("window of kept prompts", &["window", "-n", "3"], kept_prompts),
    ("window of clearings", &["window", "-n", "100"], clearings),
    ("window of open tags", &["window", "-n", "3"], open_tags),
    ("window of a recording", &["window", "-n", "3"], recorded),
    ("window", &["window", "-n", "3"], detached),
    ("window with a retreating round", &["window", "-n", "3"], retreating),
    ("count messages", &["count", "--by", "message", "--top", "3"], messages),
    ("count records of a list", &["count", "--by", "transcript", "--top", "3"], list),
    ("show a list", &["show"], records_in_a_list),
    ("replay compactions", &["replay", "-p", "mask-10"], compactions),
    ("replay compactions by time", &["replay", "-p", "mask-10"], |n| compactions_by_time(n, n + 1)),
    ("replay compactions that preserve", &["replay", "-p", "mask-10"], preserving_compactions),
    ("replay rolled back turns", &["replay", "-p", "window -n 5"], rolled_back),
    ("replay sums of usage", &["replay", "-p", "window -n 5"], summed_usages),
    ("replay records of a list", &["replay"], list),
    ("replay", &["replay"], chat),
    ("replay missing references", &["replay", "--missing"], talkative),
    ("replay calls", &["replay"], talkative),
    ("replay calls without words", &["replay"], silent),
    ("replay rare results", &["replay"], rarely),
    ("replay results in steps", &["replay", "-p", "mask-10-steps"], talkative),
    ("replay results above a trigger", &["replay", "-p", "filter --keep-last-results 3 --trigger 1k"], talkative),
    ("replay capped results", &["replay", "-p", "filter --cap-result 32"], talkative),
    ("replay a small limit", &["replay", "-p", "limit -t 400"], talkative),
    ("replay a marked cache", &["replay", "--cache", "anthropic"], talkative),
    ("verify", &["verify", "in.jsonl"], talkative),
    ("verify facts", &["verify", "in.jsonl"], facts),
    ("verify records", &["verify", "in.jsonl"], |n| {
        dataset(n).trim_matches(['[', ']']).replace("},{\"conv", "}\n{\"conv")
    }),
    ("filter images", &["filter", "--keep-last-media", "1"], images),
    ("filter thoughts", &["filter", "--strip", "reasoning"], thoughts),
    ("filter thoughts that sign a call", &["filter", "--strip", "reasoning"], signing_thoughts),
    ("check images", &["check", "--exit-zero", "-q"], images),
    ("split a list", &["split", "-t", "100", "-o", "out.jsonl", "--force"], records_in_a_list),
    ("view messages", &["view", "-o", "out.html", "--force"], messages),
    ("view compactions by time", &["view", "-o", "out.html", "--force"], |n| compactions_by_time(n, 50)),
    ("view calls", &["view", "-o", "out.html", "--force"], |n| talkative(2 * n)),
    ("view one message", &["view", "-o", "out.html", "--force"], |n| one_message(n, true)),
    ("view a policy", &["view", "--policy", "window -n 3", "-o", "out.html", "--force"], talkative),
    ("view a list", &["view", "-o", "out.html", "--force"], records_in_a_list),
    ("view a list with findings", &["view", "-o", "out.html", "--force"], orphans_in_a_list),
    ("check a list with findings", &["check", "--exit-zero", "-q"], orphans_in_a_list),
    ("check noise", &["check", "--exit-zero", "-q"], noise),
    ("check a dataset", &["check", "--exit-zero", "-q"], dataset),
    ("mend one side", &["check", "--exit-zero", "-q", "--fix", "--unsafe-fixes"], one_side),
    ("mend unknown roles", &["check", "--exit-zero", "-q", "--fix", "--unsafe-fixes"], unknown_roles),
    ("mend names", &["check", "--exit-zero", "-q", "--fix"], misnamed),
    ("repair a list with findings", &["repair", "-o", "out.jsonl", "--force"], orphans_in_a_list),
];

/// The work of a command on a file. One thread does it, so that no two runs divide it differently.
fn work(place: &Place, arguments: &[&str], name: &str, text: &[u8]) -> Work {
    place.write(name, text);
    place.work(&[arguments, &["--jobs", "1", name]].concat())
}

/// The largest quotient of what the second doubling of an input adds and what the first adds, in hundredths: 200 if twice the
/// input takes twice the work, 220 with a logarithm, 400 if it takes four times the work.
const LINEAR: u64 = 225;

fn assert_linear(name: &str, unit: &str, [small, middle, large]: [u64; 3]) {
    let (first, second) = (middle.saturating_sub(small).max(1), large.saturating_sub(middle));
    assert!(
        second * 100 <= first * LINEAR,
        "{name}: {unit} {small}, {middle}, {large}: the second doubling adds {} % of the first",
        second * 100 / first
    );
}

/// `CURTAIL_GROWTH=16000` counts larger inputs, where smaller terms that grow faster show.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "only a debug build counts its work")]
fn twice_the_input_takes_twice_the_work() {
    let most: usize = std::env::var("CURTAIL_GROWTH").ok().and_then(|size| size.parse().ok()).unwrap_or(1_600);
    let place = Place::new();
    for (name, text) in [("brief.jinja", "and "), ("long.jinja", "and then more ")] {
        let template = format!("{{% for m in messages if m.content == 'mark' %}}{text}{{% endfor %}}");
        place.write(name, template.as_bytes());
    }
    place.write("each.jinja", b"{% for m in messages %}{{ m.content }}\n{% endfor %}");
    for (name, arguments, input) in CASES {
        let counts = [most / 4, most / 2, most].map(|size| work(&place, arguments, "in.jsonl", input(size).as_bytes()));
        println!("{name}: {counts:?}");
        assert_linear(name, "steps", counts.map(|count| count.steps));
        assert_linear(name, "bytes allocated", counts.map(|count| count.allocated));
    }
}

/// Empty records in a document would take hundreds of times its size.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "only a debug build counts its work")]
fn a_list_of_empty_records_is_refused_in_bounded_memory() {
    let place = Place::new();
    let commands: &[&[&str]] =
        &[&["count"], &["window", "-n", "3"], &["check", "-q"], &["split", "-t", "9"], &["view", "-o", "out.html"]];
    for record in ["[]", r#"{"messages":[]}"#] {
        let input = format!("[{}]", vec![record; 200_000].join(","));
        place.write("in.json", input.as_bytes());
        for command in commands {
            let output =
                place.curtail(command).arg("in.json").env("CURTAIL_WORK", place.path("work")).output().unwrap();
            let stderr = text(&output.stderr);
            assert!(
                output.status.code() == Some(2) && stderr.contains("in.json:1:1: a list of 200000 items"),
                "{stderr}"
            );
            let work = place.counted();
            assert!(work.peak < 20 * input.len() as u64 + (4 << 20), "{command:?}: {} bytes at once", work.peak);
        }
    }
}

/// The commands, and how many bytes each of them may hold for a message of a few bytes.
const SMALL_MESSAGES: &[(&[&str], u64)] =
    &[(&["window", "-n", "2"], 760), (&["limit", "-t", "50"], 820), (&["check", "-q"], 660), (&["count"], 660)];

/// A message of a few bytes takes many times its size, because it has the members of every other.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "only a debug build counts its work")]
fn a_small_message_takes_little_memory() {
    const MESSAGES: usize = 20_000;
    let place = Place::new();
    for (arguments, most) in SMALL_MESSAGES {
        // What a run holds whatever its input is, such as the formats that it knows, is in both.
        let [half, whole] =
            [MESSAGES / 2, MESSAGES].map(|count| work(&place, arguments, "in.jsonl", chat(count).as_bytes()));
        let each = (whole.peak - half.peak) / (MESSAGES / 2) as u64;
        println!("{arguments:?}: {each} bytes for a message");
        assert!(each <= *most, "{arguments:?}: {each} bytes for a message, more than {most}");
    }
}

/// Many of the smallest records, which become much larger in memory and on a page.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "only a debug build counts its work")]
fn memory_is_bounded() {
    let place = Place::new();
    for (name, file, arguments, input) in MEMORY_CASES {
        let peaks = [1, 4].map(|times| work(&place, arguments, file, &input(times)).peak);
        println!("{name}: {peaks:?}");
        // What is sorted or kept for each record would grow fourfold.
        assert!(
            peaks[1] * 2 <= peaks[0] * 3,
            "{name}: four times the input takes {} bytes at once, not {}",
            peaks[1],
            peaks[0]
        );
        assert!(peaks[0] < 64 << 20, "{name}: {} bytes at once", peaks[0]);
    }
}
