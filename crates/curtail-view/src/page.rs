//! Builds a page: one file that contains its style and script, and sends no request to any server.

use maud::{Markup, PreEscaped, html};

use super::charts::PATTERNS;
use super::comparison::Compared;
use super::conversation::Conversation;
use super::messages::{Chat, LATER_END, Limits};
use super::overview::{opening as conversation_opening, overview};
use super::visible::{Moment, Shown};
use curtail_core::numbers::{counted, figure};

const STYLE: &str = include_str!("view.css");
/// The SHA-256 of the script, for the policy of the page, which allows no other script.
const SCRIPT_DIGEST: &str = include_str!("view.js.sha256");

/// A transcript in the list of transcripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// A link to it: an anchor on the same page, or a file; `None` if it is on no page.
    pub link: Option<String>,
    /// Number of messages.
    pub messages: usize,
    /// Number of tokens.
    pub tokens: usize,
    /// Tokens after the policy, if there is one.
    pub after: Option<usize>,
    /// Number of findings.
    pub findings: usize,
    /// The beginning of the first prompt.
    pub prompt: Option<String>,
    /// The program that wrote it, or its dialect.
    pub agent: String,
    /// The folder that the agent worked in.
    pub project: Option<String>,
    /// When it began, as ISO 8601.
    pub begun: Option<String>,
}

impl Listed {
    /// The row of a conversation, without a link.
    pub fn from_conversation(conversation: &Conversation<'_>) -> Self {
        Self {
            name: conversation.place.name.clone(),
            link: None,
            messages: conversation.messages.len(),
            tokens: conversation.tokens(),
            after: conversation.effect.as_ref().map(|effect| effect.tokens),
            findings: conversation.findings.len(),
            prompt: conversation.story.title.clone(),
            agent: conversation.story.agent.clone(),
            project: conversation.story.project.clone(),
            begun: conversation.times.as_ref().map(|(from, _)| from.clone()),
        }
    }

    /// Its row in the list of transcripts. With `policy`, the list has a column for the tokens after the policy.
    pub fn row(&self, policy: bool) -> String {
        let words = self.prompt.as_deref().unwrap_or(&self.name);
        let folder = self.project.as_deref().unwrap_or_default();
        let project = folder.rsplit(['/', '\\']).find(|name| !name.is_empty()).unwrap_or_default();
        let number = |number: usize| html! { td data-value=(number) { (figure(number)) } };
        let row = html! {
            tr {
                td {
                    @match &self.link {
                        Some(link) => { a href=(Shown(link)) { (Shown(words)) } },
                        None => { (Shown(words)) " " span class="of" { "not on this page" } },
                    }
                    @if self.prompt.is_some() { span class="folder" { (Shown(&self.name)) } }
                }
                td { (Shown(&self.agent)) } td title=(Shown(folder)) { (Shown(project)) }
                td data-value=(Shown(self.begun.as_deref().unwrap_or_default())) {
                    @if let Some(begun) = self.begun.clone().and_then(Moment::new) { (begun.draw(true)) }
                }
                (number(self.messages)) (number(self.tokens))
                @if policy { @match self.after { Some(after) => { (number(after)) }, None => { td {} } } }
                (number(self.findings))
            }
        };
        row.0
    }
}

/// The HTML after the rows of the list of transcripts.
pub const LIST_END: &str = "</tbody></table></div></section>";

/// A transcript that was drawn.
#[derive(Debug)]
pub struct Rendered {
    /// Its row in the list of transcripts.
    pub listed: Listed,
    /// Its section of a page, or its text.
    pub html: String,
    /// What is compared of it, if it is one of two transcripts.
    pub compared: Option<Compared>,
}

/// Draws a conversation as a section of a page. `compared` tells whether it is one of two transcripts.
pub fn render(conversation: &Conversation<'_>, limits: Limits, compared: bool) -> Rendered {
    let id = format!("{}top", conversation.place.anchor);
    let mut html = format!("<section class=\"session\" id=\"{id}\">");
    let shared = !conversation.place.anchor.is_empty();
    html.push_str(&conversation_opening(conversation).0);
    if shared {
        html.push_str("<div class=\"later\" style=\"--rows:2\"><noscript>");
    }
    html.push_str(&overview(conversation).0);
    if shared {
        html.push_str(LATER_END);
    }
    html.push_str("<div class=\"chat\">");
    Chat { conversation, limits }.draw(&mut html, shared);
    html.push_str("</div></section>");
    let listed = Listed { link: Some(format!("#{id}")), ..Listed::from_conversation(conversation) };
    let compared = compared.then(|| Compared::from_conversation(conversation, id));
    Rendered { listed, html, compared }
}

