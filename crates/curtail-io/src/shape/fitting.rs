//! Gives a value that a cut made the shape of its column.

use super::olds::Olds;
use super::{Field, Fitted, Shape};
use curtail_core::dialects::TextParts;
use curtail_core::json::{Value, ValueKind};

/// What is known of the old list when a new value is fitted.
pub(super) struct Fitting<'s, 'a> {
    shape: &'s Shape,
    olds: Olds<'a>,
    parts: TextParts,
}

/// The place of a value: what was there before, and who wrote the message around it.
#[derive(Clone, Copy)]
struct Place<'o, 'a> {
    olds: &'o Olds<'a>,
    /// The old value that this one was made of, as far as that is known.
    source: Option<Value<'a>>,
    is_by_model: bool,
}

/// Why a value does not fit: the fields that lead to it, from the innermost, and what is wrong.
struct Misfit {
    path: Vec<String>,
    kind: MisfitKind,
}

enum MisfitKind {
    /// It is of another kind, in words: what the column has, and what the value is.
    Kind { column: String, value: String },
    /// The column does not have the field.
    Unknown,
    /// The value lacks the field.
    Required,
}

impl<'a> Fitting<'_, 'a> {
    /// For new values of `shape`, in place of the `elements` of the list `before`.
    pub(super) fn new<'s>(shape: &'s Shape, elements: &[Value<'a>], before: &str) -> Fitting<'s, 'a> {
        Fitting { shape, olds: Olds::new(elements, shape), parts: TextParts::in_messages(before) }
    }

    /// `value`, which was made of `source`, as far as that is known.
    ///
    /// # Errors
    /// It does not fit, and why.
    pub(super) fn value(&self, value: Value<'a>, source: Option<Value<'a>>) -> Result<Fitted, String> {
        let place = Place { olds: &self.olds, source, is_by_model: false };
        self.fitted(value, self.shape, place).map_err(|misfit| misfit.reason())
    }

    fn fitted(&self, value: Value<'a>, shape: &Shape, place: Place<'_, 'a>) -> Result<Fitted, Misfit> {
        let old = || place.olds.number(value, place.source).map(Fitted::Old);
        let fitted = match (shape, value.kind()) {
            (Shape::Float, ValueKind::Null) => Some(old().unwrap_or(Fitted::Null)),
            (_, ValueKind::Null) => Some(Fitted::Null),
            (Shape::Struct(fields), ValueKind::Object) => match old() {
                None => return self.object(value, fields, place),
                old => old,
            },
            (Shape::List(item), ValueKind::Array) => match old() {
                None => return self.list(value, item, place),
                old => old,
            },
            (Shape::List(item), ValueKind::String) => {
                let part = self.part(value, item, place)?;
                Some(Fitted::List(vec![part]))
            }
            (Shape::Text, ValueKind::String) => text_of(value),
            (Shape::Bytes, ValueKind::String) => old().or_else(|| text_of(value)),
            (Shape::Truth, ValueKind::Bool) => Some(Fitted::Truth(value.raw() == "true")),
            (Shape::Integer(range), ValueKind::Number) => {
                let number = value.raw().parse::<i128>().ok().filter(|number| range.contains(number));
                number.map(|number| Fitted::Number(number.to_string()))
            }
            (Shape::Float, ValueKind::Number) => Some(Fitted::Number(value.raw().to_owned())),
            (Shape::Other(_), _) => old(),
            _ => None,
        };
        fitted.ok_or_else(|| MisfitKind::Kind { column: shape.name(), value: described(value) }.here())
    }

    fn list(&self, value: Value<'a>, item: &Shape, place: Place<'_, 'a>) -> Result<Fitted, Misfit> {
        let mut sources = place.source.into_iter().flat_map(Value::items);
        let items = value.items().map(|value| {
            let place = Place { olds: &place.olds.below[0], source: sources.next(), ..place };
            self.fitted(value, item, place)
        });
        items.collect::<Result<_, _>>().map(Fitted::List)
    }

    fn object(&self, value: Value<'a>, fields: &[Field], place: Place<'_, 'a>) -> Result<Fitted, Misfit> {
        let is_by_model = TextParts::is_by_model(value).unwrap_or(place.is_by_model);
        let has_value = value.members().filter(|member| member.value.kind() != ValueKind::Null);
        let mut keys = has_value.map(|member| member.key.into_decoded());
        if let Some(key) = keys.find(|key| fields.iter().all(|field| field.name != *key)) {
            return Err(MisfitKind::Unknown.here().below(&key));
        }
        let values = fields.iter().zip(&place.olds.below).map(|(field, olds)| {
            let source = place.source.and_then(|source| source.get(&field.name));
            let fitted = match value.get(&field.name) {
                Some(value) => self.fitted(value, &field.shape, Place { olds, source, is_by_model }),
                None => Ok(Fitted::Null),
            };
            let fitted = match fitted {
                Ok(Fitted::Null) if !field.optional => Err(MisfitKind::Required.here()),
                fitted => fitted,
            };
            fitted.map_err(|misfit| misfit.below(&field.name))
        });
        values.collect::<Result<_, _>>().map(Fitted::Struct)
    }

    /// A text as an item of a list of parts.
    fn part(&self, text: Value<'a>, item: &Shape, place: Place<'_, 'a>) -> Result<Fitted, Misfit> {
        let Shape::Struct(fields) = item else {
            return self.fitted(text, item, Place { olds: &place.olds.below[0], source: None, ..place });
        };
        let mut values = vec![Fitted::Null; fields.len()];
        let [text_at, type_at] = [TextParts::TEXT, TextParts::TYPE]
            .map(|name| fields.iter().position(|field| field.name == name && field.shape == Shape::Text));
        let Some(text_at) = text_at else {
            return Err(MisfitKind::Unknown.here().below(TextParts::TEXT));
        };
        values[text_at] = text_of(text).unwrap_or(Fitted::Null);
        if let Some(type_at) = type_at {
            values[type_at] = Fitted::Text(self.parts.type_name(place.is_by_model).to_owned());
        }
        match fields.iter().zip(&values).find(|(field, value)| !field.optional && **value == Fitted::Null) {
            Some((field, _)) => Err(MisfitKind::Required.here().below(&field.name)),
            None => Ok(Fitted::Struct(values)),
        }
    }
}

