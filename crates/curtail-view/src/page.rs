//! Builds a page: one file that contains its style and script, and sends no request to any server.

use maud::{Markup, PreEscaped, html};

use super::capped::NOT_ON_PAGE;
use super::charts;
use super::comparison::Compared;
use super::conversation::Conversation;
use super::messages::{Chat, LATER_END, Limits};
use super::overview::{opening as conversation_opening, overview};
use super::prompts::rail;
use super::searched::texts;
use super::spending::dollars;
use super::visible::{Moment, Shown};
use curtail_core::numbers::figure;

const STYLE: &str = include_str!("view.css");

/// A transcript in the list of transcripts.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// What the name of its own page has behind that of the input, as `Place` says.
    pub within: String,
    /// A link to it: an anchor on the same page, or a file; `None` if it is on no page.
    pub link: Option<String>,
    /// Number of messages.
    pub messages: usize,
    /// Number of tokens.
    pub tokens: usize,
    /// Tokens after the policy, if there is one.
    pub after: Option<usize>,
    /// What it cost in US dollars, if that is known.
    pub dollars: Option<f64>,
    /// Number of calls that failed.
    pub failed: usize,
    /// Number of findings.
    pub findings: usize,
    /// The beginning of the first prompt.
    pub prompt: Option<String>,
    /// The program that wrote it, or its dialect.
    pub agent: String,
    /// The folder that the agent worked in.
    pub project: Option<String>,
    /// When it began.
    begun: Option<Moment>,
}

impl Listed {
    /// The row of a conversation, without a link.
    pub fn from_conversation(conversation: &Conversation<'_>) -> Self {
        Self {
            name: conversation.place.name.clone(),
            within: conversation.place.within.clone(),
            link: None,
            messages: conversation.messages.len(),
            tokens: conversation.tokens(),
            after: conversation.effect.as_ref().map(|effect| effect.tokens),
            dollars: conversation.spending.as_ref().map(|spending| spending.dollars),
            failed: conversation.failed_calls(),
            findings: conversation.findings.len(),
            prompt: conversation.story.title.clone(),
            agent: conversation.story.agent.clone(),
            project: conversation.story.project.clone(),
            begun: conversation.times.began.clone(),
        }
    }

    /// When it began, in seconds since 1970.
    pub fn began(&self) -> Option<f64> {
        self.begun.as_ref().map(|begun| begun.seconds)
    }

    /// Its row in the list of transcripts. With `policy`, the list has a column for the tokens after the policy.
    pub fn row(&self, policy: bool) -> String {
        let words = self.prompt.as_deref().unwrap_or(&self.name);
        let folder = self.project.as_deref().unwrap_or_default();
        let project = folder.rsplit(['/', '\\']).find(|name| !name.is_empty()).unwrap_or_default();
        let row = html! {
            tr role="row" {
                td role="cell" class="what" {
                    @match &self.link {
                        Some(link) => { a href=(Shown(link)) { (Shown(words)) } },
                        None => { (Shown(words)) " " span class="of" { "not on this page" } },
                    }
                    @if self.prompt.is_some() { span class="folder" { (Shown(&self.name)) } }
                }
                td role="cell" data-column="agent" { (Shown(&self.agent)) }
                td role="cell" data-column="project" title=(Shown(folder)) { (Shown(project)) }
                td role="cell" data-column="begun" data-value=(Shown(self.begun.as_ref().map_or("", |begun| &begun.written))) {
                    @if let Some(begun) = &self.begun { (begun.draw_day()) }
                }
                (number("tokens", "tokens", self.tokens))
                @if policy { (number("after", "tokens after", self.after.unwrap_or_default())) }
                td role="cell" data-column="cost" data-value=(self.dollars.unwrap_or_default()) {
                    @if let Some(amount) = self.dollars { (dollars(amount)) }
                }
                (number("failed", "failed", self.failed))
                (number("findings", if self.findings == 1 { "finding" } else { "findings" }, self.findings))
            }
        };
        row.0
    }
}

/// The cell of a number; a phone shows `unit` beside it.
fn number(column: &str, unit: &str, number: usize) -> Markup {
    html! { td role="cell" data-column=(column) data-unit=(unit) data-value=(number) { @if number > 0 { (figure(number)) } } }
}

/// The sums of a list of transcripts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sums {
    /// Number of transcripts.
    pub transcripts: usize,
    tokens: usize,
    after: usize,
    dollars: f64,
    failed: usize,
    findings: usize,
}

impl Sums {
    /// Adds a transcript.
    pub fn add(&mut self, listed: &Listed) {
        self.transcripts += 1;
        self.tokens += listed.tokens;
        self.after += listed.after.unwrap_or_default();
        self.dollars += listed.dollars.unwrap_or_default();
        self.failed += listed.failed;
        self.findings += listed.findings;
    }

