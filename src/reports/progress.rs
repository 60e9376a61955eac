//! The progress of a batch: bars on a terminal, a line every ten seconds in a log. It knows files, bytes and units, not
//! messages.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console;
use crate::options::global::{Global, When};
use curtail_core::numbers::{counted, figure};
use curtail_core::visible::one_line;
use curtail_io::Source;
use curtail_io::batch::BatchProgress;

/// A batch that ends sooner than this shows no bar.
const BAR_DELAY: Duration = Duration::from_millis(500);
/// How often a log gets a line.
const LOG_EVERY: Duration = Duration::from_secs(10);
/// A file of at least this size gets its own bar; the bars of smaller files would disappear before they can be read.
const OWN_BAR: u64 = 4 * 1024 * 1024;

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// Not at all.
    Never,
    /// Bars, once it has taken half a second.
    Bars,
    /// Bars from the start.
    BarsNow,
    /// A line every ten seconds, and one at the end.
    Lines,
}

impl Show {
    /// How progress is shown; `crowded` if standard output uses the same terminal.
    pub(crate) fn chosen(global: &Global, crowded: bool) -> Self {
        let terminal = console::err_is_terminal();
        match global.progress {
            When::Never => Self::Never,
            _ if global.quiet => Self::Never,
            When::Always if terminal => Self::BarsNow,
            When::Always => Self::Lines,
            When::Auto if terminal && !crowded && !global.environment.is_ci => Self::Bars,
            When::Auto => Self::Never,
        }
    }
}

/// Watches a batch and shows its progress on standard error.
#[derive(Debug, Default)]
pub(crate) struct Progress(Option<Mutex<Watch>>);

#[derive(Debug)]
struct Watch {
    show: Show,
    start: Instant,
    /// When the last line was written.
    last_line: Instant,
    total: Option<u64>,
    read: u64,
    units: usize,
    summaries: usize,
    bars: Option<Bars>,
    /// The files in progress, by number.
    files: BTreeMap<usize, FileProgress>,
}

#[derive(Debug)]
struct FileProgress {
    name: String,
    /// Its length, if known.
    len: Option<u64>,
    /// Bytes that were read of it.
    read: u64,
}

#[derive(Debug)]
struct Bars {
    all: MultiProgress,
    sum: ProgressBar,
    files: BTreeMap<usize, ProgressBar>,
}

impl Progress {
    /// Watches a batch of `sources`.
    pub(crate) fn new(show: Show, sources: &[Source]) -> Self {
        if show == Show::Never {
            return Self(None);
        }
        let now = Instant::now();
        Self(Some(Mutex::new(Watch {
            show,
            start: now,
            last_line: now,
            total: sources.iter().map(Source::len_hint).sum(),
            read: 0,
            units: 0,
            summaries: 0,
            bars: None,
            files: BTreeMap::new(),
        })))
    }

    /// Records a summary, of any file.
    pub(crate) fn summary(&self) {
        let Some(mut watch) = self.watch() else { return };
        watch.summaries += 1;
        watch.draw();
    }

