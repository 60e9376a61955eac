//! Writes the windows of a split transcript, each as a transcript of its own.

use std::ops::Range;

use super::chain::{Chain, Run, Splitting, ThoughtStep};
use super::cut::{Cut, Decider, Totals, Window, Writing};
use crate::counting::token_count;
use crate::dialects::{Dialect, Framing, ReadError, Reading};
use crate::edit::apply;
use crate::explain::{Explained, explain};
use crate::figures::{FigureEdits, StaleFigures, copy_with};
use crate::json::{Document, Value, quote};
use crate::processors::{
    Change, Decision, KnownFaults, Plan, Reason, Remark, SplitWindow, View, apply_plan, drop_standing, rewriting,
};
use crate::transcript::{Layout, Message, Standing, Transcript};

/// A transcript that is split, and the settings for writing its windows.
pub(super) struct Splitter<'s, 'a> {
    pub(super) chain: &'s Chain,
    pub(super) splitting: &'s Splitting,
    /// Whether decisions are explained.
    pub(super) explain: bool,
    /// Whether tokens are counted.
    pub(super) counts: bool,
    pub(super) dialect: &'static dyn Dialect,
    pub(super) layout: &'s Layout<'a>,
    pub(super) thoughts: Option<&'s ThoughtStep<'s>>,
    /// The separator between the windows; `None` if each is written as a separate file, with everything around the
    /// transcript.
    pub(super) separator: Option<&'s str>,
}

/// The messages of a window, and for each whether it is the window's own.
struct WindowContent<'a> {
    messages: Vec<Message<'a>>,
    own: Vec<bool>,
    changed: bool,
}

impl WindowContent<'_> {
    /// The numbers of the messages that are trained on.
    fn targets(&self) -> impl Iterator<Item = usize> {
        (0..self.messages.len()).filter(|&at| self.own[at] && self.messages[at].is_target())
    }

    fn has_target(&self) -> bool {
        self.targets().next().is_some()
    }
}

