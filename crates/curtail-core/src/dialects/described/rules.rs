//! What a description says, compiled: how items are recognized, where roles and parts are, and what is written.

use std::fmt;
use std::ops::Range;

use toml::de::DeValue;

use super::frames::Frames;
use super::paths::Path;
use super::source::{At, Fault, Table, path, root, strings};
use super::templates::Writing;
use crate::dialects::Dialect;
use crate::json::Value;
use crate::suggest;
use crate::transcript::{ResultPlace, Role};

/// A description, compiled.
#[derive(Clone)]
pub(super) struct Rules {
    pub(super) name: String,
    pub(super) about: String,
    /// The dialect that reads the messages, where only the way to them is described.
    pub(super) base: Option<&'static dyn Dialect>,
    /// Where the message is in an item.
    pub(super) message: Option<Path>,
    /// Where a record keeps its messages.
    pub(super) lists: Vec<ListPlace>,
    /// Where a document keeps its records.
    pub(super) records: Vec<Path>,
    pub(super) marks: Vec<Mark>,
    pub(super) roles: Vec<RoleRule>,
    /// Parts that are whole messages.
    pub(super) whole: Vec<Kind>,
    pub(super) groups: Vec<Group>,
    pub(super) known: Vec<String>,
    pub(super) preamble: Vec<Path>,
    pub(super) model: Option<Path>,
    /// What the messages of one reply share.
    pub(super) reply: Option<Path>,
    /// A time by which items are in order.
    pub(super) order: Option<Path>,
    /// When a message stands for everything before it.
    pub(super) boundary: Vec<Condition>,
    pub(super) results: ResultPlace,
    pub(super) is_log: bool,
    pub(super) writing: Option<Writing>,
    pub(super) samples: Vec<String>,
}

/// Where a record keeps its messages: a list of them, or of values that each contain a list.
#[derive(Debug, Clone)]
pub(super) struct ListPlace {
    pub(super) list: Path,
    pub(super) inner: Option<Path>,
}

impl ListPlace {
    /// Whether a record has messages here.
    pub(super) fn has_list(&self, record: Value<'_>) -> bool {
        let Some(list) = self.list.first(record).filter(|list| list.is_array()) else { return false };
        let holds =
            |inner: &Path| inner.is_here() || list.items().any(|item| inner.first(item).is_some_and(Value::is_array));
        self.inner.as_ref().is_none_or(holds)
    }
}

impl fmt::Display for ListPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inner {
            None => write!(f, "{}", self.list),
            Some(inner) if inner.is_here() => write!(f, "{}[]", self.list),
            Some(inner) => write!(f, "{}[].{inner}", self.list),
        }
    }
}

/// What is true together of an item, by which its dialect is recognized.
pub(super) type Mark = Vec<Condition>;

/// What must be true of a value.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub(super) path: Path,
    pub(super) wanted: Wanted,
}

#[derive(Debug, Clone)]
pub(super) enum Wanted {
    Present,
    Absent,
    OneOf(Vec<String>),
}

impl Condition {
    pub(super) fn holds(&self, value: Value<'_>, outer: Option<Value<'_>>) -> bool {
        let Some(value) = (if self.path.is_outer() { outer } else { Some(value) }) else { return false };
        match &self.wanted {
            Wanted::Present => self.path.has(value),
            Wanted::Absent => !self.path.has(value),
            Wanted::OneOf(texts) => self.path.holds(value, texts),
        }
    }

    /// The key of the value itself that it wants a text under, and the texts.
    pub(super) fn tag(&self) -> Option<(&str, &[String])> {
        let key = self.path.only_key().filter(|_| !self.path.is_outer())?;
        Some((key, self.texts()?))
    }

    /// The texts of which it wants one.
    pub(super) fn texts(&self) -> Option<&[String]> {
        if let Wanted::OneOf(texts) = &self.wanted { Some(texts) } else { None }
    }
}

pub(super) fn all_hold(conditions: &[Condition], value: Value<'_>, outer: Option<Value<'_>>) -> bool {
    conditions.iter().all(|condition| condition.holds(value, outer))
}

