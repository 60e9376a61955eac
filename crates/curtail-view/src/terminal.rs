//! Prints a conversation as text for a terminal.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Effects, Style};

use super::capped::capped;
use super::conversation::Conversation;
use super::effect::{Drafted, Fate, PartFate, State, texts};
use super::outside::{Definitions, OutsideText};
use super::unread::{UnreadText, unread};
use super::visible::{line, size};
use super::writers::writer;
use curtail_core::json::Text;
use curtail_core::numbers::{counted, figure};
use curtail_core::transcript::{Content, Estimated, PartPlace, PartRef, Role, ToolResult};
use curtail_core::visible::{self, one_line};

/// How much of a conversation is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Whether arguments, results and reasoning are printed whole.
    pub full: bool,
    /// Maximum characters of a text that are printed.
    pub max_text: usize,
}

/// How many lines of a folded text are printed, with at most so many characters: a line of JSON may fill many screens.
const FOLDED_LINES: usize = 4;
const FOLDED_CHARS: usize = 1_000;
const QUIET: Style = Style::new().effects(Effects::DIMMED);
const BOLD: Style = Style::new().effects(Effects::BOLD);

/// The conversation with ANSI colors.
pub fn chat(conversation: &Conversation<'_>, terminal: Terminal) -> String {
    let mut chat = TerminalChat { conversation, terminal, out: String::new() };
    chat.headline();
    chat.preamble();
    let end = conversation.messages.len();
    for at in 0..end {
        conversation.drafts(at).iter().for_each(|draft| chat.draft(draft));
        chat.message(at);
    }
    conversation.drafts(end).iter().for_each(|draft| chat.draft(draft));
    chat.replies();
    chat.out
}

struct TerminalChat<'c, 'a> {
    conversation: &'c Conversation<'a>,
    terminal: Terminal,
    out: String,
}