impl<'a> Splitter<'_, 'a> {
    /// Writes the text up to the record, and the windows of `run` in its place.
    pub(super) fn append(
        &self,
        run: &Run<'a>,
        totals: &mut Totals,
        Writing { text, at, cut, out, .. }: &mut Writing<'_>,
    ) -> Result<(), ReadError> {
        let record = self.layout.record;
        let before = cut.windows.len();
        let gap = out.len();
        if self.separator.is_some() {
            out.push_str(&text[*at..record.start as usize]);
        }
        let changed = self.write(run, totals, cut, out)?;
        let windows = &cut.windows[before..];
        let is_gone = windows.is_empty();
        totals.windows = windows.len();
        totals.changed = usize::from(changed);
        totals.messages_after = windows.iter().map(|window| window.messages).sum();
        if self.counts {
            totals.tokens_after = windows.iter().map(|window| window.tokens).sum();
        }
        cut.changed |= changed;
        cut.parts = self.separator.is_none();
        let end = record.end as usize;
        *at = match self.separator {
            None => text.len(),
            Some(_) if !is_gone => end,
            // The separator is dropped with the record: the one before it, or for the first record the one after it.
            Some(_) if before > 0 => {
                out.truncate(gap);
                end
            }
            Some(_) => {
                let behind = text[end..].trim_start();
                text.len() - behind.strip_prefix(',').unwrap_or(behind).trim_start().len()
            }
        };
        Ok(())
    }

    /// Appends the windows of `run` to `out`, and their places and explanations to `cut`; returns whether anything changed.
    fn write(&self, run: &Run<'a>, totals: &mut Totals, cut: &mut Cut, out: &mut String) -> Result<bool, ReadError> {
        let offset = self.layout.record.start as usize;
        let wrong = |what: String| ReadError { offset, what };
        let known = KnownFaults::from_view(&View::of_layout(self.layout, &run.messages));
        let told = self.without_taken_back(run, cut);
        let run = told.as_ref().unwrap_or(run);
        let view = View::of_layout(self.layout, &run.messages);
        let mut windows = self.splitting.split.windows(&view).map_err(|error| wrong(error.to_string()))?;
        if windows.is_empty() {
            windows.push(SplitWindow::default());
        }
        let all = windows.len();
        let edits = RecordEdits::from_layout(self.splitting, self.layout).map_err(wrong)?;
        let mut contents: Vec<(SplitWindow, WindowContent<'a>)> = Vec::with_capacity(windows.len());
        for window in windows {
            let content = self.content(&run.messages, &window, &known, cut);
            if !self.splitting.drop_untrained || content.has_target() {
                contents.push((window, content));
            }
        }
        if contents.is_empty() && self.separator.is_none() {
            return Err(wrong("no window of it has a target, and --drop-untrained leaves none".to_owned()));
        }
        let count = contents.len();
        if count != 1 && self.separator.is_some() && is_member(self.layout) {
            return Err(wrong(format!(
                "the document keeps this transcript under a name, and none of its {count} windows has one; write each transcript \
                 on a line of its own"
            )));
        }
        let mut changed = false;
        for (nth, (window, content)) in contents.iter().enumerate() {
            if let (Some(separator), true) = (self.separator, nth > 0) {
                out.push_str(separator);
            }
            let start = out.len();
            let window = self.describe(run, window, content, nth + 1, count);
            changed |= content.changed;
            let untouched = all == 1 && !run.changed && !content.changed;
            let figures = self.window(&content.messages, untouched, &edits, &window, out);
            totals.figures_reset += figures;
            self.explain(run, &window, cut);
            if self.explain {
                cut.explained.extend(Explained::of_figures(figures, offset).map(Decider::of_figures));
            }
            cut.windows.push(Window { written: start..out.len(), ..window });
        }
        Ok(all > 1 || count != all || run.changed || changed || edits.mark.is_some())
    }

    /// `run` without the turns that were taken back; `None` if there are none, or if everything fits into one window.
    fn without_taken_back(&self, run: &Run<'a>, cut: &mut Cut) -> Option<Run<'a>> {
        run.messages.iter().any(|message| message.standing.is_rolled_back()).then_some(())?;
        let view = View::of_layout(self.layout, &run.messages);
        if self.splitting.split.windows(&view).is_ok_and(|windows| windows.len() <= 1) {
            return None;
        }
        let plan = drop_standing(&view, Standing::TAKEN_BACK);
        if self.explain {
            cut.explained.extend(explain(&run.messages, &plan).into_iter().map(|decision| (decider(), decision)));
        }
        Some(run.after(&plan))
    }

    /// The messages of `window`, without the calls and results that its beginning separated.
    fn content(
        &self,
        messages: &[Message<'a>],
        window: &SplitWindow,
        known: &KnownFaults,
        cut: &mut Cut,
    ) -> WindowContent<'a> {
        let offset = self.layout.record.start as usize;
        let all = window.messages();
        let owned = all.iter().map(|at| window.own.contains(at)).collect();
        let mut content = WindowContent {
            messages: all.iter().map(|&at| messages[at].clone()).collect(),
            own: owned,
            changed: false,
        };
        let mut plan = rewriting(&all, &window.changes, &SHORTENED);
        for (nth, at) in all.iter().enumerate().filter(|(_, at)| window.instructions.contains(at)) {
            let parts = messages[*at].parts.iter().enumerate().filter(|(_, part)| !part.instructs());
            plan.decisions[nth] = Decision::Change(parts.map(|(part, _)| Change::Cut(part)).collect(), INSTRUCTIONS);
        }
        self.change(&mut content, &plan, cut);
        if let Some(note) = &window.note {
            cut.notes.push((offset, note.clone()));
        }
        while let Some(plan) = known.drop_separated(&View::of_layout(self.layout, &content.messages)) {
            let mut decisions = plan.decisions.iter().zip(&content.own);
            if decisions.any(|(decision, is_own)| *is_own && *decision != Decision::Keep) {
                cut.notes.push((offset, UNPAIRED.to_owned()));
            }
            self.change(&mut content, &plan, cut);
        }
        if let Some(thoughts) = self.thoughts {
            let plan = thoughts.plan(self.chain.thinking, self.layout, &content.messages);
            self.change(&mut content, &plan, cut);
            cut.notes.extend(plan.notes.into_iter().map(|note| (offset, note)));
        }
        content
    }

    fn change(&self, content: &mut WindowContent<'a>, plan: &Plan, cut: &mut Cut) {
        if plan.is_identity() {
            return;
        }
        if self.explain {
            cut.explained.extend(explain(&content.messages, plan).into_iter().map(|decision| (decider(), decision)));
        }
        let mut decisions = plan.decisions.iter();
        content.own.retain(|_| !matches!(decisions.next(), Some(Decision::Drop(_))));
        content.messages = apply_plan(std::mem::take(&mut content.messages), plan);
        content.changed = true;
    }

    fn describe(
        &self,
        run: &Run<'a>,
        window: &SplitWindow,
        content: &WindowContent<'a>,
        number: usize,
        count: usize,
    ) -> Window {
        let sources = |of: &mut dyn Iterator<Item = usize>| ranges(of.filter_map(|at| run.messages[at].source_index()));
        let mut pinned: Vec<usize> = window.pinned.iter().chain(&window.instructions).copied().collect();
        pinned.sort_unstable();
        let counting = &self.splitting.split.counting;
        let tokens = match content.changed {
            false => window.tokens,
            true => counting.total(&View::of_layout(self.layout, &content.messages)).unwrap_or(window.tokens),
        };
        Window {
            offset: self.layout.record.start as usize,
            number,
            count,
            pinned: sources(&mut pinned.into_iter()),
            context: sources(&mut window.context.iter().copied()),
            own: sources(&mut window.own.clone()),
            targets: content.targets().collect(),
            messages: content.messages.len(),
            tokens,
            written: 0..0,
        }
    }

    /// Writes one window: the record around the messages, or all of the text around them. Returns for how many requests the
    /// figures were corrected.
    fn window(
        &self,
        messages: &[Message<'a>],
        untouched: bool,
        edits: &RecordEdits,
        window: &Window,
        out: &mut String,
    ) -> usize {
        let stale = if untouched { StaleFigures::Keep } else { self.chain.figures };
        let figures = FigureEdits::find(self.layout, self.dialect, messages, stale);
        let Layout { source, span, record, .. } = *self.layout;
        let whole = 0..source.len();
        let range = self.separator.map_or(whole, |_| record.start as usize..record.end as usize);
        edits.copy(source, range.start..span.start as usize, window, &figures, out);
        if untouched {
            out.push_str(&source[span.start as usize..span.end as usize]);
        } else {
            apply(self.layout, self.dialect, messages, &figures, out);
        }
        edits.copy(source, span.end as usize..range.end, window, &figures, out);
        figures.count
    }

    fn explain(&self, run: &Run<'a>, window: &Window, cut: &mut Cut) {
        if !self.explain || window.count == 1 {
            return;
        }
        let first = window.own.first().map(|range| range.start);
        let is_first = |message: &Message<'_>| message.source_index() == first;
        let Some(message) = first.and_then(|_| run.messages.iter().position(is_first)) else { return };
        let reason = format!(
            "window {} of {}: {} new and {} repeated messages, {}",
            window.number,
            window.count,
            count_in(&window.own),
            count_in(&window.pinned) + count_in(&window.context),
            token_count(window.tokens)
        );
        let mut plan = Plan::keep(run.messages.len());
        plan.remarks.push(Remark { message, action: "begins", reason: Reason::Owned(reason) });
        cut.explained.extend(explain(&run.messages, &plan).into_iter().map(|decision| (decider(), decision)));
    }
}

/// Whether a transcript is the value of a member, so that no other can stand beside it.
fn is_member(layout: &Layout<'_>) -> bool {
    layout.source[..layout.record.start as usize].trim_end().ends_with(':')
}

const UNPAIRED: &str = "a broken pair of a call and its result spans two windows and was dropped; pass --repair";
const INSTRUCTIONS: Reason = Reason::Borrowed("every window repeats the instructions in it");
const SHORTENED: Reason = Reason::Borrowed("it does not fit into a window");

fn decider() -> Decider {
    Decider { level: String::new(), processor: "split" }
}

fn count_in(ranges: &[Range<usize>]) -> usize {
    ranges.iter().map(Range::len).sum()
}

/// Ascending numbers as ranges.
fn ranges(numbers: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => ranges.push(number..number + 1),
        }
    }
    ranges
}

