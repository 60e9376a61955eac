//! Which member of a transcript decided its dialect: the one without which its item would not fit, or would fit less well.

use super::{Dialect, Fit};
use crate::json::{Document, Span, Value, removal};
use crate::transcript::Transcript;

/// Members that most formats have: one of them decides only where no other one does.
const COMMON: [&str; 6] = ["role", "content", "type", "from", "value", "message"];

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
    let mut path = String::new();
    let mut steps: Vec<usize> = Vec::new();
    let mut value = None;
    loop {
        let document = Document::parse(json).ok()?;
        let root = document.roots().next()?;
        let holder = steps.iter().try_fold(root, |holder, step| inside(holder).nth(*step).map(|(_, value)| value))?;
        let fit = dialect.fit(root);
        let lowers = |(_, (_, value)): &(usize, (String, Value<'_>))| {
            without(json, holder, *value).is_some_and(|left| fit_of(dialect, &left) < fit)
        };
        let found: Vec<_> = inside(holder).enumerate().filter(lowers).collect();
        let own = found.iter().find(|(_, (key, _))| !COMMON.contains(&key.as_str()));
        let Some((step, (key, inner))) = own.or(found.first()) else { break };
        path = match (holder.is_array(), path.is_empty()) {
            (true, _) => format!("{path}[{step}]"),
            (false, true) => key.clone(),
            (false, false) => format!("{path}.{key}"),
        };
        value = inner.text().map(|text| text.decode().into_owned()).filter(|text| text.len() <= LONGEST);
        steps.push(*step);
    }
    let is = value.filter(|value| !value.is_empty()).map(|value| format!(" `{value}`")).unwrap_or_default();
    (!path.is_empty()).then(|| format!("`{path}`{is}"))
}

/// The members or items of a value.
fn inside(holder: Value<'_>) -> impl Iterator<Item = (String, Value<'_>)> {
    let items = holder.items().map(|item| (String::new(), item));
    items.chain(holder.members().map(|member| (member.key.decode().into_owned(), member.value)))
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