    /// Writes something to standard error without disturbing the bars.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match self.watch().as_ref().and_then(|watch| watch.bars.as_ref()) {
            Some(bars) => bars.all.suspend(write),
            None => write(),
        }
    }

    /// Ends the progress of the batch: bars are removed, a log gets its last line.
    pub(crate) fn finish(&self) {
        let Some(mut watch) = self.watch() else { return };
        match watch.bars.take() {
            Some(bars) => {
                for bar in bars.files.values() {
                    bar.finish_and_clear();
                }
                bars.sum.finish_and_clear();
            }
            None if watch.show == Show::Lines => watch.line(),
            None => {}
        }
    }

    fn watch(&self) -> Option<MutexGuard<'_, Watch>> {
        self.0.as_ref().map(|watch| watch.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl BatchProgress for Progress {
    fn begin(&self, number: usize, source: &Source) {
        let Some(mut watch) = self.watch() else { return };
        let file = FileProgress { name: source.name.clone(), len: source.len_hint(), read: 0 };
        watch.files.insert(number, file);
        watch.draw();
    }

    fn advance(&self, number: usize, bytes: u64, units: usize) {
        let Some(mut watch) = self.watch() else { return };
        watch.read += bytes;
        watch.units += units;
        if let Some(file) = watch.files.get_mut(&number) {
            file.read += bytes;
        }
        watch.draw();
    }

    fn end(&self, number: usize) {
        let Some(mut watch) = self.watch() else { return };
        watch.files.remove(&number);
        if let Some(bar) = watch.bars.as_mut().and_then(|bars| bars.files.remove(&number)) {
            bar.finish_and_clear();
        }
    }
}

impl Watch {
    fn draw(&mut self) {
        match self.show {
            Show::Lines if self.last_line.elapsed() >= LOG_EVERY => {
                self.last_line = Instant::now();
                self.line();
            }
            Show::Never | Show::Lines => {}
            Show::Bars if self.bars.is_none() && self.start.elapsed() < BAR_DELAY => {}
            Show::Bars | Show::BarsNow => self.bars(),
        }
    }

    fn bars(&mut self) {
        let total = self.total;
        let start = self.start;
        let done = self.done();
        let bars = self.bars.get_or_insert_with(|| Bars::new(total, start));
        for (number, FileProgress { name, len, read }) in &self.files {
            if len.is_some_and(|len| len >= OWN_BAR) {
                let bar = bars.files.entry(*number).or_insert_with(|| file_bar(&bars.all, &bars.sum, name, *len));
                bar.set_position(*read);
            }
        }
        bars.sum.set_message(done);
        bars.sum.set_position(self.read);
    }

    /// `curtail: 1.2 GiB of 5.0 GiB, 120 MiB/s, 12,345 transcripts, 31 seconds left`
    fn line(&self) {
        let seconds = self.start.elapsed().as_secs_f64().max(1e-3);
        let rate = self.rate(seconds);
        let total = self.total.map_or_else(String::new, |total| format!(" of {}", HumanBytes(total)));
        let left = self.total.filter(|&total| total > self.read && rate > 0).map_or_else(String::new, |total| {
            format!(", {} left", HumanDuration(Duration::from_secs((total - self.read) / rate)))
        });
        let line =
            format!("curtail: {}{total}, {}/s, {}{left}\n", HumanBytes(self.read), HumanBytes(rate), self.done());
        console::err(&line);
    }

    /// `12,345 transcripts`, and the summaries that were made for them.
    fn done(&self) -> String {
        let transcripts = counted(self.units, "transcript");
        match self.summaries {
            0 => transcripts,
            1 => format!("{transcripts}, 1 summary"),
            more => format!("{transcripts}, {} summaries", figure(more)),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a rate to be read by people"
    )]
    fn rate(&self, seconds: f64) -> u64 {
        (self.read as f64 / seconds) as u64
    }
}

impl Bars {
    fn new(total: Option<u64>, start: Instant) -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let sum = all.add(total.map_or_else(ProgressBar::no_length, ProgressBar::new));
        sum.set_style(style(match total {
            Some(_) => "{wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {msg}, {eta} left",
            None => "{spinner} {bytes} {bytes_per_sec} {msg}, {elapsed}",
        }));
        let sum = sum.with_elapsed(start.elapsed());
        sum.enable_steady_tick(Duration::from_millis(250));
        Self { all, sum, files: BTreeMap::new() }
    }
}

fn file_bar(all: &MultiProgress, sum: &ProgressBar, name: &str, len: Option<u64>) -> ProgressBar {
    let bar = all.insert_before(sum, ProgressBar::new(len.unwrap_or(0)));
    bar.set_style(style("{bar:20} {percent:>3}% {msg}"));
    bar.set_message(one_line(name).into_owned());
    bar
}

/// The style of `template`. All templates here are valid; an invalid one would fall back to the plain bar.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
