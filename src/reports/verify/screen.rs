//! The report of `verify` for people: the screen of one comparison, or a table of several.

use std::fmt::Write as _;

use super::{described, kept, percent, shares, shortened, verdict};
use crate::options::verify::VerifyOptions;
use crate::reports::screen::Screen;
use crate::reports::table::{Kind as Cells, Table};
use crate::works::verdict::Failing;
use crate::works::verify::{SideInfo, Verified};
use curtail_core::numbers::{counted, figure};
use curtail_core::visible::one_line;
use curtail_facts::verify::{JudgedFact, Share};

/// Losses on the screen of a comparison.
const WORST: usize = 5;

/// Claims on the screen of a comparison.
const CLAIMS: usize = 3;

/// The screen of one comparison.
pub(crate) fn screen(verified: &Verified, options: &VerifyOptions) -> String {
    let screen = Screen::of_stdout();
    let mut head = heading(verified);
    let _ = writeln!(head, "sound   {}", sound(verified));
    let share = of_all(verified.unchanged, verified.before.tokens);
    let _ = writeln!(head, "cache   AFTER begins with {share} of BEFORE's tokens");
    let mut rest = losses(verified) + &claims(verified);
    let _ = writeln!(rest, "\nverdict: {}", verdict(verified, &Failing::all(verified, options)));
    screen.wrapped(&head, 8) + &kinds(verified, screen) + &screen.wrapped(&rest, 4)
}

fn heading(verified: &Verified) -> String {
    let SideInfo { file, tokens, .. } = &verified.before;
    match verified.compaction {
        Some(number) => format!(
            "{}: compaction {number}, {} → {}\n",
            one_line(file),
            figure(*tokens),
            counted(verified.after.tokens, "token")
        ),
        None => format!("{} → {}\n", side(&verified.before), side(&verified.after)),
    }
}

fn side(info: &SideInfo) -> String {
    format!("{} ({}, {})", one_line(&info.file), info.dialect, counted(info.tokens, "token"))
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

/// A column of the table of kinds: its title, what it contains, and the cell of a kind.
type Column = (&'static str, Cells, fn(&'static str, Share) -> String);

/// The columns; those after the third are shown if a kind fills them.
const COLUMNS: &[Column] = &[
    ("facts", Cells::Name, |name, _| name.to_owned()),
    ("kept", Cells::Count, |_, share| format!("{} of {}", share.kept, share.all())),
    ("share", Cells::Count, |_, share| kept(share)),
    ("reworded", Cells::Count, |_, share| some(share.reworded)),
    ("unknown", Cells::Count, |_, share| some(share.unknown)),
];

/// A number; nothing for none.
fn some(count: usize) -> String {
    if count > 0 { count.to_string() } else { String::new() }
}

/// The table of the kinds.
fn kinds(verified: &Verified, screen: Screen) -> String {
    let shares = shares(verified);
    let mut columns: Vec<&Column> = COLUMNS.iter().collect();
    columns.retain(|(_, _, cell)| shares.iter().any(|(name, share)| !cell(name, *share).is_empty()));
    let rows = shares.iter().map(|(name, share)| columns.iter().map(|(_, _, cell)| cell(name, *share)));
    let table = Table::new(columns.iter().map(|(title, kind, _)| (*title, *kind))).with(rows).text(screen);
    let apart = verified.comparison.unimportant();
    let note = format!(
        "not important: {} of {} kept; {} printed and not used",
        apart.kept,
        apart.total(),
        counted(verified.comparison.printed, "name")
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

fn claims(verified: &Verified) -> String {
    let mut text = String::new();
    for claim in verified.comparison.claims.iter().take(CLAIMS) {
        let about = shortened(&claim.about);
        let _ = writeln!(text, "claim   {about} was only read; AFTER says: {}", quoted(&claim.text));
    }
    if let Some(more @ 1..) = verified.comparison.claims.len().checked_sub(CLAIMS) {
        let _ = writeln!(text, "claim   … and {more} more (--output-format json lists all)");
    }
    text
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

fn quoted(text: &str) -> String {
    format!("\"{}\"", shortened(text))
}

/// A table with a row for each comparison.
pub(crate) fn rows(all: &[Verified], options: &VerifyOptions) -> String {
    let counts = ["before", "after", "kept", "share"].map(|title| (title, Cells::Count));
    let columns = std::iter::once(("file", Cells::Path)).chain(counts);
    let columns = columns.chain([("", Cells::Text), ("worst loss", Cells::Text)]);
    let screen = Screen::of_stdout();
    let table = Table::new(columns).with(all.iter().map(|one| row(one, options, screen))).text(screen);
    let what = counted(all.len(), if all.iter().all(|one| one.compaction.is_some()) { "compaction" } else { "pair" });
    let sum = all.iter().fold(Share::default(), |sum, one| sum.and(one.comparison.all()));
    let verdict = match sum.all() {
        0 => String::from("nothing to lose"),
        all => format!("kept {} of {} ({})", sum.kept, counted(all, "fact"), kept(sum)),
    };
    format!("{table}\nverdict: {what}, {verdict}\n")
}

fn row(verified: &Verified, options: &VerifyOptions, screen: Screen) -> [String; 7] {
    let share = verified.comparison.all();
    let file = &verified.before.file;
    let losses = verified.comparison.losses();
    let worst = losses.first();
    [
        verified.compaction.map_or_else(|| file.clone(), |number| format!("{file} #{number}")),
        screen.number(verified.before.tokens),
        screen.number(verified.after.tokens),
        format!("{} of {}", share.kept, share.all()),
        kept(share),
        String::from(if Failing::all(verified, options).is_empty() { "" } else { "failed" }),
        worst.map_or_else(String::new, |judged| format!("{}: {}", judged.fact.kind.name(), judged.fact.text)),
    ]
}
