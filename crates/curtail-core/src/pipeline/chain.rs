//! A chain: processors in order, and what is done with the result. It knows no file and no configuration format.

use std::sync::Arc;

use crate::dialects::{Dialect, ReadError};
use crate::figures::StaleFigures;
use crate::processors::{Counting, OnSummary, Processor, Split, Thinking};
use crate::transcript::Transcript;

/// Processors in order.
pub type Processors = Vec<Box<dyn Processor>>;

/// A processor and its place in a chain.
#[derive(Clone)]
pub struct Stage {
    /// Where it is configured: `history`, `network support` or `agent greeter`; empty for a single command.
    pub level: String,
    /// The processor.
    pub processor: Arc<dyn Processor>,
}

impl Stage {
    /// The name that notes use: `filter at history`, or `filter` for a single command.
    #[must_use]
    pub fn label(&self) -> String {
        let name = self.processor.name();
        if self.level.is_empty() { name.to_owned() } else { format!("{name} at {}", self.level) }
    }
}

/// Processors in the order in which they are applied.
///
/// ```
/// use curtail_core::pipeline::Chain;
/// use curtail_core::processors::{HistoryWindow, ToolFilter};
///
/// let chain = Chain::default().then(ToolFilter::default()).then(HistoryWindow { size: 20, ..HistoryWindow::default() });
/// assert_eq!(chain.stages.len(), 2);
/// ```
#[derive(Clone, Default)]
pub struct Chain {
    /// The stages.
    pub stages: Vec<Stage>,
    /// Called after each summary that a stage makes.
    pub on_summary: Option<OnSummary>,
    /// What happens to signed thoughts after a change.
    pub thinking: Thinking,
    /// What happens to figures that the result makes wrong.
    pub figures: StaleFigures,
    /// How the result is split, if it is.
    pub splitting: Option<Splitting>,
}

/// How the result of a chain is split.
#[derive(Clone)]
pub struct Splitting {
    /// The windows.
    pub split: Split,
    /// Whether windows without a target are left out.
    pub drop_untrained: bool,
    /// The member of each record that is set to the numbers of the targets, if any is.
    pub mark: Option<String>,
    /// The member of each record, as keys joined by dots, that gets the number of the window as a suffix.
    pub id_key: Option<String>,
}

impl Splitting {
    /// Windows without marks.
    #[must_use]
    pub fn new(split: Split) -> Self {
        Self { split, drop_untrained: false, mark: None, id_key: None }
    }
}

impl Chain {
    /// Appends a processor without a level.
    #[must_use]
    pub fn then(mut self, processor: impl Processor + 'static) -> Self {
        self.stages.push(Stage { level: String::new(), processor: Arc::new(processor) });
        self
    }

    /// Appends processors of `level`, in order.
    #[must_use]
    pub fn at(mut self, level: &str, processors: Processors) -> Self {
        for processor in processors {
            self.stages.push(Stage { level: level.to_owned(), processor: Arc::from(processor) });
        }
        self
    }

    /// How many transcripts should be processed at once, because a stage waits for a server or a program; `None` if no stage
    /// waits.
    #[must_use]
    pub fn at_once(&self) -> Option<usize> {
        self.stages.iter().filter_map(|stage| stage.processor.traits().at_once).max()
    }

    /// The same chain, with an observer of its summaries.
    #[must_use]
    pub fn observed_by(&self, observer: OnSummary) -> Self {
        Self { on_summary: Some(observer), ..self.clone() }
    }

    /// The chain with countings that are calibrated for `transcript`; `None` if none has to be.
    ///
    /// # Errors
    /// The transcript has no usage of the provider.
    pub fn calibrated(&self, dialect: &dyn Dialect, transcript: &Transcript<'_>) -> Result<Option<Self>, ReadError> {
        let split = self.splitting.iter().map(|splitting| &splitting.split.counting);
        let mut countings = self.stages.iter().filter_map(|stage| stage.processor.counting()).chain(split);
        if !countings.any(|counting| counting.by_usage.is_some()) {
            return Ok(None);
        }
        let mut chain = self.clone();
        for stage in &mut chain.stages {
            let counting = stage.processor.counting().filter(|counting| counting.by_usage.is_some());
            let counting = counting.map(|counting| calibrated(counting, dialect, transcript)).transpose()?;
            if let Some(processor) = counting.and_then(|counting| stage.processor.with_counting(counting)) {
                stage.processor = processor;
            }
        }
        if let Some(Splitting { split, .. }) = &mut chain.splitting {
            split.counting = calibrated(&split.counting, dialect, transcript)?;
        }
        Ok(Some(chain))
    }
}

/// `counting` for `transcript`: calibrated if it has to be.
///
/// # Errors
/// The transcript has no usage of the provider.
pub fn calibrated(
    counting: &Counting,
    dialect: &dyn Dialect,
    transcript: &Transcript<'_>,
) -> Result<Counting, ReadError> {
    let Some(calibrate) = counting.by_usage else { return Ok(counting.clone()) };
    let offset = transcript.layout.span.start as usize;
    calibrate(dialect, transcript, counting).map_err(|what| ReadError { offset, what: what.to_owned() })
}
