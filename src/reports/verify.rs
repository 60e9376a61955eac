//! The report of `verify`: one screen for people, a JSON document, workflow commands of GitHub, or what was lost as a text.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::options::verify::VerifyOptions;
use crate::reports::findings::{data, property};
use crate::reports::screen::Screen;
use crate::reports::table::{Kind as Cells, Table};
use crate::works::verify::Verified;
use curtail_core::numbers::{counted, figure};
use curtail_core::visible::one_line;
use curtail_facts::verify::{JudgedFact, Kind, Share};

/// Losses on the screen of a comparison.
const WORST: usize = 5;

/// Letters of a fact on the screen.
const WIDTH: usize = 96;

/// Why a comparison fails.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Failing {
    /// The side after the cut has new findings.
    Unsound(usize),
    /// Too little was kept.
    TooFew { kept: f64, least: f64 },
    /// A required kind lost facts.
    Required { kind: Kind, lost: usize },
}

impl Failing {
    /// Why `verified` fails; nothing if it does not.
    pub(crate) fn all(verified: &Verified, options: &VerifyOptions) -> Vec<Self> {
        let mut failing = Vec::new();
        if let Some(findings) = verified.findings.as_ref().filter(|findings| !findings.is_empty()) {
            failing.push(Self::Unsound(findings.len()));
        }
        let kept = verified.comparison.all().kept();
        if let Some((kept, least)) = kept.zip(options.min_kept.map(|least| least.0)).filter(|_| !options.accepts(kept))
        {
            failing.push(Self::TooFew { kept, least });
        }
        for &kind in &options.require {
            let lost = verified.comparison.of_kind(kind).lost;
            if lost > 0 {
                failing.push(Self::Required { kind, lost });
            }
        }
        failing
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Unsound(_) => "sound",
            Self::TooFew { .. } => "min-kept",
            Self::Required { .. } => "require",
        }
    }

    fn sentence(&self) -> String {
        match self {
            Self::Unsound(count) => format!("AFTER has {} that BEFORE has not", counted(*count, "finding")),
            Self::TooFew { kept, least } => {
                format!("{} of the facts were kept, and --min-kept asks for {}", percent(*kept), percent(*least))
            }
            Self::Required { kind, lost } => {
                format!("{} lost, and --require {} allows none", counted(*lost, kind.name()), kind.name())
            }
        }
    }
}

/// `97.5 %`, or `100 %`; never rounded up to all.
pub(crate) fn percent(share: f64) -> String {
    let tenths = (share * 1000.0 + 1e-9).floor() / 10.0;
    if (tenths - tenths.round()).abs() < 1e-9 { format!("{tenths:.0} %") } else { format!("{tenths:.1} %") }
}

// For people.

/// The screen of one comparison.
pub(crate) fn screen(verified: &Verified, options: &VerifyOptions) -> String {
    let screen = Screen::of_stdout();
    let mut head = heading(verified);
    let _ = writeln!(head, "sound   {}", sound(verified));
    let share = of_all(verified.unchanged, verified.before.tokens);
    let _ = writeln!(head, "cache   AFTER begins with {share} of BEFORE's tokens");
    let mut rest = losses(verified);
    for claim in verified.comparison.claims.iter().take(3) {
        let _ =
            writeln!(rest, "claim   {} was only read; AFTER says: {}", shortened(&claim.about), quoted(&claim.text));
    }
    let _ = writeln!(rest, "\nverdict: {}", verdict(verified, options));
    screen.wrapped(&head, 8) + &kinds(verified, screen) + &screen.wrapped(&rest, 4)
}

fn heading(verified: &Verified) -> String {
    let side = |info: &crate::works::verify::SideInfo| {
        format!("{} ({}, {} tokens)", one_line(&info.file), info.dialect, figure(info.tokens))
    };
    match verified.compaction {
        Some(number) => format!(
            "{}: compaction {number}, {} → {} tokens\n",
            one_line(&verified.before.file),
            figure(verified.before.tokens),
            figure(verified.after.tokens)
        ),
        None => format!("{} → {}\n", side(&verified.before), side(&verified.after)),
    }
}

