//! What each reply turned out to need: the references that it used, and the calls that it repeated.

use foldhash::{HashMap, HashSet};

use super::history::History;
use super::repeats::{Repeat, repeats};
use crate::requests::{Request, Session};
use curtail_core::json::Text;
use curtail_core::transcript::Role;
use curtail_facts::references;

/// What the reply to a request used of the history.
#[derive(Debug, Clone, Default)]
pub(super) struct Needs {
    /// References that were made earlier in the session.
    pub(super) references: Vec<Needed>,
    /// Calls that were made before.
    pub(super) repeats: Vec<Repeat>,
}

/// A reference that a reply used.
#[derive(Debug, Clone)]
pub(super) struct Needed {
    /// Its digest.
    pub(super) digest: u64,
    /// Its text.
    pub(super) text: String,
    /// Whether the arguments of a call used it.
    pub(super) in_call: bool,
    /// Whether a result of the next requests shows it again.
    pub(super) shown_again: bool,
}

/// The number of requests within which a result that shows a reference again makes up for its loss.
const SHOWN_WITHIN: usize = 5;

/// What the reply to each request of `session` used. References in instructions and in user text after the last reply
/// are left out: they do not have to come from the history.
pub(super) fn needs(history: &History<'_>, session: &Session, preamble: &[Text<'_>]) -> Vec<Needs> {
    let instructions = instructions(history, preamble);
    let repeats = repeats(&history.messages, session);
    let requests = session.requests.iter().zip(repeats).enumerate();
    requests
        .map(|(nth, (request, repeats))| {
            let soon = session.requests.get(nth + SHOWN_WITHIN).map_or(history.messages.len(), |later| later.at);
            let mut references = used(history, session, request, &instructions);
            for reference in &mut references {
                let later = history.index.before(reference.digest, soon).iter().rev();
                let mut after = later.take_while(|&&at| at > request.at);
                reference.shown_again = after.any(|&at| history.messages[at].results().next().is_some());
            }
            Needs { references, repeats }
        })
        .collect()
}

/// The digests of the references in instructions.
fn instructions(history: &History<'_>, preamble: &[Text<'_>]) -> HashSet<u64> {
    let mut found = Vec::new();
    for text in preamble {
        references::each_in_text(text, &mut |reference| found.push(references::digest(reference)));
    }
    for message in history.messages.iter().filter(|message| message.role.instructs()) {
        references::each_in(message, &mut |reference| found.push(references::digest(reference)));
    }
    found.into_iter().collect()
}

/// The references that the reply to `request` used of the history. Whether they are shown again is not known yet.
fn used(history: &History<'_>, session: &Session, request: &Request, instructions: &HashSet<u64>) -> Vec<Needed> {
    let before = history.messages[..request.at].iter().rposition(|message| message.role == Role::Assistant);
    let after_reply = before.map_or(0, |at| at + 1);
    let mut seen: HashMap<u64, Option<usize>> = HashMap::default();
    let mut needed: Vec<Needed> = Vec::new();
    for &reply in &request.reply {
        references::each_use(&history.messages[reply], &mut |reference, in_call| {
            let digest = references::digest(reference);
            if let Some(known) = seen.get(&digest) {
                known.iter().for_each(|&nth| needed[nth].in_call |= in_call);
                return;
            }
            let positions = history.index.before(digest, request.at);
            let is_known = positions.iter().any(|&at| !session.summaries[at] && !request.is_rolled_back(at));
            let mut since = positions.iter().rev().take_while(|&&at| at >= after_reply);
            let is_repeated = since.any(|&at| history.messages[at].has_text_as(Role::User));
            let is_needed = is_known && !is_repeated && !instructions.contains(&digest);
            seen.insert(digest, is_needed.then_some(needed.len()));
            if is_needed {
                needed.push(Needed { digest, text: reference.to_owned(), in_call, shown_again: false });
            }
        });
    }
    needed
}
