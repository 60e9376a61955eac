//! Exports of `OpenCode`, and of Kilo, which is built on it: messages with `info` and `parts`. A part of type `tool` is a call,
//! and its result once there is one. Version 2 writes blocks in `content`.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::{HashMap, HashSet};

use super::{
    BY_ID, Dialect, DialectWriter, Fit, Format, Item, LogHabits, NO_RULES, Patch, Remaining, SizeFigures, Written,
    blocks, provenance, tree,
};
use crate::digest::fnv1a_128;
use crate::json::{Json, ObjectWriter, Text, Value, list, object, quote, raw, removal};
use crate::transcript::{
    Content, Draft, DraftId, DraftPart, Layout, Message, PairingRules, Part, PartPlace, ProviderRules, ResultPlace,
    Role, SlotKind, Standing, Unknown, Usage,
};

/// The dialect `opencode`.
pub(super) struct OpenCode;

impl Dialect for OpenCode {
    fn format(&self) -> &'static Format {
        &Format {
            name: "opencode",
            known: &["diffs"],
            signature: "`info` with `role` and `sessionID`, and `parts`, each with `messageID`; or `type`, \
                `time` and `content` blocks `tool` with `state`",
            pairing: PairingRules { results: ResultPlace::SameMessage, ..BY_ID },
            provider: ProviderRules { system_beside: true, ..NO_RULES },
            writer: Some(&OpenCode),
            log: &OpenCode,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let is_message = is_version1(item) || is_version2(item);
        if is_message { Fit::Certain } else { Fit::No }
    }

    fn fits_record(&self, record: Value<'_>) -> bool {
        session(record).is_some_and(|session| {
            session.get_text("id").is_some_and(|id| id.decode().starts_with("ses_")) && session.has("time")
        })
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if item.has("info") { read_version1(item) } else { read_version2(item) }
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        if let Some(revert) = blocks::record_of(items).and_then(session).and_then(|session| session.some("revert")) {
            roll_back(revert, items, read);
        }
        mark(items, read);
    }

    /// Exports contain no instructions.
    fn preamble<'a>(&self, _record: Value<'a>) -> Vec<Text<'a>> {
        Vec::new()
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        let info = info(item);
        info.get_text("modelID").or_else(|| {
            let model = info.some("model")?;
            model.get_text("modelID").or_else(|| model.get_text("id"))
        })
    }

    fn time(&self, item: Value<'_>) -> Option<String> {
        info(item).some("time")?.get("created").and_then(provenance::written_time)
    }
}

impl DialectWriter for OpenCode {
    /// Exports have no role for instructions, and results are written inside their calls.
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let id = id_text(DraftId::new(first_id(draft, anchor)));
        let texts = draft.parts.iter().map(|part| match part {
            DraftPart::Verbatim(raw) => raw,
            value => value.text().unwrap_or_default(),
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        match anchor {
            Some(anchor) if !anchor.has("info") && !anchor.has("parts") => {
                write_version2(draft.role, &id, &text, anchor)
            }
            _ => write_version1(draft.role, &id, &text, anchor),
        }
    }

    fn name_drafts(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
        name_drafts(layout, remaining);
    }

    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        name_drafts(layout, remaining);
        relink(layout, remaining.kept)
    }
}

