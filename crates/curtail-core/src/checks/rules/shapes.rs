//! Values that are right, in another shape than the provider wants: an object in place of a list of one, a text in place of the
//! object in it.

use super::RULE;
use crate::checks::constraints::names;
use crate::checks::{Detector, Fix, Match, Rule, RuleContext};
use crate::dialects::Patch;
use crate::json::{Document, Member, Value, quote};
use crate::transcript::{Message, Role};

pub(super) static VALUE_SHAPE: Rule = Rule {
    code: "S033",
    name: "value-shape",
    summary: "A value of a request is right, but not in the shape that the provider wants.",
    why: "A library that another provider's format was written for puts a single block where a list belongs, a text where a \
          block belongs, an object where its text belongs, or the address of an image where an object with the address \
          belongs. The provider rejects the request. Only requests are checked, and what a provider has refused: a dataset \
          may keep such values for a chat template.",
    help: "write the value in the wanted shape: `--fix` does this where nothing must be invented",
    fix: Fix::Part,
    bad: r#"{"model":"gpt-5","messages":[{"role":"user","content":["What is on the map?"]},{"role":"assistant","content":"Two islands."}]}
"#,
    good: r#"{"model":"gpt-5","messages":[{"role":"user","content":[{"type":"text","text":"What is on the map?"}]},{"role":"assistant","content":"Two islands."}]}
"#,
    detector: Detector::Transcript(value_shapes),
    ..RULE
};

const CONTENT: &str = "shape of the content";
const BLOCKS: &str = "shape of a block";
const RESULTS: &str = "shape of the result";
const IMAGES: &str = "shape of the image";
const CALLS: &str = "shape of the calls";
const KINDS: &str = "kinds of a block";
const ARGUMENTS: &str = "shape of the arguments";

fn value_shapes<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.log || !(context.is_refused || context.is_request()) {
        return Vec::new();
    }
    let provider = context.provider_rules.provider;
    // What has its content elsewhere gets another form when it is sent to this provider.
    let takes_parts =
        names(provider, "members of a message").is_some_and(|mut names| names.any(|name| name == "parts"));
    let content = if takes_parts { "parts" } else { "content" };
    let found = context.read_messages().flat_map(|(at, message)| {
        let shaped = shaped_values(message, content);
        let blocks = shaped.iter().filter(|(what, _)| *what == BLOCKS).map(|(_, block)| *block);
        let several: Vec<Match<'a>> = blocks.filter_map(|block| several_kinds(context, at, block)).collect();
        let wrong = shaped.into_iter().filter_map(|(what, value)| {
            let wanted: Vec<&str> = names(provider, what)?.collect();
            let shape = shape_of(value);
            if shape == "null" || wanted.contains(&shape) {
                return None;
            }
            let accepted: Vec<String> = wanted.iter().copied().map(with_article).collect();
            let subject = what.trim_start_matches("shape of ");
            let text = format!("{subject} is {}, and {} is accepted", with_article(shape), accepted.join(" or "));
            let found = Match { at: Some(value), ..context.match_message(at, text) }.of(what);
            match reshaped(provider, what, value, &wanted, message.role) {
                Some(text) => Some(found.writing([Patch { span: value.span(), text }])),
                // Arguments that are no object are what another rule reports.
                None => Some(found).filter(|_| what != ARGUMENTS),
            }
        });
        several.into_iter().chain(wrong).collect::<Vec<_>>()
    });
    found.collect()
}

/// A block that is of several kinds, such as a text and a call, where the provider wants one block for each.
fn several_kinds<'a>(context: &RuleContext<'_, 'a>, at: usize, block: Value<'a>) -> Option<Match<'a>> {
    let kinds = names(context.provider_rules.provider, KINDS)?;
    let (of_kind, others): (Vec<Member<'a>>, Vec<Member<'a>>) = block
        .members()
        .partition(|member| kinds.clone().any(|kind| member.key.is(kind)) && member.value.raw() != "null");
    let last = of_kind.len().checked_sub(1).filter(|last| *last > 0)?;
    // What is said of the whole block, such as a signature, belongs to what comes last in it; only a text is a thought.
    let text = of_kind.iter().position(|member| member.key.is("text")).unwrap_or(last);
    let mut blocks: Vec<Vec<String>> = of_kind.iter().map(|member| vec![written(member)]).collect();
    for other in &others {
        blocks[if other.key.is("thought") { text } else { last }].push(written(other));
    }
    let blocks: Vec<String> = blocks.iter().map(|members| format!("{{{}}}", members.join(","))).collect();
    let patch = Patch { span: block.span(), text: blocks.join(",") };
    let keys: Vec<String> = of_kind.iter().map(|member| format!("`{}`", member.key.decode())).collect();
    let text = format!("the block is of several kinds: {}", keys.join(" and "));
    Some(Match { at: Some(block), ..context.match_message(at, text) }.of(KINDS).writing([patch]))
}

