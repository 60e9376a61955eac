//! What a comparison requires, and how it is reported.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::options::numbers::{Share, Tokens};
use curtail_facts::verify::Kind;

// What must be kept. No doc comment: clap would show it as the help of the command.
#[derive(Debug, Clone, Args)]
pub(crate) struct VerifyOptions {
    /// Exit with 1 if less than this share of the important facts was kept
    #[arg(long, value_name = "SHARE", help_heading = "Requirements")]
    pub(crate) min_kept: Option<Share>,

    /// Exit with 1 if a fact of this kind was lost
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = kind(), help_heading = "Requirements")]
    pub(crate) require: Vec<Kind>,

    /// Print what was lost, most needed first, in at most N tokens, instead of the report
    #[arg(long, value_name = "N", help_heading = "Report")]
    pub(crate) give_back: Option<Tokens>,

    /// How to give back what was lost
    #[arg(id = "as", long = "as", value_enum, value_name = "FORM", default_value = "text", help_heading = "Report")]
    pub(crate) form: GivenForm,

    /// Compare the compactions of every input, and print a table
    #[arg(long, help_heading = "Report")]
    pub(crate) all: bool,

    /// Format of the report
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text", help_heading = "Report")]
    pub(crate) output_format: VerifyFormat,
}

/// How what was lost is given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GivenForm {
    /// A text, for a hook
    Text,
    /// AFTER or LOG, with a message where the model reads it
    Message,
}

/// The format of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerifyFormat {
    /// For people
    Text,
    /// One JSON document
    Json,
    /// A page: the transcript with what was lost, and what is left of it
    Html,
    /// Workflow commands: GitHub shows them beside the lines of a change
    Github,
}

/// The parser of a kind of facts.
fn kind() -> impl TypedValueParser<Value = Kind> {
    let values = Kind::ALL.map(|kind| PossibleValue::new(kind.name()));
    PossibleValuesParser::new(values)
        .try_map(|name| Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or("no such kind"))
}
