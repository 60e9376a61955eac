//! Images, audio and files in a part: how large they are, and the text that can be written in their place.

use std::borrow::Cow;
use std::fmt;

use foldhash::HashSet;

use super::Patch;
use super::media_bytes::{HEAD, decoded, decoded_length, image_type, is_base64, pdf_pages};
use crate::json::{Member, Span, Text, Value, ValueKind, quote};
use crate::transcript::{Content, Part, SIGNATURES, Substitution};

/// The types of blocks that are images, audio or files, in most wire formats.
pub(crate) const TYPES: &[&str] = &[
    "image", "image_url", "input_image", "input_audio", "audio", "audio_url", "file", "input_file", "document",
    "video", "video_url", SCREENSHOT,
];

/// The type of a picture of the screen, which is the output of a call of the computer.
const SCREENSHOT: &str = "computer_screenshot";

/// The same inside results of the AI SDK.
const TYPES_IN_RESULTS: &[&str] = &["media", "image-data", "file-data"];

/// Members of objects without a type that are media.
const KEYS: &[&str] = &["inlineData", "inline_data", "fileData", "file_data", "image", "document", "video", "audio"];

/// Kinds of media in prompts of pydantic-ai, beside which texts are plain strings.
const KINDS: &[&str] = &["binary", "image-url", "audio-url", "video-url", "document-url"];

/// Members that contain the bytes of a medium.
const BYTES: &[&str] = &["data", "Data", "bytes", "base64", "file_data", "fileData"];

/// Members that contain its bytes or say where it is.
const EITHER: &[&str] = &["url", "image_url", "image", "audio", "video", "value"];

/// Members that say where a medium is.
const ADDRESSES: &[&str] = &["uri", "fileUri", "file_uri", "file_url", "path", "file_id", "fileId"];

/// Formats of documents that are texts, as Bedrock names them.
const TEXT_FORMATS: &[&str] = &["txt", "md", "csv", "html"];

/// The JSON around a text by the conventions of OpenTelemetry.
const OTEL: [&str; 2] = ["{\"type\":\"text\",\"content\":", "}"];

/// The same in ShareGPT's blocks.
const SHAREGPT: [&str; 2] = ["{\"type\":\"text\",\"value\":", "}"];

/// The longest text that is taken for an address, and named as one.
const LONGEST_ADDRESS: usize = 200;

/// An image, an audio or a file.
#[derive(Debug, Clone, Copy)]
pub struct Medium<'a> {
    value: Value<'a>,
    /// The JSON around the text that is written in its place.
    around: [&'static str; 2],
    /// How many other values are before it in its list.
    before: usize,
}

/// What the payload of a medium is.
enum Source<'a> {
    /// Bytes.
    Base64(Cow<'a, str>),
    /// The text of a document.
    Text(Cow<'a, str>),
    /// Where the medium is: a URL, a path or an id.
    Address(Cow<'a, str>),
}

/// The type that a medium is said to have.
struct DeclaredType {
    name: String,
    /// Where it is written.
    span: Span,
}

/// What is known of a medium.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MediumFacts {
    /// `image`, `audio`, `video` or `file`.
    pub kind: &'static str,
    /// Its format, such as `png`.
    pub format: Option<String>,
    /// Its size; `None` if it is elsewhere.
    pub bytes: Option<u64>,
    /// Width and height in pixels, if its head is that of a PNG, JPEG, GIF or WebP.
    pub pixels: Option<[usize; 2]>,
    /// Where it is, if not in the transcript.
    pub address: Option<String>,
}

/// The media in `part`, in order: the part itself, or those in a result.
#[must_use]
pub fn media<'a>(part: &Part<'a>) -> Vec<Medium<'a>> {
    let Some(place) = part.place() else { return Vec::new() };
    match &part.content {
        Content::Media(Text::Json(raw)) => {
            if let Some(alone) = Medium::from_value(place.element) {
                return vec![alone];
            }
            // It is one of several in its element.
            let mut found = media_in(place.element, &[]);
            found.retain(|medium| std::ptr::eq(medium.value.raw(), *raw));
            found
        }
        Content::ToolResult(result) if result.media > 0 => {
            let mut found = media_in(place.element, &place.copies);
            let gone: HashSet<u32> = place.substitutions().iter().map(|one| one.span.start).collect();
            found.retain(|medium| !gone.contains(&medium.value.span().start));
            found.sort_by_key(|medium| medium.value.span().start);
            // What the result repeats beside its content is a copy.
            found.truncate(result.media);
            found
        }
        _ => Vec::new(),
    }
}

