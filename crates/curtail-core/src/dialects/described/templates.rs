//! What a description writes: JSON with holes.

use std::borrow::Cow;

use super::source::{At, Fault, Table};
use crate::json::{Document, Text, Value, quote};
use crate::transcript::{ResultPlace, Role};

/// The templates of a description.
#[derive(Debug, Clone, Default)]
pub(super) struct Writing {
    /// A message, by role; the one without a role is for all others.
    messages: Vec<(Option<Role>, Template)>,
    /// A text, as a part.
    pub(super) text: Option<Template>,
    /// A result, as a part.
    pub(super) result: Option<Template>,
    /// A result, as a message.
    pub(super) result_message: Option<Template>,
    /// What is around a message.
    pub(super) envelope: Option<Template>,
}

/// JSON with holes.
#[derive(Debug, Clone)]
pub(super) struct Template {
    pieces: Vec<Piece>,
    pub(super) at: usize,
}

#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    /// The key of a member; what is around it are texts.
    Key(String),
    Hole(Hole),
    /// What the message next to it has under a key.
    Copy(String),
}

/// What is written into a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hole {
    Role,
    Text,
    Parts,
    Id,
    Name,
    Message,
    NewId,
}

const HOLES: [(&str, Hole); 7] = [
    ("$role", Hole::Role),
    ("$text", Hole::Text),
    ("$parts", Hole::Parts),
    ("$id", Hole::Id),
    ("$name", Hole::Name),
    ("$message", Hole::Message),
    ("$new-id", Hole::NewId),
];

const ROLES: [Role; 5] = [Role::System, Role::Developer, Role::User, Role::Assistant, Role::Tool];

/// The holes of a message, of a part with a text, of a result, and of what is around a message.
const OF_MESSAGE: &[Hole] = &[Hole::Role, Hole::Text, Hole::Parts, Hole::NewId];
const OF_TEXT: &[Hole] = &[Hole::Text, Hole::NewId];
const OF_RESULT: &[Hole] = &[Hole::Id, Hole::Name, Hole::Text, Hole::Role, Hole::NewId];
const OF_ENVELOPE: &[Hole] = &[Hole::Message, Hole::NewId];

impl Writing {
    /// Reads the templates; those that are missing are those of `base`.
    pub(super) fn read(table: Table<'_>, base: Option<&Self>) -> Result<Self, Fault> {
        let base = base.cloned().unwrap_or_default();
        let template = |key, holes| table.text(key)?.map(|text| Template::read(&text, holes)).transpose();
        let mut messages = Vec::new();
        for role in ROLES {
            messages.extend(template(role.name(), OF_MESSAGE)?.map(|template| (Some(role), template)));
        }
        messages.extend(template("message", OF_MESSAGE)?.map(|template| (None, template)));
        messages.extend(base.messages);
        let writing = Self {
            messages,
            text: template("text", OF_TEXT)?.or(base.text),
            result: template("result", OF_RESULT)?.or(base.result),
            result_message: template("result-message", OF_RESULT)?.or(base.result_message),
            envelope: template("envelope", OF_ENVELOPE)?.or(base.envelope),
        };
        // Nothing writes a call, but descriptions may say how it looks.
        table.text("call")?;
        let span = table.span.clone();
        table.finish()?;
        let only_envelope = writing.messages.is_empty() && writing.envelope.is_some();
        if writing.fallback().is_none() && !only_envelope {
            return Err(Fault::new(&span, "`[write]` needs `message`, the template of a message, or at least `user`"));
        }
        let twice = writing.messages.iter().find(|(_, template)| template.has(Hole::Parts) && template.has(Hole::Text));
        if let Some((_, template)) = twice {
            return Err(Fault {
                at: template.at,
                what: String::from("a text is written once: `$parts` or `$text`, not both"),
            });
        }
        let needs_text = writing.messages.iter().find(|(_, template)| template.has(Hole::Parts));
        if let Some((_, template)) = needs_text
            && writing.text.is_none()
        {
            return Err(Fault {
                at: template.at,
                what: String::from("`$parts` needs the template `text`, of a part with a text"),
            });
        }
        Ok(writing)
    }

    /// The template of a message of this role.
    pub(super) fn message(&self, role: Role) -> Option<&Template> {
        let of_role = self.messages.iter().find(|(of, _)| *of == Some(role));
        let found = of_role.or_else(|| self.messages.iter().find(|(of, _)| of.is_none()));
        found.map(|(_, template)| template)
    }

    /// Whether a template is for messages of this role alone.
    pub(super) fn is_for(&self, role: Role) -> bool {
        self.messages.iter().any(|(of, _)| *of == Some(role))
    }

    /// The template of a message of the user, in which others speak that have no template.
    pub(super) fn fallback(&self) -> Option<&Template> {
        self.message(Role::User)
    }

    /// Whether a result can be written where results are.
    pub(super) fn has_results(&self, results: ResultPlace) -> bool {
        self.result.is_some() || self.result_message.is_some() && results != ResultPlace::SameMessage
    }

    /// Gives keys other names, where `renamed` has one.
    pub(super) fn rename(&mut self, renamed: &impl Fn(&str) -> Option<String>) {
        let Self { messages, text, result, result_message, envelope } = self;
        let others = [text, result, result_message, envelope].into_iter().flatten();
        for template in messages.iter_mut().map(|(_, template)| template).chain(others) {
            for piece in &mut template.pieces {
                if let Piece::Key(key) | Piece::Copy(key) = piece
                    && let Some(new) = renamed(key)
                {
                    *key = new;
                }
            }
        }
    }
}