/// The HTML after the sections of every page.
const CLOSING: &str = concat!(
    "</main><dialog id=\"help\" aria-labelledby=\"help-title\"><h2 id=\"help-title\">Keys</h2><dl>",
    "<div><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous message</dd></div>",
    "<div><dt><kbd>/</kbd></dt><dd>search</dd></div>",
    "<div><dt><kbd>n</kbd> <kbd>N</kbd></dt><dd>next and previous match</dd></div>",
    "<div><dt><kbd>←</kbd> <kbd>→</kbd></dt><dd>along the strip, <kbd>Enter</kbd> jumps</dd></div>",
    "<div><dt><kbd>o</kbd></dt><dd>unfold or fold the message</dd></div>",
    "<div><dt><kbd>?</kbd></dt><dd>this help</dd></div></dl>",
    "<form method=\"dialog\"><button>Close</button></form></dialog><script>",
    include_str!("view.js"),
    "</script></body></html>\n",
);

/// The text before and after the sections of a page called `title`. If it begins with a list of transcripts, `listed` is their
/// number, and their rows and [`LIST_END`] come next. `policy` adds a filter for what a policy did.
pub fn page(title: &str, listed: Option<usize>, policy: bool) -> (String, &'static str) {
    let mut head = opening(title, &format!(" script-src 'sha256-{}';", SCRIPT_DIGEST.trim()));
    head.push_str("<a class=\"skip\" href=\"#conversation\">Skip to the conversation</a>");
    head.push_str(PATTERNS);
    head.push_str(&toolbar(policy).0);
    head.push_str("<main id=\"conversation\" tabindex=\"-1\">");
    if let Some(listed) = listed {
        head.push_str(&list(title, listed, policy));
    }
    (head, CLOSING)
}

/// The text before and after the content of a page without a script.
pub(super) fn without_script(title: &str) -> (String, &'static str) {
    let mut head = opening(title, "");
    head.push_str("<main>");
    (head, "</main></body></html>\n")
}

/// A page up to the beginning of its body; `scripts` is the part of its Content Security Policy about scripts.
fn opening(title: &str, scripts: &str) -> String {
    let mut head = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline';{scripts} img-src data:; base-uri 'none'; \
         form-action 'none'\">"
    );
    let meta = html! {
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        title { (Shown(title)) " · curtail" }
        style { (PreEscaped(STYLE)) }
    };
    head.push_str(&meta.0);
    head.push_str("</head><body>");
    head
}

/// Filters and search. They need the script, so they are hidden until it shows them.
fn toolbar(policy: bool) -> Markup {
    html! {
        div id="tools" role="search" aria-label="Search and filter messages" hidden {
            label class="search" {
                span class="hidden" { "Search" }
                input id="query" type="search" placeholder="Search" autocomplete="off" spellcheck="false";
            }
            output id="matches" aria-live="polite" {}
            label { span class="hidden" { "Writer" } select id="by" { option value="" { "all writers" } } }
            label { span class="hidden" { "Tool" } select id="tool" { option value="" { "all tools" } } }
            @if policy {
                label { span class="hidden" { "State" } select id="state" { option value="" { "all states" } } }
            }
            button id="prompts" type="button" aria-pressed="false" { "Only prompts" }
            button id="source" type="button" aria-pressed="false" { "Source" }
            button id="fold" type="button" { "Unfold all" }
            button id="keys" type="button" aria-label="Keys" { "?" }
        }
    }
}

/// The list of transcripts up to its rows.
fn list(title: &str, listed: usize, policy: bool) -> String {
    let list = html! {
        section class="list" {
            h1 { (Shown(title)) }
            p class="hint" { (counted(listed, "transcript")) }
            div class="scroll" tabindex="0" role="region" aria-label="Transcripts" {
                table {
                    thead { tr {
                        th scope="col" { "Prompt" } th scope="col" { "Agent" } th scope="col" { "Project" } th scope="col" { "Begun" }
                        th scope="col" { "Messages" } th scope="col" { "Tokens" }
                        @if policy { th scope="col" { "After" } }
                        th scope="col" { "Findings" }
                    } }
                    tbody {}
                }
            }
        }
    };
    list.0.strip_suffix(LIST_END).unwrap_or(&list.0).to_owned()
}