/// The text of a part that is a text file, which a model reads as text.
pub(crate) fn file_text(part: &Part<'_>) -> Option<String> {
    let Content::Media(Text::Json(raw)) = &part.content else { return None };
    let value = part.place().map(|place| place.element).filter(|element| std::ptr::eq(element.raw(), *raw))?;
    let medium = Medium { value, around: ["", ""], before: 0 };
    medium.named_type().filter(|name| name.starts_with("text/") || TEXT_FORMATS.contains(&name.as_str()))?;
    match source_of(medium.payload()?) {
        Source::Base64(base64) => String::from_utf8(decoded(&base64, usize::MAX)?).ok(),
        Source::Text(text) => Some(text.into_owned()),
        Source::Address(_) => None,
    }
}

/// The media in a value at any depth, in no order; none of those in `copies`.
fn media_in<'a>(value: Value<'a>, copies: &[Value<'a>]) -> Vec<Medium<'a>> {
    let copies: HashSet<Value<'_>> = copies.iter().copied().collect();
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        let mut before = 0;
        for item in value.items().filter(|item| !copies.contains(item)) {
            match Medium::from_value(item) {
                Some(medium) => found.push(Medium { before, ..medium }),
                None => {
                    before += 1;
                    open.push(item);
                }
            }
        }
        for member in effective_members(value).into_iter().filter(|member| !copies.contains(&member.value)) {
            match Medium::from_value(member.value) {
                Some(medium) => found.push(medium),
                None => open.push(member.value),
            }
        }
    }
    found
}

