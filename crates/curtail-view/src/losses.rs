//! What a cut lost, above the transcript that was cut: how much was kept of each kind, and each lost fact with a link to the
//! message that said it, which is marked.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use maud::{PreEscaped, html};

use super::visible::{Body, Shown};

/// What a cut kept and lost.
#[derive(Debug, Clone, Default)]
pub struct Losses {
    /// What was cut.
    pub title: String,
    /// The sentence that decides.
    pub verdict: String,
    /// How large both sides are.
    pub sizes: String,
    /// For each kind: its name, how many were kept of how many, and the share.
    pub kinds: Vec<[String; 3]>,
    /// What was lost, most needed first.
    pub lost: Vec<Loss>,
}

/// A fact that was lost.
#[derive(Debug, Clone)]
pub struct Loss {
    /// Its kind.
    pub kind: &'static str,
    /// Its words.
    pub words: String,
    /// What is said instead, if anything is.
    pub near: Option<String>,
    /// The index of the message that said it; `None` outside of the messages.
    pub message: Option<usize>,
}

/// Lost facts that are listed.
const MOST: usize = 200;

/// The section of a page that tells what a cut lost. `anchor` distinguishes the transcript that was cut from others on the page.
pub fn losses(losses: &Losses, anchor: &str) -> String {
    let hidden = losses.lost.len().saturating_sub(MOST);
    let section = html! {
        section class="outcome lost" {
            h2 { (Shown(&losses.title)) }
            p { strong { (Shown(&losses.verdict)) } }
            p class="hint" { (losses.sizes) }
            div class="scroll" tabindex="0" role="region" aria-label="Facts" {
                table {
                    thead { tr { th scope="col" { "Facts" } th scope="col" { "Kept" } th scope="col" { "Share" } } }
                    tbody {
                        @for [kind, kept, share] in &losses.kinds {
                            tr class=[share.ends_with('%').then_some("short").filter(|_| share != "100 %")] { td { (kind) } td { (kept) } td { (share) } }
                        }
                    }
                }
            }
            @if !losses.lost.is_empty() {
                h3 { "Lost, most needed first" }
                ol {
                    @for loss in losses.lost.iter().take(MOST) {
                        li {
                            (loss.kind) ": " span class="words" { (Shown(&loss.words)) }
                            @if let Some(at) = loss.message { " " a href={ "#" (anchor) "m" (at) } { "message " (at) } }
                            @if let Some(near) = &loss.near { p class="hint" { "afterwards: " q { (Shown(near)) } } }
                        }
                    }
                }
                @if hidden > 0 { p class="hint" { "and " (hidden) " more" } }
            }
            (PreEscaped(marks(&losses.lost, anchor)))
        }
    };
    section.0
}

/// The style that marks the messages with lost facts: the conversation is drawn without knowing of them.
fn marks(lost: &[Loss], anchor: &str) -> String {
    let mut kinds: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (at, kind) in lost.iter().filter_map(|loss| Some((loss.message?, loss.kind))) {
        let of_message = kinds.entry(at).or_default();
        if !of_message.contains(&kind) {
            of_message.push(kind);
        }
    }
    let mut style = String::new();
    for (at, kinds) in kinds {
        let id = format!("#{anchor}m{at}");
        // Writing to a String cannot fail.
        let _ = write!(
            style,
            "{id}{{box-shadow:-.5rem 0 0 -.3rem var(--drop)}}{id}>:is(header,.label)::after,{id}>.aside>summary::after{{content:\"lost: {}\";\
             color:var(--drop);font-weight:600;font-size:.8125rem}}",
            kinds.join(", ")
        );
    }
    if style.is_empty() { style } else { format!("<style>{style}</style>") }
}

/// A text that is left of a transcript, as a section of a page.
pub fn remaining(name: &str, text: &str) -> String {
    html! { section class="outcome" { h2 { (Shown(name)) } pre { (Body(text)) } } }.0
}

#[cfg(test)]
mod tests {
    use super::{Loss, Losses, losses};

    #[test]
    fn a_lost_fact_is_linked_marked_and_escaped() {
        let lost = [Some(3), None].map(|message| Loss { kind: "rule", words: "Never <b>".into(), near: None, message });
        let page = Losses { lost: lost.into(), ..Losses::default() };
        let html = losses(&page, "t0-");
        assert!(
            html.contains("href=\"#t0-m3\"") && html.contains("#t0-m3>.aside>summary::after{content:\"lost: rule\"")
        );
        assert!(!html.contains("<b>"), "{html}");
        assert!(!losses(&Losses::default(), "").contains("<style>"));
    }

    /// Only a kind that lost something is marked: not one of which nothing can be told.
    #[test]
    fn kinds_that_lost_something_are_marked() {
        let kinds = [["rules", "0 of 0", "—"], ["rules", "2 of 2", "100 %"], ["rules", "1 of 2", "50 %"]];
        let kinds = kinds.map(|row| row.map(String::from)).into();
        let page = losses(&Losses { kinds, ..Losses::default() }, "b0-");
        assert_eq!(page.matches("class=\"short\"").count(), 1, "{page}");
    }
}
