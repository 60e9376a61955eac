//! Roles: which ones the format defines and the provider accepts.

use super::{ANSWER, RULE};
use crate::checks::constraints::{names, states};
use crate::checks::{Detector, Fix, Match, Rule, RuleContext};
use crate::dialects::Patch;
use crate::json::{Value, quote};
use crate::transcript::{Message, Origin, Role};

pub(super) static UNKNOWN_ROLE: Rule = Rule {
    code: "S002",
    name: "unknown-role",
    summary: "A message has a role or a type that its format does not define.",
    why: "Providers reject unknown roles. A trainer skips the message, or the whole example, without a warning. Some \
          agents append their own roles, such as `exit`, to transcripts that could otherwise be sent as they are. The \
          rule does not apply to session logs, where many line types are normal, except to lines that are no object.",
    help: "give the message a role that the format defines, or remove it: `--fix` writes `human`, `bot` and other names of \
           known roles in the provider's spelling, and `--fix --unsafe-fixes` gives instructions to the user and removes \
           messages of unknown roles",
    fix: Fix::Part,
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is."}
{"role":"exit","content":"done"}
"#,
    good: ANSWER,
    detector: Detector::Transcript(unknown_role),
    ..RULE
};

fn unknown_role<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.log {
        return lines_without_record(context);
    }
    [undefined_roles(context), refused_roles(context), instructions_among_messages(context)].concat()
}

/// Lines of a log that are a text or a number: damage, because programs write objects.
fn lines_without_record<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let lines = context.non_messages.iter().map(|item| item.value).filter(|value| value.parent().is_none());
    let bare = lines.filter(|value| !value.is_object() && !value.is_array());
    let text = "the line is a JSON value that is no record of the log";
    without_items(context, bare.map(|value| Match::new(Some(value), String::from(text))).collect())
}

/// Items whose role or type the format does not define. Those of a known meaning are messages, and only get another name.
fn undefined_roles<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let mut known = Vec::new();
    let mut strange = Vec::new();
    for item in context.non_messages.iter().filter(|item| !item.lacks_role()) {
        let Some(role) = item.unknown.as_ref().map(ToString::to_string) else { continue };
        let found = Match::new(Some(item.value), format!("the format does not define the role or type `{role}`"));
        match same_roles(&role.to_ascii_lowercase()) {
            Some(same) => known.push(under_defined_name(context, found, item.value, &role, same)),
            None => strange.push(found),
        }
    }
    known.extend(without_items(context, strange));
    known
}

/// The finding about an item whose `role` the format does not define, mended by writing one of the names for the `same`. Without
/// a provider, nothing says which of them the format defines.
fn under_defined_name<'a>(
    context: &RuleContext<'_, 'a>,
    found: Match<'a>,
    item: Value<'a>,
    role: &str,
    same: &[&'static str],
) -> Match<'a> {
    let provider = context.provider_rules.provider;
    let place = item.get("role").filter(|place| place.text().is_some_and(|text| text.decode() == role));
    let Some(place) = place.filter(|_| !provider.is_empty()) else { return found };
    let name = match names(provider, kind_of_roles(item)) {
        Some(mut accepted) => accepted.find(|name| same.contains(name)),
        None => same.first().copied(),
    };
    renamed(found, place, name, same.contains(&Role::System.name()))
}

/// Findings about items that are no messages, mended by removing them, unless nothing would be left of the transcript.
fn without_items<'a>(context: &RuleContext<'_, 'a>, found: Vec<Match<'a>>) -> Vec<Match<'a>> {
    let is_rest = !context.messages.is_empty() || found.len() < context.non_messages.len();
    let removing = found.into_iter().map(|found| {
        let item = found.at.filter(|_| is_rest);
        found.removing(item.into_iter().collect()).unsafely()
    });
    removing.collect()
}

/// Roles with the same meaning, in the spellings of several formats; the usual one first.
const SAME_ROLES: [&[&str]; 3] =
    [&["system", "developer"], &["user", "human"], &["assistant", "model", "ai", "bot", "gpt", "chatbot"]];

