//! Writes the windows of a split transcript, each as a transcript of its own.

use std::ops::Range;

use super::chain::Splitting;
use super::cut::{Cut, Decider, Totals, Window, Writing};
use super::record_edits::RecordEdits;
use super::run::Run;
use super::separators::is_member;
use super::thoughts::ThoughtStep;
use crate::counting::token_count;
use crate::dialects::{Dialect, ReadError};
use crate::edit::Editor;
use crate::explain::{Explained, explain, explain_remark};
use crate::figures::{FigureEdits, StaleFigures};
use crate::processors::{
    Change, Decision, KnownFaults, Plan, Reason, Remark, SplitWindow, View, apply_plan, drop_standing, rewriting,
};
use crate::transcript::{Layout, Message, Pairs, Standing};

/// A transcript that is split, and the settings for writing its windows.
pub(super) struct Splitter<'s, 'a> {
    pub(super) splitting: &'s Splitting,
    /// Whether decisions are explained.
    pub(super) explain: bool,
    /// Whether tokens are counted.
    pub(super) counts: bool,
    /// What happens to the figures of the log.
    pub(super) figures: StaleFigures,
    pub(super) dialect: &'static dyn Dialect,
    pub(super) layout: &'s Layout<'a>,
    pub(super) editor: Editor<'s, 'a>,
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
        let known = KnownFaults::from_view(&View::of_layout(self.layout, &run.messages));
        let without_rolled_back = self.without_rolled_back(run, cut);
        let run = without_rolled_back.as_ref().unwrap_or(run);
        let windows = self.windows(&run.messages)?;
        let all = windows.len();
        let edits = RecordEdits::from_layout(self.splitting, self.layout).map_err(|what| self.error(what))?;
        let contents = self.contents(&run.messages, windows, &known, cut)?;
        let count = contents.len();
        let pairs = self.explain.then(|| Pairs::from_messages(&run.messages));
        let mut changed = all > 1 || count != all || run.changed || edits.marks();
        for (nth, (of_run, content)) in contents.iter().enumerate() {
            if let (Some(separator), true) = (self.separator, nth > 0) {
                out.push_str(separator);
            }
            let start = out.len();
            let window = self.describe(run, of_run, content, nth + 1, count);
            changed |= content.changed;
            let untouched = all == 1 && !run.changed && !content.changed;
            let figures = self.write_window(&content.messages, untouched, &edits, &window, out);
            totals.figures_reset += figures;
            if let Some(pairs) = &pairs {
                cut.explained.extend(beginning(run, pairs, of_run, &window));
                cut.explained.extend(Explained::of_figures(figures, offset).map(Decider::of_figures));
            }
            cut.windows.push(Window { written: start..out.len(), ..window });
        }
        Ok(changed)
    }

    /// The windows of `messages`, at least one.
    fn windows(&self, messages: &[Message<'a>]) -> Result<Vec<SplitWindow>, ReadError> {
        let view = View::of_layout(self.layout, messages);
        let mut windows = self.splitting.split.windows(&view).map_err(|error| self.error(error.to_string()))?;
        if windows.is_empty() {
            windows.push(SplitWindow::default());
        }
        Ok(windows)
    }

    /// The windows that are written, each with its content. Their number is refused if the output has no place for so many.
    fn contents(
        &self,
        messages: &[Message<'a>],
        windows: Vec<SplitWindow>,
        known: &KnownFaults,
        cut: &mut Cut,
    ) -> Result<Vec<(SplitWindow, WindowContent<'a>)>, ReadError> {
        let mut contents = Vec::with_capacity(windows.len());
        for window in windows {
            let content = self.content(messages, &window, known, cut);
            if !self.splitting.drop_untrained || content.has_target() {
                contents.push((window, content));
            }
        }
        match contents.len() {
            0 if self.separator.is_none() => {
                Err(self.error("no window of it has a target, and --drop-untrained leaves none".to_owned()))
            }
            count if count != 1 && self.separator.is_some() && is_member(self.layout) => Err(self.error(format!(
                "the document keeps this transcript under a name, and none of its {count} windows has one; write each transcript \
                 on a line of its own"
            ))),
            _ => Ok(contents),
        }
    }

    fn error(&self, what: String) -> ReadError {
        ReadError { offset: self.layout.record.start as usize, what }
    }

    /// `run` without the turns that were rolled back; `None` if there are none, or if everything fits into one window.
    fn without_rolled_back(&self, run: &Run<'a>, cut: &mut Cut) -> Option<Run<'a>> {
        run.messages.iter().any(|message| message.standing.is_rolled_back()).then_some(())?;
        let view = View::of_layout(self.layout, &run.messages);
        if self.splitting.split.windows(&view).is_ok_and(|windows| windows.len() <= 1) {
            return None;
        }
        let plan = drop_standing(&view, Standing::ROLLED_BACK);
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
        for at in &window.instructions {
            let Ok(nth) = all.binary_search(at) else { continue };
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
            let plan = thoughts.plan(&content.messages);
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
            pinned: sources(&run.messages, pinned),
            context: sources(&run.messages, window.context.iter().copied()),
            own: sources(&run.messages, window.own.clone()),
            targets: content.targets().collect(),
            messages: content.messages.len(),
            tokens,
            written: 0..0,
        }
    }

    /// Appends one window: the record around the messages, or all of the text around them. Returns for how many requests the
    /// figures were corrected.
    fn write_window(
        &self,
        messages: &[Message<'a>],
        untouched: bool,
        edits: &RecordEdits,
        window: &Window,
        out: &mut String,
    ) -> usize {
        let stale = if untouched { StaleFigures::Keep } else { self.figures };
        let figures = FigureEdits::find(self.layout, self.dialect, messages, stale);
        let Layout { source, span, record, .. } = *self.layout;
        let whole = 0..source.len();
        let range = self.separator.map_or(whole, |_| record.start as usize..record.end as usize);
        edits.copy(source, range.start..span.start as usize, window, &figures, out);
        if untouched {
            out.push_str(&source[span.start as usize..span.end as usize]);
        } else {
            self.editor.write(messages, &figures, out);
        }
        edits.copy(source, span.end as usize..range.end, window, &figures, out);
        figures.count
    }
}

/// That a window begins at the first message of its own that was read. A transcript that stays one window needs no
/// explanation.
fn beginning(run: &Run<'_>, pairs: &Pairs, of_run: &SplitWindow, window: &Window) -> Option<(Decider, Explained)> {
    let mut own = of_run.own.clone();
    let message = own.find(|at| run.messages[*at].source_index().is_some()).filter(|_| window.count > 1)?;
    let reason = format!(
        "window {} of {}: {} new and {} repeated messages, {}",
        window.number,
        window.count,
        count_in(&window.own),
        count_in(&window.pinned) + count_in(&window.context),
        token_count(window.tokens)
    );
    let remark = Remark { message, action: "begins", reason: Reason::Owned(reason) };
    Some((decider(), explain_remark(&run.messages, pairs, &remark)))
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

/// The indices that those of `messages` at `indices`, which ascend, had when they were read, as ranges.
fn sources(messages: &[Message<'_>], indices: impl IntoIterator<Item = usize>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for number in indices.into_iter().filter_map(|at| messages[at].source_index()) {
        match ranges.last_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => ranges.push(number..number + 1),
        }
    }
    ranges
}
