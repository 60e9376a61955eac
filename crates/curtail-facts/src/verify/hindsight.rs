//! Which facts the work after a cut came back to: what it looked up again, ran again, or said again. A name that the model used
//! without looking it up was still known: from what is left, or from anywhere else.

use super::Side;
use super::fact::{Fact, Kind};
use super::facts::{SideFacts, facts_of};
use super::judge::{CheckGroups, Fate, Wanted, decide, is_run};
use super::lexicon::{Lexicon, Term};
use super::sentence_index::SentenceIndex;
use super::voices::{Voice, read_messages};
use crate::calls::read_path;
use crate::paths;

/// Which facts of `before`, in the order of [`compare`](super::compare), the messages of `later` came back to: they read the file,
/// run the command or say the statement again, or use a name after something showed it to them again.
pub fn used(before: &Side<'_, '_>, later: &Side<'_, '_>) -> Vec<bool> {
    let SideFacts { facts, .. } = facts_of(before);
    let mut lexicon = Lexicon::default();
    let checks = CheckGroups::of(&facts);
    let wanted: Vec<Wanted> = facts.iter().map(|fact| Wanted::of(fact, &checks, &mut lexicon)).collect();
    let work = Work { index: SentenceIndex::of(later, &mut lexicon), read: read_again(later) };
    facts.iter().zip(&wanted).map(|(fact, wanted)| work.comes_back_to(fact, wanted)).collect()
}

/// What was done after a cut.
struct Work {
    index: SentenceIndex,
    /// The files that calls read.
    read: Vec<String>,
}

fn read_again(later: &Side<'_, '_>) -> Vec<String> {
    let calls = read_messages(later).flat_map(|(_, message)| message.calls());
    let mut read: Vec<String> =
        calls.flat_map(|(_, call)| read_path(&call.name.decode(), &call.arguments.decode())).collect();
    read.sort();
    read.dedup();
    read
}

impl Work {
    fn comes_back_to(&self, fact: &Fact, wanted: &Wanted) -> bool {
        match fact.kind {
            Kind::File => self.read.iter().any(|path| paths::same_file(path, &fact.text)),
            Kind::Identifier => wanted.names.iter().any(|term| self.looks_up(*term)),
            Kind::Check | Kind::Command => is_run(fact, wanted, &self.index),
            Kind::Rule | Kind::Task | Kind::Instruction | Kind::Todo | Kind::Error | Kind::Decision => {
                decide(fact, wanted, &self.index).fate == Fate::Kept
            }
        }
    }

    /// Whether the model uses a name after a tool or a person showed it. In the content of a file it only repeats what it read.
    fn looks_up(&self, term: Term) -> bool {
        let voices = self.index.with(term).map(|sentence| sentence.voice).filter(|voice| *voice != Voice::Content);
        voices.skip_while(|voice| voice.is_of_model()).any(Voice::is_of_model)
    }
}
