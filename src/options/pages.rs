//! Where the pages of `view` are written.

use std::path::PathBuf;

use crate::options::files::written_path;

// What becomes of the pages.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PageFlags {
    /// Write the page to FILE; `-` is standard output. On a terminal, a page without FILE is opened
    #[arg(short, long, value_name = "FILE", conflicts_with = "output_dir", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,

    /// Write one page per transcript and an index to DIR
    #[arg(short = 'O', long, value_name = "DIR", value_parser = written_path(), help_heading = "Output")]
    pub(crate) output_dir: Option<PathBuf>,

    /// Overwrite existing pages
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    pub(crate) force: bool,

    /// Open the page in the browser
    #[arg(long, help_heading = "View")]
    pub(crate) open: bool,

    /// Print the conversation as text, through $PAGER on a terminal
    #[arg(long, conflicts_with_all = ["output", "output_dir", "open"], help_heading = "View")]
    pub(crate) text: bool,
}