/// `json` without white space between its tokens: what is written takes no more room than what other dialects write.
fn without_white_space(json: &str) -> String {
    let mut is_inside = false;
    let mut is_escaped = false;
    let kept = json.chars().filter(|c| {
        let kept = is_inside || !c.is_ascii_whitespace();
        is_inside = if is_inside { *c != '"' || is_escaped } else { *c == '"' };
        is_escaped = is_inside && *c == '\\' && !is_escaped;
        kept
    });
    kept.collect()
}

/// Adds the JSON between two holes: its keys, and what is around them.
fn push_text(pieces: &mut Vec<Piece>, json: &str) {
    let mut rest = json;
    let mut from = 0;
    while let Some(open) = rest[from..].find('"').map(|at| from + at) {
        let Some(length) = length_of_string(&rest[open..]) else { break };
        from = open + length;
        if rest[from..].starts_with(':') {
            pieces.push(Piece::Text(rest[..open].to_owned()));
            pieces.push(Piece::Key(Text::Escaped(&rest[open + 1..from - 1]).into_decoded().into_owned()));
            (rest, from) = (&rest[from..], 0);
        }
    }
    pieces.push(Piece::Text(rest.to_owned()));
}

/// The length of the JSON string that a text begins with.
fn length_of_string(json: &str) -> Option<usize> {
    let mut is_escaped = false;
    let end = json[1..].find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    end.map(|end| end + 2)
}

/// The first text in a value that is the name of a hole.
fn quoted_hole(value: Value<'_>) -> Option<String> {
    let texts = value.within(|_| false).filter_map(Value::text).map(Text::into_decoded);
    let mut holes = texts.filter(|text| text.starts_with("$^") || HOLES.iter().any(|(name, _)| name == text));
    holes.next().map(Cow::into_owned)
}

impl Template {
    /// Reads a template, and refuses one that is no JSON once its holes are filled.
    fn read(text: &At<&str>, holes: &[Hole]) -> Result<Self, Fault> {
        let mut pieces = Vec::new();
        let compact = without_white_space(text.value);
        let mut rest = compact.as_str();
        // A name in quotes is a text, such as a key.
        while let Some(start) = rest.match_indices('$').map(|(at, _)| at).find(|at| !rest[..*at].ends_with('"')) {
            push_text(&mut pieces, &rest[..start]);
            let hole = &rest[start..];
            let end = hole[1..]
                .find(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_' || c == '^'))
                .map_or(hole.len(), |end| end + 1);
            let (name, after) = hole.split_at(end);
            pieces.push(match (name.strip_prefix("$^"), HOLES.iter().find(|(known, _)| *known == name)) {
                (Some(key), _) => Piece::Copy(key.to_owned()),
                (None, Some((_, hole))) if holes.contains(hole) => Piece::Hole(*hole),
                (None, _) => {
                    let known: Vec<&str> =
                        HOLES.iter().filter(|(_, hole)| holes.contains(hole)).map(|(name, _)| *name).collect();
                    return Err(Fault::new(
                        &text.span,
                        crate::suggest::unknown("this template has no hole", name, &known),
                    ));
                }
            });
            rest = after;
        }
        push_text(&mut pieces, rest);
        let template = Self { pieces, at: text.span.start };
        let filled = template.fill(None, |_| String::from("\"x\""));
        match Document::parse(&filled) {
            Ok(document) if document.roots().all(Value::is_object) => match document.roots().find_map(quoted_hole) {
                Some(hole) => Err(Fault::new(&text.span, format!("`{hole}` is a hole only without quotes"))),
                None => Ok(template),
            },
            Ok(_) => Err(Fault::new(&text.span, "the template is no object")),
            Err(error) => Err(Fault::new(
                &text.span,
                format!("the template is no JSON ({}); a hole stands for a whole value, without quotes", error.kind),
            )),
        }
    }

    pub(super) fn has(&self, hole: Hole) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Hole(of) if *of == hole))
    }

    /// The template without the members that have this hole as their value.
    pub(super) fn without(&self, hole: Hole) -> Self {
        let mut pieces = self.pieces.clone();
        for at in (3..pieces.len()).rev() {
            if let Some([Piece::Text(before), Piece::Key(_), Piece::Text(colon), Piece::Hole(of), Piece::Text(after)]) =
                pieces.get_mut(at - 3..=at + 1)
                && *of == hole
                && colon == ":"
            {
                if after.starts_with(',') {
                    after.remove(0);
                } else if before.ends_with(',') {
                    before.pop();
                }
                pieces.drain(at - 2..=at);
            }
        }
        Self { pieces, at: self.at }
    }

    /// The JSON with its holes filled; `$^key` copies the member of `anchor`.
    pub(super) fn fill(&self, anchor: Option<Value<'_>>, value: impl Fn(Hole) -> String) -> String {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Key(key) => quote(key),
            Piece::Hole(hole) => value(*hole),
            Piece::Copy(key) => anchor.and_then(|anchor| anchor.get(key)).map_or("null", Value::raw).to_owned(),
        });
        pieces.collect()
    }
}
