//! Where user and assistant must alternate, what is written never stands beside a message of the user.

use curtail::dialects::Framing;
use curtail::json::Document;
use curtail::pipeline::Chain;
use curtail::processors::{Counted, Repair, RepairMode};
use curtail::transcript::{Message, Role, own_blocks};
use proptest::prelude::*;

use super::cases::{memory, rolling};
use super::check::{cut_with, reading};
use crate::spell::{SPELLERS, broken_script, sound_script};

fn chains() -> [fn() -> Chain; 6] {
    [
        || Chain::default().then(rolling(2, 2, Counted::Message)),
        || Chain::default().then(rolling(1, 3, Counted::Exchange)),
        || Chain::default().then(memory("{\"goal\":\"ship\"}")),
        || Chain::default().then(memory("{\"goal\":\"ship\"}")).then(rolling(2, 1, Counted::Message)),
        || Chain::default().then(rolling(3, 2, Counted::Message)).then(memory("{\"goal\":\"ship\"}")),
        || Chain::default().then(Repair { mode: RepairMode::Stub, pending: true }),
    ]
}

/// The user's messages that have a user's message beside them, and whether each is written by the program as a whole.
fn neighbors(dialect: &str, text: &str) -> Vec<(String, bool)> {
    let document = Document::parse_log(text).expect("what is written is JSON");
    let read = reading(Some(dialect), Framing::Lines).transcripts(&document).expect("what is written is a transcript");
    let messages: Vec<&Message<'_>> =
        read.iter().flat_map(|(_, one)| &one.messages).filter(|message| !message.role.instructs()).collect();
    let raw = |message: &Message<'_>| message.value().map_or_else(String::new, |value| value.raw().to_owned());
    // A message that something was written into still has parts of its own.
    let is_new = |message: &Message<'_>| {
        let stubs = raw(message).matches("[interrupted: ").count();
        let parts = message.parts.len();
        parts > 0 && (own_blocks(message) == parts || stubs == parts)
    };
    let users = messages.windows(2).filter(|pair| pair.iter().all(|message| message.role == Role::User));
    users.flatten().map(|message| (raw(message), is_new(message))).collect()
}

proptest! {
    #![proptest_config(crate::properties::property(192))]

    #[test]
    fn nothing_is_written_beside_the_user(
        script in prop_oneof![broken_script(), sound_script()],
        dialect in prop::sample::select(&["bedrock", "sharegpt"][..]),
    ) {
        let spell = SPELLERS.iter().find(|speller| speller.0 == dialect).expect("it is there").1;
        let items = spell(&script);
        let text: String = items.iter().map(|item| format!("{item}\n")).collect();
        for chain in chains() {
            let once = cut_with(chain(), Some(dialect), Framing::Lines, &text)?;
            let beside: Vec<_> = neighbors(dialect, &once).into_iter().filter(|(_, new)| *new).collect();
            prop_assert!(beside.is_empty(), "{beside:?}\nin  {text}\nout {once}");
            prop_assert_eq!(&cut_with(chain(), Some(dialect), Framing::Lines, &once)?, &once, "twice is not once\nin {}", text);
        }
    }
}
