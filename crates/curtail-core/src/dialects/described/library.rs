//! The descriptions that the program brings, and those that a user adds to a run.

use std::sync::{LazyLock, OnceLock, PoisonError, RwLock};

use super::Described;
use super::rules::Rules;
use super::source::{DescriptionError, Fault, Table, root};
use super::texts::BUILT_IN;
use crate::dialects::{CODE, Dialect};
use crate::json::Value;
use crate::transcript::Transcript;

/// The heads of the descriptions that the program brings.
static HEADS: LazyLock<Vec<Rules>> =
    LazyLock::new(|| BUILT_IN.iter().map(|(_, text)| Rules::head_of(text).unwrap_or_default()).collect());

/// Each description is compiled when it is first needed: most runs need none.
static DESCRIBED: [OnceLock<Option<&'static Described>>; BUILT_IN.len()] = [const { OnceLock::new() }; BUILT_IN.len()];

static REGISTERED: RwLock<&'static [&'static Described]> = RwLock::new(&[]);

/// The dialects that the program brings as descriptions.
pub(in crate::dialects) fn described() -> impl Iterator<Item = &'static Described> {
    (0..BUILT_IN.len()).filter_map(described_at)
}

/// The dialect with this number among those.
pub(super) fn described_at(number: usize) -> Option<&'static Described> {
    let (_, text) = BUILT_IN.get(number)?;
    *DESCRIBED.get(number)?.get_or_init(|| Rules::read(text).ok().map(Described::built_in))
}

/// The heads of the descriptions that the program brings, by the number of the dialect.
pub(super) fn heads() -> &'static [Rules] {
    &HEADS
}

/// The rules that say where records keep messages: those of the user, then those that the program brings.
fn places() -> impl Iterator<Item = &'static Rules> {
    registered().iter().copied().map(|one| one.rules).chain(heads())
}

/// The dialects that a user described for this run.
pub(super) fn registered() -> &'static [&'static Described] {
    *REGISTERED.read().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a user described dialects for this run.
pub(in crate::dialects) fn are_registered() -> bool {
    !registered().is_empty()
}

/// All described dialects: those of the user, then those that the program brings.
pub(in crate::dialects) fn all() -> impl Iterator<Item = &'static dyn Dialect> {
    registered().iter().copied().chain(described()).map(|one| one as &dyn Dialect)
}

/// The described dialect with this name.
pub(in crate::dialects) fn dialect_named(name: &str) -> Option<&'static dyn Dialect> {
    let of_user = registered().iter().copied().find(|one| one.format.name == name);
    let number = BUILT_IN.iter().position(|(known, _)| *known == name);
    of_user.or_else(|| described_at(number?)).map(|one| one as _)
}

/// A description of a user, compiled.
#[derive(Clone, Copy)]
pub struct Description {
    pub(super) dialect: &'static Described,
}

impl std::fmt::Debug for Description {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.dialect.format.name)
    }
}

impl Description {
    /// Compiles the description `text`.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place and what would be right.
    pub fn read(text: &str) -> Result<Self, DescriptionError> {
        Rules::read(text).and_then(Self::of_rules).map_err(|fault| fault.in_text(text))
    }

    /// Compiles the description `text` to try it: if nothing but `[write]` is wrong, as one that only reads, with what is wrong.
    ///
    /// # Errors
    /// The first thing that is wrong with how it reads, with its place and what would be right.
    pub fn to_try(text: &str) -> Result<(Self, Option<DescriptionError>), DescriptionError> {
        let wrong = match Self::read(text) {
            Ok(description) => return Ok((description, None)),
            Err(wrong) => wrong,
        };
        match Rules::read_only(text).and_then(Self::of_rules) {
            Ok(description) => Ok((description, Some(wrong))),
            Err(_) => Err(wrong),
        }
    }

