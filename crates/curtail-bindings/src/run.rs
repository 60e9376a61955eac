//! Cuts many records, on several threads if that is wanted, and stops now and then so that the host can look for signals.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use curtail::embedded::{Answer, Does, Failure, Reader, Texts};
use curtail_core::dialects::Framing;
use curtail_core::places::TextPlace;
use curtail_tokens::tokenizers::tokenizer_panic;

use crate::parts::{Parts, Pieces};

/// A record to cut.
#[derive(Debug, Clone, Copy)]
pub struct Input<'t> {
    /// Its text. A line end after it is kept.
    pub text: &'t str,
    /// Where its parts are, if it is a value of the host.
    pub parts: Option<&'t Parts>,
}

/// What becomes of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The record itself.
    Same,
    /// Another text.
    Text(String),
    /// What is left of a value of the host.
    Pieces(Pieces),
    /// The windows of a split.
    Windows(Vec<Outcome>),
}

/// The outcome, with what there is to say about it.
pub type CutResult = Result<(Outcome, Vec<(TextPlace, String)>), Failure>;

/// The texts of a reader: records of one line, and documents of several.
pub struct Framed<'r> {
    records: Texts<'r>,
    documents: Texts<'r>,
}

impl<'r> Framed<'r> {
    /// Begins to read texts, of which `heads` are the first.
    ///
    /// # Errors
    /// The dialect that was named is unknown.
    pub fn new<'h>(reader: &'r Reader, heads: impl IntoIterator<Item = &'h str>) -> Result<Self, Failure> {
        let records = reader.open(Framing::Records, heads)?;
        Ok(Self { records, documents: reader.open(Framing::Document, [])? })
    }

    /// What `work` makes of `text`, without the line end after it. A panic is a failure.
    ///
    /// # Errors
    /// Those of `work`.
    pub fn with<T>(&self, text: &str, work: impl FnOnce(&Texts<'r>, &str) -> Result<T, Failure>) -> Result<T, Failure> {
        let body = text.strip_suffix('\n').unwrap_or(text);
        let texts = if memchr::memchr(b'\n', body.as_bytes()).is_some() { &self.documents } else { &self.records };
        guarded(|| work(texts, body))
    }
}

/// Records that are being cut.
pub struct Run<'r, 't> {
    texts: Framed<'r>,
    splits: bool,
    inputs: &'t [Option<Input<'t>>],
    results: Vec<OnceLock<CutResult>>,
    next: AtomicUsize,
    jobs: usize,
}

impl<'r, 't> Run<'r, 't> {
    /// Begins to cut `inputs` on `jobs` threads; 0 means all cores. What is `None` is no record and stays as it is.
    ///
    /// # Errors
    /// The dialect that was named is unknown.
    pub fn new(reader: &'r Reader, inputs: &'t [Option<Input<'t>>], jobs: usize) -> Result<Self, Failure> {
        let heads = inputs.iter().flatten().map(|input| input.text);
        let jobs = if jobs == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { jobs };
        let jobs = if reader.command().is_ordered() { 1 } else { jobs.min(inputs.len()) };
        Ok(Self {
            texts: Framed::new(reader, heads)?,
            splits: reader.command().does() == Does::Split,
            inputs,
            results: inputs.iter().map(|_| OnceLock::new()).collect(),
            next: AtomicUsize::new(0),
            jobs,
        })
    }

    /// Cuts records until all are cut, or `until` has passed if it is given; returns whether all are cut.
    pub fn advance(&self, until: Option<Instant>) -> bool {
        if self.jobs < 2 {
            self.work(until);
        } else {
            std::thread::scope(|scope| {
                for _ in 0..self.jobs {
                    scope.spawn(|| self.work(until));
                }
            });
        }
        self.next.load(Ordering::Relaxed) >= self.inputs.len()
    }

    /// What became of each record. Call [`advance`](Self::advance) until it returns true before.
    pub fn results(self) -> impl Iterator<Item = CutResult> {
        self.results.into_iter().map(|result| {
            let result = result.into_inner();
            result.unwrap_or_else(|| Err(Failure::new("not cut yet")))
        })
    }

    fn work(&self, until: Option<Instant>) {
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(input) = self.inputs.get(at) else { return };
            let result = match input {
                None => Ok((Outcome::Same, Vec::new())),
                Some(input) => self.texts.with(input.text, |texts, body| self.cut(texts, body, *input)),
            };
            // Each index is handed out once.
            let _ = self.results[at].set(result);
            if until.is_some_and(|until| Instant::now() >= until) {
                return;
            }
        }
    }

