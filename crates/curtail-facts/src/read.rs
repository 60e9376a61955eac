//! Reads the facts of messages: who said what, and what calls did, in the order of the transcript.

use std::borrow::Cow;
use std::ops::Range;

use super::call_result::CallWithResult;
use super::quotes::{self, bounded, one_line};
use super::writers::{self, Writer, corrects};
use super::{Facts, MAX_ASKED, Pointer, Quote, calls, keep_newest};
use curtail_core::json::Text;
use curtail_core::transcript::{Message, Pairs, PartRef, Role, ToolCall, main_thread, own_blocks};

impl Facts {
    /// Reads the messages of `range`. Their numbers continue those of the messages that were read before. The result of a call
    /// is read with the call, unless it is after the range.
    pub fn read_range(&mut self, messages: &[Message<'_>], pairs: &Pairs, range: Range<usize>) {
        let main = main_thread(messages);
        for at in range.clone() {
            let number = self.messages;
            self.messages += 1;
            let Some(message) = messages.get(at) else { continue };
            if message.standing.is_rolled_back() {
                continue;
            }
            let id = message.id.as_ref().map(|id| id.decode().into_owned());
            let here = Pointer { message: Some(number), id };
            self.read_texts(message, message.thread == main, &here);
            for (part, call) in message.calls() {
                let paired =
                    pairs.counterpart(PartRef { message: at, part }).filter(|paired| paired.message < range.end);
                let result = paired.and_then(|paired| messages.get(paired.message)?.parts.get(paired.part));
                self.calls += 1;
                self.read_call(call, &CallWithResult::new(here.clone(), result));
            }
        }
    }

    /// Reads the texts of a message that a person or the model wrote, where it is one of the main conversation.
    fn read_texts(&mut self, message: &Message<'_>, is_main: bool, here: &Pointer) {
        if message.is_boundary() {
            let texts: Vec<_> = texts(message).map(|(_, text)| text.decode()).collect();
            let text = bounded(&one_line(&texts.join("\n")));
            if !text.is_empty() {
                self.earlier = Some(Quote { text, at: here.clone(), correction: false });
            }
        } else if is_main {
            self.read_user_texts(&said(message, Role::User), message.automatic, here);
            self.read_reply(&said(message, Role::Assistant), here);
        }
    }

    /// Reads the texts of a message that the model wrote.
    fn read_reply(&mut self, texts: &[Cow<'_, str>], here: &Pointer) {
        if texts.is_empty() {
            return;
        }
        let whole = texts.join("\n");
        let quote = |text: &str| Quote { text: bounded(&one_line(text)), at: here.clone(), correction: false };
        self.question = quotes::question(&whole).map(quote);
        self.said = Some(quote(&whole));
    }

    /// Reads the texts of a user message, each written by a person or by a program. `automatic` is set if the log says that a
    /// program sent the message.
    fn read_user_texts(&mut self, texts: &[Cow<'_, str>], automatic: bool, here: &Pointer) {
        let mut typed: Vec<String> = Vec::new();
        for text in texts {
            match writers::writer(text) {
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
        keep_newest(&mut self.asked, MAX_ASKED);
    }

    fn read_call(&mut self, tool_call: &ToolCall<'_>, call: &CallWithResult<'_>) {
        for action in calls::actions(&tool_call.name.decode(), &tool_call.arguments.decode()) {
            self.record(action, call);
        }
    }
}

/// The texts of a message that are said in this role.
fn said<'m>(message: &'m Message<'_>, role: Role) -> Vec<Cow<'m, str>> {
    texts(message).filter(|(speaker, _)| *speaker == role).map(|(_, text)| text.decode()).collect()
}

/// The texts of a message that are not blank, without the blocks that this program wrote into it, and who says each.
fn texts<'m, 'a>(message: &'m Message<'a>) -> impl Iterator<Item = (Role, &'m Text<'a>)> {
    let own = message.parts.iter().skip(own_blocks(message));
    let texts = own.filter_map(|part| Some((message.speaker(part), part.content.text()?)));
    texts.filter(|(_, text)| !text.is_blank())
}