    fn draw(&self, policy: bool) -> Markup {
        html! {
            ul class="answers" id="sums" {
                (sum("transcripts", &figure(self.transcripts), "transcripts"))
                (sum("tokens", &figure(self.tokens), "tokens"))
                @if policy { (sum("after", &figure(self.after), "after the policy")) }
                @if self.dollars > 0.0 { (sum("cost", &dollars(self.dollars), "in all")) }
                (sum("failed", &figure(self.failed), "failed calls"))
                (sum("findings", &figure(self.findings), "findings"))
            }
        }
    }
}

fn sum(column: &str, amount: &str, unit: &str) -> Markup {
    html! { li data-sum=(column) { b { (amount) } " " span { (unit) } } }
}

/// The HTML after the rows of the list of transcripts.
pub const LIST_END: &str = "</tbody></table></section>";

/// A transcript that was drawn.
#[derive(Debug)]
pub struct Rendered {
    /// Its row in the list of transcripts.
    pub listed: Listed,
    /// Its section of a page, or its text.
    pub html: String,
    /// What is compared of it, if it is one of two transcripts.
    pub compared: Option<Compared>,
    /// What the search of an index looks through, if it has a page of its own.
    pub texts: Option<String>,
}

/// Maximum number of messages that a browser lays out at once; of more, those in sight.
const MAX_LAID_OUT: usize = 500;

/// What is needed of a conversation besides its section of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extras {
    /// What is compared of it, because it is one of two transcripts.
    pub compared: bool,
    /// Its texts for the search of an index.
    pub texts: bool,
}

/// Draws a conversation as a section of a page.
pub fn render(conversation: &Conversation<'_>, limits: Limits, extras: Extras) -> Rendered {
    let id = format!("{}top", conversation.place.anchor);
    let shared = !conversation.place.anchor.is_empty();
    let alone = if conversation.story.prompts.is_empty() { " alone" } else { "" };
    let mut html = format!("<section class=\"session{alone}\" id=\"{id}\">");
    // Names of landmarks are unique on a page.
    let of = if shared { format!(" of {}", conversation.place.name) } else { String::new() };
    let strip = charts::strip(conversation, &format!("Messages{of}"));
    push_later(shared, &html! { (strip) (rail(conversation, &format!("Prompts{of}"))) }, &mut html);
    html.push_str("<div class=\"content\">");
    html.push_str(&conversation_opening(conversation).0);
    push_later(shared, &overview(conversation), &mut html);
    let long = if shared || conversation.messages.len() > MAX_LAID_OUT { " long" } else { "" };
    html.push_str(&format!("<div class=\"chat{long}\">"));
    html.push_str("<h2 class=\"hidden\">Conversation</h2>");
    let from = html.len();
    Chat::new(conversation, limits).draw(&mut html, shared);
    let texts = extras.texts.then(|| searched(conversation, limits, &html[from..]));
    html.push_str("</div></div></section>");
    let listed = Listed { link: Some(format!("#{id}")), ..Listed::from_conversation(conversation) };
    let compared = extras.compared.then(|| Compared::from_conversation(conversation, id));
    Rendered { listed, html, compared, texts }
}

/// The texts of a conversation that was drawn as `html`, including what is not on its page because it is too long.
fn searched(conversation: &Conversation<'_>, limits: Limits, html: &str) -> String {
    if !html.contains(NOT_ON_PAGE) {
        return texts(html);
    }
    let mut whole = String::new();
    Chat::new(conversation, Limits { max_text: usize::MAX, ..limits }).draw(&mut whole, false);
    texts(&whole)
}

/// Appends HTML that the script of a shared page builds when it comes into view.
fn push_later(shared: bool, part: &Markup, out: &mut String) {
    if shared {
        out.push_str("<div class=\"later\" style=\"--rows:2\"><noscript>");
    }
    out.push_str(&part.0);
    if shared {
        out.push_str(LATER_END);
    }
}

/// The HTML after the sections of a page, with the script that these files are together.
macro_rules! closing {
    ($($file:literal),+) => { concat!(
        "</main><dialog id=\"help\" aria-labelledby=\"help-title\"><h2 id=\"help-title\">Keys</h2><dl>",
        "<div><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous message</dd></div>",
        "<div><dt><kbd>J</kbd> <kbd>K</kbd></dt><dd>next and previous prompt</dd></div>",
        "<div><dt><kbd>e</kbd> <kbd>E</kbd></dt><dd>next and previous failed call</dd></div>",
        "<div><dt><kbd>d</kbd> <kbd>D</kbd></dt><dd>next and previous edit; with a policy, what it drops or changes</dd></div>",
        "<div><dt><kbd>/</kbd></dt><dd>search</dd></div>",
        "<div><dt><kbd>n</kbd> <kbd>N</kbd></dt><dd>next and previous match</dd></div>",
        "<div><dt><kbd>o</kbd></dt><dd>unfold or fold the message</dd></div>",
        "<div><dt><kbd>c</kbd></dt><dd>copy the link to the message</dd></div>",
        "<div><dt><kbd>←</kbd> <kbd>→</kbd></dt><dd>along the strip, <kbd>Enter</kbd> jumps</dd></div>",
        "<div><dt><kbd>?</kbd></dt><dd>this help</dd></div></dl>",
        "<form method=\"dialog\"><button>Close</button></form></dialog><script>\"use strict\";\n",
        $(include_str!($file)),+,
        "</script></body></html>\n",
    ) };
}