/// Who speaks in a message.
#[derive(Debug, Clone)]
pub(super) struct RoleRule {
    pub(super) when: Vec<Condition>,
    pub(super) at: Option<Path>,
    pub(super) names: Vec<(String, Speaker)>,
    /// Who speaks under any other name.
    pub(super) other: Option<Speaker>,
}

/// What an item is by its role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    Role(Role),
    Metadata,
    Pinned,
}

/// The names of what an item can be.
const SPEAKERS: [(&str, Speaker); 7] = [
    ("system", Speaker::Role(Role::System)),
    ("developer", Speaker::Role(Role::Developer)),
    ("user", Speaker::Role(Role::User)),
    ("assistant", Speaker::Role(Role::Assistant)),
    ("tool", Speaker::Role(Role::Tool)),
    ("metadata", Speaker::Metadata),
    ("pinned", Speaker::Pinned),
];

/// Parts of one list, or one part.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// Whether it is in the item around the message.
    pub(super) of_item: bool,
    /// The list; `None` for a part that is a member of the message.
    pub(super) list: Option<Path>,
    pub(super) kinds: Vec<Kind>,
}

impl Group {
    /// The key whose text tells kinds apart.
    pub(super) fn tag(&self) -> Option<&str> {
        let mut tags = self.kinds.iter().flat_map(|kind| &kind.when).filter_map(Condition::tag);
        tags.next().map(|(key, _)| key)
    }
}

/// A kind of part.
#[derive(Debug, Clone)]
pub(super) struct Kind {
    pub(super) is: Is,
    /// From the element of the list, or from the message.
    pub(super) inner: Path,
    pub(super) when: Vec<Condition>,
    pub(super) roles: Vec<Role>,
    pub(super) text: Option<Path>,
    pub(super) id: Option<Path>,
    pub(super) name: Option<Path>,
    pub(super) arguments: Option<Path>,
    /// Of a call: the result in the same element.
    pub(super) result: Option<Path>,
    /// What is written around a text that replaces the result.
    pub(super) frames: Frames,
    pub(super) signed: Option<Path>,
    /// What repeats the part elsewhere in the message.
    pub(super) copy: Option<Path>,
    /// Whether the tool takes any text.
    pub(super) custom: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Is {
    Text,
    Call,
    Result,
    Reasoning,
    Media,
    Mark,
}

pub(super) const KINDS: [(&str, Is); 6] = [
    ("text", Is::Text),
    ("call", Is::Call),
    ("result", Is::Result),
    ("reasoning", Is::Reasoning),
    ("media", Is::Media),
    ("mark", Is::Mark),
];

const PLACES: [(&str, ResultPlace); 6] = [
    ("anywhere", ResultPlace::Anywhere),
    ("right-after", ResultPlace::RightAfter),
    ("right-after-turn", ResultPlace::RightAfterTurn),
    ("next-message", ResultPlace::NextMessage),
    ("next-message-first", ResultPlace::NextMessageFirst),
    ("same-message", ResultPlace::SameMessage),
];

/// What other descriptions and dialects a description may name.
pub(super) trait Library {
    /// The text of the description called `name`.
    fn description(&self, name: &str) -> Option<&'static str>;

    /// The dialect called `name`, if its messages can stand in an envelope.
    fn dialect(&self, name: &str) -> Option<&'static dyn Dialect>;

    /// All names.
    fn names(&self) -> Vec<&'static str>;
}

impl Rules {
    /// Compiles the description `text`.
    pub(super) fn read(text: &str, library: &dyn Library) -> Result<Self, Fault> {
        let document = root(text)?;
        Self::of_table(Table::new("", &document), library)
    }

    /// Compiles the description `text` without what it writes.
    pub(super) fn read_only(text: &str, library: &dyn Library) -> Result<Self, Fault> {
        let document = root(text)?;
        let table = Table::new("", &document);
        table.table("write")?;
        Self::of_reading(table, library).map(|rules| Self { writing: None, ..rules })
    }

