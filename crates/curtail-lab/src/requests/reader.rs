//! Reads a log item by item: which messages belong to which conversation, where requests were made, and what they cost.

use std::collections::BTreeMap;
use std::ops::Range;

use foldhash::HashMap;

use curtail_core::calendar::seconds;
use curtail_core::dialects::Dialect;
use curtail_core::json::Value;
use curtail_core::transcript::{Message, Role, Usage};

use super::live::Live;
use super::{Request, Session, hash};

/// An item of a log.
pub(super) struct Element<'a> {
    /// Its index.
    pub(super) nth: usize,
    pub(super) item: Value<'a>,
    /// What the provider counted, if the item says it.
    pub(super) usage: Option<Usage>,
    /// If the item is a compaction: the indices of the messages before it that the model still reads, as ranges.
    pub(super) kept: Option<Vec<Range<usize>>>,
}

/// The conversations of a log so far.
pub(super) struct Reader<'d> {
    conversations: BTreeMap<u32, Conversation>,
    announced: Announced<'d>,
    /// Whether usage precedes its reply.
    precedes_reply: bool,
    /// The usage of the last item that is not a message: logs repeat it.
    last: Option<Usage>,
}

/// What items before a reply say of it.
struct Announced<'d> {
    dialect: &'d dyn Dialect,
    /// Usage for the next reply.
    usage: Option<Usage>,
    /// The model that the last item named.
    model: Option<String>,
}

/// A conversation of the log so far.
#[derive(Default)]
struct Conversation {
    session: Session,
    live: Live,
    /// Whether the previous message was part of a list that replaces everything before it.
    replacing: bool,
    /// The request of each reply, by the provider's id.
    by_id: HashMap<String, usize>,
    /// The request whose reply may continue in the next message.
    open: Option<usize>,
}

impl<'d> Reader<'d> {
    /// A reader of a log whose first replies are of `model`.
    pub(super) const fn new(dialect: &'d dyn Dialect, model: Option<String>, precedes_reply: bool) -> Self {
        let announced = Announced { dialect, usage: None, model };
        Self { conversations: BTreeMap::new(), announced, precedes_reply, last: None }
    }

    /// Rolls back the main conversation at the item `element`: from the item `first` on, and so from the message with the index
    /// `message` on.
    pub(super) fn roll_back(&mut self, element: usize, first: usize, message: usize) {
        let main = self.conversations.entry(0).or_default();
        main.live.roll_back(element, first, main.position_of(message), main.session.messages.len());
    }

    /// Reads a message, by its index in the transcript.
    pub(super) fn message(&mut self, element: &Element<'_>, index: usize, message: &Message<'_>) {
        let conversation = self.conversations.entry(message.thread).or_default();
        conversation.session.thread = message.thread;
        let at = conversation.session.messages.len();
        let replaces = message.is_in_compaction();
        let is_boundary = replaces || message.is_boundary() || element.kept.is_some();
        let is_reply = message.role == Role::Assistant && !replaces;
        conversation.session.messages.push(index);
        // A reply that also compacts may contain other parts than the summary.
        conversation.session.summaries.push(is_boundary && !(is_reply && message.parts.len() > 1));
        let continues = replaces && conversation.replacing;
        conversation.replacing = replaces;
        if is_reply {
            self.announced.name_model(element.item);
            conversation.reply(element, at, &mut self.announced);
        } else {
            conversation.open = None;
        }
        // The request of a reply still sent what the reply replaces.
        if is_boundary && (is_reply || !conversation.live.add_summary(at, continues)) {
            conversation.compact(element, at..at + 1);
        }
    }

    /// Reads an item that is not a message.
    pub(super) fn metadata(&mut self, element: &Element<'_>) {
        self.announced.name_model(element.item);
        let main = self.conversations.entry(0).or_default();
        if element.kept.is_some() {
            let at = main.session.messages.len();
            main.compact(element, at..at);
        }
        let Some(usage) = element.usage.filter(|usage| usage.input > 0) else { return };
        if self.last.replace(usage) == Some(usage) {
            return;
        }
        main.open = None;
        if self.precedes_reply {
            self.announced.usage = Some(usage);
        } else if let Some(request) = main.session.requests.last_mut() {
            request.usage = request.usage.or(Some(usage));
        }
    }

    /// The conversations, the main one first.
    pub(super) fn finish(self) -> Vec<Session> {
        self.conversations.into_values().map(Conversation::finish).collect()
    }
}

impl Announced<'_> {
    fn name_model(&mut self, item: Value<'_>) {
        if let Some(model) = self.dialect.model(item) {
            self.model = Some(model.decode().into_owned());
        }
    }
}

impl Conversation {
    /// Replaces everything so far by the messages at `summaries` and those that a compaction kept.
    fn compact(&mut self, element: &Element<'_>, summaries: Range<usize>) {
        let kept = element.kept.iter().flatten();
        let kept: Vec<Range<usize>> = kept.map(|run| self.position_of(run.start)..self.position_of(run.end)).collect();
        self.live.compact(element.nth, summaries, kept);
    }

    /// The position of the first message of the session whose index is not below `index`.
    fn position_of(&self, index: usize) -> usize {
        self.session.messages.partition_point(|&at| at < index)
    }

    /// Adds the message at the position `at` to the reply to a request.
    fn reply(&mut self, element: &Element<'_>, at: usize, announced: &mut Announced<'_>) {
        let &Element { item, usage, .. } = element;
        if usage.is_some_and(|usage| usage.input == 0) {
            // The program wrote the message itself, for example as an error: nothing was sent.
            self.open = None;
            self.session.rejected += 1;
            return;
        }
        let id = announced.dialect.log().reply_id(item).map(|id| id.decode().into_owned());
        let known = match &id {
            Some(id) => self.by_id.get(id).copied(),
            None => self.open,
        };
        let nth = known.unwrap_or_else(|| {
            self.session.requests.push(self.request(item, at, announced));
            self.session.requests.len() - 1
        });
        if let Some(id) = id {
            self.by_id.insert(id, nth);
        }
        self.open = Some(nth);
        let request = &mut self.session.requests[nth];
        request.reply.push(at);
        request.usage = usage.or(request.usage);
    }

    /// The request before the reply whose first message is at the position `at`.
    fn request(&self, item: Value<'_>, at: usize, announced: &mut Announced<'_>) -> Request {
        let log = announced.dialect.log();
        let time = announced.dialect.time(item);
        Request {
            at,
            ids: log.provider_ids(item).iter().map(|id| hash(&[&id.decode()])).collect(),
            live_from: self.live.last_compaction(at),
            sent: self.live.sent(at),
            in_force: self.live.in_force(at),
            provider: log.provider(item),
            seconds: time.as_deref().and_then(seconds),
            time,
            usage: announced.usage.take(),
            model: announced.model.clone(),
            reply: Vec::new(),
        }
    }

    fn finish(self) -> Session {
        let compactions = self.live.compactions(self.session.messages.len());
        Session { compactions, ..self.session }
    }
}
