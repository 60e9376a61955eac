//! Policies with names: each has a page, and writes what its commands write.

use crate::program::{root, run, text};

/// The presets by name, each with its commands.
fn presets() -> Vec<(String, Vec<String>)> {
    let list = text(&run(&["run", "--list-presets"], "").stdout);
    let names = list.lines().map(|line| line.split_whitespace().next().expect("a name").to_owned());
    let commands = |name: &str| {
        let printed = text(&run(&["run", "--preset", name, "--print"], "").stdout);
        printed.trim().split('|').map(|command| command.trim().to_owned()).collect()
    };
    names.map(|name| (name.clone(), commands(&name))).collect()
}

#[test]
fn a_preset_writes_what_its_commands_write() {
    let session = std::fs::read_to_string(root().join("fixtures/replay/session.jsonl")).unwrap();
    let presets = presets();
    assert!(presets.len() > 9, "{presets:?}");
    let mut changed = 0;
    for (name, commands) in presets {
        let piped = commands
            .iter()
            .fold(session.clone(), |input, command| text(&run(&command.split(' ').collect::<Vec<_>>(), &input).stdout));
        let preset = run(&["run", "--preset", &name], &session);
        assert!(preset.status.success(), "{name}: {}", text(&preset.stderr));
        assert_eq!(text(&preset.stdout), piped, "{name}");
        changed += usize::from(piped != session);
    }
    assert!(changed > 4, "{changed}");
}

#[test]
fn each_preset_has_a_page_with_its_commands() {
    let index = std::fs::read_to_string(root().join("docs/presets/README.md")).unwrap();
    for (name, commands) in presets() {
        let file = format!("{}.md", name.replace('%', ""));
        assert!(index.contains(&format!("[{name}]({file})")), "{name} is not in the index");
        let page = std::fs::read_to_string(root().join("docs/presets").join(&file)).unwrap();
        for command in commands {
            assert!(page.contains(&format!("curtail {command}")), "{file}: {command}");
        }
        for heading in ["Source: ", "**Use it when:**", "**Do not use it when:**", "cost, kept references"] {
            assert!(page.contains(heading), "{file}: {heading}");
        }
    }
}

#[test]
fn presets_are_policies_everywhere() {
    let trip = "fixtures/trip.jsonl";
    let shown = run(&["view", trip, "--policy", "clear-results-3", "-o", "-"], "");
    assert!(text(&shown.stdout).contains("clear-results-3"), "{}", text(&shown.stderr));
    let replayed = run(&["replay", "fixtures/replay/session.jsonl", "--policy", "mask-10-steps"], "");
    assert!(text(&replayed.stdout).contains("\nmask-10-steps "), "{}", text(&replayed.stdout));
    let wrong = run(&["run", "--preset", "mask-10-step", trip], "");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("did you mean `mask-10-steps`?"), "{}", text(&wrong.stderr));
    let both = run(&["run", "--preset", "mask-10", "-c", "curtail.toml", trip], "");
    assert_eq!(both.status.code(), Some(2));
    assert!(text(&both.stderr).contains("--preset cannot be used with --config"), "{}", text(&both.stderr));
}