    /// The marks of a description that the program brings, and where records keep its messages, which stand before the tables: the
    /// rest is compiled only if an item may have one of the marks.
    pub(super) fn head_of(text: &str) -> Result<Self, Fault> {
        let head = text.split_once("\n[").map_or(text, |(head, _)| head);
        let document = root(head)?;
        let table = Table::new("", &document);
        let mut rules = Self::empty();
        rules.places(&table)?;
        rules.marks = Self::marks_of(&table)?;
        Ok(rules)
    }

    fn marks_of(table: &Table<'_>) -> Result<Vec<Mark>, Fault> {
        table.tables("fits")?.iter().map(conditions).collect()
    }

    /// Compiles the description in a table.
    pub(super) fn of_table(table: Table<'_>, library: &dyn Library) -> Result<Self, Fault> {
        let write = table.table("write")?;
        let mut rules = Self::of_reading(table, library)?;
        let place = write.as_ref().map_or(0..0, |write| write.span.clone());
        if let Some(write) = write {
            rules.writing = Some(Writing::read(write, rules.writing.as_ref())?);
        }
        rules.refuse_unwritten(&place)?;
        Ok(rules)
    }

    /// Compiles all of a table but `[write]`, and refuses a description that reads nothing.
    fn of_reading(table: Table<'_>, library: &dyn Library) -> Result<Self, Fault> {
        let name = required(&table, "name")?;
        if let Some(wrong) = name.value.chars().find(|c| !(c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-')) {
            return Err(Fault::new(
                &name.span,
                format!("`{wrong}` is not allowed in a name: use lower case letters, digits and `-`"),
            ));
        }
        let changes = !table.tables("part")?.is_empty() || table.table("rename")?.is_some();
        let mut rules = match table.text("extends")? {
            None => Self::empty(),
            Some(base) if changes => Self::inherited(&base, library)?,
            Some(base) => Self::around(&base, library)?,
        };
        name.value.clone_into(&mut rules.name);
        if let Some(about) = table.text("about")? {
            about.value.clone_into(&mut rules.about);
        }
        rules.rename(&table)?;
        rules.places(&table)?;
        rules.marks = Self::marks_of(&table)?;
        let roles = table.tables("role")?.into_iter().map(role_rule).collect::<Result<Vec<_>, _>>()?;
        rules.roles.splice(0..0, roles);
        for part in table.tables("part")?.into_iter().rev() {
            rules.add_part(part)?;
        }
        rules.known.extend(table.texts("known")?.iter().map(|key| key.value.to_owned()));
        if let Some(results) = table.text("results")? {
            rules.results = named(&results, "results are", &PLACES)?;
        }
        rules.is_log |= table.flag("log")?;
        let samples = table.texts("samples")?;
        rules.samples = samples.iter().map(|sample| sample.value.to_owned()).collect();
        rules.kinds_mut().for_each(Kind::frame_results);
        let whole = table.span.clone();
        table.finish()?;
        rules.refuse_unread(&whole)?;
        Ok(rules)
    }

    pub(super) fn empty() -> Self {
        Self {
            name: String::new(),
            about: String::new(),
            base: None,
            message: None,
            lists: Vec::new(),
            records: Vec::new(),
            marks: Vec::new(),
            roles: Vec::new(),
            whole: Vec::new(),
            groups: Vec::new(),
            known: Vec::new(),
            preamble: Vec::new(),
            model: None,
            reply: None,
            order: None,
            boundary: Vec::new(),
            results: ResultPlace::RightAfter,
            is_log: false,
            writing: None,
            samples: Vec::new(),
        }
    }

    /// The messages of another dialect, in an envelope or at another place.
    fn around(base: &At<&str>, library: &dyn Library) -> Result<Self, Fault> {
        let dialect = library.dialect(base.value).ok_or_else(|| unknown_base(base, library))?;
        Ok(Self { base: Some(dialect), about: dialect.format().signature.to_owned(), ..Self::empty() })
    }

    /// Everything that another description says.
    fn inherited(base: &At<&str>, library: &dyn Library) -> Result<Self, Fault> {
        let Some(text) = library.description(base.value) else {
            if library.dialect(base.value).is_some() {
                let reason = format!(
                    "`{}` is code, so its messages can stand in an envelope, but no `rename`, `role` or `part` can change how \
                     they are read",
                    base.value
                );
                return Err(Fault::new(&base.span, reason));
            }
            return Err(unknown_base(base, library));
        };
        let rules = Self::read(text, library)
            .map_err(|fault| Fault::new(&base.span, format!("`{}` is wrong itself: {}", base.value, fault.what)))?;
        Ok(Self { marks: Vec::new(), samples: Vec::new(), ..rules })
    }

    /// Gives keys of the description that this one extends other names.
    fn rename(&mut self, table: &Table<'_>) -> Result<(), Fault> {
        let Some(renames) = table.table("rename")? else { return Ok(()) };
        let mut names = Vec::new();
        for (new, old) in renames.members() {
            let old = old.get_ref().as_str().ok_or_else(|| {
                Fault::new(&old.span(), "`rename` gives each key here the name that it has there, as a string")
            })?;
            names.push((old.to_owned(), new.value.to_owned()));
        }
        let renamed = |key: &str| names.iter().find(|(old, _)| old == key).map(|(_, new)| new.clone());
        for path in self.paths_mut() {
            *path = path.renamed(renamed);
        }
        if let Some(writing) = &mut self.writing {
            writing.rename(&names);
        }
        Ok(())
    }

    fn paths_mut(&mut self) -> impl Iterator<Item = &mut Path> {
        let kinds = self
            .groups
            .iter_mut()
            .flat_map(|group| group.list.iter_mut().chain(group.kinds.iter_mut().flat_map(Kind::paths_mut)));
        let whole = self.whole.iter_mut().flat_map(Kind::paths_mut);
        let roles = self
            .roles
            .iter_mut()
            .flat_map(|role| role.at.iter_mut().chain(role.when.iter_mut().map(|one| &mut one.path)));
        kinds.chain(whole).chain(roles).chain(self.message.iter_mut()).chain(self.preamble.iter_mut())
    }

    /// Where messages and what is beside them are.
    fn places(&mut self, table: &Table<'_>) -> Result<(), Fault> {
        if let Some(message) = table.path("message")? {
            self.message = Some(message);
        }
        self.lists.extend(table.paths("list")?.iter().map(|list| match list.parted() {
            (Some(outer), inner) => ListPlace { list: outer, inner: Some(inner) },
            (None, list) => ListPlace { list, inner: None },
        }));
        self.records.extend(table.paths("records")?);
        self.preamble.extend(table.paths("preamble")?);
        self.model = table.path("model")?.or_else(|| self.model.take());
        self.reply = table.path("reply")?.or_else(|| self.reply.take());
        self.order = table.path("order")?.or_else(|| self.order.take());
        if let Some(boundary) = table.table("boundary")? {
            self.boundary = conditions(&boundary)?;
        }
        Ok(())
    }

    /// Adds a kind of part before those that are there.
    fn add_part(&mut self, table: Table<'_>) -> Result<(), Fault> {
        let is = required(&table, "is")?;
        let is = named(&is, "a part is", &KINDS)?;
        // The message itself is a part like one without a place.
        let at = table.path("at")?.filter(|at| !at.is_here());
        let of_item = at.as_ref().is_some_and(Path::is_outer);
        let roles = table.texts("roles")?;
        let roles = roles.iter().map(role_named).collect::<Result<Vec<_>, _>>()?;
        let when = table.table("when")?.map(|when| conditions(&when)).transpose()?.unwrap_or_default();
        let (list, inner) = at.as_ref().map_or((None, Path::here()), Path::parted);
        let kind = Kind {
            is,
            inner,
            when,
            roles,
            text: table.path("text")?,
            id: table.path("id")?,
            name: table.path("name")?,
            arguments: table.path("arguments")?,
            result: table.path("result")?,
            frames: Frames::default(),
            signed: table.path("signed")?,
            copy: table.path("copy")?,
            custom: table.flag("custom")?,
        };
        let span = table.span.clone();
        table.finish()?;
        kind.refuse_gaps(&span)?;
        match (at, list) {
            (None, _) => self.whole.insert(0, kind),
            (Some(_), list) => {
                let same = |group: &&mut Group| list.is_some() && group.list == list && group.of_item == of_item;
                match self.groups.iter_mut().find(same) {
                    Some(group) => group.kinds.insert(0, kind),
                    None => self.groups.insert(0, Group { of_item, list, kinds: vec![kind] }),
                }
            }
        }
        Ok(())
    }

    /// Refuses a description that reads nothing.
    fn refuse_unread(&self, whole: &Range<usize>) -> Result<(), Fault> {
        if self.base.is_some() {
            return Ok(());
        }
        let fault = |what: &str| Err(Fault { at: whole.start, what: what.to_owned() });
        if self.roles.is_empty() {
            return fault("no `[role]` says who speaks, and `extends` names no dialect that does");
        }
        if self.groups.is_empty() && self.whole.is_empty() {
            return fault("no `[[part]]` says where texts are, and `extends` names no dialect that does");
        }
        Ok(())
    }

    /// Refuses a description that writes less than it reads.
    fn refuse_unwritten(&self, write: &Range<usize>) -> Result<(), Fault> {
        if let Some(writing) = self.writing.as_ref().filter(|_| self.base.is_none())
            && self.answers_apart()
            && !writing.has_results(self.results)
        {
            let missing = match self.results {
                ResultPlace::SameMessage => "no `result`, a part,",
                _ => "neither `result`, a part, nor `result-message`,",
            };
            return Err(Fault::new(
                write,
                format!("`[write]` has {missing} although there are results; without `[write]` a dialect is read-only"),
            ));
        }
        Ok(())
    }

    /// Whether results are messages, or parts of a list. One that is a member of its message cannot be added.
    fn answers_apart(&self) -> bool {
        let is_result = |kind: &Kind| kind.is == Is::Result;
        let is_inside = self.results == ResultPlace::SameMessage;
        self.kinds().any(is_result) && !is_inside
            || self.groups.iter().any(|group| group.list.is_some() && group.kinds.iter().any(is_result))
    }

    /// All kinds of parts.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.whole.iter().chain(self.groups.iter().flat_map(|group| &group.kinds))
    }