impl TerminalChat<'_, '_> {
    fn push(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn headline(&mut self) {
        let Self { conversation, .. } = *self;
        let mut facts = vec![
            String::from(conversation.dialect),
            counted(conversation.messages.len(), "message"),
            counted(conversation.tokens(), "token"),
            counted(conversation.turns.len(), "turn"),
        ];
        facts.extend(conversation.model.as_deref().map(|model| one_line(model).into_owned()));
        let name = one_line(&conversation.place.name);
        self.push(&format!("{BOLD}{name}{BOLD:#}  {QUIET}{}{QUIET:#}", facts.join(" · ")));
        if let Some(effect) = &conversation.effect {
            let tokens = figure(effect.tokens);
            let messages = counted(effect.messages, "message");
            let [dropped, changed] = [State::Dropped, State::Changed].map(|state| figure(effect.count(state)));
            let label = one_line(&effect.label);
            self.push(&format!("{label}: {tokens} tokens, {messages}, {dropped} dropped, {changed} changed"));
        }
    }

    /// What is outside the messages and before them. Who wrote it is not known.
    fn preamble(&mut self) {
        let preamble = &self.conversation.outside.preamble;
        if preamble.is_empty() {
            return;
        }
        self.push(&format!("\n{BOLD}outside the messages{BOLD:#}"));
        for outside in &preamble.texts {
            self.folded(&outside.text.decode());
        }
        self.definitions(&preamble.definitions);
    }

    /// The tools: how much there is of them, and with `--full` all of it.
    fn definitions(&mut self, definitions: &Definitions<'_>) {
        if definitions.texts.is_empty() {
            return;
        }
        let size = format!("{}, {}", definitions.counted(), counted(definitions.characters(), "character"));
        if !self.terminal.full {
            return self.note("  ", &size, "--full");
        }
        self.push(&format!("{QUIET}{size}{QUIET:#}"));
        for outside in &definitions.texts {
            self.text(&outside.text.decode(), "  ");
        }
    }

    /// The replies of a model outside the messages.
    fn replies(&mut self) {
        let replies = &self.conversation.outside.replies;
        if !replies.is_empty() {
            let style = AnsiColor::Green.on_default().bold();
            self.push(&format!("\n{style}model, outside the messages{style:#}"));
        }
        for OutsideText { text, .. } in replies {
            if matches!(text, Text::Json(_)) {
                self.folded(&text.decode());
            } else {
                self.text(&text.decode(), "");
            }
        }
    }

    fn message(&mut self, at: usize) {
        let Self { conversation, .. } = *self;
        let message = &conversation.messages[at];
        let fate = conversation.fate(at);
        if conversation.is_boundary(at) {
            self.push(&format!("\n{BOLD}==== boundary ===={BOLD:#}"));
        }
        self.heading(at, fate);
        for nth in 0..message.parts.len() {
            let dropped = fate.is_some_and(|fate| fate.parts.get(nth) == Some(&PartFate::Dropped));
            if dropped && fate.is_some_and(|fate| fate.state == State::Changed) {
                let style = AnsiColor::Red.on_default();
                self.push(&format!("{style}dropped:{style:#}"));
            }
            self.part(PartRef { message: at, part: nth });
            self.unread(message.parts[nth].place().map_or(&[], PartPlace::estimated));
            if let Some(PartFate::Rewritten { text, .. }) = fate.and_then(|fate| fate.parts.get(nth)) {
                let style = AnsiColor::Magenta.on_default();
                self.push(&format!("{style}changed to:{style:#}"));
                self.text(text, "  ");
            }
        }
        self.unread(&message.estimated);
    }

    fn heading(&mut self, at: usize, fate: Option<&Fate>) {
        let message = &self.conversation.messages[at];
        let style = color(message.role).on_default().bold();
        let tokens = counted(self.conversation.costs[at].tokens, "token");
        let thread = if message.thread > 0 { format!(" thread {}", message.thread) } else { String::new() };
        let mut heading =
            format!("\n{style}{} {at}{style:#}{thread} {QUIET}{tokens}{QUIET:#}", self.conversation.writer(at));
        for reason in fate.into_iter().flat_map(|fate| &fate.reasons) {
            let style = AnsiColor::Red.on_default();
            // Writing to a String cannot fail.
            let _ = write!(heading, " {style}[{}]{style:#}", one_line(reason));
        }
        self.push(&heading);
    }

    fn part(&mut self, at: PartRef) {
        let Self { conversation, terminal, .. } = *self;
        let part = conversation.part(at);
        if let Some(speaker) = conversation.speaker(at) {
            self.push(&format!("{QUIET}{speaker}:{QUIET:#}"));
        }
        match &part.content {
            Content::Text(text) => self.text(&text.decode(), ""),
            Content::Reasoning(text) if text.is_blank() => {
                self.push(&format!("{QUIET}thinking, hidden by the provider{QUIET:#}"));
            }
            Content::Reasoning(text) => {
                self.push(&format!("{QUIET}thinking{QUIET:#}"));
                self.folded(&text.decode());
            }
            Content::ToolCall(call) => {
                let name = call.name.decode();
                let arguments = call.arguments.decode();
                let (whole, cut) = capped(&arguments, terminal.max_text);
                let shown = if terminal.full { whole.into() } else { line(&arguments, 100) };
                let name = one_line(&name);
                let shown = visible::lines(&shown);
                let unanswered =
                    if conversation.pairs.counterpart(at).is_none() && !call.hosted { " (no result)" } else { "" };
                self.push(&format!("{BOLD}> {name}{BOLD:#} {shown}{unanswered}"));
                if terminal.full && cut > 0 {
                    self.note("  ", &counted(cut, "more character"), "--max-text");
                }
            }
            Content::ToolResult(result) => self.result(at, result),
            Content::Media(text) => self.push(&format!("[image or file, {}]", size(text.len_bound()))),
            Content::Unknown(text) => {
                self.push(&format!("{QUIET}other content, {}{QUIET:#}", size(text.len_bound())));
                self.folded(&text.decode());
            }
            Content::Other => self.push("[other content]"),
        }
    }

    fn result(&mut self, at: PartRef, result: &ToolResult<'_>) {
        let call = match self.conversation.pairs.counterpart(at) {
            Some(call) => format!("of message {}", call.message),
            None => String::from("without a call"),
        };
        let name = self.conversation.tool(at);
        let name = one_line(&name);
        self.push(&format!("{BOLD}< {name}{BOLD:#} {QUIET}{call}{QUIET:#}"));
        for text in result.content.iter().filter(|text| !text.is_blank()).map(Text::decode) {
            self.folded(&text);
        }
        if result.media > 0 {
            self.push(&format!("  [{}]", counted(result.media, "image or file")));
        }
    }

    fn draft(&mut self, draft: &Drafted<'_>) {
        let style = AnsiColor::Magenta.on_default().bold();
        let writer = writer(&draft.message);
        let tokens = counted(draft.tokens, "token");
        self.push(&format!("\n{style}{writer} added{style:#} {QUIET}{tokens}{QUIET:#}"));
        for text in draft.message.parts.iter().flat_map(|part| texts(&part.content)) {
            self.text(&text, "");
        }
    }

    /// Prints the texts of members that the format does not define.
    fn unread(&mut self, texts: &[Estimated<'_>]) {
        for UnreadText { name, text, .. } in unread(texts) {
            self.push(&format!("{QUIET}{}, {}{QUIET:#}", one_line(&name), size(text.len())));
            self.folded(&text);
        }
    }

    /// Prints a text below its heading: its beginning, or with `--full` as much of it as of any text.
    fn folded(&mut self, text: &str) {
        let shown = self.capped(text).0;
        let head = beginning(shown);
        if self.terminal.full || head.len() == shown.len() {
            return self.text(text, "  ");
        }
        self.lines(head, "  ");
        // What `--full` would not print either counts as well.
        let rest = text[head.len()..].trim_end_matches('\n');
        let more = match rest.strip_prefix('\n') {
            Some(lines) => counted(lines.split('\n').count(), "more line"),
            None => counted(rest.chars().count(), "more character"),
        };
        self.note("  ", &more, "--full");
    }

    /// Prints a text, each line after `indent`.
    fn text(&mut self, text: &str, indent: &str) {
        let (shown, cut) = self.capped(text);
        self.lines(shown, indent);
        if cut > 0 {
            self.note(indent, &counted(cut, "more character"), "--max-text");
        }
    }

    /// The text that is printed at most, and the number of characters after it.
    fn capped<'t>(&self, text: &'t str) -> (&'t str, usize) {
        let (shown, cut) = capped(text, self.terminal.max_text);
        (shown.trim_end_matches('\n'), cut)
    }

    fn lines(&mut self, text: &str, indent: &str) {
        for line in text.split('\n') {
            self.push(&format!("{indent}{}", visible::lines(line)));
        }
    }

    /// Notes how much more there is, and the flag that prints it.
    fn note(&mut self, indent: &str, more: &str, flag: &str) {
        self.push(&format!("{indent}{QUIET}… {more} ({flag}){QUIET:#}"));
    }
}

/// What is printed of a folded text: its first lines, unless they are long.
fn beginning(text: &str) -> &str {
    let end = text.match_indices('\n').nth(FOLDED_LINES - 1).map_or(text.len(), |(at, _)| at);
    capped(&text[..end], FOLDED_CHARS).0
}

const fn color(role: Role) -> AnsiColor {
    match role {
        Role::User => AnsiColor::Blue,
        Role::Assistant => AnsiColor::Green,
        Role::Tool => AnsiColor::Yellow,
        Role::System | Role::Developer => AnsiColor::Cyan,
    }
}
