//! The page of `verify`: what was lost, above the transcript that was cut and what is left of it.

use std::fmt::Display;

use curtail_core::checks::{Levels, LineIndex};
use curtail_core::numbers::{counted, figure};
use curtail_core::pipeline::calibrated;
use curtail_core::processors::Counting;
use curtail_facts::verify::Share;
use curtail_io::{ErrorKind, FileError};
use curtail_lab::replay::Prices;
use curtail_view::{
    Conversation, Exposure, Extras, Limits, Loss, Losses, Place, Rendered, Sources, comparison, losses, remaining,
    render,
};

use super::{described, kept, shares, verdict};
use crate::options::verify::VerifyOptions;
use crate::works::verdict::Failing;
use crate::works::verify::{SideInfo, Verified};
use crate::works::whole_file::WholeFile;

/// The row of a kind.
fn cells((name, share): (&str, Share)) -> [String; 3] {
    [name.to_owned(), format!("{} of {}", share.kept, share.all()), kept(share)]
}

/// How the page is drawn.
pub(crate) struct VerifyPage<'o> {
    pub(crate) options: &'o VerifyOptions,
    pub(crate) counting: Counting,
    pub(crate) prices: Prices,
    /// Whether it shows several transcripts, so that each section names its own.
    pub(crate) is_shared: bool,
}

/// The name of a transcript of a file that has `count` of them.
fn name_in(file: &str, nth: usize, count: usize) -> String {
    if count > 1 { format!("{file} [{nth}]") } else { file.to_owned() }
}

impl VerifyPage<'_> {
    /// The sections of the comparisons of one job: of a file, or of two.
    pub(crate) fn sections(
        &self,
        verified: &[Verified],
        before: &WholeFile,
        after: Option<&WholeFile>,
        number: usize,
    ) -> Result<String, FileError> {
        let drawn = self.drawn(before, &format!("b{number}-"))?;
        let left = match after {
            Some(after) if after.reading().is_some() => self.drawn(after, &format!("a{number}-"))?,
            _ => Vec::new(),
        };
        let mut html = String::new();
        for (nth, one) in drawn.iter().enumerate() {
            let own: Vec<&Verified> = verified.iter().filter(|verified| verified.transcript == nth).collect();
            for verified in &own {
                html += &losses(&self.losses(verified, drawn.len()), &format!("b{number}-{nth}-"));
            }
            if own.is_empty() {
                continue;
            }
            let other = left.get(nth);
            if let Some((one, other)) = one.compared.as_ref().zip(other.and_then(|other| other.compared.as_ref())) {
                html += &comparison(one, other);
            }
            if let Some(text) = after.filter(|after| after.reading().is_none()) {
                html += &remaining(&text.name, text.text());
            }
            html += &one.html;
            html += other.map_or("", |other| &other.html);
        }
        Ok(html)
    }

    /// What a comparison of one of `count` transcripts of a file shows.
    fn losses(&self, verified: &Verified, count: usize) -> Losses {
        let lost = verified.comparison.losses();
        let SideInfo { file, .. } = if verified.compaction.is_some() { &verified.before } else { &verified.after };
        let name = name_in(file, verified.transcript, count);
        Losses {
            title: match verified.compaction {
                Some(number) if self.is_shared => format!("What compaction {number} of {name} lost"),
                Some(number) => format!("What compaction {number} lost"),
                None => format!("What {name} lost"),
            },
            verdict: verdict(verified, &Failing::all(verified, self.options)),
            sizes: format!("{} → {}", figure(verified.before.tokens), counted(verified.after.tokens, "token")),
            kinds: shares(verified).into_iter().map(cells).collect(),
            lost: lost
                .into_iter()
                .map(|judged| Loss {
                    kind: judged.fact.kind.name(),
                    words: described(judged),
                    near: judged.near.clone(),
                    message: judged.fact.message.and_then(|at| *verified.places.get(at)?),
                })
                .collect(),
        }
    }

    /// The transcripts of a file, drawn as sections of a page.
    fn drawn(&self, file: &WholeFile, anchor: &str) -> Result<Vec<Rendered>, FileError> {
        let reading = file.transcript_reading()?;
        let document = file.parse(reading)?;
        let verdicts = Levels::default().for_path(&file.name);
        let lines = LineIndex::new(file.text());
        let exposure = Exposure::of_text(file.text());
        let transcripts = file.transcripts(reading, &document)?;
        let count = transcripts.len();
        let mut drawn = Vec::new();
        for (nth, (dialect, transcript)) in transcripts.into_iter().enumerate() {
            let counting =
                calibrated(&self.counting, dialect, &transcript).map_err(|error| failure(file, error.what))?;
            let sources = Sources {
                counting: &counting,
                verdicts: &verdicts,
                lines: &lines,
                policy: None,
                prices: Some(&self.prices),
                exposure: &exposure,
            };
            let place = Place {
                name: name_in(&file.name, nth, count),
                within: String::new(),
                line: 1,
                offset: 0,
                anchor: format!("{anchor}{nth}-"),
            };
            let conversation = Conversation::from_transcript(place, dialect, transcript, &sources)
                .map_err(|error| failure(file, error))?;
            drawn.push(render(&conversation, Limits::default(), Extras { compared: true, ..Extras::default() }));
        }
        Ok(drawn)
    }
}

fn failure(file: &WholeFile, error: impl Display) -> FileError {
    FileError::new(ErrorKind::Content, &file.name, error.to_string())
}