    fn kinds_mut(&mut self) -> impl Iterator<Item = &mut Kind> {
        self.whole.iter_mut().chain(self.groups.iter_mut().flat_map(|group| &mut group.kinds))
    }

    /// Whether calls and results carry ids.
    pub(super) fn has_ids(&self) -> bool {
        self.kinds().any(|kind| kind.is == Is::Call && kind.id.is_some())
    }

    /// Whether results name their calls by ids.
    pub(super) fn pairs_by_id(&self) -> bool {
        let mut results = self.kinds().filter(|kind| kind.is == Is::Result).peekable();
        self.has_ids() && results.peek().is_some() && results.all(|kind| kind.id.is_some())
    }

    /// The first name of a role.
    pub(super) fn name_of(&self, role: Role) -> Option<&str> {
        // The names of what is extended come last, and are the usual ones.
        let names = self.roles.iter().rev().flat_map(|rule| &rule.names);
        names.into_iter().find(|(_, speaker)| *speaker == Speaker::Role(role)).map(|(name, _)| name.as_str())
    }

    /// Whether a message can have this role.
    pub(super) fn has_role(&self, role: Role) -> bool {
        self.base.is_some()
            || self.name_of(role).is_some()
            || self.roles.iter().any(|rule| rule.other == Some(Speaker::Role(role)))
    }
}

impl Kind {
    fn paths_mut(&mut self) -> impl Iterator<Item = &mut Path> {
        let optional = [
            &mut self.text, &mut self.id, &mut self.name, &mut self.arguments, &mut self.result, &mut self.signed,
            &mut self.copy,
        ];
        std::iter::once(&mut self.inner)
            .chain(optional.into_iter().flatten())
            .chain(self.when.iter_mut().map(|one| &mut one.path))
    }

