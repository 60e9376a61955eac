//! Messages of the AI SDK: marks between their steps.

use curtail_core::dialects::Framing;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{Strip, StripKind};

use crate::laws::check::cut_with;

/// A mark between the steps of a message divides it: without it, the answer would come before the results.
#[test]
fn marks_are_no_parts_of_unknown_type() {
    let text = r#"{"id":"m","role":"assistant","parts":[{"type":"step-start"},{"type":"text","text":"Looking."},{"type":"step-start"},{"type":"text","text":"Done."},{"type":"zz-new","x":1}]}"#;
    let strip = Strip { kinds: vec![StripKind::Other], ..Strip::default() };
    let cut = cut_with(Chain::default().then(strip), Some("ai-sdk"), Framing::Lines, text).expect("it is cut");
    assert_eq!(cut, text.replace(r#",{"type":"zz-new","x":1}"#, ""));
}
