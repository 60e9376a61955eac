//! Makes the summaries that are due, and refuses one that keeps too little.

use super::input::SummaryInput;
use super::{InteractionRange, RollingSummary, RollingView, Summary, SummaryRange};
use crate::summarizers::{Budget, Failure, Speaker, Utterance};
use curtail_core::digest::fnv1a_64;
use curtail_core::processors::{Asked, OnSummary, ProcessorError};
use curtail_core::transcript::Message;

impl RollingSummary {
    /// Summarizes the ranges `due`. If a model makes the summaries, which takes seconds, each is made on a thread of its own.
    /// `on_summary` is called after each summary.
    ///
    /// # Errors
    /// The first range that could not be summarized, and why.
    pub fn summarize(
        &self,
        messages: &[Message<'_>],
        rolling: &RollingView,
        due: &[InteractionRange],
        on_summary: Option<&OnSummary>,
    ) -> Result<Vec<Summary>, ProcessorError> {
        if due.is_empty() {
            return Ok(Vec::new());
        }
        let inputs = self.inputs(messages, rolling, due);
        let make = |input: &SummaryInput<'_>| {
            let covered = messages.get(input.covered.clone()).unwrap_or_default();
            self.summarize_one(input, covered, on_summary).map_err(Some)
        };
        let texts: Vec<Result<String, Option<Failure>>> = if self.is_local(&inputs[0]) {
            inputs.iter().map(make).collect()
        } else {
            std::thread::scope(|scope| {
                let threads: Vec<_> = inputs.iter().map(|input| scope.spawn(|| make(input))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap_or(Err(None))).collect()
            })
        };
        let summaries = inputs.into_iter().zip(texts).map(|(input, text)| {
            let text = text.map_err(|cause| {
                let InteractionRange { start, end } = input.span;
                let cause = cause.map_or_else(|| String::from("the summarizer panicked"), |cause| cause.to_string());
                ProcessorError::Other(format!("cannot summarize interactions {start} to {end}: {cause}").into())
            })?;
            Ok(Summary { range: range_with_ids(messages, rolling, input.span), text, facts: input.facts, ts: None })
        });
        summaries.collect()
    }

    /// Whether summaries are made within this process, which is fast.
    fn is_local(&self, input: &SummaryInput<'_>) -> bool {
        let budget = Budget { tokens: input.tokens, count: &|text| self.tokenizer.count(text) };
        self.summarizer.request(&input.utterances, &budget).is_none()
    }

    /// The summary of `input`, which covers the messages of `covered`.
    fn summarize_one(
        &self,
        input: &SummaryInput<'_>,
        covered: &[Message<'_>],
        on_summary: Option<&OnSummary>,
    ) -> Result<String, Failure> {
        let text = self.ask(input, &input.utterances, on_summary)?;
        let Some((least, lacking)) = self.least_kept.and_then(|least| Some((least, least.lacks(covered, &text)?)))
        else {
            return Ok(text);
        };
        if !least.retry {
            return Err(Failure::Other(lacking.reason()));
        }
        let mut utterances = input.utterances.clone();
        utterances.push(Utterance::new(Speaker::Missing, lacking.list()));
        let text = self.ask(input, &utterances, on_summary)?;
        least.lacks(covered, &text).map_or(Ok(text), |lacking| Err(Failure::Other(lacking.reason())))
    }

    fn ask(
        &self,
        input: &SummaryInput<'_>,
        utterances: &[Utterance<'_>],
        on_summary: Option<&OnSummary>,
    ) -> Result<String, Failure> {
        let budget = Budget { tokens: input.tokens, count: &|text| self.tokenizer.count(text) };
        let text = self.summarizer.summarize(utterances, &budget)?;
        if let Some(observer) = on_summary {
            let request = self.summarizer.request(utterances, &budget);
            observer.call(request.map(|request| Asked {
                digest: fnv1a_64(request.to.bytes().chain(request.body.bytes())),
                tokens: self.tokenizer.count(&request.body),
            }));
        }
        Ok(input.summary(text, &Budget { tokens: self.tokens, ..budget }))
    }
}

/// `span` with the ids of its first and its last message with text.
fn range_with_ids(messages: &[Message<'_>], rolling: &RollingView, span: InteractionRange) -> SummaryRange {
    let first = rolling.interaction(span.start).and_then(|interaction| interaction.utterances.first());
    let last = rolling.interaction(span.end).and_then(|interaction| interaction.utterances.last());
    let [start_id, end_id] = [first, last].map(|at| Some(messages.get(*at?)?.id.as_ref()?.decode().into_owned()));
    SummaryRange { span, start_id, end_id }
}
