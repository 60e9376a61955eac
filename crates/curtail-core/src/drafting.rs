//! What is new in a transcript, in its own format: drafts, and the patches of messages that changed.

use foldhash::HashMap;

use super::patches::{Removed, cuts, rewrites};
use crate::dialects::{Dialect, DialectWriter, Item, Patch, Written};
use crate::json::Document;
use crate::transcript::{Draft, DraftPart, DraftResult, Layout, Message, Origin, Part, PartOrigin, Standing, marked};

/// How what is new in a transcript is written.
pub(super) struct Drafting<'d, 'a> {
    layout: &'d Layout<'a>,
    dialect: &'d dyn Dialect,
    pub(super) writer: &'static dyn DialectWriter,
    /// The key by which the results of the transcript name their calls, if a result is new.
    result_key: Option<&'static str>,
}

impl<'d, 'a> Drafting<'d, 'a> {
    /// `None` if the format is only read.
    pub(super) fn new(layout: &'d Layout<'a>, dialect: &'d dyn Dialect, messages: &[Message<'_>]) -> Option<Self> {
        let writer = dialect.writer()?;
        let has_results = messages.iter().flat_map(|message| &message.parts).any(is_new_result);
        let result_key = if has_results { writer.result_key(&layout.elements) } else { None };
        Some(Self { layout, dialect, writer, result_key })
    }

    /// The drafts among `messages`, each in the format of the dialect.
    pub(super) fn written(&self, messages: &[Message<'_>]) -> Vec<Written> {
        let mut behind = vec![None; messages.len()];
        let mut nearest = Nearest::default();
        for (behind, message) in behind.iter_mut().zip(messages).rev() {
            *behind = nearest.to(message);
            nearest.pass(message);
        }
        nearest = Nearest::default();
        let mut written = Vec::new();
        let mut after = None;
        for (message, next) in messages.iter().zip(behind) {
            let Origin::Draft { anchor, id } = message.origin else {
                after = message.source_index();
                nearest.pass(message);
                continue;
            };
            let parts: Vec<DraftPart> = message.parts.iter().filter_map(|part| self.draft(part)).collect();
            let superseded = message.standing == Standing::Superseded;
            let mut draft = Draft { role: message.role, parts, beside: anchor.draft, superseded, links: None };
            draft.links = self.writer.links(&draft, anchor.value.or(self.layout.template));
            written.push(Written {
                text: self.write_message(message, &draft),
                draft,
                id,
                after,
                previous: nearest.to(message),
                next,
                abandoned: message.standing == Standing::Abandoned,
                live: message.standing.is_read(),
                place: anchor.value.map(|value| value.span().start),
            });
        }
        written
    }

    /// The draft `message` as JSON of the dialect.
    pub(super) fn write_message(&self, message: &Message<'_>, draft: &Draft) -> String {
        let Origin::Draft { anchor, .. } = message.origin else { return String::new() };
        let json = self.writer.write_message(draft, anchor.value.or(self.layout.template));
        if message.role.instructs() && message.parts.iter().any(is_block) && self.reads_as_instructions(&json) {
            return json;
        }
        message.parts.iter().fold(json, |json, part| with_mark(part, json))
    }

    /// Whether a message that was written is read as instructions: some formats have no such role in the list. No user and no tool
    /// has that role, so a block among instructions needs no mark.
    fn reads_as_instructions(&self, written: &str) -> bool {
        let Ok(document) = Document::parse(written) else { return false };
        let item = document.roots().next().map(|item| self.dialect.read(item));
        matches!(item, Some(Item::Message(message)) if message.role.instructs())
    }

    /// The draft of a part that is not in the bytes of its message yet.
    fn draft(&self, part: &Part<'_>) -> Option<DraftPart> {
        match &part.origin {
            PartOrigin::Moved(place) => Some(DraftPart::Verbatim(place.raw().into_owned())),
            PartOrigin::Draft(draft) => Some(match &**draft {
                DraftPart::ToolResult(result) => {
                    DraftPart::ToolResult(DraftResult { key: self.result_key, ..result.clone() })
                }
                draft => draft.clone(),
            }),
            PartOrigin::Block(text) => Some(DraftPart::Text(text.clone())),
            PartOrigin::Source(_) | PartOrigin::Rewritten(_) => None,
        }
    }

    /// The patches that turn the bytes of `message`, as it was read, into what it is now: parts that were cut, texts that were
    /// rewritten, results that were prepended.
    pub(super) fn patches(&self, message: &Message<'_>) -> Vec<Patch> {
        let mut removed = Removed::from_message(message);
        let front = self.front(message, &mut removed);
        let rewritten = message.parts.iter().flat_map(rewrites);
        cuts(message, &removed).into_iter().chain(rewritten).chain(front).collect()
    }

    /// The patch that puts the new parts of `message` before its others. What it takes out of `removed`, it replaces.
    fn front<'m>(&self, message: &Message<'m>, removed: &mut Removed<'m>) -> Option<Patch> {
        let new = message.parts.iter().filter_map(|part| Some((part, self.draft(part)?)));
        let written: Vec<String> = new.map(|(part, draft)| with_mark(part, self.writer.write_part(&draft))).collect();
        if written.is_empty() {
            return None;
        }
        let mut patch = self.writer.prepend_parts(message.value()?, &written)?;
        // A single object becomes a list. If the object was cut, the list does not contain it.
        if let Some(object) = removed.take_object(patch.span) {
            patch.text = patch.text.replacen(&["[", object.raw(), ","].concat(), "[", 1);
        }
        // No element follows, so the comma is left out.
        if patch.text.ends_with(',') && !removed.is_followed(message, &patch) {
            patch.text.pop();
        }
        Some(patch)
    }
}

fn is_new_result(part: &Part<'_>) -> bool {
    matches!(&part.origin, PartOrigin::Draft(draft) if matches!(**draft, DraftPart::ToolResult(_)))
}

const fn is_block(part: &Part<'_>) -> bool {
    matches!(part.origin, PartOrigin::Block(_))
}

/// `json`, in which `part` is written, with the mark of a block if it is one.
fn with_mark(part: &Part<'_>, json: String) -> String {
    match &part.origin {
        PartOrigin::Block(text) => marked(json, text),
        _ => json,
    }
}

/// The nearest messages of each conversation that are no drafts, in one direction.
#[derive(Default)]
struct Nearest {
    /// Index of the nearest one, and whether it is abandoned.
    any: HashMap<u32, (usize, bool)>,
    /// Index of the nearest one that is not abandoned.
    in_force: HashMap<u32, usize>,
}

impl Nearest {
    /// Goes on past `message`.
    fn pass(&mut self, message: &Message<'_>) {
        let Some(index) = message.source_index() else { return };
        let abandoned = message.standing == Standing::Abandoned;
        self.any.insert(message.thread, (index, abandoned));
        if !abandoned {
            self.in_force.insert(message.thread, index);
        }
    }

    /// The nearest message to a draft that is not abandoned, unless the draft is: then the nearest one, if it is, too.
    fn to(&self, draft: &Message<'_>) -> Option<usize> {
        match draft.standing {
            Standing::Abandoned => {
                self.any.get(&draft.thread).filter(|(_, abandoned)| *abandoned).map(|(index, _)| *index)
            }
            _ => self.in_force.get(&draft.thread).copied(),
        }
    }
}