/// Where a record is edited beside its messages: the numbers of the targets, and a suffix of the id.
#[derive(Debug, Default)]
struct RecordEdits {
    /// Before the quote that ends the id, in bytes of the source.
    id_end: Option<usize>,
    /// After the last member: the text before the numbers of the targets, and their separator.
    mark: Option<(usize, String, &'static str)>,
}

impl RecordEdits {
    /// The edits that `splitting` requires in the record of `layout`.
    ///
    /// # Errors
    /// The transcript is in no record, the id is not a string, or the mark exists already.
    fn from_layout(splitting: &Splitting, layout: &Layout<'_>) -> Result<Self, String> {
        let Splitting { mark, id_key, .. } = splitting;
        if mark.is_none() && id_key.is_none() {
            return Ok(Self::default());
        }
        let start = layout.record.start as usize;
        let end = layout.record.end as usize;
        if layout.record == layout.span {
            return Err(String::from("--mark and --id-key need records that are objects with a list of messages"));
        }
        let text = &layout.source[start..end];
        let document = Document::parse(text).map_err(|error| error.kind.to_string())?;
        let Some(record) = document.roots().next() else { return Ok(Self::default()) };
        let id_end = id_key.as_deref().map(|key| id_end(record, key)).transpose()?;
        let mark = mark.as_deref().map(|key| mark_place(record, text, key)).transpose()?;
        Ok(Self { id_end: id_end.map(|at| start + at), mark: mark.map(|(at, text, comma)| (start + at, text, comma)) })
    }

