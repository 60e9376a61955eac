//! Images and documents: how large and how many, whether they can be read, and who may send them.

use super::RULE;
use super::documents;
use crate::checks::constraints::{most, names, states};
use crate::checks::{Detector, Fix, Level, Match, Rule, RuleContext};
use crate::dialects::Patch;
use crate::dialects::media::{Medium, MediumFacts, MediumFault, media, size};
use crate::json::quote;
use crate::transcript::{Content, PartRef, Role};

/// So many images may have the longer sides.
const MANY_IMAGES: usize = 20;

/// Whose limits of sides, bytes and pages hold: Anthropic's for requests that name one of its models, for Bedrock, which sells
/// them, and for programs that send a session to any provider.
fn limits_of<'c>(context: &'c RuleContext<'_, '_>) -> &'c str {
    let model = context.record.and_then(|record| record.get_text("model"));
    let is_claude = model.is_some_and(|model| model.decode().contains("claude"));
    match context.provider_rules.provider {
        "" | "ai-sdk" | "bedrock" => "anthropic",
        _ if is_claude => "anthropic",
        provider => provider,
    }
}

pub(super) static MEDIA_TOO_LARGE: Rule = Rule {
    code: "S017",
    name: "media-too-large",
    level: Level::Warn,
    summary: "Images have more pixels or bytes, or a document more pages, than providers accept, or there are too many.",
    why: "Anthropic and those that sell its models reject a request with an image above 5 MB, or with a side above 8,000 \
          pixels; above 2,000 pixels if the request has more than 20 images. A screenshot that was accepted alone is \
          rejected some requests later, when others have joined it, and then every further request of the session fails. \
          A PDF may have 600 pages, and 100 with models whose context is below a million tokens. These limits apply to \
          requests to Anthropic and Bedrock, to those that name a model of Claude, and to formats that are not of one \
          provider. Bedrock accepts five documents in \
          a request, and each provider has its own number of images.",
    help: "remove large or old images and documents: `curtail filter --max-media-pixels 2000 --keep-last-media 20`; \
           `--fix --unsafe-fixes` writes a text in place of those that the provider does not accept, of too many the oldest. curtail does not make \
           images smaller",
    fix: Fix::Unsafe,
    command: "curtail filter --max-media-pixels 2000 --max-media-bytes 5m --in-place FILE",
    bad: r#"{"role":"user","content":[{"type":"text","text":"What is on the map?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAIygAAAu4CAIAAAA="}}]}
{"role":"assistant","content":[{"type":"text","text":"Two islands."}]}
"#,
    good: r#"{"role":"user","content":[{"type":"text","text":"What is on the map?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAABLAAAAPoCAIAAAA="}}]}
{"role":"assistant","content":[{"type":"text","text":"Two islands."}]}
"#,
    detector: Detector::Transcript(media_too_large),
    ..RULE
};

/// Every medium that is sent, with its place. What a compaction replaced, or a person rolled back, is not sent again.
fn sent_media<'c, 'a>(context: &'c RuleContext<'_, 'a>) -> impl Iterator<Item = (PartRef, Medium<'a>)> + 'c {
    let sent = context.parts().filter(|(at, _)| context.messages[at.message].standing.is_read());
    sent.flat_map(|(at, part)| media(part).into_iter().map(move |medium| (at, medium)))
}

fn media_too_large<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let limits = limits_of(context);
    let sent: Vec<SentMedium<'a>> = sent_media(context).map(SentMedium::new).collect();
    let images: Vec<&SentMedium<'a>> = sent.iter().filter(|sent| sent.facts.kind == "image").collect();
    let is_many = images.len() > MANY_IMAGES || context.is_refused;
    let large = images.iter().filter_map(|image| {
        let (what, excess) = excess(limits, &image.facts, is_many)?;
        Some(context.match_at(image.at, excess).of(what).writing(image.medium.removed()))
    });
    let mut matches: Vec<Match<'a>> = large.collect();
    matches.extend(too_many_images(context, &images));
    matches.extend(documents::too_many(context));
    matches.extend(long_documents(context, limits, &sent));
    matches
}

/// A medium that is sent.
struct SentMedium<'a> {
    at: PartRef,
    medium: Medium<'a>,
    facts: MediumFacts,
}