impl LogHabits for OpenCode {
    /// `input` is what was not in the cache.
    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        let tokens = info(item).some("tokens")?;
        let cache = tokens.some("cache");
        let cached = |key: &str| cache.map_or(0, |cache| cache.number(key));
        let cache_read = cached("read");
        let cache_write = cached("write");
        let input = tokens.number("input") + cache_read + cache_write;
        let output = tokens.number("output") + tokens.number("reasoning");
        (input > 0).then(|| Usage { input, cache_read, cache_write, output, ..Usage::default() })
    }

    /// The last reply decides whether `OpenCode` compacts before it answers.
    fn size_figures<'a>(&self, item: Value<'a>) -> Option<SizeFigures<'a>> {
        Some(SizeFigures::SoFar(blocks::numbers(info(item).some("tokens")?, &[])))
    }

    fn replaces_past(&self, item: Value<'_>) -> bool {
        is_summary(item)
    }

    fn provider(&self, item: Value<'_>) -> Option<&'static str> {
        let info = info(item);
        let id = info.get_text("providerID").or_else(|| info.get("model")?.get_text("providerID"))?.into_decoded();
        let ids = [("anthropic", "anthropic"), ("amazon-bedrock", "bedrock"), ("google", "gemini")];
        ids.into_iter().find(|(name, _)| *name == id).map(|(_, provider)| provider)
    }

    fn kept_by(&self, compactions: &[usize], items: &[Value<'_>]) -> Vec<Vec<Range<usize>>> {
        let names = if compactions.is_empty() { Names::default() } else { Names::new(items) };
        compactions.iter().map(|&at| kept_by(items[at], &items[..at], &names)).collect()
    }
}

/// What a record says of its session.
fn session(record: Value<'_>) -> Option<Value<'_>> {
    record.some("info").filter(|info| info.is_object())
}

/// What an item says of its message: a member of it in version 1, the item itself in version 2.
fn info(item: Value<'_>) -> Value<'_> {
    item.get("info").unwrap_or(item)
}

/// A call without a result, which can be written into it: its state becomes an error.
fn open_call<'a>(part: Value<'a>, call: Content<'a>, state: Option<Value<'a>>) -> Part<'a> {
    let place = PartPlace::element(part);
    Part::from_source(
        call,
        match state.and_then(|state| state.get("status")) {
            Some(status) => place.with_text_in(status, &["\"error\",\"error\":", ""]),
            None => place,
        },
    )
}

/// Whether a message says nothing but what the program wrote for the user.
fn is_automatic(message: &Message<'_>) -> bool {
    let is_own = |part: Value<'_>| part.is_true("synthetic") || is_compaction(part);
    let mut texts = message.parts.iter().filter(|part| part.content.has_text()).peekable();
    texts.peek().is_some() && texts.all(|part| part.place().is_some_and(|place| is_own(place.element)))
}

// Messages of exports of version 1.

/// What a model reads in place of a result that was pruned.
const CLEARED: &str = "[Old tool result content cleared]";

/// What a model reads in place of the mark of a compaction.
const ASKED: &str = "What did we do so far?";

fn is_version1(item: Value<'_>) -> bool {
    let Some(info) = item.get("info").filter(|_| !item.has("role")) else { return false };
    let named = info.has("role") && info.has("id");
    named && item.get("parts").is_some_and(Value::is_array)
}

fn read_version1(item: Value<'_>) -> Item<'_> {
    let Some(info) = item.get("info").filter(|info| info.is_object()) else { return Item::Unknown(Unknown::NoRole) };
    let speaker = |name: &str| blocks::speaker_of(name).filter(|role| *role != Role::System);
    blocks::read_message(item, info.some_text("role"), speaker, |message| {
        message.id = info.get_text("id");
        message.parts = item.items_under("parts").flat_map(read_part).collect();
        message.automatic = message.role == Role::User && is_automatic(message);
    })
}

/// Whether a part is the mark of a compaction.
fn is_compaction(part: Value<'_>) -> bool {
    part.member_is("type", "compaction")
}

fn read_part(part: Value<'_>) -> Vec<Part<'_>> {
    let text = part.text_or_empty("text");
    let content = match &*part.word("type") {
        "text" => return vec![blocks::rewritable(part, Content::Text(text), part.get("text"))],
        "reasoning" => {
            let signed = part.get("metadata").is_some_and(blocks::is_signed_by_claude);
            return vec![blocks::whole(part, Content::Reasoning(text)).bound_to_prefix(signed)];
        }
        "tool" => return read_tool(part),
        "file" => Content::Media(Text::Json(part.raw())),
        "compaction" => Content::Text(Text::Escaped(ASKED)),
        "step-start" | "step-finish" | "patch" | "snapshot" | "agent" | "retry" => Content::Other,
        _ => blocks::unknown(part),
    };
    vec![blocks::whole(part, content)]
}

fn read_tool(part: Value<'_>) -> Vec<Part<'_>> {
    let id = part.get_text("callID");
    let name = part.get_text("tool");
    let state = part.some("state");
    let call = blocks::call(id.clone(), name.clone(), state.and_then(|state| state.some("input")));
    let status = state.map(|state| state.word("status")).unwrap_or_default();
    let output = match (state, &*status) {
        (Some(state), "completed") => state.get("output"),
        (Some(state), "error") => state.get("error"),
        (state, _) => return vec![open_call(part, call, state)],
    };
    let pruned = state.and_then(|state| state.some("time")).is_some_and(|time| time.has("compacted"));
    let result = match pruned {
        true => {
            blocks::whole(part, blocks::result_of(id, name, vec![Text::Escaped(CLEARED)], blocks::count_media(output)))
        }
        false => blocks::rewritable(part, blocks::result(id, name, output), output),
    };
    vec![blocks::whole(part, call), result]
}

// Messages of exports of version 2. Reasoning, compactions and failed calls were never seen in one.

fn is_version2(item: Value<'_>) -> bool {
    let [kind, time, role] = item.get_each(["type", "time", "role"]);
    let timed = role.is_none() && time.is_some_and(|time| time.has("created"));
    let is_kind = |kind: Value<'_>| kind.is("user") && item.get_text("text").is_some() || kind.is("assistant");
    timed && kind.is_some_and(is_kind) || role.is_none() && is_reply(item)
}

/// Whether an item without a time is a reply with a call.
fn is_reply(item: Value<'_>) -> bool {
    item.member_is("type", "assistant") && item.items_under("content").any(is_tool)
}

fn is_tool(block: Value<'_>) -> bool {
    let is_call = block.has("name") && block.some("state").is_some_and(Value::is_object);
    is_call && block.member_is("type", "tool")
}

fn read_version2(item: Value<'_>) -> Item<'_> {
    let kind = item.word("type");
    let (role, parts): (_, Vec<Part<'_>>) = match &*kind {
        "user" => (Role::User, blocks::plain_parts(item.get("text"))),
        "assistant" => (Role::Assistant, item.items_under("content").flat_map(read_block).collect()),
        _ => return blocks::unknown_kind(kind),
    };
    if parts.is_empty() && item.get("text").or_else(|| item.get("content")).is_none() {
        return Item::Unknown(Unknown::NoMessage);
    }
    let files = item.items_under("files").map(|file| blocks::whole(file, Content::Media(Text::Json(file.raw()))));
    blocks::message(role, item, item.get_text("id"), parts.into_iter().chain(files).collect())
}

fn read_block(block: Value<'_>) -> Vec<Part<'_>> {
    let Some(state) = block.some("state").filter(|_| is_tool(block)) else {
        return vec![blocks::part(block, blocks::plain_block(block))];
    };
    let id = block.get_text("id");
    let name = block.get_text("name");
    let call = blocks::call(id.clone(), name.clone(), state.some("input"));
    let output = match &*state.word("status") {
        "completed" => state.get("content"),
        "error" => state.get("error").or_else(|| state.get("content")),
        _ => return vec![open_call(block, call, Some(state))],
    };
    vec![blocks::whole(block, call), blocks::result_part(block, blocks::result(id, name, output), output)]
}

// Compactions and reverts. A compaction is a message of the user with nothing but a mark, and a summary of the assistant that
// names it as its parent: a model reads both in place of everything before them.

/// Whether an item is the summary of a compaction. One that failed or is not finished replaces nothing.
fn is_summary(item: Value<'_>) -> bool {
    let Some(info) = item.get("info") else { return false };
    let done = info.some("finish").is_some() && info.some("error").is_none();
    done && info.is_true("summary")
}

/// The part of an item that marks a compaction.
fn mark_of(item: Value<'_>) -> Option<Value<'_>> {
    item.get("info")?;
    item.get("parts")?.items().find(|part| is_compaction(*part))
}

/// Whether `summary` is the summary of the compaction that `item` marks.
fn is_summary_of(summary: Value<'_>, item: Value<'_>) -> bool {
    let parent = info(summary).get_text("parentID");
    is_summary(summary) && mark_of(item).is_some() && parent.is_some() && parent == info(item).get_text("id")
}

/// Marks the compactions: the summary is the boundary, and its mark is kept or dropped with it.
fn mark<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let is_live = |item: &Item<'_>| matches!(item, Item::Message(message) if message.standing == Standing::Live);
    let mut last = None;
    for at in 1..items.len() {
        if !is_summary_of(items[at], items[at - 1]) || !is_live(&read[at]) || !is_live(&read[at - 1]) {
            continue;
        }
        if let Item::Message(message) = &mut read[at] {
            message.set_boundary();
            message.attached.push(Text::Escaped(ASKED));
        }
        read[at - 1] = Item::With(at);
        last = Some(at);
    }
    if let Some(last) = last {
        blocks::preserve(read, kept_by(items[last], &items[..last], &Names::new(items)));
    }
}

/// Indices of the items before a summary that are read with it: its mark, and the messages from the one that the mark names to
/// the mark. All of them if there is none of that name.
fn kept_by(summary: Value<'_>, before: &[Value<'_>], names: &Names<'_>) -> Vec<Range<usize>> {
    let mark = info(summary).get_text("parentID").and_then(|id| names.last(&id, before.len()));
    let Some(at) = mark.filter(|at| is_summary_of(summary, before[*at])) else { return Vec::new() };
    let from = match tail_start(before[at]) {
        Some(id) => id.text().and_then(|id| names.last(&id, at)).unwrap_or(0),
        None => at,
    };
    std::iter::once(from..at + 1).collect()
}

/// The indices of items by their ids, in order.
#[derive(Default)]
struct Names<'a>(HashMap<Cow<'a, str>, Vec<usize>>);

impl<'a> Names<'a> {
    fn new(items: &[Value<'a>]) -> Self {
        let mut names = Self::default();
        for (at, item) in items.iter().enumerate() {
            if let Some(id) = info(*item).get_text("id") {
                names.0.entry(id.into_decoded()).or_default().push(at);
            }
        }
        names
    }

    /// The last item before `end` with this id.
    fn last(&self, id: &Text<'_>, end: usize) -> Option<usize> {
        let places = self.0.get(&*id.decode())?;
        places[..places.partition_point(|at| *at < end)].last().copied()
    }
}

/// The id of the first message that a compaction kept word for word.
fn tail_start(item: Value<'_>) -> Option<Value<'_>> {
    mark_of(item)?.some("tail_start_id")
}

/// The last of `items` with this id.
fn named(id: Value<'_>, items: &[Value<'_>]) -> Option<usize> {
    let id = id.text()?;
    items.iter().rposition(|item| info(*item).get_text("id").is_some_and(|name| name == id))
}

/// Marks the messages that a revert rolled back, from the one that it names. Without that message, it would roll back nothing,
/// so the others are kept or dropped with it.
fn roll_back<'a>(revert: Value<'a>, items: &[Value<'a>], read: &mut [Item<'a>]) {
    let Some(first) = revert.get("messageID").and_then(|id| named(id, items)) else { return };
    let undone = revert.some("partID").and_then(Value::text);
    let is_undone = |part: &Value<'a>| undone.is_some() && part.get_text("id") == undone;
    let from = items[first].items_under("parts").find(is_undone).map(|part| part.span().start);
    for (at, item) in read.iter_mut().enumerate().skip(first) {
        let Item::Message(message) = item else { continue };
        message.dropped_with = u32::try_from(first).ok().filter(|_| at > first);
        let Some(start) = from.filter(|_| at == first) else {
            message.roll_back(Standing::RolledBack);
            continue;
        };
        // The beginning of the message stands.
        for part in &mut message.parts {
            if part.place().is_some_and(|place| place.element.span().start >= start) {
                part.content = Content::Other;
            }
        }
    }
}

/// Makes every compaction name the first message that is written of those that it kept. If none is, it names none, because a
/// name without a message would bring back everything before it.
fn relink(layout: &Layout<'_>, kept: &[bool]) -> Vec<Patch> {
    let items = &layout.elements;
    if !items.iter().any(|item| tail_start(*item).is_some()) {
        return Vec::new();
    }
    let stays = layout.stays(kept);
    let mut patches = Vec::new();
    for at in (0..items.len()).filter(|at| stays[*at]) {
        let Some((mark, link)) = mark_of(items[at]).zip(tail_start(items[at])) else { continue };
        let Some(first) = named(link, &items[..at]).filter(|first| !stays[*first]) else { continue };
        let next = (first..at).find(|next| stays[*next]).and_then(|next| info(items[next]).get_text("id"));
        match next {
            Some(id) => patches.push(Patch { span: link.span(), text: quote(&id.decode()) }),
            None => patches.extend(
                removal(mark, |value| value == link).into_iter().map(|span| Patch { span, text: String::new() }),
            ),
        }
    }
    patches
}

// Drafts as messages, in the session and with the model of their anchor.

fn write_version1(role: Role, id: &str, text: &str, anchor: Option<Value<'_>>) -> String {
    let info = anchor.and_then(|anchor| anchor.get("info"));
    let session = info.and_then(|info| info.get("sessionID")).map_or("\"\"", Value::raw);
    let time = Json(created(info));
    let message_id = format!("msg_{id}");
    let is_reply = role == Role::Assistant;
    let times = object! { "created": time, "completed": is_reply.then_some(&time) };
    let message =
        ObjectWriter::new().member("id", &message_id).member("sessionID", &Json(session)).member("time", &times);
    let message = if is_reply { assistant(message, info) } else { user(message, info) };
    let part = object! {
        "id": format!("prt_{id}"),
        "sessionID": Json(session),
        "messageID": message_id,
        "type": "text",
        "text": text,
    };
    object! { "info": message.end(), "parts": list([part.0]) }.0
}

fn created(info: Option<Value<'_>>) -> &str {
    info.and_then(|info| info.some("time")).and_then(|time| time.get("created")).map_or("0", Value::raw)
}

/// The agent and the model, which a message of the user names in one object and a reply in two members.
fn user(message: ObjectWriter, info: Option<Value<'_>>) -> ObjectWriter {
    let agent = info.and_then(|info| info.get("agent")).map_or("\"build\"", Value::raw);
    let message = message.member("role", "user").member("agent", &Json(agent));
    match info.and_then(|info| info.get("model")) {
        Some(model) => message.member("model", &raw(model)),
        None => {
            let [provider, model] = names(info).map(Json);
            message.member("model", &object! { "providerID": provider, "modelID": model })
        }
    }
}

fn assistant(message: ObjectWriter, info: Option<Value<'_>>) -> ObjectWriter {
    let [provider, model] = names(info);
    let parent = info.and_then(|info| info.get("parentID").or_else(|| info.get("id"))).map_or("\"\"", Value::raw);
    let agent = info.and_then(|info| info.get("agent")).map_or("\"build\"", Value::raw);
    let mode = info.and_then(|info| info.get("mode")).map_or(agent, Value::raw);
    let path = info.and_then(|info| info.get("path")).map_or("{\"cwd\":\".\",\"root\":\".\"}", Value::raw);
    let tokens = object! { "input": 0, "output": 0, "reasoning": 0, "cache": object! { "read": 0, "write": 0 } };
    let message = message.member("role", "assistant").member("parentID", &Json(parent));
    let message = message.member("providerID", &Json(provider)).member("modelID", &Json(model));
    let message = message.member("agent", &Json(agent)).member("mode", &Json(mode)).member("path", &Json(path));
    message.member("cost", &0).member("tokens", &tokens)
}

/// The provider and the model of a message, as JSON.
fn names(info: Option<Value<'_>>) -> [&str; 2] {
    ["providerID", "modelID"].map(|key| {
        let named = info.and_then(|info| info.get(key).or_else(|| info.some("model")?.get(key)));
        named.map_or("\"\"", Value::raw)
    })
}

fn write_version2(role: Role, id: &str, text: &str, anchor: Value<'_>) -> String {
    let kind = if role == Role::Assistant { "assistant" } else { "user" };
    let message = ObjectWriter::new().member("id", &format!("msg_{id}")).member("type", kind);
    let message = message.copied(Some(anchor), &["time"]);
    let message = match role {
        Role::Assistant => message.member("content", &list([blocks::text_block(text)])),
        _ => message.member("text", text).member("files", &Json("[]")).member("agents", &Json("[]")),
    };
    message.end().0
}

/// Bits of an id below the ones by which messages of the same time are sorted.
const RANDOM: u32 = 80;

/// The first id for a draft, in front of its anchor in the order of ids. The text is not part of it, because it may be shortened
/// before it is written.
fn first_id(draft: &Draft, anchor: Option<Value<'_>>) -> u128 {
    let neighbor = anchor.map(|anchor| info(anchor).word("id").into_owned()).unwrap_or_default();
    let sorted = neighbor.get(4..16).and_then(|digits| u128::from_str_radix(digits, 16).ok()).unwrap_or(0);
    let beside = draft.beside.map_or(neighbor, id_text);
    let origin: Vec<&str> = [draft.role.name(), &beside].into_iter().chain(tree::part_names(draft)).collect();
    (sorted.saturating_sub(1) << RANDOM) | digest(&origin.join("\n"), 0)
}

fn digest(text: &str, nth: u32) -> u128 {
    fnv1a_128(text.bytes().chain(nth.to_le_bytes())) >> (u128::BITS - RANDOM)
}

fn id_text(id: DraftId) -> String {
    format!("{:032x}", id.number())
}

/// Sets the ids of the drafts that have none: no two messages may share one. A draft behind its anchor is sorted there.
/// The last draft of several with the same id keeps it, because later cuts drop the first ones.
fn name_drafts(layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
    if remaining.written.is_empty() {
        return;
    }
    let read = layout.elements.iter().filter_map(|item| info(*item).get_text("id"));
    let mut taken: HashSet<String> = read.map(|id| id.decode().into_owned()).collect();
    taken.extend(remaining.written.iter().filter_map(|written| written.id).map(|id| format!("msg_{}", id_text(id))));
    let starts: HashMap<usize, u32> = layout
        .slots
        .iter()
        .filter_map(|slot| match slot.kind {
            SlotKind::Message(index) => Some((index, slot.span.start)),
            _ => None,
        })
        .collect();
    for written in remaining.written.iter_mut().rev() {
        // Whether its anchor, whose time it has, is in front of it.
        let anchored = written.place.zip(written.after.and_then(|index| starts.get(&index)));
        let follows = written.next.is_none() || anchored.is_some_and(|(anchor, after)| *after >= anchor);
        name(written, follows, &mut taken);
    }
}

fn name(written: &mut Written, follows: bool, taken: &mut HashSet<String>) {
    let Some(old_id) = own_id(&written.text).map(str::to_owned) else { return };
    let id = written.id.unwrap_or_else(|| {
        let first = u128::from_str_radix(&old_id, 16).unwrap_or_default();
        let sorted = (first >> RANDOM) + if follows { 2 } else { 0 };
        let random = first & ((1 << RANDOM) - 1);
        let randoms = std::iter::once(random).chain((1..).map(|nth| digest(&written.text, nth)));
        let mut ids = randoms.map(|random| DraftId::new(sorted << RANDOM | random));
        ids.find(|id| !taken.contains(&format!("msg_{}", id_text(*id)))).unwrap_or(DraftId::new(first))
    });
    taken.insert(format!("msg_{}", id_text(id)));
    written.text = written.text.replace(&old_id, &id_text(id));
    written.id = Some(id);
}

/// The id of a message that `write_message` wrote, without `msg_`.
fn own_id(text: &str) -> Option<&str> {
    let from = text.find("\"id\":\"msg_")? + "\"id\":\"msg_".len();
    text.get(from..from + 32)
}