    /// Where the text of a result is: a member of its call, or a part by itself.
    pub(super) const fn result_path(&self) -> Option<&Path> {
        match self.is {
            Is::Call => self.result.as_ref(),
            _ => self.text.as_ref(),
        }
    }

    fn frame_results(&mut self) {
        if matches!(self.is, Is::Call | Is::Result) {
            self.frames = self.result_path().map(Frames::of).unwrap_or_default();
        }
    }

    fn refuse_gaps(&self, span: &Range<usize>) -> Result<(), Fault> {
        let missing = match self.is {
            Is::Call if self.name.is_none() => Some("a call needs `name`: where the name of the tool is, or `=NAME`"),
            Is::Result if self.text.is_none() => Some("a result needs `text`: where its text is"),
            _ => None,
        };
        missing.map_or(Ok(()), |missing| Err(Fault::new(span, missing)))
    }
}

fn unknown_base(base: &At<&str>, library: &dyn Library) -> Fault {
    Fault::new(&base.span, suggest::unknown("no dialect that can be extended is called", base.value, &library.names()))
}

/// The string under `key`, which must be there.
fn required<'t>(table: &Table<'t>, key: &'static str) -> Result<At<&'t str>, Fault> {
    table.text(key)?.ok_or_else(|| Fault::new(&table.span, format!("`{key}` is missing")))
}

/// What one of some names means.
fn named<T: Copy>(text: &At<&str>, lack: &str, known: &[(&'static str, T)]) -> Result<T, Fault> {
    let found = known.iter().find(|(name, _)| *name == text.value);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        Fault::new(&text.span, suggest::unknown(&format!("{lack} not"), text.value, &names))
    })
}

fn role_named(text: &At<&str>) -> Result<Role, Fault> {
    match named(text, "a role is", &SPEAKERS[..5])? {
        Speaker::Role(role) => Ok(role),
        _ => Err(Fault::new(&text.span, "a part is of a role")),
    }
}

fn role_rule(table: Table<'_>) -> Result<RoleRule, Fault> {
    let at = table.path("at")?;
    let when = table.table("when")?.map(|when| conditions(&when)).transpose()?.unwrap_or_default();
    let mut names = Vec::new();
    for (key, speaker) in SPEAKERS {
        names.extend(table.texts(key)?.iter().map(|name| (name.value.to_owned(), speaker)));
    }
    let is = |key| table.text(key)?.map(|text| named(&text, "an item is", &SPEAKERS)).transpose();
    let constant = is("is")?;
    let other = is("other")?;
    if names.is_empty() && constant.is_none() && other.is_none() {
        // The usual names need not be written.
        names.extend(SPEAKERS[..5].iter().map(|(name, speaker)| ((*name).to_owned(), *speaker)));
    }
    let span = table.span.clone();
    table.finish()?;
    if constant.is_some() && !names.is_empty() {
        return Err(Fault::new(
            &span,
            "`is` gives all messages one role, so a name beside it never counts; write one of them",
        ));
    }
    let repeated = names.iter().enumerate().find(|(nth, (name, speaker))| {
        names[..*nth].iter().any(|(other, another)| other == name && another != speaker)
    });
    if let Some((_, (name, _))) = repeated {
        return Err(Fault::new(&span, format!("`{name}` is the name of two roles, and only the first would count")));
    }
    if at.is_none() && constant.is_none() {
        return Err(Fault::new(&span, "`role` needs `at`, where the role is, or `is`, the same role for all"));
    }
    Ok(RoleRule { when, at, names, other: constant.or(other) })
}

/// The conditions in a table: paths with `true`, `false`, a text or texts; a path after `^` is of the record around.
fn conditions(table: &Table<'_>) -> Result<Vec<Condition>, Fault> {
    let one = |(key, value): (At<&str>, &toml::Spanned<DeValue<'_>>)| {
        let wanted = match value.get_ref() {
            DeValue::Boolean(true) => Wanted::Present,
            DeValue::Boolean(false) => Wanted::Absent,
            DeValue::Integer(number) => Wanted::OneOf(vec![number.as_str().to_owned()]),
            _ => Wanted::OneOf(strings(key.value, value)?.iter().map(|text| text.value.to_owned()).collect()),
        };
        Ok(Condition { path: path(&key)?, wanted })
    };
    table.members().map(one).collect()
}
