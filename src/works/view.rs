//! Draws transcripts, each as a section of a page or as text for a terminal.

use std::borrow::Cow;

use crate::console;
use crate::works::agents::AgentLog;
use curtail_core::checks::{Levels, LineIndex, Verdicts};
use curtail_core::dialects::{Dialect, Framing, ReadError, Reading};
use curtail_core::json::Document;
use curtail_core::pipeline::calibrated;
use curtail_core::processors::Counting;
use curtail_core::transcript::Transcript;
use curtail_io::batch::{Unit, Work};
use curtail_lab::replay::Prices;
use curtail_view::{
    Conversation, Exposure, Extras, Limits, Listed, Place, Policy, Rendered, Sources, Terminal, chat, masked, render,
};

/// Draws every transcript.
pub(crate) struct Viewer {
    pub(crate) counting: Counting,
    pub(crate) levels: Levels,
    pub(crate) policy: Option<Policy>,
    /// Whether only what the model still reads is drawn.
    pub(crate) live: bool,
    /// The number of inputs.
    pub(crate) files: usize,
    /// What models cost.
    pub(crate) prices: Prices,
    /// Whether keys and the names of home folders are blanked.
    pub(crate) masks: bool,
    /// How texts are drawn for a terminal; `None` for pages.
    pub(crate) terminal: Option<Terminal>,
    /// Whether each transcript has a page of its own, with an index.
    pub(crate) has_index: bool,
    /// How many characters of each text are shown on a page.
    pub(crate) max_text: usize,
}

impl Work for Viewer {
    type Out = Vec<Rendered>;

    fn unit(&self, unit: &Unit<'_>, out: &mut Vec<Rendered>) -> Result<(), ReadError> {
        let text = self.masked(unit.text);
        let document = unit.parse_as(&text)?;
        let transcripts = unit.transcripts(&document)?;
        let verdicts = self.levels.for_path(&unit.opened.source.name);
        let lines = LineIndex::new(&text);
        let exposure = Exposure::of_text(&text);
        let input = UnitFacts { lines: &lines, verdicts: &verdicts, exposure: &exposure };
        let count = transcripts.len();
        let logs = self.agent_logs(unit, count);
        let reading = Reading { framing: Framing::Lines, ..unit.opened.reading.clone() };
        let mut agents = Vec::new();
        for log in &logs {
            match reading.parse(&log.text) {
                Ok(document) => agents.push((log, document)),
                Err(error) => note_unread(log, &error),
            }
        }
        let mut drawn = Vec::new();
        for (nth, (dialect, transcript)) in transcripts.into_iter().enumerate() {
            if transcript.messages.is_empty() && unit.opened.reading.framing == Framing::Lines {
                continue;
            }
            let place = self.place(unit, nth, count);
            let mut conversation = self.conversation(place, dialect, transcript, &input, self.policy.as_ref())?;
            self.attach(&mut conversation, &agents, &reading, &verdicts);
            drawn.push(self.draw(&conversation));
        }
        out.append(&mut drawn);
        Ok(())
    }
}

/// Says that a sub-agent is missing on the page: what is wrong with its log is no fault of the session.
fn note_unread(log: &AgentLog, error: &ReadError) {
    console::note(&format!("{}: {}; this sub-agent is not on the page", log.name, error.what));
}

/// What is known of a text besides its transcripts.
#[derive(Clone, Copy)]
struct UnitFacts<'i> {
    lines: &'i LineIndex<'i>,
    verdicts: &'i Verdicts,
    exposure: &'i Exposure,
}

