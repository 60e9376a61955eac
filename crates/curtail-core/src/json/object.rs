//! Writes JSON: objects and lists, with their members in the given order.

use std::borrow::Cow;

use super::Value;
use super::escapes::{quote, quote_into};

/// JSON that is copied into an object unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Json<T = String>(pub(crate) T);

impl<T: Into<String>> From<Json<T>> for String {
    fn from(json: Json<T>) -> Self {
        json.0.into()
    }
}

/// What a member of an object can be: a text, which is quoted, a number, a switch, or JSON. `None` leaves the member out.
pub(crate) trait WriteJson {
    /// Appends the value to `out`.
    fn write_json(&self, out: &mut String);

    /// Whether there is no value.
    fn is_absent(&self) -> bool {
        false
    }
}

macro_rules! write_as_a_string {
    ($($text:ty),+) => {$(
        impl WriteJson for $text {
            fn write_json(&self, out: &mut String) {
                quote_into(self, out);
            }
        }
    )+};
}

write_as_a_string!(str, String, Cow<'_, str>);

impl WriteJson for bool {
    fn write_json(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

impl WriteJson for usize {
    fn write_json(&self, out: &mut String) {
        out.push_str(&self.to_string());
    }
}

impl<T: AsRef<str>> WriteJson for Json<T> {
    fn write_json(&self, out: &mut String) {
        out.push_str(self.0.as_ref());
    }
}

impl<T: WriteJson> WriteJson for Option<T> {
    fn write_json(&self, out: &mut String) {
        if let Some(value) = self {
            value.write_json(out);
        }
    }

    fn is_absent(&self) -> bool {
        self.as_ref().is_none_or(WriteJson::is_absent)
    }
}

impl<T: WriteJson + ?Sized> WriteJson for &T {
    fn write_json(&self, out: &mut String) {
        (*self).write_json(out);
    }

    fn is_absent(&self) -> bool {
        (*self).is_absent()
    }
}

/// Writes an object member by member; [`object!`] does it in the form of JSON.
pub(crate) struct ObjectWriter(String);

impl ObjectWriter {
    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    /// Appends a member, unless it is absent.
    pub(crate) fn member(mut self, key: &str, value: &(impl WriteJson + ?Sized)) -> Self {
        if !value.is_absent() {
            if self.0.len() > 1 {
                self.0.push(',');
            }
            quote_into(key, &mut self.0);
            self.0.push(':');
            value.write_json(&mut self.0);
        }
        self
    }

    /// Appends the members of `other` that have one of `keys`, as they are there.
    pub(crate) fn copied(self, other: Option<Value<'_>>, keys: &[&str]) -> Self {
        keys.iter().fold(self, |object, key| object.member(key, &other.and_then(|other| other.get(key)).map(raw)))
    }

    pub(crate) fn end(mut self) -> Json {
        self.0.push('}');
        Json(self.0)
    }
}

/// An object: `object! { "type": "text", "text": said }`. A key is a literal or a name.
macro_rules! object {
    ($($key:tt: $value:expr),* $(,)?) => {
        $crate::json::ObjectWriter::new()$(.member($key, &$value))*.end()
    };
}
pub(crate) use object;

/// The JSON of a value, as the source writes it.
pub(crate) fn raw(value: Value<'_>) -> Json<&str> {
    Json(value.raw())
}

/// A text, or `null` in its place.
pub(crate) fn or_null(text: Option<&str>) -> Json {
    Json(text.map_or_else(|| String::from("null"), quote))
}

/// A list of values that are JSON.
pub(crate) fn list<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> Json {
    let mut out = String::from("[");
    for (nth, value) in values.into_iter().enumerate() {
        if nth > 0 {
            out.push(',');
        }
        out.push_str(value.as_ref());
    }
    out.push(']');
    Json(out)
}

#[cfg(test)]
mod tests {
    use super::{Json, list};

    #[test]
    fn objects_have_their_members_in_order() {
        let key = "call \"id\"";
        let written = object! {
            "type": "text",
            key: Json("null"),
            "text": Some("a\nb"),
            "left_out": None::<&str>,
            "of": list([object! { "n": 3, "is": true }.0, String::from("[]")]),
        };
        let expected = r#"{"type":"text","call \"id\"":null,"text":"a\nb","of":[{"n":3,"is":true},[]]}"#;
        assert_eq!(String::from(written), expected);
        assert_eq!((object! {}.0.as_str(), list([""; 0]).0.as_str()), ("{}", "[]"));
    }
}
