//! Dialects that are described, not programmed: a description says where role, parts, ids and texts are, and what is written.
//!
//! One interpreter reads and writes all of them. A description is compiled once, and what it writes is read again then: one
//! whose templates do not say what was meant is refused.

mod compile;
mod copies;
mod coverage;
mod covered;
mod extend;
mod frames;
mod library;
mod marks;
mod parts;
mod paths;
mod read;
mod read_back;
mod rules;
mod screen;
mod seen;
mod source;
mod templates;
mod texts;
mod write;

pub use library::{Description, register};
pub(super) use library::{all, are_registered, dialect_named, list_in, places_of_user, records_in};
pub(super) use marks::{decide, has_mark};
pub use source::DescriptionError;
pub use texts::{built_in, description_of};

use super::{Dialect, Fit, Format, Item, PairingRules, ProviderRules, ReadError, blocks};
use crate::json::{Text, Value};
use crate::transcript::Turns;
use rules::Rules;

/// A dialect that a description made.
pub(super) struct Described {
    format: &'static Format,
    rules: &'static Rules,
}

impl Described {
    /// The dialect of rules that the program brings, for as long as it runs.
    fn built_in(rules: Rules) -> &'static Self {
        Self::new(rules, Format::PLAIN.unwritten)
    }

    /// The dialect of rules of a user, for as long as the program runs.
    fn of_user(rules: Rules) -> &'static Self {
        let unwritten = match rules.base {
            // What the program cannot write cannot be written in an envelope.
            Some(base) if base.writer().is_none() => Format::PLAIN.unwritten,
            _ if rules.lacks_envelope() => "add `envelope` to `[write]` in its description",
            _ => "add `[write]` to its description",
        };
        Self::new(rules, unwritten)
    }

    fn new(rules: Rules, unwritten: &'static str) -> &'static Self {
        let rules: &'static Rules = Box::leak(Box::new(rules));
        let format = Format { unwritten, ..format_of(rules) };
        Box::leak(Box::new(Self { format: Box::leak(Box::new(format)), rules }))
    }
}

fn format_of(rules: &'static Rules) -> Format {
    let plain = Format { name: &rules.name, signature: &rules.about, has_marks: true, ..Format::PLAIN };
    if let Some(base) = rules.base {
        let base = base.format();
        let writer = base.writer.filter(|_| !rules.lacks_envelope()).map(|_| rules as _);
        let provider = ProviderRules { provider: rules.provider_or(base.provider.provider), ..base.provider };
        let known = base.known.iter().copied().chain(rules.known.iter().map(String::as_str)).collect::<Vec<_>>();
        return Format {
            pairing: base.pairing,
            provider,
            reread: base.reread,
            known: Vec::leak(known),
            writer,
            ..plain
        };
    }
    let developer = rules.name_of(crate::transcript::Role::Developer).is_some();
    Format {
        pairing: PairingRules { results: rules.results, ids: rules.has_ids(), developer, ..super::BY_ID },
        provider: ProviderRules {
            provider: rules.provider_or(""),
            log: rules.is_log,
            turns: Turns::Free,
            ..super::NO_RULES
        },
        is_log: rules.is_log,
        writer: rules.writing.as_ref().filter(|_| !rules.lacks_envelope()).map(|_| rules as _),
        accounts: true,
        ..plain
    }
}

