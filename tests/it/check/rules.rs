//! Every rule's page is generated from the rule; its bad example raises exactly that rule, its good example none.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::program::run;
use curtail_core::checks::{ALL, Fix, Level, Rule, constraints, rule_named};
use curtail_core::transcript::FaultKind;

fn pages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules")
}

/// The rules that `check` reports for `text`.
fn broken(rule: &Rule, text: &str) -> BTreeSet<String> {
    let flags = rule.flags.split_whitespace();
    let output = run(&["check", "--output-format", "json"].into_iter().chain(flags).collect::<Vec<_>>(), text);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{}: {error}: {}", rule.name, String::from_utf8_lossy(&output.stderr)));
    let findings = report["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_bad_block_raises_its_rule_and_a_good_one_none() {
    let mut wrong = Vec::new();
    for rule in ALL {
        let (bad, good) = (broken(rule, rule.bad), broken(rule, rule.good));
        if bad != BTreeSet::from([rule.name.to_owned()]) || !good.is_empty() {
            wrong.push(format!("{}: bad raises {bad:?}, good raises {good:?}", rule.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The console block that shows what `--fix` makes of the bad example of a rule, up to what it prints; nothing if a person has
/// to mend it.
fn fix_section(rule: &Rule) -> String {
    let how = match rule.fix {
        Fix::No => return String::new(),
        Fix::Pairs(Some(FaultKind::PendingCall)) => " --repair-pending",
        Fix::Pairs(_) | Fix::Part => "",
        Fix::Unsafe => " --unsafe-fixes",
    };
    let turned_on = if rule.level == Level::Allow { format!(" -D {}", rule.name) } else { String::new() };
    format!(
        "\n## Fix\n\nThe bad example, before and after:\n\n```console\n$ curtail check{turned_on} --diff{how} fixtures/rules/{}.jsonl\n",
        rule.name
    )
}

/// `CURTAIL_BLESS=1 cargo test --test it check::rules` writes the pages and the examples; what the program prints in them is
/// written by the test of console blocks.
#[test]
fn the_pages_are_what_the_rules_say() {
    let write = std::env::var_os("CURTAIL_BLESS").is_some();
    let mut expected = BTreeSet::from([String::from("README.md")]);
    for rule in ALL {
        let path = pages().join(format!("{}.md", rule.name));
        expected.insert(format!("{}.md", rule.name));
        let (page, fix) = (rule.page(), fix_section(rule));
        let example = pages().join("../../fixtures/rules").join(format!("{}.jsonl", rule.name));
        if write {
            let printed = fs::read_to_string(&path).unwrap_or_default();
            let printed = printed.split_once(&fix).filter(|_| !fix.is_empty()).map(|(_, printed)| printed);
            let end = if fix.is_empty() { "" } else { "```\n" };
            fs::write(&path, format!("{page}{fix}{}", printed.unwrap_or(end))).unwrap();
            if !fix.is_empty() {
                fs::create_dir_all(example.parent().unwrap()).unwrap();
                fs::write(&example, rule.bad).unwrap();
            }
        }
        let there = fs::read_to_string(&path).unwrap_or_default();
        let is_right = if fix.is_empty() { there == page } else { there.starts_with(&format!("{page}{fix}")) };
        assert!(is_right, "{} is out of date", path.display());
        assert!(fix.is_empty() || fs::read_to_string(example).is_ok_and(|bad| bad == rule.bad), "{}", rule.name);
    }
    if write {
        fs::write(pages().join("README.md"), index()).unwrap();
    }
    assert_eq!(fs::read_to_string(pages().join("README.md")).unwrap_or_default(), index());
    let there: BTreeSet<String> =
        fs::read_dir(pages()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(there, expected, "docs/rules holds one page for each rule, and an index");
}

const INTRODUCTION: &str = "[`curtail check`](../commands/check.md) reports these faults, and `curtail rule NAME` shows a page. The level is the\n\
     default: `deny` fails the check, `warn` only reports, and `allow` turns the rule off\n\
     ([levels](../commands/check.md#choose-the-rules)).";

fn index() -> String {
    let row = |rule: &&Rule| {
        format!("| {} | [{}]({}.md) | {} | {} |\n", rule.code, rule.name, rule.name, rule.level.name(), rule.summary)
    };
    let rows: String = ALL.iter().map(row).collect();
    format!("# Rules\n\n{INTRODUCTION}\n\n| code | rule | level | reports |\n|---|---|---|---|\n{rows}")
}

const TROUBLES: &str = "Give `curtail check` the answer, as it is on your screen, and the request or the log:\n\n\
     ```sh\ncurtail check --error 'TEXT' FILE\npbpaste | curtail check --error - FILE\n```\n\n\
     It names the rule, the line and the block that the answer means, and the command that mends it\n\
     ([details](commands/check.md#find-what-an-answer-means)). `curtail check FILE` finds most of these faults without the answer.\n\n\
     Or search this page. Placeholders stand for what differs: `N` and `M` for numbers, `…` for ids and names.\n\n\
     ## The context is too long\n\n\
     | answer | do |\n|---|---|\n\
     | prompt is too long: N tokens > M maximum | [A session is too large](recipes/session-too-large.md) |\n\
     | This model's maximum context length is N tokens. However, your messages resulted in M tokens. | [Trim before sending](recipes/trim-before-sending.md) |\n\
     | Your input exceeds the context window of this model. | [Trim before sending](recipes/trim-before-sending.md) |\n\
     | The input token count (N) exceeds the maximum number of tokens allowed (M). | [Trim before sending](recipes/trim-before-sending.md) |\n\
     | Input is too long for requested model. | [Trim before sending](recipes/trim-before-sending.md) |\n";

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

/// The answers of a provider, each with its rule and what mends it.
fn troubles_of(provider: &str) -> String {
    let rows = constraints().iter().filter(|row| row.provider == provider);
    let words: BTreeSet<(&str, &str)> = rows.filter_map(|row| Some((row.rule?, row.words))).collect();
    let line = |(code, words): (&str, &str)| {
        let rule = rule_named(code).unwrap();
        format!("| {} | [{code} {}](rules/{}.md) | {} |\n", cell(words), rule.name, rule.name, rule.help)
    };
    format!(
        "\n## {provider}\n\n| answer | cause | do |\n|---|---|---|\n{}",
        words.into_iter().map(line).collect::<String>()
    )
}

/// The providers with a rule for one of their answers.
fn providers() -> BTreeSet<&'static str> {
    constraints().iter().filter(|row| row.rule.is_some()).map(|row| row.provider).collect()
}

fn assert_page(name: &str, page: &str) {
    let path = pages().join("..").join(name);
    if std::env::var_os("CURTAIL_BLESS").is_some() {
        fs::write(&path, page).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap_or_default(), page, "docs/{name} is out of date");
}

/// `CURTAIL_BLESS=1` writes the page.
#[test]
fn every_answer_of_a_provider_leads_to_its_rule() {
    let sections: String = providers().into_iter().map(troubles_of).collect();
    assert_page("troubleshooting.md", &format!("# Troubleshooting\n\n{TROUBLES}{sections}"));
}

const LIMITS: &str = "What providers limit in a transcript, where it is known from, and the rule that finds what exceeds it. A pattern\n\
     is written as `prefix[characters]{least,most}`. *How* says how a limit is known: from the provider's pages (documented),\n\
     from the types of its library (sdk), from its own checks (validator), from users (reported), or by conclusion\n\
     (inferred). Limits change: the date or the version is that of the source.\n\n\
     [Troubleshooting](troubleshooting.md) lists what providers answer.\n";

/// The limits of a provider.
fn limits_of(provider: &str) -> String {
    let rows =
        constraints().iter().filter(|row| row.provider == provider && row.rule.is_some() && !row.limit.is_empty());
    let rows: BTreeSet<_> =
        rows.map(|row| (row.rule.unwrap(), row.what, row.limit, row.source, row.date, row.how)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let line = |(code, what, limit, source, date, how): (&str, &str, &str, &str, &str, &str)| {
        let name = rule_named(code).unwrap().name;
        format!("| {what} | `{}` | [{name}](rules/{name}.md) | {} | {date} | {how} |\n", cell(limit), cell(source))
    };
    let lines: String = rows.into_iter().map(line).collect();
    format!("\n## {provider}\n\n| what | limit | rule | source | as of | how |\n|---|---|---|---|---|---|\n{lines}")
}

/// `CURTAIL_BLESS=1` writes the page.
#[test]
fn every_limit_of_a_provider_is_on_its_page() {
    let sections: String = providers().into_iter().map(limits_of).collect();
    assert_page("providers.md", &format!("# Providers\n\n{LIMITS}{sections}"));
}

#[test]
fn every_constraint_names_a_rule() {
    let unknown: Vec<_> =
        constraints().iter().filter(|row| row.rule.is_some_and(|code| rule_named(code).is_err())).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn codes_and_names_are_unique_and_found() {
    let keys: BTreeSet<&str> = ALL.iter().flat_map(|rule| [rule.code, rule.name]).collect();
    assert_eq!(keys.len(), 2 * ALL.len());
    for rule in ALL {
        assert_eq!(rule_named(rule.name).unwrap().code, rule.code);
        assert_eq!(rule_named(&rule.code.to_lowercase()).unwrap().name, rule.name);
        assert_eq!(ALL[rule.index()].code, rule.code);
        assert!(rule.summary.ends_with('.') && !rule.help.ends_with('.'), "{}", rule.name);
        assert!(
            rule.group().name().to_uppercase().starts_with(&rule.code[..1]),
            "{} is in {:?}",
            rule.code,
            rule.group()
        );
    }
}

#[test]
fn the_command_prints_a_page_or_the_list() {
    let page = run(&["rule", "P001"], "");
    assert_eq!(String::from_utf8(page.stdout).unwrap(), rule_named("orphan-result").unwrap().page());
    let list = run(&["rule"], "");
    assert_eq!(String::from_utf8(list.stdout).unwrap().lines().count(), ALL.len());
    let wrong = run(&["rule", "orphan-reslt"], "");
    assert_eq!(wrong.status.code(), Some(2));
    let message = String::from_utf8(wrong.stderr).unwrap();
    assert!(message.contains("did you mean `orphan-result`?"), "{message}");
}

/// The page of a rule names the dialects in which it can never have a finding.
#[test]
fn the_page_of_detached_results_names_the_dialects_without_them() {
    use curtail_core::transcript::ResultPlace;
    let page = curtail_core::checks::rule_named("P007").unwrap().page();
    let listed = page.split("the rule never has a finding").nth(1).unwrap().split("\n\n").next().unwrap();
    for dialect in curtail_core::dialects::ALL.iter() {
        let anywhere = dialect.pairing_rules().results == ResultPlace::Anywhere;
        assert_eq!(listed.contains(&format!("`{}`", dialect.name())), anywhere, "{}", dialect.name());
    }
}