impl MisfitKind {
    /// A misfit of this kind at the value itself.
    const fn here(self) -> Misfit {
        Misfit { path: Vec::new(), kind: self }
    }
}

impl Misfit {
    /// The same, of a value that has it in this field.
    fn below(mut self, field: &str) -> Self {
        self.path.push(field.to_owned());
        self
    }

    fn reason(&self) -> String {
        let path: Vec<&str> = self.path.iter().rev().map(String::as_str).collect();
        let path = path.join(".");
        match &self.kind {
            MisfitKind::Kind { column, value } => {
                let place =
                    if path.is_empty() { String::from("what the column has") } else { format!("the field `{path}`") };
                format!("{place} is {column}, and the answer has {value} there; convert the column to JSON text first")
            }
            MisfitKind::Unknown => format!(
                "the column has no field `{path}`, which the answer has; add it to the type, or convert the column to JSON text first"
            ),
            MisfitKind::Required => format!(
                "the column requires the field `{path}`, which the answer does not have; convert the column to JSON text first"
            ),
        }
    }
}

fn text_of(value: Value<'_>) -> Option<Fitted> {
    value.text().map(|text| Fitted::Text(text.into_decoded().into_owned()))
}

fn described(value: Value<'_>) -> String {
    match value.kind() {
        ValueKind::Object => String::from("an object"),
        ValueKind::Array => String::from("a list"),
        ValueKind::String => String::from("a text"),
        _ => value.raw().chars().take(40).collect(),
    }
}
