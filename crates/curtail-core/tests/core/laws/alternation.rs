//! Where user and assistant must alternate, what is written never stands beside a message of the user.

use curtail_core::dialects::Framing;
use curtail_core::json::Document;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{Repair, RepairMode};
use curtail_core::transcript::{Message, Role, own_blocks};
use curtail_memory::rolling::Counted;
use proptest::prelude::*;

use super::cases::{memory, rolling};
use super::check::{cut_with, reading};
use crate::properties::{drawn, tried};
use crate::serializers::{SERIALIZERS, broken_script, sound_script};

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

/// Whether the program wrote all of a message. A message that something was written into still has parts of its own.
fn is_written(message: &Message<'_>) -> bool {
    let parts = message.parts.len();
    parts > 0 && (own_blocks(message) == parts || raw(message).matches("[interrupted: ").count() == parts)
}

fn raw(message: &Message<'_>) -> String {
    message.value().map_or_else(String::new, |value| value.raw().to_owned())
}

/// Whether `one` and `other`, two messages of the user in a row, are a block of the program and what it must not stand beside.
/// Results that answer no call are no neighbors of a block: joined to it, they would count as text of the user.
fn is_block_beside(one: &Message<'_>, other: &Message<'_>) -> bool {
    own_blocks(one) > 0 && !other.parts.iter().all(|part| part.content.result().is_some())
}

/// The messages that the program wrote and that have a message of the user beside them. Instructions part a stub from what
/// follows, because it must stand right after its call, but they part no block.
fn beside_the_user(dialect: &str, text: &str) -> Vec<String> {
    let document = Document::parse_log(text).expect("what is written is JSON");
    let read = reading(Some(dialect), Framing::Lines).transcripts(&document).expect("what is written is a transcript");
    let all: Vec<&Message<'_>> = read.iter().flat_map(|(_, one)| &one.messages).collect();
    let spoken: Vec<&Message<'_>> = all.iter().copied().filter(|message| !message.role.instructs()).collect();
    let pairs = |messages: &[&Message<'_>], is_beside: fn(&Message<'_>, &Message<'_>) -> bool| {
        let users = messages.windows(2).filter(|pair| pair.iter().all(|message| message.role == Role::User));
        let both = users.flat_map(|pair| [(pair[0], pair[1]), (pair[1], pair[0])]);
        both.filter(|(one, other)| is_written(one) && is_beside(one, other))
            .map(|(one, _)| raw(one))
            .collect::<Vec<_>>()
    };
    let mut beside = pairs(&spoken, is_block_beside);
    beside.extend(pairs(&all, |one, _| own_blocks(one) == 0));
    beside
}

/// The cut leaves a text before a result that answered nothing, so both are dropped after the block was written before them.
#[test]
fn a_block_joins_the_message_that_is_next_after_all() {
    let say = |from: &str, value: &str| format!("{{\"from\":\"{from}\",\"value\":\"{value}\"}}\n");
    let call = say("function_call", r#"{\"name\": \"search\", \"arguments\": {}}"#);
    let begin = [say("human", "a"), call, say("human", "b"), say("gpt", "c"), say("human", "d")].concat();
    let text = [begin, say("gpt", "e"), say("observation", "f"), say("human", "g"), say("human", "h")].concat();
    for window in 2..4 {
        let chain = || Chain::default().then(rolling(window, 2, Counted::Message));
        let once = cut_with(chain(), Some("sharegpt"), Framing::Lines, &text).unwrap();
        assert!(beside_the_user("sharegpt", &once).is_empty(), "{once}");
        assert_eq!(cut_with(chain(), Some("sharegpt"), Framing::Lines, &once).unwrap(), once);
    }
}

proptest! {
    #![proptest_config(crate::properties::property(48))]

    #[test]
    fn nothing_is_written_beside_the_user(
        script in prop_oneof![broken_script(), sound_script()],
        dialect in prop::sample::select(&["bedrock", "sharegpt"][..]),
        drawn in drawn(),
    ) {
        let serialize = SERIALIZERS.iter().find(|serializer| serializer.0 == dialect).expect("it is there").1;
        let items = serialize(&script);
        let text: String = items.iter().map(|item| format!("{item}\n")).collect();
        for chain in tried(chains(), drawn) {
            let once = cut_with(chain(), Some(dialect), Framing::Lines, &text)?;
            let beside = beside_the_user(dialect, &once);
            prop_assert!(beside.is_empty(), "{beside:?}\nin  {text}\nout {once}");
            prop_assert_eq!(&cut_with(chain(), Some(dialect), Framing::Lines, &once)?, &once, "twice is not once\nin {}", text);
        }
    }
}
