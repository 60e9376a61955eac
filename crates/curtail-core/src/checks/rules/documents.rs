//! Documents that are blocks of a request, with a name each: how many there are, what they are called, and the text beside them.

use std::collections::{HashMap, HashSet};

use super::{RULE, result_blocks};
use crate::checks::constraints::{Pattern, most, pattern, states};
use crate::checks::{Detector, Fix, Match, Rule, RuleContext};
use crate::dialects::Patch;
use crate::json::{Value, quote};
use crate::transcript::{Message, PartRef};

pub(super) static DOCUMENTS: Rule = Rule {
    code: "S032",
    name: "documents",
    summary: "A document has a name that is not accepted or that another one has, or no text beside it.",
    why: "Bedrock accepts ASCII letters, digits, single blanks, hyphens, parentheses and square brackets in the name of a \
          document, and each name once in a request. A file that is uploaded again, or a program that calls every file \
          `document`, makes every later request of the session fail. A message with a document needs a text.",
    help: "rename the document: `--fix` does this. A text beside the document is for a person to write",
    fix: Fix::Part,
    bad: r#"{"role":"user","content":[{"text":"Do the bills match?"},{"document":{"format":"txt","name":"bill","source":{"bytes":"MTIgRVVS"}}},{"document":{"format":"txt","name":"bill","source":{"bytes":"MTMgRVVS"}}}]}
{"role":"assistant","content":[{"text":"They do not."}]}
"#,
    good: r#"{"role":"user","content":[{"text":"Do the bills match?"},{"document":{"format":"txt","name":"bill","source":{"bytes":"MTIgRVVS"}}},{"document":{"format":"txt","name":"bill-2","source":{"bytes":"MTMgRVVS"}}}]}
{"role":"assistant","content":[{"text":"They do not."}]}
"#,
    detector: Detector::Transcript(documents),
    ..RULE
};

/// A document of a request.
struct SentDocument<'a> {
    at: PartRef,
    /// The block that it is.
    block: Value<'a>,
    /// The text that it is called, if it is one.
    name: Option<Value<'a>>,
}

impl<'a> SentDocument<'a> {
    fn from_block(at: PartRef, block: Value<'a>) -> Option<Self> {
        let document = block.get("document").filter(|document| document.is_object())?;
        Some(Self { at, block, name: document.get("name").filter(|name| name.text().is_some()) })
    }
}

/// Every document that is sent: in messages, and in results.
fn sent_documents<'a>(context: &RuleContext<'_, 'a>) -> Vec<SentDocument<'a>> {
    let sent = context.parts().filter(|(at, _)| context.messages[at.message].standing.is_read());
    let elements = sent.filter_map(|(at, part)| Some((at, part.place()?.element)));
    let blocks = elements
        .flat_map(|(at, element)| std::iter::once(element).chain(result_blocks(element)).map(move |block| (at, block)));
    blocks.filter_map(|(at, block)| SentDocument::from_block(at, block)).collect()
}

/// The first document that is too many. Of too many, the oldest make room.
pub(super) fn too_many<'a>(context: &RuleContext<'_, 'a>) -> Option<Match<'a>> {
    let limit = most(context.provider_rules.provider, "number of documents")?;
    let sent = sent_documents(context);
    let surplus = sent.get(limit)?;
    let message = format!("the request has {} documents, and {limit} are accepted", sent.len());
    let oldest = sent[..sent.len() - limit].iter().map(|document| {
        let name = document.name.and_then(Value::text).map_or_else(String::new, |name| format!(": {}", name.decode()));
        let text = format!("{{\"text\":{}}}", quote(&format!("[document{name}, removed]")));
        Patch { span: document.block.span(), text }
    });
    Some(context.match_at(surplus.at, message).of("number of documents").writing(oldest))
}

fn documents<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let Some(pattern) = pattern(context.provider_rules.provider, "document name") else { return Vec::new() };
    [names(context, &pattern), without_text(context)].concat()
}

/// Names that are not accepted, and those that an earlier document has.
fn names<'a>(context: &RuleContext<'_, 'a>, pattern: &Pattern) -> Vec<Match<'a>> {
    let sent = sent_documents(context);
    let named = sent.iter().filter_map(|SentDocument { at, name, .. }| {
        let value = (*name)?;
        Some((*at, value, value.text()?.decode().into_owned()))
    });
    let named: Vec<(PartRef, Value<'a>, String)> = named.collect();
    let mut taken: HashSet<String> = named.iter().map(|(.., name)| name.clone()).collect();
    let mut earlier: HashMap<String, PartRef> = HashMap::new();
    let mut numbers = HashMap::new();
    let mut matches = Vec::new();
    for (at, value, name) in named {
        let found = match (pattern.fault(&name), earlier.get(&name)) {
            (Some(fault), _) => {
                context.match_at(at, format!("the name `{name}` of the document {fault}")).of("document name")
            }
            (None, Some(other)) => {
                let message = format!("an earlier document has the name `{name}`");
                context.match_with(at, Some(*other), message).of("document names")
            }
            (None, None) => {
                earlier.insert(name, at);
                continue;
            }
        };
        let new = free_name(&name, pattern, &taken, &mut numbers);
        matches.push(found.writing([Patch { span: value.span(), text: quote(&new) }]));
        taken.insert(new);
    }
    matches
}

/// `name` in the form of `pattern`, with a number if it is taken. `numbers` are the last numbers that were tried, by name: to
/// begin anew for each of many equal names would take quadratic time.
fn free_name(name: &str, pattern: &Pattern, taken: &HashSet<String>, numbers: &mut HashMap<String, usize>) -> String {
    let name = pattern.mended(name);
    let last = numbers.entry(name.clone()).or_insert(0);
    loop {
        *last += 1;
        let free = if *last == 1 { name.clone() } else { pattern.mended(&format!("{name}-{last}")) };
        if !taken.contains(&free) {
            return free;
        }
    }
}

/// Messages with a document and no text.
fn without_text<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if !states(context.provider_rules.provider, "text beside documents") {
        return Vec::new();
    }
    let bare = context.read_messages().filter(|(_, message)| has(message, "document") && !has(message, "text"));
    let text = "the message has a document and no text";
    bare.map(|(at, _)| context.match_message(at, text).of("text beside documents")).collect()
}

/// Whether a block of a message has the member `key`.
fn has(message: &Message<'_>, key: &str) -> bool {
    let content = message.value().and_then(|value| value.get("content"));
    content.is_some_and(|content| content.items().any(|block| block.has(key)))
}