impl Viewer {
    /// The text that is shown: with `--mask`, as long and without what others should not see.
    fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.masks { masked(text) } else { Cow::Borrowed(text) }
    }

    /// The logs of sub-agents beside the session that is this unit.
    fn agent_logs(&self, unit: &Unit<'_>, transcripts: usize) -> Vec<AgentLog> {
        let is_session = unit.opened.reading.framing == Framing::Lines && transcripts == 1 && self.terminal.is_none();
        let Some(path) = unit.opened.source.path.as_deref().filter(|_| is_session) else { return Vec::new() };
        let (mut logs, unread) = AgentLog::beside(path);
        unread.iter().for_each(console::note);
        for log in &mut logs {
            log.text = self.masked(&log.text).into_owned();
            log.name = self.masked(&log.name).into_owned();
        }
        logs
    }

    /// Adds the conversations of sub-agents to the one that started them.
    fn attach<'a>(
        &self,
        conversation: &mut Conversation<'a>,
        agents: &'a [(&AgentLog, Document<'a>)],
        reading: &Reading,
        verdicts: &Verdicts,
    ) {
        for (nth, (log, document)) in agents.iter().enumerate() {
            let lines = LineIndex::new(&log.text);
            let exposure = Exposure::of_text(&log.text);
            let input = UnitFacts { lines: &lines, verdicts, exposure: &exposure };
            let anchor = format!("{}a{nth}-", conversation.place.anchor);
            let place = Place { name: log.name.clone(), within: String::new(), line: 1, offset: 0, anchor };
            let drawn: Result<Vec<_>, _> = reading.transcripts(document).and_then(|transcripts| {
                let all = transcripts.into_iter();
                all.map(|(dialect, one)| self.conversation(place.clone(), dialect, one, &input, None)).collect()
            });
            match drawn {
                Ok(drawn) => drawn.into_iter().for_each(|agent| {
                    conversation.attach(agent, log.notes.call.as_deref(), log.notes.description.clone());
                }),
                Err(error) => note_unread(log, &error),
            }
        }
    }

    fn conversation<'a>(
        &self,
        place: Place,
        dialect: &'static dyn Dialect,
        mut transcript: Transcript<'a>,
        input: &UnitFacts<'_>,
        policy: Option<&Policy>,
    ) -> Result<Conversation<'a>, ReadError> {
        let offset = transcript.layout.span.start as usize;
        let counting = calibrated(&self.counting, dialect, &transcript)?;
        let chain = policy.map(|policy| policy.chain.calibrated(dialect, &transcript)).transpose()?;
        if self.live {
            transcript.keep_live();
        }
        let recalibrated = policy.zip(chain.flatten());
        let recalibrated = recalibrated.map(|(policy, chain)| Policy { chain, label: policy.label.clone() });
        let sources = Sources {
            counting: &counting,
            verdicts: input.verdicts,
            lines: input.lines,
            policy: recalibrated.as_ref().or(policy),
            prices: Some(&self.prices),
            exposure: input.exposure,
        };
        Conversation::from_transcript(place, dialect, transcript, &sources)
            .map_err(|error| ReadError { offset, what: error.to_string() })
    }

    fn place(&self, unit: &Unit<'_>, nth: usize, count: usize) -> Place {
        let file = &unit.opened.source.name;
        let line = unit.line;
        let records = unit.opened.reading.framing == Framing::Records;
        let name = match (records, count) {
            (true, 1) => format!("{file}:{line}"),
            (true, _) => format!("{file}:{line} [{nth}]"),
            (false, 1) => file.clone(),
            (false, _) => format!("{file} [{nth}]"),
        };
        let name = self.masked(&name).into_owned();
        let numbers = records.then_some(line).into_iter().chain((count > 1).then_some(nth));
        let within = numbers.map(|number| number.to_string()).collect::<Vec<_>>().join("-");
        // A transcript with its own page needs no prefix of its anchors.
        let alone = self.has_index || self.files == 1 && !records && count == 1;
        let anchor = if alone { String::new() } else { format!("t{}-{line}-{nth}-", unit.opened.number) };
        Place { name, within, line, offset: unit.offset, anchor }
    }

    fn draw(&self, conversation: &Conversation<'_>) -> Rendered {
        let Some(terminal) = self.terminal else {
            let limits = Limits { max_text: self.max_text, ..Limits::default() };
            let compared = self.files == 2 && !self.has_index;
            return render(conversation, limits, Extras { compared, texts: self.has_index });
        };
        Rendered {
            listed: Listed::from_conversation(conversation),
            html: chat(conversation, terminal),
            compared: None,
            texts: None,
        }
    }
}