    fn cut(&self, texts: &Texts<'_>, body: &str, Input { text, parts }: Input<'_>) -> CutResult {
        let mut out = String::new();
        let mut answer = texts.cut(body, &mut out)?;
        let notes = std::mem::take(&mut answer.notes);
        let outcome = match self.splits {
            true => Outcome::Windows(windows(text, parts, &out, &answer)),
            false if !answer.changed => Outcome::Same,
            false => {
                out.push_str(&text[body.len()..]);
                outcome(body, parts, out)
            }
        };
        Ok((outcome, notes))
    }
}

fn outcome(before: &str, parts: Option<&Parts>, after: String) -> Outcome {
    match parts {
        Some(parts) => Outcome::Pieces(parts.pieces(before, &after)),
        None => Outcome::Text(after),
    }
}

/// The windows of a split, each with the line end of the record; one if the record fits, none if nothing in it can be trained on.
fn windows(before: &str, parts: Option<&Parts>, after: &str, answer: &Answer) -> Vec<Outcome> {
    let line_end = &before[before.trim_end_matches('\n').len()..];
    match answer.windows.as_slice() {
        [_] if after.trim_end() == before.trim_end() => vec![Outcome::Same],
        windows => {
            let texts = windows.iter().map(|window| after[window.clone()].trim_end_matches('\n'));
            texts.map(|text| outcome(before, parts, format!("{text}{line_end}"))).collect()
        }
    }
}

/// Cuts a log or a document as one transcript.
///
/// # Errors
/// It is no transcript, cannot be cut, or becomes several.
pub fn whole(reader: &Reader, text: &str, framing: Framing) -> CutResult {
    let mut out = String::new();
    let mut answer = guarded(|| reader.open(framing, text.lines())?.cut(text, &mut out))?;
    if answer.windows.len() > 1 {
        let reason =
            format!("becomes {} transcripts, and `whole` returns one: run the program itself", answer.windows.len());
        return Err(Failure::new(reason));
    }
    let notes = std::mem::take(&mut answer.notes);
    Ok((if answer.changed { Outcome::Text(out) } else { Outcome::Same }, notes))
}

/// What the cut of a record does, and why, if the command explains.
///
/// # Errors
/// It is no transcript, or cannot be cut.
pub fn explained(reader: &Reader, text: &str) -> Result<Answer, Failure> {
    Framed::new(reader, [text])?.with(text, |texts, body| texts.cut(body, &mut String::new()))
}

/// Runs `work`; a panic is a failure of the record.
///
/// # Errors
/// Those of `work`.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let literal = panic.downcast_ref::<&str>().copied();
        let message = literal.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
        let reason = tokenizer_panic().map_or_else(|| format!("this is a bug in curtail: {message}"), str::to_owned);
        Err(Failure::new(reason))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Input, Outcome, Run, whole};
    use crate::{Framing, Reader, parsed};

    fn splitter() -> Reader {
        let words = ["split", "-t", "2"].map(str::to_owned);
        Reader::new(Arc::new(parsed(&words, false).unwrap()))
    }

    const LOG: &str = "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n";

    #[test]
    fn each_window_ends_as_its_record_did() {
        let record = format!("[{}]", LOG.repeat(3).trim_end().replace('\n', ","));
        for line_end in ["", "\n"] {
            let text = format!("{record}{line_end}");
            let reader = splitter();
            let inputs = [Some(Input { text: &text, parts: None })];
            let run = Run::new(&reader, &inputs, 1).unwrap();
            assert!(run.advance(None));
            let (outcome, _) = run.results().next().unwrap().unwrap();
            let Outcome::Windows(windows) = outcome else { panic!("{outcome:?}") };
            assert!(windows.len() > 1, "{windows:?}");
            for window in windows {
                assert!(
                    matches!(&window, Outcome::Text(text) if text.ends_with(&format!("]{line_end}"))),
                    "{window:?}"
                );
            }
        }
    }

    #[test]
    fn a_log_that_becomes_several_transcripts_is_not_one() {
        let reason = whole(&splitter(), &LOG.repeat(3), Framing::Lines).unwrap_err().reason;
        assert_eq!(reason, "becomes 3 transcripts, and `whole` returns one: run the program itself");
        assert!(matches!(whole(&splitter(), LOG, Framing::Lines), Ok((Outcome::Same, _))));
    }
}