/// The members of an object, the last one first. Of a key that is there several times, the last one applies.
fn effective_members(value: Value<'_>) -> Vec<Member<'_>> {
    let mut members: Vec<Member<'_>> = value.members().collect();
    members.reverse();
    let mut seen = HashSet::default();
    members.retain(|member| seen.insert(member.key.clone().into_decoded()));
    members
}

/// Whether an object by itself is a medium: one with bytes, or a screenshot. The data of a tool may have such a type as well, such
/// as a `file` with its path.
pub(super) fn has_bytes(value: Value<'_>) -> bool {
    let is_medium = value.get_text("type").is_some_and(|kind| kind.is_one_of(TYPES));
    is_medium
        && (value.member_is("type", SCREENSHOT) || Medium::from_value(value).is_some_and(|medium| medium.is_here()))
}

impl<'a> Medium<'a> {
    fn from_value(value: Value<'a>) -> Option<Self> {
        // Attachments beside a text are no list of parts.
        let list = value.parent().filter(|list| list.is_array());
        let is_attached =
            list.is_some_and(|list| list.parent().and_then(|holder| holder.get("attachments")) == Some(list));
        // Without the signature of a thought, the provider rejects what follows.
        let is_signed = SIGNATURES.iter().any(|key| value.get(key).is_some());
        if !value.is_object() || is_attached || is_signed {
            return None;
        }
        let around = match value.get_text("type") {
            // The output of a call of the computer is a screenshot and never a text.
            Some(kind) if kind.is(SCREENSHOT) && list.is_none() => return None,
            Some(kind) if TYPES.iter().chain(TYPES_IN_RESULTS).any(|name| kind.is(name)) => {
                // A part with an id of its own is a record of a program, which reads it by that id.
                let is_record = value.get("messageID").is_some() || value.get("sessionID").is_some();
                if is_record {
                    return None;
                }
                // Chat completions have `input_audio` beside plain texts.
                let is_output = list.is_some_and(|list| is_under(&["output"], list));
                if kind.decode().starts_with("input_") && !kind.is("input_audio") || kind.is(SCREENSHOT) && is_output {
                    ["{\"type\":\"input_text\",\"text\":", "}"]
                } else if value.get("modality").is_some() {
                    OTEL
                } else if value.get("value").is_some() {
                    SHAREGPT
                } else {
                    ["{\"type\":\"text\",\"text\":", "}"]
                }
            }
            Some(kind) if kind.is_one_of(&["blob", "file_data", "uri"]) && value.get("modality").is_some() => OTEL,
            Some(_) => return None,
            None if list.is_some() && value.get_text("kind").is_some_and(|kind| kind.is_one_of(KINDS)) => ["", ""],
            None if KEYS.iter().any(|key| value.get(key).is_some_and(Value::is_object)) => {
                // A function's response holds media and nothing else.
                let holder = value.parent().and_then(Value::parent);
                let is_response = holder.is_some_and(|holder| holder.get("response").is_some());
                if is_response {
                    return None;
                }
                ["{\"text\":", "}"]
            }
            None => return None,
        };
        let medium = Self { value, around, before: 0 };
        medium.payload().map(|_| medium)
    }

    /// The longest text that is the medium or says where it is.
    fn payload(&self) -> Option<Value<'a>> {
        let is_blob = self.value.get_text("type").is_some_and(|kind| kind.is("blob"));
        let mut longest: Option<Value<'a>> = None;
        let mut open = vec![self.value];
        while let Some(value) = open.pop() {
            for member in value.members() {
                if member.value.text().is_none() {
                    open.push(member.value);
                    continue;
                }
                let is_known = [BYTES, EITHER, ADDRESSES].iter().any(|names| member.key.is_one_of(names))
                    || is_blob && member.key.is("content");
                if is_known && longest.is_none_or(|known| known.span().len() < member.value.span().len()) {
                    longest = Some(member.value);
                }
            }
        }
        longest
    }

    /// Whether its bytes are in the transcript.
    fn is_here(&self) -> bool {
        let source = self.payload().map(source_of);
        matches!(source, Some(Source::Base64(base64)) if is_base64(&base64))
    }

    /// What is known of it.
    #[must_use]
    pub fn facts(&self) -> MediumFacts {
        let Some(payload) = self.payload() else { return MediumFacts::default() };
        let named = self.named_type();
        let kind = kind(self.value, named.as_deref());
        match source_of(payload) {
            Source::Address(address) => {
                let address = Some(address.into_owned()).filter(|address| address.len() <= LONGEST_ADDRESS);
                MediumFacts { kind, address, ..MediumFacts::default() }
            }
            Source::Text(text) => {
                let bytes = Some(text.len() as u64);
                MediumFacts { kind, format: named.as_deref().and_then(format_of), bytes, ..MediumFacts::default() }
            }
            Source::Base64(base64) => {
                let head = decoded(&base64, HEAD).unwrap_or_default();
                let size = imagesize::blob_size(&head).ok();
                MediumFacts {
                    kind,
                    format: image_type(&head).or(named).as_deref().and_then(format_of),
                    bytes: Some(decoded_length(&base64)),
                    pixels: size.map(|size| [size.width, size.height]),
                    address: None,
                }
            }
        }
    }

    /// What is wrong with its bytes; `None` if nothing is, or if they are elsewhere.
    #[must_use]
    pub fn fault(&self) -> Option<MediumFault> {
        let Source::Base64(base64) = source_of(self.payload()?) else { return None };
        if base64.trim().is_empty() {
            return Some(MediumFault::Empty);
        }
        if !is_base64(&base64) {
            return Some(MediumFault::Undecodable);
        }
        let Some(head) = decoded(&base64, HEAD) else { return Some(MediumFault::Undecodable) };
        let named = self.named_type()?;
        let short = named.rsplit('/').next().unwrap_or_default().to_lowercase();
        let short = if short == "jpg" { "jpeg" } else { short.as_str() };
        if short == "pdf" {
            return (!head.is_empty() && !head[..head.len().min(1024)].windows(4).any(|four| four == b"%PDF"))
                .then_some(MediumFault::NoDocument);
        }
        let named_image = IMAGES.contains(&short).then_some(short)?;
        match image_type(&head) {
            Some(found) if IMAGES.contains(&found.as_str()) && found != named_image => {
                Some(MediumFault::OtherType { named, found })
            }
            Some(_) => None,
            None => Some(MediumFault::NoImage),
        }
    }

    /// The patch that leaves nothing but base64 of a data URL, where it is the data and no address.
    #[must_use]
    pub fn bare_base64(&self) -> Option<Patch> {
        let value = self.payload()?;
        let raw = value.raw().strip_prefix("\"data:").filter(|_| is_under(&["data", "bytes"], value))?;
        let length = raw.find(";base64,")? + "data:;base64,".len();
        let start = value.span().start + 1;
        let end = start + u32::try_from(length).ok()?;
        Some(Patch { span: Span::new(start, end), text: String::new() })
    }

    /// What mends `fault`: the type that the bytes have, or a text in place of the medium.
    #[must_use]
    pub fn mend(&self, fault: &MediumFault) -> Vec<Patch> {
        let MediumFault::OtherType { named, found } = fault else { return self.removed() };
        let text = match named.split_once('/') {
            Some((kind, _)) => format!("{kind}/{found}"),
            None => found.clone(),
        };
        self.declared_type().map(|declared| Patch { span: declared.span, text }).into_iter().collect()
    }

    /// A text in its place.
    #[must_use]
    pub fn removed(&self) -> Vec<Patch> {
        let Substitution { span, json, .. } = self.described(&self.facts().to_string());
        vec![Patch { span, text: json }]
    }

    /// The pages of a document, as it says itself.
    #[must_use]
    pub fn pages(&self) -> Option<usize> {
        let Source::Base64(base64) = source_of(self.payload()?) else { return None };
        // `%PDF`
        if !base64.starts_with("JVBE") {
            return None;
        }
        pdf_pages(&decoded(&base64, usize::MAX)?)
    }

    /// The type that it says it has.
    #[must_use]
    pub fn named_type(&self) -> Option<String> {
        self.declared_type().map(|declared| declared.name)
    }

    /// The type in a member of it, or else at the beginning of its data URL.
    fn declared_type(&self) -> Option<DeclaredType> {
        const NAMES: &[&str] = &["media_type", "mimeType", "mime_type", "mediaType", "MIMEType", "mime", "format"];
        let inside = self.value.members().map(|member| member.value).filter(|value| value.is_object());
        let mut objects = std::iter::once(self.value).chain(inside);
        let named = objects.find_map(|object| {
            NAMES.iter().filter_map(|name| object.get(name)).find_map(|value| Some((value.text()?, value.span())))
        });
        let (text, start, length) = match named {
            Some((text, span)) => (text, span.start + 1, span.len() - 2),
            None => {
                let value = self.payload()?;
                let head = value.raw().strip_prefix("\"data:")?;
                let head = &head[..head.find([';', ','])?];
                (Text::Escaped(head), value.span().start + 6, head.len())
            }
        };
        let end = start + u32::try_from(length).ok()?;
        Some(DeclaredType { name: text.decode().into_owned(), span: Span::new(start, end) })
    }

    /// Whether it is a document in a block that says so, and not an address.
    #[must_use]
    pub fn is_document(&self) -> bool {
        let source = self.value.get("source").and_then(|source| source.get_text("type"));
        let is_base64 = source.is_some_and(|kind| kind.is("base64"));
        is_base64 && self.value.get_text("type").is_some_and(|kind| kind.is("document"))
    }

    /// The text `text` in its place.
    #[must_use]
    pub fn described(&self, text: &str) -> Substitution {
        let [before, after] = self.around;
        Substitution {
            span: self.value.span(),
            json: format!("{before}{}{after}", quote(text)),
            text: text.to_owned(),
            at: self.before,
        }
    }
}

