//! The arguments of calls, and the objects that results must be.

use super::{ANSWERED_CALL, RULE, result_blocks};
use crate::checks::constraints::states;
use crate::checks::{Detector, Fix, Match, Rule, RuleContext, member_first};
use crate::dialects::Patch;
use crate::json::{Value, quote};
use crate::transcript::{ArgumentFault, PartRef};

pub(super) static INVALID_ARGUMENTS: Rule = Rule {
    code: "S005",
    name: "invalid-arguments",
    summary: "The arguments of a call are no JSON object or not in the form that is wanted, or a result that must be an object \
              is none.",
    why: "A model that is cut off in the middle of a call leaves incomplete JSON, and every program that reads the \
          arguments fails. A model that is trained on it learns to make malformed calls. Empty arguments are valid, \
          and tools that take raw text are exempt. Gemini and Bedrock's `json` want an object as the result, and a request \
          to OpenAI wants the object of the arguments as a text.",
    help: "correct by hand arguments that are no JSON object, because nothing may be invented, or drop the call with its \
           result: `--fix --unsafe-fixes` drops both. `--fix` alone writes arguments as the text or the object that the \
           provider wants, and missing ones as none, and puts a result that is no object into one",
    fix: Fix::Part,
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Os"}}]}
{"role":"tool","tool_call_id":"call_1","content":"error: unexpected end of input"}
{"role":"assistant","content":"I cannot tell."}
"#,
    good: ANSWERED_CALL,
    detector: Detector::Transcript(invalid_arguments),
    ..RULE
};

fn invalid_arguments<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let mut matches = unusable_arguments(context);
    matches.extend(quoted_arguments(context));
    matches.extend(unquoted_arguments(context));
    matches.extend(missing_arguments(context));
    matches.extend(responses_without_object(context));
    matches
}

/// Arguments that no tool can take.
fn unusable_arguments<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let wrong = context.calls().filter_map(|(at, call)| {
        // A program that could not read a call keeps an error in place of its name and arguments, and sends none.
        if context.provider_rules.converts && call.name.len_bound() == 0 {
            return None;
        }
        let fault = match call.argument_fault()? {
            ArgumentFault::NotAnObject => String::from("are JSON, but not an object"),
            ArgumentFault::NotJson(fault) => format!("are not JSON: {fault}"),
        };
        let found = context.match_at(at, format!("the arguments of {} {fault}", context.name_of(at)));
        Some(found.of("arguments").cut().unsafely())
    });
    wrong.collect()
}

/// Arguments that are an object where the provider wants it as a text. A chat template wants the object, so that this is a fault
/// only in a request.
fn unquoted_arguments<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if !states(context.provider_rules.provider, "argument texts") || !(context.is_refused || context.is_request()) {
        return Vec::new();
    }
    let unquoted = context.calls().filter_map(|(at, _)| {
        let arguments = arguments_of_function(context, at).filter(|arguments| arguments.is_object())?;
        let patch = Patch { span: arguments.span(), text: quote(arguments.raw()) };
        let message = format!("the arguments of {} are an object, and not a text", context.name_of(at));
        Some(context.match_at(at, message).of("argument texts").writing([patch]))
    });
    unquoted.collect()
}

/// Arguments that are a text where the provider wants the object in it.
fn quoted_arguments<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if !states(context.provider_rules.provider, "argument objects") {
        return Vec::new();
    }
    let quoted = context.calls().filter(|(_, call)| call.argument_fault().is_none()).filter_map(|(at, _)| {
        let arguments = arguments_of_function(context, at)?;
        let object = arguments.text()?.decode().into_owned();
        let patch = Patch { span: arguments.span(), text: if object.is_empty() { String::from("{}") } else { object } };
        let message = format!("the arguments of {} are a text, and not an object", context.name_of(at));
        Some(context.match_at(at, message).of("argument objects").writing([patch]))
    });
    quoted.collect()
}

fn arguments_of_function<'a>(context: &RuleContext<'_, 'a>, call: PartRef) -> Option<Value<'a>> {
    context.element(call)?.get("function")?.get("arguments")
}

/// Calls without the member for their arguments, which the provider requires even if there are none.
fn missing_arguments<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if !states(context.provider_rules.provider, "missing arguments") {
        return Vec::new();
    }
    let missing = context.calls().filter_map(|(at, _)| {
        let element = context.element(at)?;
        let kind = element.get_text("type")?.decode().into_owned();
        let (holder, key, empty) = match kind.as_str() {
            "function" => (element.get("function")?, "arguments", "\"{}\""),
            "function_call" => (element, "arguments", "\"{}\""),
            "tool_use" => (element, "input", "{}"),
            _ => return None,
        };
        if holder.has(key) {
            return None;
        }
        let message = format!("the call of {} has no member `{key}`", context.name_of(at));
        let patch = match holder.get(key) {
            Some(null) => Patch { span: null.span(), text: empty.to_owned() },
            None => member_first(holder, &format!("\"{key}\":{empty}")),
        };
        let found = context.match_at(at, message).of("missing arguments").writing([patch]);
        Some(found.warning_if(context.provider_rules.log))
    });
    missing.collect()
}

/// Results that are no object where the provider wants one.
fn responses_without_object<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let results = context.results().filter_map(|(at, _)| Some((at, context.element(at)?)));
    let wrong = results.flat_map(|(at, element)| {
        let response = ["functionResponse", "function_response"].into_iter().find_map(|key| element.get(key));
        let response = response.and_then(|response| response.get("response"));
        let values = response.into_iter().chain(result_blocks(element).filter_map(|block| block.get("json")));
        values.filter(|value| !value.is_object()).map(move |value| (at, value))
    });
    let found = wrong.map(|(at, value)| {
        let patch = Patch { span: value.span(), text: format!("{{\"output\":{}}}", value.raw()) };
        let message = format!("the result of {} is not an object", context.name_of(at));
        context.match_at(at, message).of("response objects").writing([patch])
    });
    found.collect()
}