impl<'a> SentMedium<'a> {
    fn new((at, medium): (PartRef, Medium<'a>)) -> Self {
        let facts = medium.facts();
        Self { at, medium, facts }
    }
}

/// What is too large by the limits of `provider`.
fn excess(provider: &str, facts: &MediumFacts, is_many: bool) -> Option<(&'static str, String)> {
    let [width, height] = facts.pixels.unwrap_or_default();
    let sides = ["image pixels", "image pixels of many"].into_iter().take(1 + usize::from(is_many));
    let mut limits = sides.filter_map(|side| Some((side, most(provider, side)?)));
    if let Some((side, longest)) = limits.find(|(_, longest)| width.max(height) > *longest) {
        return Some((side, format!("the image has {width}x{height} pixels, and a side may have {longest}")));
    }
    let limit = most(provider, "image bytes")? as u64;
    let bytes = facts.bytes.filter(|bytes| *bytes > limit)?;
    Some(("image bytes", format!("the image has {}, and an image may have {}", size(bytes), size(limit))))
}

/// Documents with more pages than some models accept.
fn long_documents<'a>(context: &RuleContext<'_, 'a>, provider: &str, sent: &[SentMedium<'a>]) -> Vec<Match<'a>> {
    let Some(limit) = most(provider, "pdf pages") else { return Vec::new() };
    let long = sent.iter().filter_map(|SentMedium { at, medium, .. }| {
        let pages = medium.pages().filter(|pages| *pages > limit)?;
        let accepted = format!("{limit} are accepted, or 600 with a context of a million tokens");
        let message = format!("the document has {pages} pages, and {accepted}");
        Some(context.match_at(*at, message).of("pdf pages").writing(medium.removed()))
    });
    long.collect()
}

fn too_many_images<'a>(context: &RuleContext<'_, 'a>, images: &[&SentMedium<'a>]) -> Option<Match<'a>> {
    let limit = context.refused_above.or_else(|| most(context.provider_rules.provider, "number of images"))?;
    let surplus = images.get(limit)?;
    let message = format!("the request has {} images, and {limit} are accepted", images.len());
    let oldest = images[..images.len() - limit].iter().flat_map(|image| image.medium.removed());
    Some(context.match_at(surplus.at, message).of("number of images").writing(oldest))
}

pub(super) static UNREADABLE_MEDIA: Rule = Rule {
    code: "S022",
    name: "unreadable-media",
    summary: "An image or a document is empty, damaged, or of another type than it says.",
    why: "A log that shortens long texts leaves half an image, a failed download leaves none, and a program that \
          guesses a type from a file name calls a JPEG a PNG. The provider rejects the request, and every later one of \
          the session, because all of them contain the image. Some providers accept only a few types.",
    help: "remove the image, or correct its type: `--fix` writes a text in place of what cannot be read",
    fix: Fix::Part,
    bad: r#"{"role":"user","content":[{"type":"text","text":"What is on the map?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhE[removed]"}}]}
{"role":"assistant","content":[{"type":"text","text":"Two islands."}]}
"#,
    good: r#"{"role":"user","content":[{"type":"text","text":"What is on the map?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAABLAAAAPoCAIAAAA="}}]}
{"role":"assistant","content":[{"type":"text","text":"Two islands."}]}
"#,
    detector: Detector::Transcript(unreadable_media),
    ..RULE
};

fn unreadable_media<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let provider = context.provider_rules.provider;
    let wrong = sent_media(context).filter_map(|(at, medium)| {
        let kind = medium.facts().kind;
        if let Some(patch) = medium.bare_base64().filter(|_| states(provider, "data url")) {
            let message = "the medium is a data URL, and only its base64 is accepted";
            return Some(context.match_at(at, message).of("data url").writing([patch]));
        }
        if let Some(fault) = medium.fault() {
            let what = match &fault {
                MediumFault::OtherType { .. } => "media bytes",
                MediumFault::Empty | MediumFault::Undecodable | MediumFault::NoImage => "media data",
                MediumFault::NoDocument => "pdf data",
            };
            let mend = medium.mend(&fault);
            return Some(context.match_at(at, fault.to_string()).of(what).writing(mend));
        }
        let named = medium.named_type()?;
        let what = match kind {
            "image" => "media type",
            _ if medium.is_document() => "document type",
            _ => "refused type",
        };
        let is_listed = names(provider, what)?.any(|name| name.rsplit('/').next() == named.rsplit('/').next());
        (is_listed == (what == "refused type")).then(|| {
            let message = format!("the provider does not accept {kind}s of the type `{named}`");
            context.match_at(at, message).of(what).writing(medium.removed())
        })
    });
    wrong.collect()
}