    /// Compiles the descriptions in the tables `dialects` of a configuration.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place in `text`.
    pub fn of_configuration(text: &str) -> Result<Vec<Self>, DescriptionError> {
        Self::in_configuration(text).map_err(|fault| fault.in_text(text))
    }

    fn in_configuration(text: &str) -> Result<Vec<Self>, Fault> {
        let document = root(text)?;
        let tables = Table::new("", &document).tables("dialects")?;
        tables.into_iter().map(|table| Self::of_rules(Rules::of_table(table.nameless())?)).collect()
    }

    fn of_rules(rules: Rules) -> Result<Self, Fault> {
        if CODE.iter().any(|dialect| dialect.name() == rules.name) {
            let what = format!("`{}` is a dialect of the program; give this one another name", rules.name);
            return Err(Fault { at: 0, what });
        }
        let dialect = Described::of_user(rules);
        dialect.refuse_misread()?;
        Ok(Self { dialect })
    }

    /// The values of an item with a text of some length that is in no part and under no known key.
    #[must_use]
    pub fn unaccounted<'a>(&self, item: Value<'a>) -> Vec<Value<'a>> {
        self.dialect.rules.unaccounted(item)
    }

    /// The values beside the messages of a record with a text of some length that is in no preamble and under no known key, each
    /// with its place in the record as a JSON pointer.
    #[must_use]
    pub fn beside<'a>(&self, transcript: &Transcript<'a>) -> Vec<(String, Value<'a>)> {
        self.dialect.rules.beside(&transcript.layout)
    }

    /// What the description names that a transcript does not have: `no arguments of a call at with`.
    #[must_use]
    pub fn unmatched(&self, transcript: &Transcript<'_>) -> Vec<String> {
        self.dialect.rules.unmatched(&transcript.layout)
    }

    /// Whether what `fits` says is true of an item of a transcript.
    #[must_use]
    pub fn marks(&self, transcript: &Transcript<'_>) -> bool {
        self.dialect.rules.marks_one(&transcript.layout)
    }

    /// The dialect that it describes.
    #[must_use]
    pub fn dialect(&self) -> &'static dyn Dialect {
        self.dialect
    }

    /// The lines or records that it promises to read.
    #[must_use]
    pub fn samples(&self) -> &'static [String] {
        &self.dialect.rules.samples
    }
}

/// Adds the dialects of a user to those that are detected and found by name, for as long as the program runs. They come before
/// those that the program describes, so that a changed copy of one takes its place.
pub fn register(descriptions: &[Description]) {
    let mut all = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    let added = descriptions.iter().map(|description| description.dialect);
    *all = Box::leak(added.chain(all.iter().copied()).collect::<Vec<_>>().into_boxed_slice());
}

/// The list of messages in a record that keeps it where a description says.
pub(in crate::dialects) fn list_in(record: Value<'_>) -> Option<Value<'_>> {
    places().flat_map(|rules| &rules.lists).find_map(|place| {
        let list = place.list.first(record).filter(|list| list.is_array())?;
        // A cut may leave nothing; a key that others have as well says too little then.
        let Some(first) = list.items().next() else {
            let is_own = place.list.only_key() != Some("data") || all().any(|one| one.fits_record(record));
            return is_own.then_some(list);
        };
        let inner = place.inner.as_ref().filter(|inner| !inner.is_here());
        let holds = inner.is_none_or(|inner| inner.first(first).is_some_and(Value::is_array));
        (first.is_object() && holds).then_some(list)
    })
}

/// Where descriptions of the user say that records keep their messages.
pub(in crate::dialects) fn places_of_user() -> Vec<String> {
    let places = registered().iter().flat_map(|one| &one.rules.lists);
    places.map(ToString::to_string).collect()
}

/// The records of a document that keeps them where a description says.
pub(in crate::dialects) fn records_in(document: Value<'_>) -> Vec<Vec<Value<'_>>> {
    let paths = places().flat_map(|rules| &rules.records);
    paths.map(|path| path.all(document)).filter(|records| !records.is_empty()).collect()
}