/// The format in the name of a type, such as `png` of `image/png`.
fn format_of(name: &str) -> Option<String> {
    let format = name.rsplit('/').next().unwrap_or(name);
    (1..=20).contains(&format.len()).then(|| format.to_owned())
}

fn source_of(payload: Value<'_>) -> Source<'_> {
    let holder = payload.parent();
    let is_text = holder.and_then(|holder| holder.get_text("type")).is_some_and(|kind| kind.is("text"));
    let text = payload.text().map(Text::into_decoded).unwrap_or_default();
    if is_text {
        return Source::Text(text);
    }
    if let Some((head, data)) = text.strip_prefix("data:").and_then(|url| url.split_once(',')) {
        let data = data.to_owned();
        return if head.ends_with("base64") { Source::Base64(data.into()) } else { Source::Text(data.into()) };
    }
    if is_under(ADDRESSES, payload) || text.contains("://") || is_under(EITHER, payload) && is_plain(&text) {
        return Source::Address(text);
    }
    Source::Base64(text)
}

/// Whether a value is the member under one of `keys` of the object around it.
fn is_under(keys: &[&str], value: Value<'_>) -> bool {
    value.parent().is_some_and(|holder| keys.iter().any(|key| holder.get(key) == Some(value)))
}

/// Whether a text is no base64. A path or an id may be written in its digits, but is not padded.
fn is_plain(text: &str) -> bool {
    text.len() <= LONGEST_ADDRESS
        && !(text.ends_with('=') && is_base64(text))
        && decoded(text, HEAD).and_then(|head| image_type(&head)).is_none()
}

/// What is wrong with the bytes of a medium.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediumFault {
    /// There are none.
    Empty,
    /// They are not base64.
    Undecodable,
    /// They are of no image.
    NoImage,
    /// They are of no PDF.
    NoDocument,
    /// They are an image of another type.
    OtherType {
        /// The type that is named.
        named: String,
        /// The type of the bytes.
        found: String,
    },
}

