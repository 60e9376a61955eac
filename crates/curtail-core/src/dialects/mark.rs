//! Which member of a transcript decided its dialect: the one without which its item would not fit, or would fit less well.

use super::{Dialect, Fit};
use crate::json::{Document, Span, Text, Value, removal};
use crate::transcript::Transcript;

/// Members that most formats have: one of them decides only where no other one does.
const COMMON: [&str; 6] = ["role", "content", "type", "from", "value", "message"];

/// How many items of a list are tried: each takes as long as reading the whole.
const FEW: usize = 8;

/// The longest text that a mark repeats.
const LONGEST: usize = 40;

/// The member that decided the dialect of `transcript`, and where it is, in words; `None` if no item has a mark of the dialect.
///
/// ```
/// use curtail_core::dialects::{Framing, Reading, mark};
///
/// let chat = r#"{"messages": [{"role": "user", "content": "When?"}, {"role": "tool", "tool_call_id": "c1", "content": "Now"}]}"#;
/// let reading = Reading::new(Framing::Records, None, None)?;
/// let document = reading.parse(chat)?;
/// let (dialect, transcript) = &reading.transcripts(&document)?[0];
/// assert_eq!(mark(*dialect, transcript).as_deref(), Some("`tool_call_id` `c1` in item 2"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn mark(dialect: &dyn Dialect, transcript: &Transcript<'_>) -> Option<String> {
    let items = transcript.layout.elements.iter().enumerate();
    let (nth, item) = items.into_iter().find(|(_, item)| dialect.fit(**item) >= Fit::Certain)?;
    let member = deciding(dialect, item.raw())?;
    Some(format!("{member} in item {}", nth + 1))
}

/// The path of the deciding member of an item, with its value if that is a short text.
fn deciding(dialect: &dyn Dialect, json: &str) -> Option<String> {
    let document = Document::parse(json).ok()?;
    let mut holder = document.roots().next()?;
    let fit = dialect.fit(holder);
    let mut path = String::new();
    loop {
        let (common, own): (Vec<_>, Vec<_>) = inside(holder).partition(|(step, _)| step.is_common());
        let deciding = own
            .into_iter()
            .chain(common)
            .find(|(_, value)| without(json, holder, *value).is_some_and(|left| fit_of(dialect, &left) < fit));
        let Some((step, value)) = deciding else { break };
        step.append_to(&mut path);
        holder = value;
    }
    let value = holder.text().map(|text| text.decode().into_owned());
    let is = value.filter(|value| (1..=LONGEST).contains(&value.len())).map(|value| format!(" `{value}`"));
    (!path.is_empty()).then(|| format!("`{path}`{}", is.unwrap_or_default()))
}

/// The way to a value from the one that contains it.
enum Step<'a> {
    Key(Text<'a>),
    Item(usize),
}

impl Step<'_> {
    fn is_common(&self) -> bool {
        matches!(self, Self::Key(key) if key.is_one_of(&COMMON))
    }

    fn append_to(&self, path: &mut String) {
        match self {
            Self::Item(nth) => path.push_str(&format!("[{nth}]")),
            Self::Key(key) if path.is_empty() => path.push_str(&key.decode()),
            Self::Key(key) => path.push_str(&format!(".{}", key.decode())),
        }
    }
}

/// The members or first items of a value.
fn inside(holder: Value<'_>) -> impl Iterator<Item = (Step<'_>, Value<'_>)> {
    let items = holder.items().take(FEW).enumerate().map(|(nth, item)| (Step::Item(nth), item));
    items.chain(holder.members().map(|member| (Step::Key(member.key), member.value)))
}

fn without(json: &str, holder: Value<'_>, value: Value<'_>) -> Option<String> {
    let mut left = json.to_owned();
    let mut spans: Vec<Span> = removal(holder, |inner| inner == value);
    spans.sort_by_key(|span| std::cmp::Reverse(span.start));
    for span in spans {
        left.replace_range(span.start as usize..span.end as usize, "");
    }
    (left.len() < json.len()).then_some(left)
}

fn fit_of(dialect: &dyn Dialect, json: &str) -> Fit {
    let document = Document::parse(json);
    document.ok().and_then(|document| Some(dialect.fit(document.roots().next()?))).unwrap_or(Fit::No)
}