pub(super) static MISPLACED_MEDIA: Rule = Rule {
    code: "S027",
    name: "misplaced-media",
    summary: "A message contains a kind of content that its role may not have.",
    why: "OpenAI's chats and Bedrock accept images only from the user, not from the assistant, the tool or the \
          application. The Responses API has types for what the user says (`input_text`, `input_image`) and for what \
          the model says (`output_text`), and rejects one in place of the other. Anthropic accepts calls and thoughts only \
          from the assistant, and results only from the user. A converted transcript mixes them.",
    help: "move the image into a user message, or give the text the type of its role: `--fix` gives a text its type, and \
           `--fix --unsafe-fixes` writes a text in place of the image and drops calls, results and thoughts of the wrong role",
    fix: Fix::Part,
    bad: r#"{"role":"user","content":"Draw a map."}
{"role":"assistant","content":[{"type":"text","text":"Here."},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAABLAAAAPoCAIAAAA="}}],"tool_calls":[{"id":"call_1","type":"function","function":{"name":"show","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"done"}
{"role":"assistant","content":"There it is."}
"#,
    good: r#"{"role":"user","content":[{"type":"text","text":"What is on it?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAABLAAAAPoCAIAAAA="}}]}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"show","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"done"}
{"role":"assistant","content":"There it is."}
"#,
    detector: Detector::Transcript(misplaced_media),
    ..RULE
};

fn misplaced_media<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let mut matches = misplaced_blocks(context);
    if context.provider_rules.log {
        return matches;
    }
    let provider = context.provider_rules.provider;
    if let Some(accepted) = names(provider, "media role") {
        matches.extend(images_of_other_roles(context, &accepted.collect::<Vec<_>>()));
    }
    if states(provider, "reasoning role") {
        matches.extend(reasoning_of_user(context));
    }
    matches.extend(texts_of_other_roles(context));
    matches
}

/// Blocks that only the assistant, or only the user, may send.
fn misplaced_blocks<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if !states(context.provider_rules.provider, "block roles") {
        return Vec::new();
    }
    let wrong = context.parts().filter_map(|(at, part)| {
        let message = &context.messages[at.message];
        let kind = part.place()?.element.get_text("type")?.decode().into_owned();
        let right = match kind.as_str() {
            "tool_use" | "server_tool_use" | "thinking" | "redacted_thinking" => Role::Assistant,
            "tool_result" => Role::User,
            _ => return None,
        };
        let is_of_side = match right {
            Role::Assistant => message.role == Role::Assistant,
            _ => message.role != Role::Assistant,
        };
        (!is_of_side && message.standing.is_read()).then(|| {
            let text = format!("a message with the role `{}` contains `{kind}`", message.role.name());
            context.match_at(at, text).of("block roles").cut().unsafely()
        })
    });
    wrong.collect()
}

/// Images in messages whose role is none of `accepted`.
fn images_of_other_roles<'a>(context: &RuleContext<'_, 'a>, accepted: &[&str]) -> Vec<Match<'a>> {
    let wrong = context.parts().filter_map(|(at, part)| {
        let role = context.messages[at.message].role;
        // In formats with a message for each result, the image is the tool's.
        let is_of_tool = role == Role::Tool && part.content.result().is_some_and(|result| result.media > 0);
        let is_medium = !accepted.contains(&role.name()) && (is_of_tool || matches!(part.content, Content::Media(_)));
        let media = if is_medium { media(part) } else { Vec::new() };
        let removed: Vec<Patch> =
            media.iter().filter(|medium| medium.facts().kind == "image").flat_map(Medium::removed).collect();
        (!removed.is_empty()).then(|| {
            let message = format!("a message with the role `{}` contains an image", role.name());
            context.match_at(at, message).of("media role").writing(removed).unsafely()
        })
    });
    wrong.collect()
}

fn reasoning_of_user<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let of_user = context.parts().filter(|(at, part)| {
        context.messages[at.message].role == Role::User && matches!(part.content, Content::Reasoning(_))
    });
    let text = "a message of the user contains reasoning";
    of_user.map(|(at, _)| context.match_at(at, text).of("reasoning role").cut().unsafely()).collect()
}

/// Texts of the Responses API with the type of another role, or in a chat.
fn texts_of_other_roles<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let provider = context.provider_rules.provider;
    let is_chat = states(provider, "chat texts") && (context.is_refused || context.is_request());
    let has_types = states(provider, "text role");
    if !is_chat && !has_types {
        return Vec::new();
    }
    let wrong = context.parts().filter_map(|(at, part)| {
        let role = context.messages[at.message].role;
        let kind = part.place()?.element.get("type")?;
        let is_text = kind.is("input_text") || kind.is("output_text");
        let (right, what) = match role {
            _ if is_text && is_chat => ("text", "chat texts"),
            Role::Assistant if has_types && kind.is("input_text") => ("output_text", "text role"),
            Role::User if has_types && kind.is("output_text") => ("input_text", "text role"),
            _ => return None,
        };
        let message = format!("a message with the role `{}` contains `{}`", role.name(), kind.text()?.decode());
        let patch = Patch { span: kind.span(), text: quote(right) };
        Some(context.match_at(at, message).of(what).writing([patch]))
    });
    wrong.collect()
}
