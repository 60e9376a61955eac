//! Compiling a description, and refusing one that reads nothing or writes less than it reads.

use std::ops::Range;

use toml::de::DeValue;

use super::frames::Frames;
use super::paths::Path;
use super::rules::{Condition, Group, Is, KINDS, Kind, ListPlace, Mark, RoleRule, Rules, SPEAKERS, Speaker, Wanted};
use super::source::{At, Fault, Table, path, root, strings};
use super::templates::Writing;
use crate::suggest;
use crate::transcript::{ResultPlace, Role};

const PLACES: [(&str, ResultPlace); 6] = [
    ("anywhere", ResultPlace::Anywhere),
    ("right-after", ResultPlace::RightAfter),
    ("right-after-turn", ResultPlace::RightAfterTurn),
    ("next-message", ResultPlace::NextMessage),
    ("next-message-first", ResultPlace::NextMessageFirst),
    ("same-message", ResultPlace::SameMessage),
];

impl Rules {
    /// Compiles the description `text`.
    pub(super) fn read(text: &str) -> Result<Self, Fault> {
        let document = root(text)?;
        Self::of_table(Table::new("", &document))
    }

    /// Compiles the description `text` without what it writes.
    pub(super) fn read_only(text: &str) -> Result<Self, Fault> {
        let document = root(text)?;
        let table = Table::new("", &document);
        table.table("write")?;
        Self::of_reading(table).map(|rules| Self { writing: None, ..rules })
    }

    /// The marks of a description that the program brings, and where records keep its messages, which stand before the tables: the
    /// rest is compiled only if an item may have one of the marks.
    pub(super) fn head_of(text: &str) -> Result<Self, Fault> {
        let head = text.split_once("\n[").map_or(text, |(head, _)| head);
        let document = root(head)?;
        let table = Table::new("", &document);
        let mut rules = Self::default();
        rules.places(&table)?;
        rules.marks = marks(&table, "fits")?;
        Ok(rules)
    }

    /// Compiles the description in a table.
    pub(super) fn of_table(table: Table<'_>) -> Result<Self, Fault> {
        let write = table.table("write")?;
        let mut rules = Self::of_reading(table)?;
        let place = write.as_ref().map_or(0..0, |write| write.span.clone());
        if let Some(write) = write {
            rules.writing = Some(Writing::read(write, rules.writing.as_ref())?);
        }
        if let Some(writing) = rules.writing.take() {
            rules.kinds_mut().for_each(|kind| kind.write_lists(&writing));
            rules.writing = Some(writing);
        }
        rules.refuse_unwritten(&place)?;
        Ok(rules)
    }

    /// Compiles all of a table but `[write]`, and refuses a description that reads nothing.
    fn of_reading(table: Table<'_>) -> Result<Self, Fault> {
        let name = required(&table, "name")?;
        if name.value.is_empty() {
            return Err(Fault::new(&name.span, String::from("a name is empty")));
        }
        if let Some(wrong) = name.value.chars().find(|c| !(c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-')) {
            return Err(Fault::new(
                &name.span,
                format!("`{wrong}` is not allowed in a name: use lower case letters, digits and `-`"),
            ));
        }
        let roles = table.tables("role")?.into_iter().map(role_rule).collect::<Result<Vec<_>, _>>()?;
        let parts = table.tables("part")?;
        let renames = table.table("rename")?.is_some();
        let base = table.text("extends")?;
        let mut rules = match base {
            Some(base) => Self::extending(&base, &roles, !parts.is_empty(), renames)?,
            None => Self::default(),
        };
        name.value.clone_into(&mut rules.name);
        if let Some(about) = table.text("about")? {
            about.value.clone_into(&mut rules.about);
        }
        if let Some(provider) = table.text("provider")? {
            provider.value.clone_into(&mut rules.provider);
        }
        rules.rename(&table)?;
        rules.places(&table)?;
        rules.marks = marks(&table, "fits")?;
        rules.unlike = marks(&table, "unlike")?;
        rules.roles.splice(0..0, roles);
        for part in parts.into_iter().rev() {
            rules.add_part(part)?;
        }
        rules.known.extend(table.texts("known")?.iter().map(|key| key.value.to_owned()));
        if let Some(results) = table.text("results")? {
            rules.results = named(&results, "results are", &PLACES)?;
        }
        rules.is_log |= table.flag("log")?;
        rules.shares_ids |= table.flag("shared-ids")?;
        let samples = table.texts("samples")?;
        rules.samples = samples.iter().map(|sample| sample.value.to_owned()).collect();
        rules.kinds_mut().for_each(Kind::frame_results);
        let whole = table.span.clone();
        table.finish()?;
        rules.refuse_unread(&whole)?;
        Ok(rules)
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
        if let Some(automatic) = table.table("automatic")? {
            self.automatic = conditions(&automatic)?;
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
            several: table.flag("several")?,
        };
        let span = table.span.clone();
        table.finish()?;
        kind.refuse_gaps(&span)?;
        match (at, list) {
            (None, _) => self.whole.insert(0, kind),
            (Some(_), list) => {
                let mut groups = self.groups.iter_mut();
                match groups.find(|group| list.is_some() && group.list == list && group.of_item == of_item) {
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
        let is_inside = self.results == ResultPlace::SameMessage;
        self.kinds().any(Kind::is_result) && !is_inside
            || self.groups.iter().any(|group| group.list.is_some() && group.kinds.iter().any(Kind::is_result))
    }
}

impl Kind {
    fn is_result(&self) -> bool {
        self.is == Is::Result
    }

    fn frame_results(&mut self) {
        if matches!(self.is, Is::Call | Is::Result) {
            self.frames = self.result_path().map(Frames::of).unwrap_or_default();
        }
    }

    /// Frames the lists of results as they are written.
    fn write_lists(&mut self, writing: &Writing) {
        let mut frames = std::mem::take(&mut self.frames);
        if let Some(path) = self.result_path().filter(|_| matches!(self.is, Is::Call | Is::Result)) {
            frames.write_list(path, writing);
        }
        self.frames = frames;
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

/// The marks under `key`.
fn marks(table: &Table<'_>, key: &'static str) -> Result<Vec<Mark>, Fault> {
    table.tables(key)?.iter().map(conditions).collect()
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
    named(text, "a role is", &roles().collect::<Vec<_>>())
}

/// The names of the roles.
fn roles() -> impl Iterator<Item = (&'static str, Role)> {
    SPEAKERS.into_iter().filter_map(|(name, speaker)| match speaker {
        Speaker::Role(role) => Some((name, role)),
        Speaker::Metadata | Speaker::Pinned => None,
    })
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
        names.extend(roles().map(|(name, role)| (name.to_owned(), Speaker::Role(role))));
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

/// The conditions in a table: paths with `true`, `false`, a number, a text or texts; a path after `^` is of the record around.
fn conditions(table: &Table<'_>) -> Result<Vec<Condition>, Fault> {
    let conditions = table.members().map(|(key, value)| {
        let wanted = match value.get_ref() {
            DeValue::Boolean(true) => Wanted::Present,
            DeValue::Boolean(false) => Wanted::Absent,
            DeValue::Integer(number) => Wanted::OneOf(vec![number.as_str().to_owned()]),
            _ => Wanted::OneOf(strings(key.value, value)?.iter().map(|text| text.value.to_owned()).collect()),
        };
        Ok(Condition { path: path(&key)?, wanted })
    });
    conditions.collect()
}