    /// Copies a range of `source` with the edits in it.
    fn copy(&self, source: &str, range: Range<usize>, window: &Window, figures: &FigureEdits, out: &mut String) {
        let id = self.id_end.filter(|_| window.count > 1).map(|at| (at, format!("#{}", window.number)));
        let mark = self.mark.as_ref().map(|(at, text, comma)| {
            let numbers: Vec<String> = window.targets.iter().map(ToString::to_string).collect();
            (*at, format!("{text}[{}]", numbers.join(comma)))
        });
        let own = id.into_iter().chain(mark).filter(|(at, _)| range.contains(at)).map(|(at, text)| (at..at, text));
        let mut edits: Vec<(Range<usize>, String)> = own.chain(figures.replacements()).collect();
        edits.sort_by_key(|(place, _)| place.start);
        copy_with(edits.into_iter(), source, range, out);
    }
}

fn id_end(record: Value<'_>, key: &str) -> Result<usize, String> {
    let id = key.split('.').try_fold(record, Value::get);
    let id = id.ok_or_else(|| format!("the record has no `{key}`; check --id-key"))?;
    if id.text().is_none() {
        return Err(format!("`{key}` is not a string, and only a string can get a suffix; check --id-key"));
    }
    Ok(id.span().end as usize - 1)
}

fn mark_place(record: Value<'_>, text: &str, key: &str) -> Result<(usize, String, &'static str), String> {
    if record.get(key).is_some() {
        return Err(format!("the record already has a member `{key}`; pass another --mark"));
    }
    let last = record.members().last().map_or(1, |member| member.value.span().end as usize);
    // The style of the record: with a space after colons and commas, or without.
    let spaced = record.members().any(|member| text[..member.value.span().start as usize].ends_with(' '));
    let (comma, colon) = if spaced { (", ", ": ") } else { (",", ":") };
    Ok((last, format!("{comma}{}{colon}", quote(key)), comma))
}

/// The separator between the windows of each record, which is that of the records. `None` if the transcript is a whole
/// file.
pub(super) fn separators(
    reading: &Reading,
    text: &str,
    transcripts: &[(&'static dyn Dialect, Transcript<'_>)],
) -> Vec<Option<String>> {
    let records: Vec<Range<usize>> = transcripts
        .iter()
        .map(|(_, transcript)| transcript.layout.record.start as usize..transcript.layout.record.end as usize)
        .collect();
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let separator = |nth: usize| match reading.framing {
        Framing::Lines => None,
        Framing::Records => Some(line_end.to_owned()),
        Framing::Document if is_alone(&records[nth], text) => None,
        Framing::Document => {
            let gap = |nth: usize| Some(&text[records.get(nth)?.end..records.get(nth + 1)?.start]);
            let gap = nth.checked_sub(1).and_then(gap).or_else(|| gap(nth)).filter(|gap| gap.trim() == ",");
            Some(gap.unwrap_or(", ").to_owned())
        }
    };
    (0..records.len()).map(separator).collect()
}

/// Whether `text` has nothing but white space around `record`.
fn is_alone(record: &Range<usize>, text: &str) -> bool {
    is_blank(&text[..record.start]) && is_blank(&text[record.end..])
}

fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim().is_empty()
}
