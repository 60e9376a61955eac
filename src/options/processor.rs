//! What the options of a processor are: values of flags and keys that become processors.

use std::fmt;

use crate::options::files::Reads;
use curtail_core::pipeline::Processors;
use curtail_core::processors::Counting;

/// The options of a processor.
pub(crate) trait Options: fmt::Debug {
    /// The processors that the options describe, in order. In a dry run, none of them runs a program or sends anything.
    ///
    /// # Errors
    /// An invalid pattern, an unknown tokenizer, or a file that cannot be read.
    fn processors(&self, dry_run: bool) -> anyhow::Result<Processors>;

    /// How the processors count tokens, if they do; totals are counted in the same way.
    ///
    /// # Errors
    /// An unknown tokenizer or model.
    fn counting(&self) -> anyhow::Result<Option<Counting>> {
        Ok(None)
    }

    /// The files that the processors read. Some may not exist.
    fn files(&self) -> Reads {
        Reads::default()
    }
}

/// The group of the flags whose keys only a file may set that the user wrote or named, besides those whose values are files:
/// they run a program, name a server, change what it is sent, or read the user's store. Their fields name the group.
pub(crate) const TRUSTED: &str = "trusted";
