//! What a description writes: JSON with holes.

use super::source::{At, Fault, Table};
use crate::json::{Document, Value, quote};
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
    /// A call, as a part: nothing writes one but what tries the description.
    pub(super) call: Option<Template>,
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
    Hole(Hole),
    /// What the message before it has under a key.
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
    Arguments,
    Message,
    NewId,
}

const HOLES: [(&str, Hole); 8] = [
    ("$role", Hole::Role),
    ("$text", Hole::Text),
    ("$parts", Hole::Parts),
    ("$id", Hole::Id),
    ("$name", Hole::Name),
    ("$arguments", Hole::Arguments),
    ("$message", Hole::Message),
    ("$new-id", Hole::NewId),
];

const ROLES: [(&str, Role); 5] = [
    ("system", Role::System),
    ("developer", Role::Developer),
    ("user", Role::User),
    ("assistant", Role::Assistant),
    ("tool", Role::Tool),
];

impl Writing {
    /// Reads the templates; those that are missing are those of `base`.
    pub(super) fn read(table: Table<'_>, base: Option<&Self>) -> Result<Self, Fault> {
        let template = |key| table.text(key)?.map(|text| Template::read(&text)).transpose();
        let mut messages = Vec::new();
        for (key, role) in ROLES {
            messages.extend(template(key)?.map(|template| (Some(role), template)));
        }
        messages.extend(template("message")?.map(|template| (None, template)));
        let writing = Self {
            messages,
            text: template("text")?,
            result: template("result")?,
            result_message: template("result-message")?,
            envelope: template("envelope")?,
            call: template("call")?,
        };
        let span = table.span.clone();
        table.finish()?;
        let base = base.cloned().unwrap_or_default();
        let writing = Self {
            messages: writing.messages.into_iter().chain(base.messages).collect(),
            text: writing.text.or(base.text),
            result: writing.result.or(base.result),
            result_message: writing.result_message.or(base.result_message),
            envelope: writing.envelope.or(base.envelope),
            call: writing.call.or(base.call),
        };
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
        let of = |role: Option<Role>| self.messages.iter().find(|(of, _)| *of == role).map(|(_, template)| template);
        of(Some(role)).or_else(|| of(None))
    }

    /// The template of a message of the user, in which others speak that have no template.
    pub(super) fn fallback(&self) -> Option<&Template> {
        self.message(Role::User)
    }

    /// Whether a result can be written where results are.
    pub(super) fn has_results(&self, results: ResultPlace) -> bool {
        self.result.is_some() || self.result_message.is_some() && results != ResultPlace::SameMessage
    }

    /// Gives keys other names.
    pub(super) fn rename(&mut self, names: &[(String, String)]) {
        let others = [&mut self.text, &mut self.result, &mut self.result_message, &mut self.call];
        let templates = self.messages.iter_mut().map(|(_, template)| template).chain(others.into_iter().flatten());
        for template in templates {
            for piece in &mut template.pieces {
                if let Piece::Text(text) = piece {
                    for (old, new) in names {
                        *text = text.replace(&format!("{}:", quote(old)), &format!("{}:", quote(new)));
                    }
                }
            }
        }
    }
}

/// `json` without white space between its tokens: what is written takes no more room than what other dialects write.
fn without_white_space(json: &str) -> String {
    let mut is_inside = false;
    let mut is_escaped = false;
    let is_kept = |c: &char| {
        let kept = is_inside || !c.is_ascii_whitespace();
        is_inside = if is_inside { *c != '"' || is_escaped } else { *c == '"' };
        is_escaped = is_inside && *c == '\\' && !is_escaped;
        kept
    };
    json.chars().filter(is_kept).collect()
}

impl Template {
    /// Reads a template, and refuses one that is no JSON once its holes are filled.
    fn read(text: &At<&str>) -> Result<Self, Fault> {
        let mut pieces = Vec::new();
        let compact = without_white_space(text.value);
        let mut rest = compact.as_str();
        // A name in quotes is a text, such as a key.
        while let Some(start) = rest.match_indices('$').map(|(at, _)| at).find(|at| !rest[..*at].ends_with('"')) {
            pieces.push(Piece::Text(rest[..start].to_owned()));
            let hole = &rest[start..];
            let end = hole[1..]
                .find(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_' || c == '^'))
                .map_or(hole.len(), |end| end + 1);
            let (name, after) = hole.split_at(end);
            pieces.push(match (name.strip_prefix("$^"), HOLES.iter().find(|(known, _)| *known == name)) {
                (Some(key), _) => Piece::Copy(key.to_owned()),
                (None, Some((_, hole))) => Piece::Hole(*hole),
                (None, None) => {
                    let known: Vec<&str> = HOLES.iter().map(|(name, _)| *name).collect();
                    return Err(Fault::new(&text.span, crate::suggest::unknown("no hole is called", name, &known)));
                }
            });
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        let template = Self { pieces, at: text.span.start };
        let filled = template.fill(None, |_| String::from("\"x\""));
        match Document::parse(&filled) {
            Ok(document) if document.roots().all(Value::is_object) => Ok(template),
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

    /// The JSON with its holes filled; `^key` copies the member of `anchor`.
    pub(super) fn fill(&self, anchor: Option<Value<'_>>, value: impl Fn(Hole) -> String) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Hole(hole) => value(*hole),
            Piece::Copy(key) => anchor.and_then(|anchor| anchor.get(key)).map_or("null", Value::raw).to_owned(),
        };
        self.pieces.iter().map(piece).collect()
    }
}
