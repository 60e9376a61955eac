//! Draws the images that a transcript itself contains, as base64 of a known format. Nothing is fetched.

use curtail_core::json::Document;
use maud::{Markup, html};

/// Maximum length of the base64 of an image that is shown.
const MAX_IMAGE: usize = 8_000_000;
/// The first base64 characters of the formats that browsers show, with their media types.
const FORMATS: &[(&str, &str)] =
    &[("iVBORw0KGgo", "image/png"), ("/9j/", "image/jpeg"), ("R0lGOD", "image/gif"), ("UklGR", "image/webp")];

/// The images in a JSON value, as elements.
pub(super) fn images(raw: &str) -> Markup {
    let document = Document::parse(raw).ok();
    let values = document.iter().flat_map(Document::roots).flat_map(|root| root.within(|_| false));
    let texts = values.filter_map(|value| Some((value.span().start, value.text()?)));
    let mut found: Vec<(u32, String)> = texts.filter_map(|(at, text)| Some((at, source(&text.decode())?))).collect();
    found.sort_by_key(|(at, _)| *at);
    found.dedup_by(|next, one| next.1 == one.1);
    html! {
        @for (_, source) in &found { img class="shown" src=(source) alt="Image in this message" loading="lazy"; }
    }
}

/// The data URL of an image, from base64 with or without the beginning of such a URL.
fn source(text: &str) -> Option<String> {
    let data = match text.strip_prefix("data:image/") {
        Some(rest) => rest.split_once(";base64,")?.1,
        None => text,
    };
    if data.len() <= 40 || data.len() > MAX_IMAGE || !data.bytes().all(is_base64) {
        return None;
    }
    // A browser does not know the alphabet for URLs, in which some libraries write.
    let data = data.replace('-', "+").replace('_', "/");
    let (start, format) = FORMATS.iter().find(|(start, _)| data.starts_with(start))?;
    // A RIFF file can be a sound, too: the letters EBP of its form are characters 12 to 16, behind part of the W.
    let is_image = *start != "UklGR" || data.get(11..16) == Some("XRUJQ");
    is_image.then(|| format!("data:{format};base64,{data}"))
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
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
        let jpeg = format!("\"_9j_{}-_\"", "A".repeat(60));
        assert!(images(&jpeg).0.contains(&format!("src=\"data:image/jpeg;base64,/9j/{}+/\"", "A".repeat(60))));
        let two = images(&format!("{{\"a\":[\"{png}\"],\"b\":\"/9j/{png}\"}}")).0;
        assert!(two.find("image/png") < two.find("image/jpeg"), "they are shown in their order: {two}");
        assert!(images(&format!("\"UklGRiQAAABXRUJQ{png}\"")).0.contains("image/webp"));
        for other in [
            "\"https://example.com/a.png\"".to_owned(),
            "\"data:text/html;base64,PHNjcmlwdD4=\"".to_owned(),
            "\"data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"".to_owned(),
            format!("\"UklGRiQAAABXQVZF{}\"", "A".repeat(60)),
            format!("\"{png}\\\" onerror=\\\"x\""),
            format!("{{\"a\": {png}"),
        ] {
            assert_eq!(images(&other).0, "", "{other}");
        }
    }
}
