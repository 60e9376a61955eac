//! Reads messages into a ledger: what was said by whom, and what calls did, in the order of the transcript.

use std::borrow::Cow;
use std::ops::Range;

use super::facts::{Pointer, Quote};
use super::quotes::{self, Writer, bounded, corrects, one_line};
use super::work::Called;
use super::{ASKED, Ledger, calls};
use curtail_core::json::Text;
use curtail_core::transcript::{Content, Message, Pairs, PartRef, Role, ToolCall, own_blocks};

impl Ledger {
    /// Reads the messages of `range`. Their numbers continue those of the messages that were read before. A result outside the
    /// range is not read.
    pub fn read_range(&mut self, messages: &[Message<'_>], pairs: &Pairs, range: Range<usize>) {
        for at in range.clone() {
            let number = self.messages;
            self.messages += 1;
            let Some(message) = messages.get(at) else { continue };
            if message.standing.is_taken_back() {
                continue;
            }
            let id = message.id.as_ref().map(|id| id.decode().into_owned());
            let here = Pointer { message: Some(number), id };
            self.read_texts(message, &here);
            for (part, call) in message.calls() {
                let half = pairs.other_half(PartRef { message: at, part }).filter(|half| half.message < range.end);
                let answer = half.and_then(|half| messages.get(half.message)?.parts.get(half.part)?.content.result());
                self.calls += 1;
                self.call(call, &Called::new(here.clone(), answer));
            }
        }
    }

    /// Reads the texts of a message that a person or the model wrote.
    fn read_texts(&mut self, message: &Message<'_>, here: &Pointer) {
        let texts: Vec<Cow<'_, str>> = texts(message).filter(|text| !text.is_blank()).map(Text::decode).collect();
        if message.boundary {
            let text = bounded(&one_line(&texts.join("\n")));
            if !text.is_empty() {
                self.earlier = Some(Quote { text, at: here.clone(), correction: false });
            }
        } else if message.role == Role::User && message.thread == 0 {
            self.listen(&texts, message.automatic, here);
        } else if message.role == Role::Assistant && message.thread == 0 && !texts.is_empty() {
            let whole = texts.join("\n");
            let quote = |text: &str| Quote { text: bounded(&one_line(text)), at: here.clone(), correction: false };
            self.question = quotes::question(&whole).map(quote);
            self.said = Some(quote(&whole));
        }
    }

    /// Reads a text in the role of the user: a person or a program wrote it.
    fn listen(&mut self, texts: &[Cow<'_, str>], automatic: bool, here: &Pointer) {
        let mut typed: Vec<String> = Vec::new();
        for text in texts {
            match quotes::writer(text) {
                Writer::Person(text) => typed.push(text),
                Writer::Summary(text) => self.earlier = Some(Quote { text, at: here.clone(), correction: false }),
                Writer::Program => {}
            }
        }
        if automatic || typed.is_empty() {
            return;
        }
        self.question = None;
        let text = bounded(&typed.join(" "));
        let quote = Quote { correction: corrects(&text), text, at: here.clone() };
        if self.goal.is_none() {
            self.goal = Some(quote);
            return;
        }
        self.asked.push(quote);
        let surplus = self.asked.len().saturating_sub(ASKED);
        self.asked.drain(..surplus);
    }

    fn call(&mut self, call: &ToolCall<'_>, called: &Called<'_>) {
        for action in calls::actions(&call.name.decode(), &call.arguments.decode()) {
            self.act(action, called);
        }
    }
}

fn texts<'m, 'a>(message: &'m Message<'a>) -> impl Iterator<Item = &'m Text<'a>> {
    message.parts.iter().skip(own_blocks(message)).filter_map(|part| match &part.content {
        Content::Text(text) => Some(text),
        _ => None,
    })
}