impl fmt::Display for MediumFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the medium is empty"),
            Self::Undecodable => f.write_str("the medium is not base64"),
            Self::NoImage => f.write_str("the bytes are no image"),
            Self::NoDocument => f.write_str("the bytes are no PDF"),
            Self::OtherType { named, found } => write!(f, "the image is called `{named}`, and its bytes are {found}"),
        }
    }
}

/// The types of images that their bytes show.
const IMAGES: [&str; 4] = ["png", "jpeg", "gif", "webp"];

/// The text in place of a removed medium.
impl fmt::Display for MediumFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}: ", self.kind)?;
        if let Some([width, height]) = self.pixels {
            write!(f, "{width}x{height} ")?;
        }
        if let Some(format) = &self.format {
            write!(f, "{format}, ")?;
        }
        if let Some(bytes) = self.bytes {
            write!(f, "{}, ", size(bytes))?;
        }
        if let Some(address) = &self.address {
            write!(f, "{address}, ")?;
        }
        f.write_str("removed]")
    }
}

/// Whether a text is what stands in place of a removed image.
pub(super) fn is_removed_image(text: &str) -> bool {
    text.starts_with("[image: ") && text.ends_with("removed]")
}

/// A size in bytes, KB or MB of a thousand each.
#[must_use]
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} KB", bytes.div_ceil(1_000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    }
}

fn kind(value: Value<'_>, format: Option<&str>) -> &'static str {
    let named = ["type", "kind", "modality"].into_iter().map(|key| value.word(key));
    // Dumps of the Python SDK of Gemini have every key.
    let members = value.members().filter(|member| member.value.kind() != ValueKind::Null);
    let keys = members.map(|member| member.key.into_decoded());
    let words: Vec<Cow<'_, str>> = named.chain(keys).chain(format.map(Cow::Borrowed)).collect();
    let mut kinds = ["image", "audio", "video"].into_iter();
    kinds.find(|kind| words.iter().any(|word| word.contains(kind))).unwrap_or("file")
}

#[cfg(test)]
mod tests {
    use super::{Medium, is_removed_image, size};
    use crate::json::Document;

    #[test]
    fn a_medium_is_found_whatever_its_members_are_called() {
        for (block, text) in [
            (r#"{"fileData":{"mimeType":"video/mp4","fileUri":"gs://a/b.mp4"}}"#, "[video: gs://a/b.mp4, removed]"),
            (r#"{"type":"image","base64":"QUJD","mime_type":"image/png"}"#, "[image: png, 3 bytes, removed]"),
            (r#"{"type":"input_file","file_url":"https://a.org/b.pdf"}"#, "[file: https://a.org/b.pdf, removed]"),
            (r#"{"type":"uri","modality":"image","uri":"gs://a"}"#, "[image: gs://a, removed]"),
            (r#"{"kind":"binary","data":"QUJD","media_type":"image/png"}"#, "[image: png, 3 bytes, removed]"),
            (r#"{"type":"image_url","value":"https://a.org/b.png"}"#, "[image: https://a.org/b.png, removed]"),
            (r#"{"type":"image_url","image_url":{"url":"/view?key="}}"#, "[image: /view?key=, removed]"),
            (
                r#"{"video_metadata":null,"inline_data":{"data":"QUJD","mime_type":"application/pdf"}}"#,
                "[file: pdf, 3 bytes, removed]",
            ),
        ] {
            let list = format!("[{block}]");
            let document = Document::parse(&list).unwrap();
            let medium = document.roots().next().and_then(|list| Medium::from_value(list.items().next()?));
            assert_eq!(medium.map(|medium| medium.facts().to_string()).as_deref(), Some(text), "{block}");
            assert_eq!(is_removed_image(text), text.starts_with("[image"), "{text}");
        }
        assert!(!is_removed_image("[image: a lamp] Is it lit?"));
    }

    #[test]
    fn sizes_are_round() {
        assert_eq!([999, 1_000, 999_500, 4_140_000].map(size), ["999 bytes", "1 KB", "1000 KB", "4.1 MB"]);
    }
}