fn written(member: &Member<'_>) -> String {
    format!("{}:{}", quote(&member.key.decode()), member.value.raw())
}

/// Items of the Responses API whose output is a text or blocks. Of a computer it is an object, and of a shell a list.
const TEXT_OUTPUTS: [&str; 2] = ["function_call_output", "custom_tool_call_output"];

/// Items of the Responses API whose arguments are JSON in a text. Those of a search for tools are an object.
const TEXT_ARGUMENTS: [&str; 3] = ["function_call", "mcp_call", "mcp_approval_request"];

/// The values of a message, whose content has the key `content`, that providers want in a certain shape.
fn shaped_values<'a>(message: &Message<'a>, content: &str) -> Vec<(&'static str, Value<'a>)> {
    let Some(item) = message.value() else { return Vec::new() };
    let content = item.get(content);
    let is_result = message.role == Role::Tool;
    let mut shaped = Vec::new();
    shaped.extend(content.map(|content| (if is_result { RESULTS } else { CONTENT }, content)));
    let output = item.get("output").filter(|_| TEXT_OUTPUTS.iter().any(|kind| item.member_is("type", kind)));
    let arguments = item.get("arguments").filter(|_| TEXT_ARGUMENTS.iter().any(|kind| item.member_is("type", kind)));
    shaped.extend(output.map(|output| (RESULTS, output)));
    shaped.extend(item.get("tool_calls").map(|calls| (CALLS, calls)));
    shaped.extend(arguments.map(|arguments| (ARGUMENTS, arguments)));
    for block in content.into_iter().flat_map(Value::items) {
        shaped.push((BLOCKS, block));
        shaped.extend(block.get("image_url").map(|image| (IMAGES, image)));
        let result =
            block.get("toolResult").or_else(|| Some(block).filter(|block| block.member_is("type", "tool_result")));
        shaped.extend(arguments_of(block).map(|arguments| (ARGUMENTS, arguments)));
        let content = result.and_then(|result| result.get("content"));
        shaped.extend(content.map(|content| (RESULTS, content)));
        shaped.extend(content.into_iter().flat_map(Value::items).map(|block| (BLOCKS, block)));
    }
    shaped
}

/// The arguments of a call that is a block.
fn arguments_of(block: Value<'_>) -> Option<Value<'_>> {
    let input = block.get("input").filter(|_| block.member_is("type", "tool_use"));
    input
        .or_else(|| ["functionCall", "function_call"].iter().find_map(|key| block.get(key)?.get("args")))
        .or_else(|| block.get("toolUse")?.get("input"))
}

fn shape_of(value: Value<'_>) -> &'static str {
    match value.raw().as_bytes() {
        [b'"', ..] => "text",
        [b'[', ..] => "list",
        [b'{', ..] => "object",
        [b'n', ..] => "null",
        [b't' | b'f', ..] => "bool",
        _ => "number",
    }
}

fn with_article(shape: &str) -> String {
    format!("{} {shape}", if shape == "object" { "an" } else { "a" })
}

/// `value` in a shape that is wanted, as JSON; `None` if a person has to say how.
fn reshaped(provider: &str, what: &str, value: Value<'_>, wanted: &[&str], role: Role) -> Option<String> {
    let raw = value.raw();
    match (what, shape_of(value)) {
        (CONTENT | RESULTS, "object") if wanted.contains(&"list") && value.has_any(["type", "text"]) => {
            Some(format!("[{raw}]"))
        }
        (CALLS, "object") => Some(format!("[{raw}]")),
        (CONTENT | RESULTS, "text") => Some(format!("[{}]", text_block(provider, raw, role))),
        (BLOCKS, "text") => Some(text_block(provider, raw, role)),
        (RESULTS | ARGUMENTS, _) if wanted.contains(&"text") => Some(quote(raw)),
        (ARGUMENTS, "text") => {
            let object = value.text()?.decode().into_owned();
            let is_object = Document::parse(&object).is_ok_and(|document| document.roots().all(Value::is_object));
            is_object.then_some(object)
        }
        (IMAGES, "text") => Some(format!("{{\"url\":{raw}}}")),
        (IMAGES, "object") => {
            let detail = value.get("detail").map(|detail| format!(",\"detail\":{}", detail.raw()));
            Some(format!("{}{}", value.get("url")?.raw(), detail.unwrap_or_default()))
        }
        _ => None,
    }
}

/// A block with a text, as the provider writes it: with the type for the role, if blocks have types.
fn text_block(provider: &str, text: &str, role: Role) -> String {
    let Some(mut types) = names(provider, "types of texts") else { return format!("{{\"text\":{text}}}") };
    let of_user = types.next();
    let kind = if role == Role::Assistant { types.last().or(of_user) } else { of_user };
    format!("{{\"type\":\"{}\",\"text\":{text}}}", kind.unwrap_or("text"))
}
