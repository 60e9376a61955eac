//! Hindsight: the references that each reply went on to use, and the calls that it repeated.

use foldhash::HashSet;

use super::calls::{Repeat, repeats};
use super::history::History;
use super::references;
use crate::calibration::{Request, Session};
use curtail_core::json::Text;
use curtail_core::transcript::Role;

/// What the reply to a request used.
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
}

/// What each request of `session` needed. References that instructions contain, and those of the request's own user message,
/// are not needed from the history.
pub(super) fn needs(history: &History<'_>, session: &Session, preamble: &[Text<'_>]) -> Vec<Needs> {
    let instructions = instructions(history, preamble);
    let repeats = repeats(&history.messages, session);
    let requests = session.requests.iter().zip(repeats);
    requests
        .map(|(request, repeats)| Needs { references: needed(history, session, request, &instructions), repeats })
        .collect()
}

fn instructions(history: &History<'_>, preamble: &[Text<'_>]) -> HashSet<u64> {
    let mut found = HashSet::default();
    let mut add = |reference: &str| {
        found.insert(references::digest(reference));
    };
    preamble.iter().for_each(|text| references::each_in_text(text, &mut add));
    let instructing = history.messages.iter().filter(|message| message.role.instructs());
    instructing.for_each(|message| references::each_in(message, &mut add));
    found
}

fn needed(history: &History<'_>, session: &Session, request: &Request, instructions: &HashSet<u64>) -> Vec<Needed> {
    let before = history.messages[..request.at].iter().rposition(|message| message.role == Role::Assistant);
    let own = before.map_or(0, |at| at + 1);
    let is_own = |at: usize| history.messages[at].speaks_as(Role::User);
    let (mut seen, mut needed) = (HashSet::default(), Vec::new());
    for &at in &request.reply {
        references::each_in(&history.messages[at], &mut |reference| {
            let digest = references::digest(reference);
            if !seen.insert(digest) || instructions.contains(&digest) {
                return;
            }
            let positions = history.index.before(digest, request.at);
            let was_said = positions.iter().any(|&at| !session.summaries[at]);
            let is_repeated = positions.iter().rev().take_while(|&&at| at >= own).any(|&at| is_own(at));
            if was_said && !is_repeated {
                needed.push(Needed { digest, text: reference.to_owned() });
            }
        });
    }
    needed
}
