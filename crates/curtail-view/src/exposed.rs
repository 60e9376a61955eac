//! What on the page of a transcript is not for everybody: a log has more of it than its page shows.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::iter::Peekable;
use std::ops::Range;
use std::slice;

use super::keys::Exposure;
use super::outside::outside_places;
use curtail_core::json::Span;
use curtail_core::transcript::{Layout, Message};

/// What a page should not show to others.
#[derive(Debug, Default)]
pub(super) struct Exposed {
    /// What each string looks like a key of, and the message that has it first.
    pub(super) keys: Vec<(&'static str, Option<usize>)>,
    /// Home folders, each with the number of paths below it.
    pub(super) homes: BTreeMap<String, usize>,
}

impl Exposed {
    /// Those of `exposure` that are in `messages` or outside of them on the page.
    pub(super) fn new(exposure: &Exposure, layout: &Layout<'_>, messages: &[Message<'_>]) -> Self {
        let places = shown_places(layout, messages);
        let mut exposed = Self::default();
        let mut seen = HashSet::new();
        let mut around = PlacesAround::new(&places);
        for key in &exposure.keys {
            let open = around.go_to(key.place.start);
            if !open.is_empty() && seen.insert(layout.source.get(key.place.clone())) {
                exposed.keys.push((key.kind, open.iter().rev().find_map(|place| place.message)));
            }
        }
        let mut around = PlacesAround::new(&places);
        for home in exposure.homes.iter().filter(|home| !around.go_to(home.start).is_empty()) {
            *exposed.homes.entry(layout.source[home.clone()].to_owned()).or_default() += 1;
        }
        exposed
    }
}

/// The places around a byte, which goes on through the log. They are inside each other, as a message can be inside another one.
struct PlacesAround<'p> {
    rest: Peekable<slice::Iter<'p, ShownPlace>>,
    open: Vec<&'p ShownPlace>,
}

impl<'p> PlacesAround<'p> {
    fn new(places: &'p [ShownPlace]) -> Self {
        Self { rest: places.iter().peekable(), open: Vec::new() }
    }

    fn go_to(&mut self, byte: usize) -> &[&'p ShownPlace] {
        while let Some(place) = self.rest.next_if(|place| place.bytes.start <= byte) {
            self.close_ended(place.bytes.start);
            self.open.push(place);
        }
        self.close_ended(byte);
        &self.open
    }

    fn close_ended(&mut self, byte: usize) {
        while self.open.pop_if(|place| place.bytes.end <= byte).is_some() {}
    }
}

/// Bytes of a log that are on its page.
struct ShownPlace {
    bytes: Range<usize>,
    /// The message that they are read as; `None` outside the messages.
    message: Option<usize>,
}

/// The bytes of `messages`, and of what is outside of them, in order.
fn shown_places(layout: &Layout<'_>, messages: &[Message<'_>]) -> Vec<ShownPlace> {
    let outside = outside_places(layout).map(|bytes| ShownPlace { bytes, message: None });
    let inside = messages.iter().enumerate().flat_map(|(at, message)| {
        // Some formats keep results elsewhere in the log.
        let parts = message.parts.iter().filter_map(|part| Some(part.place()?.element));
        let values = message.value().into_iter().chain(parts);
        values.map(move |value| ShownPlace { bytes: range(value.span()), message: Some(at) })
    });
    let mut places: Vec<ShownPlace> = inside.chain(outside).collect();
    // What is inside another place comes after it. Of several messages in one value, the first one is named.
    places.sort_by_key(|place| (place.bytes.start, Reverse(place.bytes.end)));
    places.dedup_by(|other, first| other.bytes == first.bytes);
    places
}

fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

#[cfg(test)]
mod tests {
    use super::{Exposed, Exposure};
    use curtail_core::dialects::{Framing, Reading};

    #[test]
    fn a_key_is_in_the_first_message_of_its_value() {
        let log = r#"[{"role":"user","content":"Look."},{"role":"user","content":"ghp_Zk3vQ9xLr7Tn2WbY5uHdZk3vQ9xLr7Tn2WbY"}]"#;
        let reading = Reading::new(Framing::Document, Some("openai"), None).unwrap();
        let document = reading.parse(log).unwrap();
        let (_, transcript) = &reading.transcripts(&document).unwrap()[0];
        let [first, second] = &transcript.messages[..] else { panic!("{:?}", transcript.messages) };
        let messages = [first, second, second].map(Clone::clone);
        let exposed = Exposed::new(&Exposure::of_text(log), &transcript.layout, &messages);
        assert_eq!(exposed.keys, [("GitHub token", Some(1))]);
    }

    /// What of `log` is named on a page of its last `count` messages.
    fn exposed_on_page(log: &str, count: usize) -> Exposed {
        let reading = Reading::new(Framing::Document, Some("openai"), None).unwrap();
        let document = reading.parse(log).unwrap();
        let (_, transcript) = &reading.transcripts(&document).unwrap()[0];
        let messages = &transcript.messages[transcript.messages.len() - count..];
        Exposed::new(&Exposure::of_text(log), &transcript.layout, messages)
    }

    /// A key that is in several places is counted once, and named where the page has it.
    #[test]
    fn only_keys_on_the_page_are_named() {
        let [one, other, third] = [1, 2, 3].map(|nth| format!("ghp_Zk3vQ9xLr7Tn2WbY5uHdZk3vQ9xLr7Tn2Wb{nth}"));
        let log = format!(
            r#"{{"note":"{third}","messages":[{{"role":"user","content":"{one} {other}"}},{{"role":"user","content":"{one}"}}],"tools":[{{"name":"{other}"}}]}}"#
        );
        let kind = "GitHub token";
        assert_eq!(exposed_on_page(&log, 2).keys, [(kind, Some(0)), (kind, Some(0))]);
        assert_eq!(exposed_on_page(&log, 1).keys, [(kind, Some(0)), (kind, None)]);
    }

    #[test]
    fn only_home_folders_on_the_page_are_counted() {
        let log = r#"{"note":"/home/eve/a","messages":[{"role":"user","content":"/home/ada/a /home/ada/b"},{"role":"user","content":"/home/ada/a /Users/bob/a"}]}"#;
        for (count, homes) in [(2, vec![("/Users/bob", 1), ("/home/ada", 3)]), (0, Vec::new())] {
            let exposed = exposed_on_page(log, count).homes;
            assert_eq!(exposed.iter().map(|(home, paths)| (home.as_str(), *paths)).collect::<Vec<_>>(), homes);
        }
    }
}