impl Dialect for Described {
    fn format(&self) -> &'static Format {
        self.format
    }

    fn unread<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        let content = blocks::content_of(self.rules.said(item))?;
        Some(content.text().unwrap_or(Text::Json(content.raw())))
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        if self.rules.is_marked(item) {
            return Fit::Marked;
        }
        let misfits = self.rules.is_unknown(item)
            || self.rules.base.is_some_and(|base| base.fit(self.rules.said(item)) == Fit::No);
        if misfits { Fit::No } else { Fit::Possible }
    }

    fn fits_record(&self, record: Value<'_>) -> bool {
        self.rules.marks_record(record)
    }

    fn refuse(&self, items: &[Value<'_>]) -> Result<(), ReadError> {
        self.refuse_disorder(items)
    }

    fn remark(&self, items: &[Value<'_>]) -> Option<String> {
        self.remark_on_order(items)
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        self.rules.item(item)
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        if let Some(base) = self.rules.base {
            let said: Vec<_> = items.iter().map(|item| self.rules.said(*item)).collect();
            return base.connect(&said, read);
        }
        if !self.rules.has_ids() {
            blocks::close_rounds(read);
        }
        if self.rules.kinds().any(|kind| kind.several) {
            seen::connect(read);
        }
    }

    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        if let Some(base) = self.rules.base
            && self.rules.preamble.is_empty()
        {
            return base.preamble(record);
        }
        let values = self.rules.preamble.iter().flat_map(|path| path.all(record));
        values.flat_map(|value| blocks::texts(Some(value))).filter(|text| text.len_bound() > 0).collect()
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        let said = self.rules.said(item);
        match (&self.rules.model, self.rules.base) {
            (Some(path), _) => path.first(item).or_else(|| path.first(said)).and_then(Value::text),
            (None, Some(base)) => base.model(said),
            (None, None) => blocks::model(said).or_else(|| blocks::model(item)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Description, Dialect as _, Item, Rules, built_in};
    use crate::json::Document;
    use crate::transcript::{Content, Draft, Role};

    #[test]
    fn every_description_says_what_it_means() {
        let wrong = built_in().iter().filter_map(|(name, text)| match Description::read(text) {
            Ok(description) if description.dialect().name() == *name => None,
            Ok(description) => Some(format!("{name}.toml describes {}", description.dialect().name())),
            Err(error) => Some(format!("{name}.toml:{error}")),
        });
        let wrong: Vec<String> = wrong.collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn what_recognizes_a_description_stands_before_its_tables() {
        for (name, text) in built_in() {
            let description = Description::read(text).unwrap_or_else(|error| panic!("{name}.toml:{error}"));
            let recognizes = |rules: &Rules| format!("{:?}", (&rules.marks, &rules.lists, &rules.records));
            let head = Rules::head_of(text).unwrap_or_default();
            assert_eq!(recognizes(&head), recognizes(description.dialect.rules), "{name}");
        }
    }

    /// The key under which a description has what it extends under another one, in all that it reads and writes.
    #[test]
    fn a_renamed_key_is_renamed_wherever_it_is() {
        for (text, expected) in [
            ("extends = \"continue\"\nrename = { msg = \"message\" }\n", "{\"msg\":{"),
            (
                "extends = \"openai\"\nrename = { content = \"role\", role = \"content\" }\n",
                "{\"content\":\"user\",\"role\":\"Lit?\"",
            ),
            ("extends = \"agno\"\nrename = { steps = \"messages\" }\n", "{\"role\":\"user\""),
        ] {
            let description = Description::read(&format!("name = \"x\"\n{text}"));
            let dialect = description.unwrap_or_else(|error| panic!("{text}: {error}")).dialect;
            let writer = dialect.format.writer.expect("it is written");
            let written = writer.write_message(&Draft::text(Role::User, "Lit?"), None);
            assert!(written.starts_with(expected), "{text}: {written}");
            let shown = format!("{:?}", dialect.rules.lists);
            assert!(!text.contains("steps") || shown.contains("steps") && !shown.contains("messages"), "{shown}");
        }
    }

    /// Roles alone change how messages are read, and what changes nothing is extended as it is.
    #[test]
    fn whatever_is_extended_is_read_as_it_says() {
        const ROLES: &str = "[role]\nat = \"role\"\nuser = \"human\"\nassistant = \"bot\"\n";
        for (text, item) in [
            (format!("extends = \"openai\"\n{ROLES}"), r#"{"role": "human", "content": "Lit?"}"#),
            (String::from("extends = \"continue\"\n"), r#"{"message": {"role": "user", "content": "Lit?"}}"#),
            (
                String::from("extends = \"haystack\"\nmessage = \"in\"\n"),
                r#"{"in": {"role": "user", "content": [{"text": "Lit?"}]}}"#,
            ),
        ] {
            let dialect = Description::read(&format!("name = \"x\"\n{text}")).expect(&text).dialect;
            let document = Document::parse(item).unwrap();
            let read = dialect.read(document.roots().next().unwrap());
            let message = read.into_message().expect(item);
            let said = matches!(&message.parts[0].content, Content::Text(said) if said.is("Lit?"));
            assert!(message.role == Role::User && said, "{text}");
        }
        for base in ["bedrock", "gemini", "langchain", "sharegpt"] {
            let roles = "[role]\nat = \"kind\"\nuser = \"ask\"\nassistant = \"reply\"\nmetadata = \"meta\"\n";
            let text = format!("name = \"x\"\nextends = \"{base}\"\nmessage = \"in\"\n{roles}");
            let dialect = Description::read(&text).expect(base).dialect;
            let document = Document::parse(r#"{"kind": "meta", "note": "x"}"#).unwrap();
            assert!(matches!(dialect.read(document.roots().next().unwrap()), Item::Metadata), "{base}");
        }
        for (base, code) in [("strands", "bedrock"), ("nextchat", "openai"), ("bedrock", "bedrock")] {
            let error = Description::read(&format!("name = \"x\"\nextends = \"{base}\"\n{ROLES}")).expect_err(base);
            assert!(error.to_string().starts_with(&format!("2:11: `{code}` is code")), "{error}");
        }
    }

    /// A call may have its name, and a result its text, in the message around it.
    #[test]
    fn what_makes_a_part_may_be_around_it() {
        let text = "name = \"x\"\n[role]\nat = \"role\"\n\
            [[part]]\nis = \"call\"\nat = \"calls[]\"\nname = \"^tool\"\n\
            [[part]]\nis = \"result\"\nat = \"results[]\"\ntext = \"^said\"\n";
        let dialect = Description::read(text).unwrap().dialect;
        for (item, expected) in [
            (r#"{"role": "assistant", "tool": "look", "calls": [{"at": 1}]}"#, "tool-call"),
            (r#"{"role": "tool", "said": "Lit.", "results": [{"ok": true}]}"#, "tool-result"),
        ] {
            let document = Document::parse(item).unwrap();
            let message = dialect.read(document.roots().next().unwrap()).into_message().expect(item);
            assert_eq!(message.parts[0].content.kind(), expected, "{item}");
        }
    }

    /// A message is written where it is read, or not at all.
    #[test]
    fn a_message_is_written_at_its_place() {
        for (place, expected) in [
            ("payload.message", Some("{\"payload\":{\"message\":{\"role\":\"user\"")),
            ("entry|payload", Some("{\"entry\":{\"role\":\"user\"")),
            ("payload.*", None),
        ] {
            let text = format!("name = \"x\"\nextends = \"openai\"\nmessage = \"{place}\"\n");
            let format = Description::read(&text).expect(place).dialect.format;
            let written = format.writer.map(|writer| writer.write_message(&Draft::text(Role::User, "Lit?"), None));
            assert_eq!(written.is_some(), expected.is_some(), "{place}: {written:?}");
            assert!(written.unwrap_or_default().starts_with(expected.unwrap_or_default()), "{place}");
            assert_eq!(format.unwritten.contains("`envelope`"), expected.is_none(), "{place}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        const RESULT: &str = "result-message = '{\"role\": \"assistant\", \"said\": {\"of\": $id, \"seen\": $text}}'\n";
        const READS: &str = "[role]\nat = \"role\"\nuser = \"user\"\nassistant = \"assistant\"\n[[part]]\nis = \"text\"\nat = \"body\"\n";
        for (text, expected) in [
            ("nam = \"x\"\n", "1:1: `name` is missing"),
            ("name = \"x\"\nknwon = []\n", "2:1: a description has no key `knwon`; did you mean `known`?"),
            (
                "name = \"x\"\nextends = \"opnai\"\n",
                "2:11: no dialect that can be extended is called `opnai`; did you mean `openai`?",
            ),
            ("name = \"x\"\nextends = \"gemini\"\nrename = { a = \"b\" }\n", "2:11: `gemini` is code"),
            (
                "name = \"x\"\nresults = \"rigth-after\"\n",
                "2:11: results are not `rigth-after`; did you mean `right-after`?",
            ),
            ("name = \"x\"\n[role]\nis = \"user\"\nassistant = \"bot\"\n", "2:1: `is` gives all messages one role"),
            (
                "name = \"x\"\n[role]\nat = \"who\"\nuser = \"bot\"\nassistant = \"bot\"\n",
                "2:1: `bot` is the name of two roles",
            ),
            ("name = \"x\"\n[[part]]\nis = \"call\"\nat = \"calls[]\"\n", "2:1: a call needs `name`"),
            ("name = \"x\"\npart = 3\n", "2:8: `part` is a table, such as `[[part]]`"),
            ("name = \"x\"\nlist = \"a..b\"\n", "2:8: `a..b` is no path"),
            (&format!("name = \"openai\"\n{READS}"), "1:1: `openai` is a dialect of the program"),
            (
                &format!("name = \"x\"\n{READS}[write]\nmessage = '{{\"role\": $rolle}}'\n"),
                "10:11: this template has no hole `$rolle`; did you mean `$role`?",
            ),
            (
                &format!("name = \"x\"\n{READS}[write]\nmessage = '{{\"role\": $role, \"text\": $text}}'\n"),
                "10:11: what is written for a message of the user is read as",
            ),
            (
                &format!("name = \"x\"\n{READS}[write]\nmessage = '{{\"role\": \"$role\"}}'\n"),
                "10:11: `$role` is a hole only without quotes",
            ),
            (
                &format!("name = \"x\"\n{READS}[write]\nmessage = '{{\"role\": $role, \"body\": $id}}'\n"),
                "10:11: this template has no hole `$id`",
            ),
            (
                &format!("name = \"x\"\n{READS}[write]\nmessage = '{{\"role\": $role, \"body\": $text, \"ids\": [\"$^id\"]}}'\n"),
                "10:11: `$^id` is a hole only without quotes",
            ),
            (
                &format!(
                    "name = \"x\"\n{READS}[write]\nmessage = '{{\"role\": $role, \"body\": $text}}'\ndeveloper = '{{\"who\": \"a\", \"say\": $text}}'\n"
                ),
                "11:13: what is written for a message of the developer is read as no message",
            ),
            (
                &format!(
                    "name = \"x\"\n{READS}[[part]]\nis = \"result\"\nat = \"said\"\nid = \"of\"\ntext = \"seen\"\n[write]\nmessage = '{{\"role\": $role, \"body\": $text}}'\n{RESULT}"
                )
                .replace("user = \"user\"", "user = \"user\"\ntool = \"tool\""),
                "17:18: what is written for a result is read as a message of the assistant with tool-result",
            ),
            (
                "name = \"x\"\nextends = \"openai\"\nmessage = \"a.b\"\n[write]\nenvelope = '{\"a\": $message}'\n",
                "5:12: what is written for a message of the user is read as no message at `a.b`",
            ),
            (
                &format!("name = \"x\"\n{READS}[write]\nmessage = '{{\"role\" $role}}'\n"),
                "10:11: the template is no JSON",
            ),
            (
                &format!(
                    "name = \"x\"\n[[role]]\nwhen = {{ top = true }}\nis = \"system\"\n{}[write]\nmessage = '{{\"role\": $role, \"body\": $text}}'\n",
                    READS.replace("[role]", "[[role]]")
                ),
                "13:11: what is written for a message of the system is read as a message of the user with text: {\"role\":\"user\",\"body\":\"one \\\"text\\\"\"}; `system` in `[write]` is the template of this role alone",
            ),
        ] {
            let error = Description::read(text).expect_err(text).to_string();
            assert!(error.starts_with(expected), "{error}\n  instead of\n{expected}");
        }
    }
}
