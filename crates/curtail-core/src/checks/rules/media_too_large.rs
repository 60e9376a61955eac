//! Images that providers refuse for their size.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::PartRef;
use crate::transcript::media::{MediumFacts, media, size};

/// The most pixels of a side.
const SIDE: usize = 8_000;
/// The same in a request with more than [`MANY`] images.
const SIDE_OF_MANY: usize = 2_000;
/// So many images may have the longer sides.
const MANY: usize = 20;
/// The most bytes of an image.
const BYTES: u64 = 5 << 20;

pub(super) static RULE: Rule = Rule {
    code: "S017",
    name: "media-too-large",
    group: Group::Shape,
    level: Level::Warn,
    summary: "An image has more pixels or bytes than providers accept.",
    why: "Anthropic and those that sell its models reject a request with an image above 5 MB, or with a side above 8,000 \
          pixels; above 2,000 pixels if the request has more than 20 images. A screenshot that was accepted alone is \
          rejected some requests later, when others have joined it, and then every further request of the session fails.",
    help: "remove large or old images: `curtail filter --max-media-pixels 2000 --keep-last-media 20`",
    answers: &[
        ("anthropic", "At least one of the image dimensions exceed max allowed size: 8000 pixels"),
        (
            "anthropic",
            "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
        ),
        ("anthropic", "image exceeds 5 MB maximum"),
    ],
    flags: "",
    bad: r#"{"role":"user","content":[{"type":"text","text":"What is on the map?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAIygAAAu4CAIAAAA="}}]}
{"role":"assistant","content":[{"type":"text","text":"Two islands."}]}
"#,
    good: r#"{"role":"user","content":[{"type":"text","text":"What is on the map?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAABLAAAAPoCAIAAAA="}}]}
{"role":"assistant","content":[{"type":"text","text":"Two islands."}]}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let mut images: Vec<(PartRef, MediumFacts)> = Vec::new();
    // What a compaction replaced, or a person rolled back, is not sent again.
    for (at, message) in context.messages.iter().enumerate().filter(|(_, message)| message.standing.is_read()) {
        for (nth, part) in message.parts.iter().enumerate() {
            let facts = media(part).into_iter().map(|medium| medium.facts()).filter(|facts| facts.kind == "image");
            images.extend(facts.map(|facts| (PartRef { message: at, part: nth }, facts)));
        }
    }
    let side = if images.len() > MANY { SIDE_OF_MANY } else { SIDE };
    images.iter().filter_map(|(at, facts)| Some(context.match_at(*at, fault(facts, side)?))).collect()
}

/// What is too large.
fn fault(facts: &MediumFacts, side: usize) -> Option<String> {
    let [width, height] = facts.pixels.unwrap_or_default();
    if width.max(height) > side {
        return Some(format!("the image has {width}x{height} pixels, and a side may have {side}"));
    }
    let bytes = facts.bytes.filter(|bytes| *bytes > BYTES)?;
    Some(format!("the image has {}, and an image may have 5.2 MB", size(bytes)))
}
