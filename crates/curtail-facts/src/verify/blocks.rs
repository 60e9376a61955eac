//! Blocks of code between fences, and which of their lines say something as the text around them does. It knows no facts.

use std::sync::LazyLock;

use regex::Regex;

use super::languages::LANGUAGES;
use crate::fences::{FenceLine, Fences};

/// A block of code.
#[derive(Debug, Default)]
pub(super) struct Block<'t> {
    lines: Vec<&'t str>,
    /// The white space before its first fence.
    indent: &'t str,
    /// The language behind that.
    language: &'t str,
    is_example: bool,
    /// Whether it shows a traceback or the report of a failing test, in which what was printed may be indented.
    is_report: bool,
    is_closed: bool,
}

/// The name of an error in a line that a program prints of it.
static PRINTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:^|\s)[\w.]*[A-Z]\w*(?:Error|Exception): ").ok());

/// What is before the name of an error in code: a comment, or the word that raises or catches it.
static IN_CODE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\s*(?:#|--|/?\*)|//|\b(?:raise|throws?|except|catch|new|class)\b").ok());

/// A line that is a comment, or has one or a quotation: code that says something to others.
static QUOTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"^\s*(?://|#|--|/\*)|\s(?://|#) |"|\B'"#).ok());

impl<'t> Block<'t> {
    fn new(fence: &'t str, before: &str) -> Self {
        let bare = fence.trim_start();
        let language = bare.trim_start_matches(['`', '~']).split_whitespace().next().unwrap_or_default();
        Self {
            indent: &fence[..fence.len() - bare.len()],
            language,
            is_example: LANGUAGES.example.are_in(before),
            ..Self::default()
        }
    }

    fn push(&mut self, line: &'t str) {
        let line = line.strip_prefix(self.indent).unwrap_or(line);
        self.is_report |= line.starts_with("Traceback") || line.trim_start().starts_with('●');
        self.lines.push(line);
    }

    /// Whether a line of it tells something: it is in no code, nor in an example.
    pub(super) fn tells(&self, line: &str) -> bool {
        matches!(self.language, "" | "text" | "markdown")
            && !self.is_example
            && !QUOTED.as_ref().is_some_and(|quoted| quoted.is_match(line))
    }

    pub(super) const fn has_language(&self) -> bool {
        !self.language.is_empty()
    }

    /// Whether a program printed the line, which says what error it met. Outside of a report, what is only indented is code.
    pub(super) fn is_printed(&self, line: &str) -> bool {
        let line = if self.is_report { line.trim_start() } else { line };
        let Some(name) = PRINTED.as_ref().and_then(|printed| printed.find(line)) else { return false };
        let before = &line[..name.start()];
        let is_indented = line.starts_with(char::is_whitespace) && before.trim().is_empty();
        let is_quoted = ['"', '\''].iter().any(|quote| before.matches(*quote).count() % 2 == 1);
        !is_indented && !is_quoted && !IN_CODE.as_ref().is_some_and(|code| code.is_match(before))
    }

    /// Its lines that `keeps` takes; all of them, if nothing shows that it is code and nothing ends it.
    fn kept(&self, keeps: impl Fn(&Self, &str) -> bool) -> impl Iterator<Item = &'t str> {
        let is_text = !self.is_closed && !self.has_language();
        self.lines.iter().copied().filter(move |line| is_text || keeps(self, line))
    }
}

/// A text without its blocks of code, of which only the lines that `keeps` takes are left.
pub(super) fn without_code<'t>(text: &'t str, keeps: impl Fn(&Block<'t>, &str) -> bool) -> String {
    let mut fences = Fences::default();
    let mut block = Block::default();
    let mut before = "";
    let mut kept = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match fences.take(line) {
            FenceLine::Outside => {
                kept.push_str(line);
                before = if line.trim().is_empty() { before } else { line };
            }
            FenceLine::Opening => block = Block::new(line, before),
            FenceLine::Inside if fences.is_open() => block.push(line),
            FenceLine::Inside => {
                block.is_closed = true;
                kept.extend(block.kept(&keeps));
            }
        }
    }
    if fences.is_open() {
        kept.extend(block.kept(&keeps));
    }
    kept
}