/// The names with the meaning of `role`, if it is known.
fn same_roles(role: &str) -> Option<&'static [&'static str]> {
    SAME_ROLES.into_iter().find(|names| names.contains(&role))
}

/// How the table of constraints calls the roles of an item. One in the form of another provider gets its role when it is
/// converted.
fn kind_of_roles(item: Value<'_>) -> &'static str {
    if item.has("parts") { "roles" } else { "chat roles" }
}

fn is_chat(message: &Message<'_>) -> bool {
    matches!(&message.origin, Origin::Source(source) if source.is_chat)
}

/// The name that somebody has in a chat who is called `name`, if it is another one. Names of results and of calls are those of
/// datasets.
fn usual_name(role: Role, name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let usual = if role == Role::Tool || lower.starts_with("tool") { lower } else { role.name().to_owned() };
    (usual != name).then_some(usual)
}

/// Messages whose role the format defines in another spelling than the provider accepts.
fn refused_roles<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let provider = context.provider_rules.provider;
    let refused = context.items().filter_map(|(at, item)| {
        let message = &context.messages[at];
        let what = kind_of_roles(item);
        let value = item.get("role")?;
        let role = value.text()?.into_decoded();
        let (name, what) = match names(provider, what) {
            Some(mut accepted) if accepted.clone().all(|name| name != role) => {
                let same = same_roles(&role.to_ascii_lowercase()).unwrap_or_default();
                let name = accepted.find(|name| name.eq_ignore_ascii_case(&role) || same.contains(name));
                (name.map(str::to_owned), what)
            }
            // A chat has the usual names where nothing says which ones are accepted.
            None if is_chat(message) => (Some(usual_name(message.role, &role)?), "roles"),
            _ => return None,
        };
        let found = context.match_message(at, format!("the provider does not accept the role `{role}`")).of(what);
        Some(renamed(found, value, name.as_deref(), message.role.instructs()))
    });
    refused.collect()
}

/// The finding about a role, mended by writing `name` at its place, if there is one.
fn renamed<'a>(found: Match<'a>, place: Value<'a>, name: Option<&str>, instructs: bool) -> Match<'a> {
    // What the application says is said by the user where it cannot speak; what a tool says is not.
    let written = name.or_else(|| instructs.then_some(Role::User.name()));
    let found = found.writing(written.map(|name| Patch { span: place.span(), text: quote(name) }));
    if name.is_none() { found.unsafely() } else { found }
}

/// Instructions at the head of the messages, where the provider wants them beside the messages; of a refused request, all that are
/// among them, because only some models accept these.
fn instructions_among_messages<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let provider = context.provider_rules.provider;
    if !states(provider, "leading system") || !(context.is_request() || context.is_refused) {
        return Vec::new();
    }
    let head = context.messages.iter().take_while(|message| message.role.instructs()).count();
    let examined = if context.is_refused { context.messages.len() } else { head };
    let instructions = context.messages[..examined].iter().enumerate().filter(|(_, message)| message.role.instructs());
    let found = instructions.map(|(at, _)| {
        let what = if at < head { "leading system" } else { "system messages" };
        let text = "the provider wants these instructions beside the messages, and not in them";
        context.match_message(at, text).of(what).writing(context.said_by_user(at)).unsafely()
    });
    found.collect()
}

pub(super) static MISSING_ROLE: Rule = Rule {
    code: "S003",
    name: "missing-role",
    summary: "A message has no role.",
    why: "An item without a role, or without the type that replaces it, cannot be sent and is useless for training. \
          Often it is an object that was appended to the wrong file.",
    help: "give the message a role, or remove it",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"content":"It is."}
{"role":"assistant","content":"It is, and it will."}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is, and it will."}
"#,
    detector: Detector::Transcript(missing_role),
    ..RULE
};

fn missing_role<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.log {
        return Vec::new();
    }
    let nameless = context.non_messages.iter().filter(|item| item.lacks_role());
    nameless.map(|item| Match::new(Some(item.value), String::from("the message has no role"))).collect()
}
