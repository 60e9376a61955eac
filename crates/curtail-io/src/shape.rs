//! What a column of lists of structs can hold, and how a list that a cut made fits it: elements that are kept are named by their
//! numbers, and new ones get a value for every field.

use std::ops::RangeInclusive;

use curtail_core::json::{Document, Text, Value, ValueKind};
use serde::{Deserialize, Serialize};

/// What a value of a column can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A text.
    Text,
    /// A text as bytes. Bytes that are no text are Base64 in JSON.
    Bytes,
    /// True or false.
    Truth,
    /// An integer in this range.
    Integer(RangeInclusive<i128>),
    /// A number. One that is not finite is null in JSON.
    Float,
    /// A list of values of one shape.
    List(Box<Shape>),
    /// A value for each field.
    Struct(Vec<Field>),
    /// A value of this type, for which JSON has none: it can stay, and no new one can be made.
    Other(String),
}

/// A field of a struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What it can hold.
    pub shape: Shape,
    /// Whether it may be missing.
    pub optional: bool,
}

/// A list of structs after a cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fit {
    /// The elements for which this is true are left.
    Kept(Vec<bool>),
    /// Some elements are new: the [`Element`]s as JSON.
    New(String),
}

/// An element of a list after a cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Element {
    /// The old element with this number, from 0.
    Kept(usize),
    /// A new one.
    New(Fitted),
}

/// A value that fits its shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fitted {
    /// None.
    Null,
    /// A text.
    Text(String),
    /// True or false.
    Truth(bool),
    /// A number, in digits.
    Number(String),
    /// The first number of the old list at the same place that is not finite.
    NotFinite,
    /// The old value with this number among those at the same place of the old list, from 0, nulls left out.
    Old(usize),
    /// A list.
    List(Vec<Fitted>),
    /// The values of a struct's fields.
    Struct(Vec<Fitted>),
}

impl Fitted {
    /// The value of the field with this number; `None` if it is null.
    pub fn field(&self, number: usize) -> Option<&Self> {
        match self {
            Self::Struct(fields) => fields.get(number).filter(|field| **field != Self::Null),
            _ => None,
        }
    }

    /// The items of a list; none for any other value.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }
}

impl Element {
    /// Reads what [`Fit::New`] has.
    ///
    /// # Errors
    /// It is something else.
    pub fn read_all(text: &[u8]) -> Result<Vec<Self>, String> {
        serde_json::from_slice(text).map_err(|error| error.to_string())
    }
}

impl Shape {
    /// How the list `after`, which a cut made of `before`, fits a column whose elements have this shape.
    ///
    /// # Errors
    /// An element does not fit, and why.
    pub fn fit(&self, before: &str, after: &str) -> Result<Fit, String> {
        let parse = |text| Document::parse_all(text).map_err(|error| error.to_string());
        let (old, new) = (parse(before)?, parse(after)?);
        let elements: Vec<Value<'_>> = old.roots().flat_map(Value::items).collect();
        let raws: Vec<Value<'_>> = new.roots().flat_map(Value::items).collect();
        if let Some(kept) = kept(&elements, &raws) {
            return Ok(Fit::Kept(kept));
        }
        let fitting = Fitting { elements, parts: PartNames::of(before) };
        let mut next = 0;
        let fitted = raws.into_iter().map(|value| {
            let same = fitting.elements[next..].iter().position(|old| old.raw() == value.raw());
            match same {
                Some(at) => {
                    next += at + 1;
                    Ok(Element::Kept(next - 1))
                }
                None => fitting.value(value, self, &mut Vec::new(), None).map(Element::New),
            }
        });
        let fitted: Vec<Element> = fitted.collect::<Result<_, String>>()?;
        serde_json::to_string(&fitted).map(Fit::New).map_err(|error| error.to_string())
    }

    /// How the value `after`, which a cut made of `before`, fits a column whose values have this shape: as one [`Element`] in
    /// JSON.
    ///
    /// # Errors
    /// It does not fit, and why.
    pub fn fit_whole(&self, before: &str, after: &str) -> Result<String, String> {
        let parse = |text| Document::parse(text).map_err(|error| error.to_string());
        let (old, new) = (parse(before)?, parse(after)?);
        let fitting = Fitting { elements: old.roots().collect(), parts: PartNames::of(before) };
        let values = new.roots().map(|value| fitting.value(value, self, &mut Vec::new(), None).map(Element::New));
        let values: Vec<Element> = values.collect::<Result<_, String>>()?;
        serde_json::to_string(&values).map_err(|error| error.to_string())
    }

    /// Its name in words.
    fn name(&self) -> String {
        String::from(match self {
            Self::Text | Self::Bytes => "a text",
            Self::Truth => "true or false",
            Self::Integer(range) => return format!("an integer from {} to {}", range.start(), range.end()),
            Self::Float => "a number",
            Self::List(_) => "a list",
            Self::Struct(_) => "a struct",
            Self::Other(kind) => return format!("of type {kind}"),
        })
    }
}

