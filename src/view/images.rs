//! Images that are in the transcript itself: base64 of a known format. Nothing is fetched.

use maud::{Markup, html};

use curtail_core::json::{Document, Value};

/// Characters of base64 above which an image is not shown.
const LARGEST: usize = 8_000_000;
/// How the formats that browsers show begin in base64.
const FORMATS: &[(&str, &str)] =
    &[("iVBORw0KGgo", "image/png"), ("/9j/", "image/jpeg"), ("R0lGOD", "image/gif"), ("UklGR", "image/webp")];

/// The images in a JSON value, as elements.
pub(super) fn images(raw: &str) -> Markup {
    let mut found = Vec::new();
    if let Ok(document) = Document::parse(raw) {
        let mut waiting: Vec<Value<'_>> = document.roots().collect();
        while let Some(value) = waiting.pop() {
            waiting.extend(value.items());
            waiting.extend(value.members().map(|member| member.value));
            found.extend(value.text().and_then(|text| source(&text.decode())));
        }
    }
    found.dedup();
    html! {
        @for source in &found { img class="shown" src=(source) alt="Image in this message" loading="lazy"; }
    }
}

/// The data URL of an image, from base64 with or without the beginning of such a URL.
fn source(text: &str) -> Option<String> {
    let data = match text.strip_prefix("data:image/") {
        Some(rest) => rest.split_once(";base64,")?.1,
        None => text,
    };
    let (_, format) = FORMATS.iter().find(|(start, _)| data.starts_with(start))?;
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    (data.len() > 40 && data.len() <= LARGEST && data.bytes().all(is_base64))
        .then(|| format!("data:{format};base64,{data}"))
}

#[cfg(test)]
mod tests {
    use super::images;

    #[test]
    fn only_images_of_known_formats_are_shown() {
        let png = format!("iVBORw0KGgo{}", "A".repeat(60));
        let block = format!("{{\"source\":{{\"media_type\":\"text/html\",\"data\":\"{png}\"}}}}");
        assert!(images(&block).0.contains(&format!("src=\"data:image/png;base64,{png}\"")));
        let url = format!("[\"data:image/svg+xml;base64,{png}\"]");
        assert!(images(&url).0.contains("src=\"data:image/png;"), "the format is that of the bytes");
        for other in [
            "\"https://example.com/a.png\"".to_owned(),
            "\"data:text/html;base64,PHNjcmlwdD4=\"".to_owned(),
            "\"data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"".to_owned(),
            format!("\"{png}\\\" onerror=\\\"x\""),
            format!("{{\"a\": {png}"),
        ] {
            assert_eq!(images(&other).0, "", "{other}");
        }
    }
}
