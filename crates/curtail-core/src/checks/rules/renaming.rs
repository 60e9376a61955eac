//! Renames the id or the tool of a call wherever it is: in the call, in its results, and where a log repeats it.

use std::collections::{HashMap, HashSet};

use crate::checks::{Match, RuleContext};
use crate::dialects::Patch;
use crate::json::{Span, Text, Value, quote};
use crate::transcript::{Content, Message, Part, PartRef};

/// What a call and its result have in common.
#[derive(Clone, Copy)]
pub(super) enum Naming {
    Id,
    ToolName,
}

impl Naming {
    /// The text of a part that is it.
    fn of<'c, 'a>(self, content: &'c Content<'a>) -> Option<&'c Text<'a>> {
        match self {
            Self::Id => content.tool_id(),
            Self::ToolName => content.tool_name(),
        }
    }

    /// Whether a member with this key may repeat it.
    fn names(self, key: &Text<'_>) -> bool {
        let key: String = key.decode().chars().filter(char::is_ascii_alphanumeric).collect();
        let key = key.to_ascii_lowercase();
        match self {
            Self::Id => key.ends_with("id"),
            Self::ToolName => matches!(key.as_str(), "name" | "toolname" | "functionname"),
        }
    }
}

/// Where a transcript has the ids of its calls, or the names of its tools: where they are read, and where a log repeats them.
pub(super) struct NamingSites {
    naming: Naming,
    /// Where calls and results have it.
    own: HashSet<u32>,
    /// The places of each, by what it is.
    sites: HashMap<String, Vec<Span>>,
}

impl NamingSites {
    /// Walks each message with calls and results once. What the model and the tools said is left out.
    pub(super) fn of(context: &RuleContext<'_, '_>, naming: Naming) -> Self {
        let source = context.messages.first().and_then(Message::value).map_or("", Value::source);
        let parts: Vec<(PartRef, &Part<'_>)> = context.parts().filter(|(_, part)| part.content.is_tool()).collect();
        let names = parts.iter().flat_map(|(_, part)| [part.content.tool_id(), part.content.tool_name()]);
        let names = Offsets::new(source, names.flatten());
        let said = Offsets::new(source, parts.iter().flat_map(|(_, part)| said(&part.content)));
        let own = parts.iter().filter(|(at, _)| is_of_pair(context, *at, naming));
        let own = own.filter_map(|(_, part)| naming.of(&part.content)?.offset_in(source)).collect();
        let mut found = Self { naming, own, sites: HashMap::new() };
        let mut seen = HashSet::new();
        let items = parts.iter().filter_map(|(at, _)| context.messages[at.message].value());
        for item in items.filter(|item| seen.insert(*item)) {
            found.walk(item, |value| said.are_in(value) && !names.are_in(value));
        }
        found
    }

    /// Adds the places in `item`, except in values of which `is_said` is true.
    fn walk<'a>(&mut self, item: Value<'a>, is_said: impl Fn(Value<'a>) -> bool) {
        let mut open = vec![item];
        while let Some(value) = open.pop() {
            if is_said(value) {
                continue;
            }
            for member in value.members() {
                let span = member.value.span();
                let Some(text) = member.value.text() else {
                    open.push(member.value);
                    continue;
                };
                let is_own = self.own.contains(&(span.start + 1));
                if is_own || text.len_bound() > 0 && self.naming.names(&member.key) {
                    self.sites.entry(text.into_decoded().into_owned()).or_default().push(span);
                }
            }
            open.extend(value.items());
        }
    }

    /// `found`, mended by calling `old` `new`, wherever it is: other calls with the same fault are mended with the first.
    pub(super) fn renaming<'a>(&mut self, found: Match<'a>, old: &str, new: &str) -> Match<'a> {
        let Some(sites) = self.sites.get_mut(old) else { return found };
        let patches = std::mem::take(sites).into_iter().map(|span| Patch { span, text: quote(new) });
        if patches.len() == 0 { found.mended_with_earlier() } else { found.writing(patches) }
    }
}

/// Whether a part has the name of its call: of a result without one, it is not known.
fn is_of_pair(context: &RuleContext<'_, '_>, at: PartRef, naming: Naming) -> bool {
    let content = &at.part_in(context.messages).content;
    let call = context.pairs.counterpart(at).map(|call| &call.part_in(context.messages).content);
    content.call().is_some()
        || call.is_some_and(|call| naming.of(call).map(Text::decode) == naming.of(content).map(Text::decode))
}

/// The arguments of a call, or what a result says.
fn said<'c, 'a>(content: &'c Content<'a>) -> impl Iterator<Item = &'c Text<'a>> {
    let arguments = content.call().map(|call| &call.arguments);
    arguments.into_iter().chain(content.result().into_iter().flat_map(|result| &result.content))
}

/// Places in a text, in order.
struct Offsets(Vec<u32>);

impl Offsets {
    /// The places of `texts` in `source`.
    fn new<'t, 'a: 't>(source: &str, texts: impl Iterator<Item = &'t Text<'a>>) -> Self {
        let mut offsets: Vec<u32> = texts.filter_map(|text| text.offset_in(source)).collect();
        offsets.sort_unstable();
        Self(offsets)
    }

    /// Whether one of them is in `value`.
    fn are_in(&self, value: Value<'_>) -> bool {
        let Span { start, end } = value.span();
        self.0.get(self.0.partition_point(|at| *at < start)).is_some_and(|at| *at < end)
    }
}