fn sound(verified: &Verified) -> String {
    match &verified.findings {
        None if verified.compaction.is_some() => String::from("not checked: a part of a log"),
        None => String::from("not checked: AFTER is a text"),
        Some(findings) if findings.is_empty() => String::from("yes: no finding that BEFORE has not"),
        Some(findings) => {
            let first = &findings[0];
            let more = if findings.len() > 1 { format!(", and {} more", findings.len() - 1) } else { String::new() };
            format!(
                "no: {}:{} {} {}{more}",
                one_line(&verified.after.file),
                first.at.line,
                first.rule.name,
                one_line(&first.message)
            )
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of tokens are far below 2^52")]
fn of_all(part: usize, all: usize) -> String {
    if all == 0 { String::from("0 %") } else { percent(part as f64 / all as f64) }
}

/// How many facts of each kind were kept, and the share.
pub(super) fn shares(verified: &Verified) -> Vec<[String; 3]> {
    let comparison = &verified.comparison;
    let cells = |name: &str, share: Share| [name.to_owned(), format!("{} of {}", share.kept, share.all()), kept(share)];
    let of_kinds = Kind::ALL.iter().map(|kind| (kind.plural(), comparison.of_kind(*kind)));
    let found = of_kinds.filter(|(_, share)| share.total() > 0).map(|(name, share)| cells(name, share));
    found.chain([cells("all", comparison.all())]).collect()
}

/// The table of the kinds.
fn kinds(verified: &Verified, screen: Screen) -> String {
    let comparison = &verified.comparison;
    let row = |name: &str, share: Share| {
        let kept = kept(share);
        let reworded = if share.reworded > 0 { share.reworded.to_string() } else { String::new() };
        let unknown = if share.unknown > 0 { share.unknown.to_string() } else { String::new() };
        [name.to_owned(), format!("{} of {}", share.kept, share.all()), kept, reworded, unknown]
    };
    let shares = Kind::ALL.iter().map(|kind| (kind.plural(), comparison.of_kind(*kind)));
    let mut rows: Vec<[String; 5]> =
        shares.filter(|(_, share)| share.total() > 0).map(|(name, share)| row(name, share)).collect();
    rows.push(row("all", comparison.all()));
    let columns = [!rows.iter().all(|row| row[3].is_empty()), !rows.iter().all(|row| row[4].is_empty())];
    let pick = |row: [String; 5]| {
        let [name, kept, share, reworded, unknown] = row;
        let more = [(columns[0], reworded), (columns[1], unknown)].into_iter().filter(|(shown, _)| *shown);
        [name, kept, share].into_iter().chain(more.map(|(_, cell)| cell)).collect::<Vec<String>>()
    };
    let head = pick(["facts", "kept", "share", "reworded", "unknown"].map(String::from));
    let kinds = std::iter::once(Cells::Name).chain(std::iter::repeat(Cells::Count));
    let table = Table::new(head.into_iter().zip(kinds)).with(rows.into_iter().map(pick)).text(screen);
    let apart = comparison.unimportant();
    let note = format!(
        "not important: {} of {} kept; {} printed and not used",
        apart.kept,
        apart.total(),
        counted(comparison.printed, "name")
    );
    format!("\n{table}{}\n", screen.note(&note))
}

/// The worst losses, with their places and words.
fn losses(verified: &Verified) -> String {
    let losses = verified.comparison.losses();
    if losses.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nlost, most needed first\n");
    for judged in losses.iter().take(WORST) {
        let _ = writeln!(text, "  {}: {} ({})", judged.fact.kind.name(), described(judged), place(verified, judged));
        if let Some(near) = &judged.near {
            let _ = writeln!(text, "    AFTER says: {}", quoted(near));
        }
    }
    if losses.len() > WORST {
        let _ = writeln!(text, "  … and {} more (--output-format json lists all)", losses.len() - WORST);
    }
    text
}

/// The words of a fact, with its state.
pub(super) fn described(judged: &JudgedFact) -> String {
    shortened(&judged.fact.described())
}

fn place(verified: &Verified, judged: &JudgedFact) -> String {
    match judged.fact.message {
        Some(at) => {
            let line = verified.lines.get(at).copied().unwrap_or(1);
            format!("{}:{line}, message {at}", one_line(&verified.before.file))
        }
        None => String::from("outside the messages"),
    }
}

fn shortened(text: &str) -> String {
    let text = one_line(text);
    if text.chars().count() <= WIDTH {
        return text.into_owned();
    }
    let start: String = text.chars().take(WIDTH - 1).collect();
    format!("{}…", start.trim_end())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", shortened(text))
}

/// The sentence that decides.
pub(super) fn verdict(verified: &Verified, options: &VerifyOptions) -> String {
    let failing = Failing::all(verified, options);
    if !failing.is_empty() {
        return format!("failed: {}", failing.iter().map(Failing::sentence).collect::<Vec<_>>().join("; "));
    }
    let share = verified.comparison.all();
    match share.kept() {
        _ if share.unknown > 0 => {
            let known = counted(share.kept, "fact");
            format!("nobody can know: the compaction is encrypted; {known} can be read outside of it")
        }
        None => String::from("nothing to lose: no important fact was found"),
        Some(_) if share.lost == 0 => format!("kept all {}", counted(share.kept, "fact")),
        Some(kept) => format!("kept {} of {} ({})", share.kept, counted(share.all(), "fact"), percent(kept)),
    }
}

/// A table with a row for each comparison.
pub(crate) fn rows(all: &[Verified], options: &VerifyOptions) -> String {
    let mut sum = Share::default();
    let mut rows = Vec::new();
    for verified in all {
        let share = verified.comparison.all();
        sum = sum.and(share);
        let name = match verified.compaction {
            Some(number) => format!("{} #{number}", one_line(&verified.before.file)),
            None => one_line(&verified.before.file).into_owned(),
        };
        let failed = if Failing::all(verified, options).is_empty() { "" } else { "failed" };
        let worst = verified.comparison.losses().first().map_or_else(String::new, |judged| {
            format!("{}: {}", judged.fact.kind.name(), judged.fact.text.chars().take(40).collect::<String>())
        });
        rows.push([
            name,
            figure(verified.before.tokens),
            figure(verified.after.tokens),
            format!("{} of {}", share.kept, share.all()),
            kept(share),
            failed.to_owned(),
            one_line(&worst).into_owned(),
        ]);
    }
    let counts = ["before", "after", "kept", "share"].map(|title| (title, Cells::Count));
    let columns = std::iter::once(("file", Cells::Path)).chain(counts);
    let columns = columns.chain([("", Cells::Text), ("worst loss", Cells::Text)]);
    let table = Table::new(columns).with(rows).text(Screen::of_stdout());
    let what = counted(all.len(), if all.iter().all(|one| one.compaction.is_some()) { "compaction" } else { "pair" });
    format!("{table}\nverdict: {what}, kept {} of {} ({})\n", sum.kept, counted(sum.all(), "fact"), kept(sum))
}

fn kept(share: Share) -> String {
    if share.unknown > 0 { String::from("unknown") } else { share.kept().map_or_else(|| String::from("—"), percent) }
}

// For programs.

/// Raised when a member is removed or changes its meaning; new members do not raise it.
const VERSION: u32 = 1;

/// The JSON document of all comparisons.
pub(crate) fn document(all: &[Verified], options: &VerifyOptions) -> String {
    let mut sum = Share::default();
    let mut passed = true;
    let mut pairs = Vec::new();
    for verified in all {
        sum = sum.and(verified.comparison.all());
        passed &= Failing::all(verified, options).is_empty();
        pairs.push(pair(verified, options));
    }
    let mut summary = share_json(sum);
    summary["pairs"] = json!(all.len());
    summary["passed"] = json!(passed);
    format!("{:#}\n", json!({"version": VERSION, "pairs": pairs, "summary": summary}))
}

fn pair(verified: &Verified, options: &VerifyOptions) -> Value {
    let comparison = &verified.comparison;
    let side = |info: &crate::works::verify::SideInfo| json!({"file": info.file, "dialect": info.dialect, "tokens": info.tokens});
    let findings = verified.findings.as_ref().map(|findings| {
        let entry = |finding: &curtail_core::checks::Finding| json!({"code": finding.rule.code, "rule": finding.rule.name, "message": finding.message, "line": finding.at.line});
        findings.iter().map(entry).collect::<Vec<_>>()
    });
    let kinds: serde_json::Map<String, Value> = Kind::ALL
        .iter()
        .filter(|kind| comparison.of_kind(**kind).total() > 0)
        .map(|kind| (kind.name().to_owned(), share_json(comparison.of_kind(*kind))))
        .collect();
    let mut unimportant = share_json(comparison.unimportant());
    unimportant["printed"] = json!(comparison.printed);
    let mut pair = json!({
        "before": side(&verified.before),
        "after": side(&verified.after),
        "sound": findings.as_ref().map(Vec::is_empty),
        "cache": {"unchanged": verified.unchanged, "of": verified.before.tokens},
        "kept": share_json(comparison.all()),
        "kinds": kinds,
        "unimportant": unimportant,
        "facts": facts(verified),
        "claims": comparison.claims.iter().map(|claim| json!({"about": claim.about, "text": claim.text})).collect::<Vec<_>>(),
        "failed": Failing::all(verified, options).iter().map(Failing::name).collect::<Vec<_>>(),
    });
    if let Some(findings) = findings {
        pair["findings"] = json!(findings);
    }
    if let Some(number) = verified.compaction {
        pair["compaction"] = json!(number);
    }
    pair
}

fn share_json(share: Share) -> Value {
    let mut value =
        json!({"kept": share.kept, "lost": share.lost, "reworded": share.reworded, "unknown": share.unknown});
    value["share"] = json!(share.kept().filter(|_| share.unknown == 0));
    value
}

fn facts(verified: &Verified) -> Vec<Value> {
    let mut facts: Vec<Value> = verified.comparison.facts.iter().map(|judged| fact(verified, judged)).collect();
    for (fact, used) in facts.iter_mut().zip(&verified.used) {
        fact["used"] = json!(used);
    }
    facts
}

fn fact(verified: &Verified, judged: &JudgedFact) -> Value {
    let fact = &judged.fact;
    let mut value = json!({
        "kind": fact.kind.name(),
        "text": fact.text,
        "fate": judged.fate.name(),
        "important": fact.important,
        "message": fact.message,
    });
    if let Some(state) = fact.state {
        value["state"] = json!(state.name());
    }
    if let Some(line) = fact.message.and_then(|at| verified.lines.get(at)) {
        value["line"] = json!(line);
    }
    if let Some(near) = &judged.near {
        value["near"] = json!(near);
    }
    value
}

/// Losses that a CI shows beside the lines of a file, at most.
const ANNOTATIONS: usize = 50;

/// Workflow commands: an error for each loss of a comparison that failed, otherwise a warning.
pub(crate) fn workflow_commands(all: &[Verified], options: &VerifyOptions) -> String {
    let mut text = String::new();
    for verified in all {
        let failing = Failing::all(verified, options);
        let file = property(&verified.before.file);
        for judged in verified.comparison.losses().into_iter().take(ANNOTATIONS) {
            let is_required = options.require.contains(&judged.fact.kind);
            let is_error = is_required || failing.iter().any(|one| matches!(one, Failing::TooFew { .. }));
            let line = judged.fact.message.and_then(|at| verified.lines.get(at)).copied().unwrap_or(1);
            let title = property(&format!("lost {}", judged.fact.kind.name()));
            let near =
                judged.near.as_ref().map_or_else(String::new, |near| format!("\nAFTER says: {}", shortened(near)));
            let message = data(&format!("{}{near}", described(judged)));
            let _ = writeln!(
                text,
                "::{} file={file},line={line},title={title}::{message}",
                if is_error { "error" } else { "warning" }
            );
        }
        for one in &failing {
            let _ = writeln!(text, "::error file={file},title=verify::{}", data(&one.sentence()));
        }
    }
    text
}