/// Which elements are kept, if no other ones are in the list.
fn kept(elements: &[Value<'_>], after: &[Value<'_>]) -> Option<Vec<bool>> {
    let mut wanted = after.iter().map(|value| value.raw()).peekable();
    let kept = elements.iter().map(|element| wanted.next_if(|next| *next == element.raw()).is_some()).collect();
    wanted.next().is_none().then_some(kept)
}

/// How the types of text parts are called. In `OpenAI`'s Responses API, the name depends on who wrote the text.
#[derive(Clone, Copy)]
enum PartNames {
    Plain,
    ByAuthor,
}

impl PartNames {
    fn of(before: &str) -> Self {
        let by_author = ["\"input_text\"", "\"output_text\""].iter().any(|name| before.contains(name));
        if by_author { Self::ByAuthor } else { Self::Plain }
    }

    const fn name(self, is_assistant: bool) -> &'static str {
        match self {
            Self::Plain => "text",
            Self::ByAuthor if is_assistant => "output_text",
            Self::ByAuthor => "input_text",
        }
    }
}

/// A step from an element of the list to a value in it.
#[derive(Clone)]
enum Step {
    Field(String),
    Items,
}

struct Fitting<'a> {
    /// The old elements.
    elements: Vec<Value<'a>>,
    parts: PartNames,
}

impl Fitting<'_> {
    /// `value`, which is at `path` in a message of this role.
    fn value(
        &self,
        value: Value<'_>,
        shape: &Shape,
        path: &mut Vec<Step>,
        role: Option<&str>,
    ) -> Result<Fitted, String> {
        let fitted = match (shape, value.kind()) {
            (Shape::Float, ValueKind::Null) if self.old_at(path).any(|old| old.kind() == ValueKind::Null) => {
                Some(Fitted::NotFinite)
            }
            (_, ValueKind::Null) => Some(Fitted::Null),
            (Shape::Struct(fields), ValueKind::Object) => return self.object(value, fields, path, role),
            (Shape::List(item), ValueKind::Array) => {
                path.push(Step::Items);
                let items = value.items().map(|value| self.value(value, item, path, role)).collect::<Result<_, _>>();
                path.pop();
                return items.map(Fitted::List);
            }
            (Shape::List(item), ValueKind::String) => {
                let part = self.part(value, item, path, role)?;
                Some(Fitted::List(vec![part]))
            }
            (Shape::Text, ValueKind::String) => text_of(value),
            (Shape::Bytes, ValueKind::String) => self.old(value, path).or_else(|| text_of(value)),
            (Shape::Truth, ValueKind::Bool) => Some(Fitted::Truth(value.raw() == "true")),
            (Shape::Integer(range), ValueKind::Number) => {
                let number = value.raw().parse::<i128>().ok().filter(|number| range.contains(number));
                number.map(|number| Fitted::Number(number.to_string()))
            }
            (Shape::Float, ValueKind::Number) => Some(Fitted::Number(value.raw().to_owned())),
            (Shape::Other(_), _) => self.old(value, path),
            _ => None,
        };
        fitted.ok_or_else(|| {
            let place = if path.is_empty() {
                String::from("what the column has")
            } else {
                format!("the field `{}`", named(path))
            };
            format!(
                "{place} is {}, and the answer has {} there; convert the column to JSON text first",
                shape.name(),
                described(value)
            )
        })
    }

    fn object(
        &self,
        value: Value<'_>,
        fields: &[Field],
        path: &mut Vec<Step>,
        role: Option<&str>,
    ) -> Result<Fitted, String> {
        let own = value.get_text("role").map(Text::into_decoded);
        let role = own.as_deref().or(role);
        let lacking = |key: &str| fields.iter().all(|field| field.name != key);
        let has_value = value.members().filter(|member| member.value.kind() != ValueKind::Null);
        if let Some(key) = has_value.map(|member| member.key.into_decoded()).find(|key| lacking(key)) {
            return Err(no_field(path, &key));
        }
        let mut values = Vec::with_capacity(fields.len());
        for field in fields {
            path.push(Step::Field(field.name.clone()));
            let fitted = match value.get(&field.name) {
                Some(value) => self.value(value, &field.shape, path, role)?,
                None => Fitted::Null,
            };
            if fitted == Fitted::Null && !field.optional {
                return Err(format!(
                    "the column requires the field `{}`, which the answer does not have; convert the column to JSON text first",
                    named(path)
                ));
            }
            values.push(fitted);
            path.pop();
        }
        Ok(Fitted::Struct(values))
    }

    /// A text as an item of a list of parts.
    fn part(&self, text: Value<'_>, item: &Shape, path: &mut Vec<Step>, role: Option<&str>) -> Result<Fitted, String> {
        let Shape::Struct(fields) = item else { return self.value(text, item, path, role) };
        let mut values = vec![Fitted::Null; fields.len()];
        let at = |name: &str| fields.iter().position(|field| field.name == name && field.shape == Shape::Text);
        let Some(place) = at("text") else {
            return Err(no_field(path, "text"));
        };
        values[place] = text_of(text).unwrap_or(Fitted::Null);
        if let Some(place) = at("type") {
            values[place] = Fitted::Text(self.parts.name(role == Some("assistant")).to_owned());
        }
        Ok(Fitted::Struct(values))
    }

    /// The old value at `path` that is the same.
    fn old(&self, value: Value<'_>, path: &[Step]) -> Option<Fitted> {
        let mut old = self.old_at(path);
        let place = old.position(|old| old.raw() == value.raw() || same_text(old, value));
        place.map(Fitted::Old)
    }

    /// The old values at `path`. Items of lists that are null are left out.
    fn old_at(&self, path: &[Step]) -> std::vec::IntoIter<Value<'_>> {
        let mut values = self.elements.clone();
        for step in path {
            values = match step {
                Step::Field(name) => values.into_iter().filter_map(|value| value.get(name)).collect(),
                Step::Items => {
                    values.into_iter().flat_map(Value::items).filter(|value| value.kind() != ValueKind::Null).collect()
                }
            };
        }
        values.into_iter()
    }
}

