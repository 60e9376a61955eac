//! The texts that the search of an index looks through: what the messages of its sessions show, without markup, packed into
//! scripts that are loaded when somebody searches.

use std::io::{self, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use memchr::{memchr, memmem};

use curtail_core::json::quote;

// What ends the texts of a session, of a message, and of a block of it. A page shows these characters by their codes.
const SESSION_END: char = '\u{1d}';
const MESSAGE_END: char = '\u{1e}';
const BLOCK_END: char = '\u{1f}';

/// Elements that do not end a block, as in `script/search.js`.
const INLINE: &[&str] = &["a", "b", "code", "del", "em", "ins", "s", "span", "strong", "time", "u"];

/// Elements that are not searched, with what ends each: nothing of the same name is inside of them.
const HIDDEN: &[(&str, &str)] = &[
    ("header", "</header>"),
    ("details class=\"raw\"", "</details>"),
    ("span class=\"tokens\"", "</span>"),
    ("p class=\"note\"", "</p>"),
];

/// The texts of the messages that are drawn as `html`, each without the messages inside of it.
pub(super) fn texts(html: &str) -> String {
    let mut messages: Vec<String> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut rest = html;
    while let Some(at) = memchr(b'<', rest.as_bytes()) {
        let (text, tag) = rest.split_at(at);
        let (tag, after) = tag[1..].split_once('>').unwrap_or((tag, ""));
        rest = after;
        let message = open.last().map(|open| &mut messages[*open]);
        if let Some(message) = message {
            push_decoded(text, message);
            push_break(tag, message);
        }
        if tag == "article" || tag.starts_with("article ") {
            open.push(messages.len());
            messages.push(String::new());
        } else if tag == "/article" {
            open.pop();
        } else if let Some((_, end)) = HIDDEN.iter().find(|(start, _)| tag.starts_with(start)) {
            rest = memmem::find(rest.as_bytes(), end.as_bytes()).map_or("", |at| &rest[at + end.len()..]);
        }
    }
    messages.join(MESSAGE_END.encode_utf8(&mut [0; 4]))
}

/// Ends a line or a block, if `tag` does.
fn push_break(tag: &str, out: &mut String) {
    let name = tag.trim_start_matches('/');
    let name = name.split(' ').next().unwrap_or(name);
    let is_hidden = HIDDEN.iter().any(|(start, _)| tag.starts_with(start));
    if name == "br" {
        out.push('\n');
    } else if (is_hidden || !INLINE.contains(&name)) && !out.ends_with(BLOCK_END) {
        out.push(BLOCK_END);
    }
}

/// Appends a text of HTML in which [`Shown`](super::visible::Shown) escaped characters.
fn push_decoded(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = memchr(b'&', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let entities = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"')];
        let entity = entities.iter().find(|(entity, _)| rest.starts_with(entity));
        let (length, c) = entity.map_or((1, '&'), |(entity, c)| (entity.len(), *c));
        out.push(c);
        rest = &rest[length..];
    }
    out.push_str(rest);
}

/// The texts of several sessions, which are packed together.
#[derive(Debug, Default)]
pub struct TextBlock {
    links: Vec<String>,
    texts: String,
}

/// Bytes of texts from which on a block is full: packed together, small sessions take less room and are unpacked sooner.
const FULL: usize = 1_000_000;

impl TextBlock {
    /// Adds the texts of the session whose page is at `link`, a relative address.
    pub fn add(&mut self, link: &str, texts: &str) {
        if !self.links.is_empty() {
            self.texts.push(SESSION_END);
        }
        self.links.push(link.to_owned());
        self.texts.push_str(texts);
    }

    /// Whether it has no session.
    pub const fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Whether it is time for the next block.
    pub fn is_full(&self) -> bool {
        self.texts.len() >= FULL
    }

    /// A line of a script that passes the texts to an index: the links as JSON, and the texts as Base64 of raw DEFLATE.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn script(&self) -> io::Result<String> {
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
        packed.write_all(self.texts.as_bytes())?;
        let links: Vec<String> = self.links.iter().map(|link| quote(link)).collect();
        Ok(format!("curtailTexts([{}],\"{}\")\n", links.join(","), STANDARD.encode(packed.finish()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::texts;

    #[test]
    fn texts_are_what_messages_show() {
        for (html, expected) in [
            (
                "<h2>Turn</h2><article id=\"m0\"><header>model 3</header><p>All <b>te</b>n<br>cups</p></article>",
                "\u{1f}All ten\ncups\u{1f}",
            ),
            ("<article><p>a</p><article><p>in</p></article>b</article>", "\u{1f}a\u{1f}b\u{1f}\u{1e}\u{1f}in\u{1f}"),
            ("<article>&lt;b&gt; &amp;amp; & &quot;x&quot;</article>", "<b> &amp; & \"x\"\u{1f}"),
            (
                "<article><div class=\"md\">x</div><details class=\"raw\"><pre>**x**</pre></details>y<span class=\"tokens\">1 token</span>z<p class=\"note\">cut</p></article>",
                "\u{1f}x\u{1f}y\u{1f}z\u{1f}",
            ),
            ("no message", ""),
        ] {
            assert_eq!(texts(html), expected, "{html}");
        }
    }
}
