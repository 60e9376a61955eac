//! What a column of lists of structs can hold, and how a list that a cut made fits it: elements that are kept are named by their
//! numbers, and new ones get a value for every field.

mod fitting;
mod olds;
mod origins;

use std::ops::RangeInclusive;

use curtail_core::json::{Document, Value};
use serde::{Deserialize, Serialize};

use fitting::Fitting;
use origins::{Origin, origins};

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
    /// The old value with this number among those at the same place of the old list, from 0, nulls left out: a list or a struct
    /// that is the same, or what JSON cannot say, such as a number that is not finite.
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
        let old = Document::parse_all(before).map_err(|error| error.to_string())?;
        let new = Document::parse_all(after).map_err(|error| error.to_string())?;
        let elements: Vec<Value<'_>> = old.roots().flat_map(Value::items).collect();
        let raws: Vec<Value<'_>> = new.roots().flat_map(Value::items).collect();
        if let Some(kept) = kept(&elements, &raws) {
            return Ok(Fit::Kept(kept));
        }
        let fitting = Fitting::new(self, &elements, before);
        let fitted = origins(&elements, &raws).into_iter().zip(raws).map(|(origin, value)| match origin {
            Origin::Kept(number) => Ok(Element::Kept(number)),
            Origin::Changed(source) => fitting.value(value, source).map(Element::New),
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
        let old = Document::parse(before).map_err(|error| error.to_string())?;
        let new = Document::parse(after).map_err(|error| error.to_string())?;
        let elements: Vec<Value<'_>> = old.roots().collect();
        let fitting = Fitting::new(self, &elements, before);
        let values = new.roots().map(|value| fitting.value(value, elements.first().copied()).map(Element::New));
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

#[cfg(test)]
mod tests {
    use std::slice;

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
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_part_for_a_text_has_all_required_fields() {
        let more = Field { name: "more".to_owned(), shape: Shape::Text, optional: false };
        let part = Shape::Struct(vec![field("text", Shape::Text), more]);
        let shape = Shape::Struct(vec![field("content", Shape::List(Box::new(part)))]);
        let error = shape.fit(r#"[{"content":[{"text":"a","more":"b"}]}]"#, r#"[{"content":"a"}]"#).unwrap_err();
        assert!(error.starts_with("the column requires the field `content.more`"), "{error}");
    }

    /// The numbers of the old values in elements that are new.
    fn numbers(shape: &Shape, before: &str, after: &str) -> Vec<Vec<Option<usize>>> {
        let Ok(Fit::New(text)) = shape.fit(before, after) else { panic!("a new element") };
        let elements = Element::read_all(text.as_bytes()).unwrap();
        let new = elements.iter().map(|element| match element {
            Element::New(Fitted::Struct(fields)) => fields.iter().map(number).collect(),
            _ => Vec::new(),
        });
        new.collect()
    }

    fn number(fitted: &Fitted) -> Option<usize> {
        if let Fitted::Old(number) = fitted { Some(*number) } else { None }
    }

    /// JSON has null for every number that is not finite.
    #[test]
    fn what_json_cannot_say_is_that_of_the_element_that_was_changed() {
        let floats = Shape::List(Box::new(Shape::Float));
        let shape =
            Shape::Struct(vec![field("text", Shape::Text), field("score", Shape::Float), field("scores", floats)]);
        let before = scored(&["a", "b", "c"]);
        let [first, second, third] = [0, 1, 2].map(|number| vec![None, Some(number), Some(number)]);
        assert_eq!(numbers(&shape, &before, &scored(&["A", "b", "C"])), [first.clone(), vec![], third.clone()]);
        assert_eq!(numbers(&shape, &before, &scored(&["C"])), slice::from_ref(&third));
        assert_eq!(numbers(&shape, &before, &scored(&["x", "A", "b", "c"]))[1], first);
        assert_eq!(numbers(&shape, &before, &scored(&["A", "B", "C"])), [first, second, third]);
    }

    /// A list of elements with these texts, and numbers that are not finite.
    fn scored(texts: &[&str]) -> String {
        let elements = texts.iter().map(|text| format!(r#"{{"text":"{text}","score":null,"scores":[null,1]}}"#));
        format!("[{}]", elements.collect::<Vec<_>>().join(","))
    }

    /// A row with many elements is fitted in one pass.
    #[test]
    fn a_long_row_is_fitted_in_one_pass() {
        let [before, after] = ["user", "model"].map(|text| {
            let elements =
                (0..40_000).map(|nth| format!(r#"{{"role":"{text} {nth}","content":[{{"text":"a"}}],"at":"{nth}"}}"#));
            format!("[{}]", elements.collect::<Vec<_>>().join(","))
        });
        let Ok(Fit::New(text)) = message().fit(&before, &after) else { panic!("a new element") };
        assert_eq!(Element::read_all(text.as_bytes()).unwrap().len(), 40_000);
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