/// The end of a page, and the SHA-256 of its script for the policy of the page, which allows no other script.
struct Script {
    closing: &'static str,
    digest: &'static str,
}

const TRANSCRIPT: Script = Script {
    closing: closing!(
        "script/shared.js", "script/rows.js", "script/moving.js", "script/search.js", "script/transcript.js"
    ),
    digest: include_str!("script/transcript.sha256"),
};

const INDEX: Script =
    Script { closing: closing!("script/shared.js", "script/index.js"), digest: include_str!("script/index.sha256") };

/// The list of transcripts that a page begins with.
#[derive(Debug, Clone, Copy)]
pub struct List<'s> {
    /// The sums of the transcripts.
    pub sums: &'s Sums,
    /// The number of files beside an index that contain the texts of its sessions; zero on a page that contains the sessions.
    pub text_files: usize,
}

/// The text before and after the sections of a page called `title`. If it begins with a list of transcripts, their rows and
/// [`LIST_END`] come next. `policy` adds what a policy did.
pub fn page(title: &str, list: Option<List<'_>>, policy: bool) -> (String, &'static str) {
    let is_index = list.is_some_and(|list| list.text_files > 0);
    let script = if is_index { INDEX } else { TRANSCRIPT };
    // The script of an index loads others.
    let trust = if is_index { " 'strict-dynamic'" } else { "" };
    let mut head = opening(title, &format!(" script-src 'sha256-{}'{trust};", script.digest.trim()));
    head.push_str("<a class=\"skip\" href=\"#conversation\">Skip to the conversation</a>");
    head.push_str(&toolbar(policy, list).0);
    head.push_str("<main id=\"conversation\" tabindex=\"-1\">");
    if let Some(list) = list {
        head.push_str(&list.opening(title, policy));
    }
    (head, script.closing)
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
fn toolbar(policy: bool, list: Option<List<'_>>) -> Markup {
    let listed = list.is_some();
    let place = if list.is_some_and(|list| list.text_files > 0) { "Search all sessions" } else { "Search" };
    html! {
        div id="tools" role="search" aria-label="Search and filter" hidden {
            label class="search" {
                span class="hidden" { "Search" }
                input id="query" type="search" placeholder=(place) autocomplete="off" spellcheck="false";
            }
            output id="matches" aria-live="polite" {}
            div class="chips" role="group" aria-label="What is shown" {
                button class="chip" id="everything" type="button" aria-pressed="true" { "Everything" }
                (chip("prompts", "Prompts")) (chip("edits", "Edits")) (chip("failures", "Failures"))
                @if policy { (chip("dropped", "Dropped")) }
                @if listed { (chip("findings", "Findings")) }
            }
            details id="menu" {
                summary aria-label="Filters and settings" { "☰" }
                div class="panel" {
                    @if listed { (select("agent", "Agent", "all agents")) (select("project", "Project", "all projects")) }
                    (select("by", "Writer", "all writers")) (select("tool", "Tool", "all tools"))
                    @if policy { (select("state", "State", "all states")) }
                    button id="fold" type="button" { "Unfold all" }
                    button id="source" type="button" aria-pressed="false" { "Markdown source" }
                    button id="keys" type="button" { "Keys" }
                }
            }
        }
    }
}

fn chip(id: &str, name: &str) -> Markup {
    html! { button class="chip" id=(id) type="button" aria-pressed="false" hidden { (name) } }
}

fn select(id: &str, name: &str, all: &str) -> Markup {
    html! { label { span { (name) } select id=(id) { option value="" { (all) } } } }
}

fn column_head(column: &str, name: &str) -> Markup {
    html! { th role="columnheader" scope="col" data-column=(column) { (name) } }
}

impl List<'_> {
    /// The list up to its rows.
    fn opening(self, title: &str, policy: bool) -> String {
        let files = Some(self.text_files).filter(|files| *files > 0);
        let list = html! {
            section class={ "list" (if policy { " with-policy" } else { "" }) } {
                h1 { (Shown(title)) }
                (self.sums.draw(policy))
                table role="table" aria-label="Transcripts" data-texts=[files] {
                    thead role="rowgroup" { tr role="row" {
                        (column_head("what", "Prompt")) (column_head("agent", "Agent"))
                        (column_head("project", "Project")) (column_head("begun", "Day"))
                        (column_head("tokens", "Tokens")) @if policy { (column_head("after", "After")) }
                        (column_head("cost", "Cost")) (column_head("failed", "Failed"))
                        (column_head("findings", "Findings"))
                    } }
                    tbody role="rowgroup" {}
                }
            }
        };
        list.0.strip_suffix(LIST_END).unwrap_or(&list.0).to_owned()
    }
}
