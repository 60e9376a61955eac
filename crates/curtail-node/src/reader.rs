//! Readers: lists of records in, lists of answers out.

use std::sync::Arc;

use curtail_bindings::{Failure, Framed, Input, Run, Texts, explained, framing_of, whole};
use napi::bindgen_prelude::{AsyncTask, Either};
use napi::{Env, Result, Task};
use napi_derive::napi;

use crate::answer::{Answer, Failed, number};
use crate::command::Command;
use crate::record::{Record, Sent, error};

/// What a command knows of the records that it has read.
#[napi]
pub struct Reader {
    reader: Arc<curtail_bindings::Reader>,
}

/// What a cut does to a record.
#[napi(object, object_from_js = false)]
pub struct Explained {
    /// The number of messages before.
    pub messages_before: u32,
    /// The number of messages after.
    pub messages_after: u32,
    /// The number of tokens before.
    pub tokens_before: u32,
    /// The number of tokens after.
    pub tokens_after: u32,
    /// What was decided.
    pub explanations: Vec<Explanation>,
}

/// What was decided about a message.
#[napi(object, object_from_js = false)]
pub struct Explanation {
    /// The number of the message, from 0.
    pub message: Option<u32>,
    /// The name of the policy.
    pub policy: String,
    /// The message in words.
    pub subject: String,
    /// What was done, and why.
    pub outcome: String,
}

#[napi]
impl Reader {
    /// Nothing was read yet.
    #[napi(constructor)]
    #[must_use]
    pub fn new(command: &Command) -> Self {
        Self { reader: Arc::new(curtail_bindings::Reader::new(Arc::clone(&command.command))) }
    }

    /// Cuts records, of which `values` says which are the JSON of values, on `jobs` threads.
    #[napi]
    pub fn cut(&self, records: Vec<Sent>, values: Vec<bool>, jobs: u32) -> Result<Vec<Answer>> {
        let records = read(records, values);
        Ok(answers(&records, cut(&self.reader, &records, jobs)?))
    }

    /// Cuts records as `cut` does, while JavaScript runs on.
    #[napi]
    #[must_use]
    pub fn cut_later(&self, records: Vec<Sent>, values: Vec<bool>, jobs: u32) -> AsyncTask<Cutting> {
        AsyncTask::new(Cutting { reader: Arc::clone(&self.reader), records: read(records, values), jobs })
    }

    /// Cuts a log or a document as one transcript.
    #[napi]
    #[allow(clippy::needless_pass_by_value, reason = "a text of JavaScript becomes this one")]
    pub fn whole(&self, data: Sent, framing: String) -> Result<Answer> {
        let framing = framing_of(&framing).map_err(error)?;
        let record = Record::new(data, false);
        let result = record.text().and_then(|text| whole(&self.reader, text, framing));
        Ok(Answer::new(&record, result))
    }

    /// The findings in each record, as JSON.
    #[napi]
    #[allow(clippy::redundant_closure_for_method_calls, reason = "the method is for one lifetime")]
    pub fn check(&self, records: Vec<Sent>) -> Result<Vec<Either<String, Failed>>> {
        self.each(records, |texts, text| texts.check(text))
    }

    /// The number of tokens in a record.
    #[napi]
    pub fn count(&self, record: Sent) -> Result<Vec<Either<u32, Failed>>> {
        self.each(vec![record], |texts, text| texts.count(text).map(number))
    }

    /// What was decided about the messages of a record.
    #[napi]
    #[must_use]
    pub fn explain(&self, record: Sent) -> Either<Explained, Failed> {
        let record = Record::new(record, false);
        let answer = match record.text().and_then(|text| explained(&self.reader, text)) {
            Ok(answer) => answer,
            Err(failure) => return Either::B(failure.into()),
        };
        let explanations = answer.explained.into_iter().map(|decision| Explanation {
            message: decision.message.map(number),
            policy: decision.policy.to_owned(),
            subject: decision.subject,
            outcome: decision.outcome,
        });
        let tokens = answer.tokens.unwrap_or_default();
        Either::A(Explained {
            messages_before: number(answer.messages.0),
            messages_after: number(answer.messages.1),
            tokens_before: number(tokens.0),
            tokens_after: number(tokens.1),
            explanations: explanations.collect(),
        })
    }
}

impl Reader {
    /// What `work` makes of each record.
    fn each<T>(
        &self,
        records: Vec<Sent>,
        work: impl Fn(&Texts<'_>, &str) -> std::result::Result<T, Failure>,
    ) -> Result<Vec<Either<T, Failed>>> {
        let records: Vec<Record> = records.into_iter().map(|record| Record::new(record, false)).collect();
        let heads = records.iter().filter_map(|record| record.text().ok());
        let texts = Framed::new(&self.reader, heads).map_err(error)?;
        let answers = records.iter().map(|record| match record.text().and_then(|text| texts.with(text, &work)) {
            Ok(done) => Either::A(done),
            Err(failure) => Either::B(failure.into()),
        });
        Ok(answers.collect())
    }
}

/// Records that a thread of Node's pool cuts.
pub struct Cutting {
    reader: Arc<curtail_bindings::Reader>,
    records: Vec<Record>,
    jobs: u32,
}

impl Task for Cutting {
    type Output = Vec<curtail_bindings::CutResult>;
    type JsValue = Vec<Answer>;

    fn compute(&mut self) -> Result<Self::Output> {
        cut(&self.reader, &self.records, self.jobs)
    }

    fn resolve(&mut self, _: Env, results: Self::Output) -> Result<Self::JsValue> {
        Ok(answers(&self.records, results))
    }
}

fn read(records: Vec<Sent>, values: Vec<bool>) -> Vec<Record> {
    records.into_iter().zip(values).map(|(record, is_value)| Record::new(record, is_value)).collect()
}

fn cut(reader: &curtail_bindings::Reader, records: &[Record], jobs: u32) -> Result<Vec<curtail_bindings::CutResult>> {
    let inputs: Vec<Option<Input<'_>>> = records.iter().map(Record::input).collect();
    let run = Run::new(reader, &inputs, jobs as usize).map_err(error)?;
    run.advance(None);
    Ok(run.results().collect())
}

fn answers(records: &[Record], results: Vec<curtail_bindings::CutResult>) -> Vec<Answer> {
    records.iter().zip(results).map(|(record, result)| Answer::new(record, result)).collect()
}