fn same_text(one: Value<'_>, other: Value<'_>) -> bool {
    one.text().zip(other.text()).is_some_and(|(one, other)| one.decode() == other.decode())
}

fn text_of(value: Value<'_>) -> Option<Fitted> {
    value.text().map(|text| Fitted::Text(text.into_decoded().into_owned()))
}

fn named(path: &[Step]) -> String {
    let names = path.iter().filter_map(|step| match step {
        Step::Field(name) => Some(name.as_str()),
        Step::Items => None,
    });
    names.collect::<Vec<_>>().join(".")
}

fn no_field(path: &[Step], name: &str) -> String {
    let path = [path, &[Step::Field(name.to_owned())]].concat();
    format!(
        "the column has no field `{}`, which the answer has; add it to the type, or convert the column to JSON text first",
        named(&path)
    )
}

fn described(value: Value<'_>) -> String {
    match value.kind() {
        ValueKind::Object => String::from("an object"),
        ValueKind::Array => String::from("a list"),
        ValueKind::String => String::from("a text"),
        _ => value.raw().chars().take(40).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, shape: Shape) -> Field {
        Field { name: name.to_owned(), shape, optional: true }
    }

    fn message() -> Shape {
        let part = Shape::Struct(vec![field("type", Shape::Text), field("text", Shape::Text)]);
        Shape::Struct(vec![
            field("role", Shape::Text),
            field("content", Shape::List(Box::new(part))),
            field("at", Shape::Other(String::from("timestamp"))),
            field("n", Shape::Integer(0..=255)),
        ])
    }

    #[test]
    fn what_is_kept_is_named_and_what_is_new_gets_a_value_for_every_field() {
        let before = r#"[{"role":"user","at":"noon"},{"role":"assistant","n":1}]"#;
        assert_eq!(message().fit(before, r#"[{"role":"assistant","n":1}]"#), Ok(Fit::Kept(vec![false, true])));
        let after = r#"[{"role":"user","content":"a\n","at":"noon"},{"role":"assistant","n":1}]"#;
        let Ok(Fit::New(text)) = message().fit(before, after) else { panic!("a new element") };
        let part = Fitted::Struct(vec![Fitted::Text("text".to_owned()), Fitted::Text("a\n".to_owned())]);
        let new = vec![Fitted::Text("user".to_owned()), Fitted::List(vec![part]), Fitted::Old(0), Fitted::Null];
        assert_eq!(Element::read_all(text.as_bytes()), Ok(vec![Element::New(Fitted::Struct(new)), Element::Kept(1)]));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (after, words) in [
            (r#"[{"role":"user","x":{}}]"#, "no field `x`"),
            (r#"[{"role":"user","content":[{"text":"a","more":1}]}]"#, "no field `content.more`"),
            (r#"[{"role":["user"]}]"#, "the field `role` is a text, and the answer has a list there"),
            (r#"[{"role":"user","n":256}]"#, "the field `n` is an integer from 0 to 255, and the answer has 256 there"),
            (r#"[{"role":"user","at":"now"}]"#, "the field `at` is of type timestamp, and the answer has a text there"),
            (r#"["a"]"#, "what the column has is a struct, and the answer has a text there"),
        ] {
            let error = message().fit(r#"[{"role":"user","at":"noon"}]"#, after).unwrap_err();
            assert!(error.starts_with(words) || error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_text_becomes_a_part_that_is_named_by_its_author() {
        let before = r#"[{"role":"user","content":[{"type":"input_text","text":"a"}]}]"#;
        for (role, name) in [("user", "input_text"), ("assistant", "output_text")] {
            let Ok(Fit::New(text)) = message().fit(before, &format!(r#"[{{"role":"{role}","content":"b"}}]"#)) else {
                panic!("a new element")
            };
            assert!(text.contains(name), "{text}");
        }
    }
}
