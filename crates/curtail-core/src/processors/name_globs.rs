//! Globs of tool names, which remember whether they matched: one that never does is most likely misspelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use globset::GlobSet;

use super::InvalidGlob;
use crate::globs;
use crate::globs::Stars;

/// Globs that are matched against tool names: `*`, `?`, `[…]`, `{a,b}`.
///
/// ```
/// use curtail_core::processors::NameGlobs;
///
/// let globs = NameGlobs::compile(&["debug_*", "serach"])?;
/// assert!(globs.is_match("debug_print") && !globs.is_match("search"));
/// globs.see(["debug_print", "search"]);
/// assert_eq!(globs.unmatched().collect::<Vec<_>>(), ["serach"]);
/// # Ok::<(), curtail_core::processors::InvalidGlob>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct NameGlobs {
    set: GlobSet,
    /// The globs as they were written, each with whether it has matched. Clones share them.
    written: Arc<[(String, AtomicBool)]>,
}

impl NameGlobs {
    /// Compiles `globs`.
    ///
    /// # Errors
    /// One of them is not a valid glob.
    pub fn compile<S: AsRef<str>>(globs: &[S]) -> Result<Self, InvalidGlob> {
        let set = globs::compile(globs.iter().map(AsRef::as_ref), Stars::Anything)?;
        let written = globs.iter().map(|glob| (glob.as_ref().to_owned(), AtomicBool::new(false)));
        Ok(Self { set, written: written.collect() })
    }

    /// The same globs, none of which is missed if it matches nothing: the user did not write them.
    #[must_use]
    pub fn unwritten(self) -> Self {
        Self { written: Arc::default(), ..self }
    }

    /// Whether there is no glob.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Whether any of the globs matches `name`.
    #[must_use]
    pub fn is_match(&self, name: &str) -> bool {
        self.set.is_match(name)
    }

    /// Remembers which globs match one of `names`: those of all tools of a transcript, whatever is then asked of some.
    pub fn see<S: AsRef<str>>(&self, names: impl IntoIterator<Item = S>) {
        if self.unmatched().next().is_none() {
            return;
        }
        for name in names {
            for nth in self.set.matches(name.as_ref()) {
                self.written[nth].1.store(true, Ordering::Relaxed);
            }
        }
    }

    /// A sentence about each glob that has matched no name of those seen so far: most likely it is misspelled.
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        self.unmatched().map(|glob| format!("no tool matches `{glob}`; `curtail count --by tool` lists the tools"))
    }

    /// The globs that have matched no name of those seen so far.
    pub fn unmatched(&self) -> impl Iterator<Item = &str> {
        self.written.iter().filter(|(_, matched)| !matched.load(Ordering::Relaxed)).map(|(glob, _)| glob.as_str())
    }
}
