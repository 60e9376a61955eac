//! Renders the Markdown of models as HTML: raw HTML stays text, only web links work, and no image is fetched. What people typed is
//! no Markdown, apart from fenced code: a `*` or `_` of a path belongs to it.

use std::borrow::Cow;
use std::ops::Range;

use maud::{Markup, PreEscaped, Render as _, html};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::content::{Passage, passage};
use super::visible::{Body, Shown, line, more};

/// Bytes of a text that are shown before the rest is folded.
const FOLD: usize = 3_000;
/// Deeper nesting than this is shown as plain text.
const MAX_DEPTH: usize = 40;

/// `text` as HTML; `None` if it contains no markup, or is nested too deeply to be prose.
pub(super) fn markdown(text: &str) -> Option<Markup> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer { marked: text.contains(['\\', '&']), ..Writer::default() };
    for (event, place) in events(text, options) {
        writer.event(event, place);
        if writer.endings.len() > MAX_DEPTH {
            return None;
        }
    }
    writer.marked.then(|| writer.folded(text))
}

/// The events of Markdown with their places. Marks that belong to a path, a name or a sum are text.
fn events(text: &str, options: Options) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    Parser::new_ext(text, options).into_offset_iter().map(move |(event, place)| match literal(text, &event, &place) {
        Some(mark) => (Event::Text(mark.into()), place),
        None => (event, place),
    })
}

/// The mark that an event reads as markup, if it belongs to a path, a name or a sum.
fn literal<'t>(text: &'t str, event: &Event<'_>, place: &Range<usize>) -> Option<&'t str> {
    let begins = matches!(event, Event::Start(_));
    let source = &text[place.clone()];
    let size = match event {
        Event::Start(Tag::Emphasis) | Event::End(TagEnd::Emphasis) => 1,
        Event::Start(Tag::Strong) | Event::End(TagEnd::Strong) => 2,
        Event::Start(Tag::Strikethrough) | Event::End(TagEnd::Strikethrough) => {
            1 + usize::from(source.starts_with("~~"))
        }
        Event::Start(Tag::Link { .. }) | Event::End(TagEnd::Link) => {
            let target = target_of_index(&text[..place.start], source)?;
            return Some(if begins { &source[..1] } else { &source[target..] });
        }
        _ => return None,
    };
    let marked = Marked {
        mark: &source[..size],
        before: &text[..place.start],
        inner: &source[size..source.len() - size],
        after: &text[place.end..],
    };
    let mark = if begins { &source[..size] } else { &source[source.len() - size..] };
    (marked.is_path() || marked.is_name() || marked.is_sum()).then_some(mark)
}

/// Where the target of a link begins that is a call of what a list or a table contains: `handlers[key](event)`.
fn target_of_index(before: &str, source: &str) -> Option<usize> {
    let at = source.rfind("](").filter(|_| source.starts_with('['))?;
    let is_index = before.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ')' | ']'));
    (is_index && !is_web(&source[at + 2..])).then_some(at)
}

/// A text between two marks, and what stands around it.
struct Marked<'t> {
    mark: &'t str,
    before: &'t str,
    inner: &'t str,
    after: &'t str,
}

impl Marked<'_> {
    /// Whether a mark stands for names in a path: `a/*.ts`, `a/**/b`, `*.ts,*.js`, `~/a:~/b`. `**a/**` and `**Yes**/**No**` are bold.
    fn is_path(&self) -> bool {
        let is_single = self.mark.len() == 1;
        let begins = self.before.ends_with('/') && (is_single || !self.inner.starts_with(char::is_alphanumeric));
        let joins = self.goes_on() && (self.inner.starts_with(['/', '.', '_']) || self.inner.ends_with('/'));
        begins || joins || is_single && (self.inner.ends_with('/') || self.inner == ".")
    }

    /// Whether the marks are letters of a name: `__init__`, `__Mocks__/a`, `HEAD~1 and HEAD~`.
    fn is_name(&self) -> bool {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        match self.mark {
            "__" => self.before.ends_with('/') || self.goes_on() || self.inner.chars().all(is_letter),
            "_" => self.goes_on(),
            "~" => self.before.ends_with(|c: char| c.is_ascii_alphanumeric()),
            _ => false,
        }
    }

    /// Whether the marks are operators: `2*3*4`, `a**b and c**d`.
    fn is_sum(&self) -> bool {
        let inner = [self.inner.chars().next(), self.inner.chars().next_back()];
        let outer = [self.before.chars().next_back(), self.after.chars().next()];
        let mut beside = inner.into_iter().chain(outer).flatten();
        let is_inside = beside.clone().filter(|c| c.is_ascii_alphanumeric() || *c == '(').count() == 4;
        is_inside && (self.inner.contains(' ') || beside.any(|c| c.is_ascii_digit()))
    }

    /// Whether a path or a name goes on behind the second mark.
    fn goes_on(&self) -> bool {
        let ending = self.after.strip_prefix('.');
        self.after.starts_with(['/', '_'])
            || ending.is_some_and(|ending| ending.starts_with(|c: char| c.is_alphanumeric() || c == '{'))
    }
}

/// What a person typed, as it is, with its fenced code set apart; `None` if it contains none.
pub(super) fn typed(text: &str) -> Option<Markup> {
    let mut writer = Writer::default();
    let mut from = 0;
    for (event, place) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                writer.passage(&text[from..place.start], place.start);
                from = place.end;
                writer.event(event, place);
            }
            Event::Text(_) | Event::End(TagEnd::CodeBlock) if writer.code.is_some() => writer.event(event, place),
            _ => {}
        }
    }
    writer.passage(&text[from..], text.len());
    writer.marked.then(|| writer.folded(text))
}

/// The beginning of `text` on one line, without its markup.
pub(super) fn plain(text: &str, limit: usize) -> String {
    let text = text.trim_start();
    let head = &text[..text.floor_char_boundary(limit * 8)];
    let mut words = String::new();
    for (event, _) in events(head, Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                words.push_str(&text);
            }
            Event::End(TagEnd::Heading(_)) => words.push_str(if words.trim_end().ends_with(':') { " " } else { ": " }),
            Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image) => {}
            Event::SoftBreak | Event::HardBreak | Event::Rule | Event::End(_) => words.push(' '),
            _ => {}
        }
        if words.len() > limit * 5 {
            break;
        }
    }
    line(&words, limit)
}

/// A top-level block: where its HTML and its source end.
struct Block {
    html: usize,
    source: usize,
}

#[derive(Default)]
struct Writer {
    out: String,
    blocks: Vec<Block>,
    /// Whether there is any markup besides paragraphs.
    marked: bool,
    in_head: bool,
    /// The heading that the text is below, and those above it.
    headings: Vec<HeadingLevel>,
    /// The HTML that closes each open tag.
    endings: Vec<Cow<'static, str>>,
    /// The code of the block that is open.
    code: Option<Code>,
}

struct Code {
    language: String,
    text: String,
}

impl Writer {
    fn event(&mut self, event: Event<'_>, place: Range<usize>) {
        let plain = matches!(
            event,
            Event::Text(_)
                | Event::SoftBreak
                | Event::HardBreak
                | Event::Start(Tag::Paragraph)
                | Event::End(TagEnd::Paragraph)
        );
        self.marked |= !plain;
        match event {
            Event::Start(Tag::CodeBlock(kind)) => self.code = Some(Code::new(&kind)),
            Event::End(TagEnd::CodeBlock) => {
                if let Some(code) = self.code.take() {
                    self.out.push_str(&code.draw().0);
                }
            }
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => {
                self.in_head &= tag != TagEnd::TableHead;
                self.out.push_str(&self.endings.pop().unwrap_or_default());
            }
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => match &mut self.code {
                Some(code) => code.text.push_str(&text),
                None => Body(&text).render_to(&mut self.out),
            },
            Event::Code(text) => self.out.push_str(&html! { code { (Body(&text)) } }.0),
            Event::SoftBreak | Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>"),
            Event::TaskListMarker(done) => self.out.push_str(if done { "☑ " } else { "☐ " }),
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                Body(&text).render_to(&mut self.out);
            }
        }
        if self.endings.is_empty() && self.code.is_none() {
            self.blocks.push(Block { html: self.out.len(), source: place.end });
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let (open, close) = match tag {
            Tag::Paragraph => ("<p>", "</p>"),
            Tag::Heading { level, .. } => {
                // Its level is below the headings of the page, and leaves none out.
                self.headings.retain(|above| *above < level);
                self.headings.push(level);
                let level = (3 + self.headings.len()).min(6);
                return self.open(&format!("<h{level}>"), format!("</h{level}>"));
            }
            Tag::BlockQuote(_) => ("<blockquote>", "</blockquote>"),
            Tag::HtmlBlock => ("<p class=\"html\">", "</p>"),
            Tag::List(None) => ("<ul>", "</ul>"),
            Tag::List(Some(1)) => ("<ol>", "</ol>"),
            Tag::List(Some(first)) => return self.element(&html! { ol start=(first) {} }, "</ol>"),
            Tag::Item => ("<li>", "</li>"),
            Tag::Table(_) => ("<table>", "</tbody></table>"),
            Tag::TableHead => {
                self.in_head = true;
                ("<thead><tr>", "</tr></thead><tbody>")
            }
            Tag::TableRow => ("<tr>", "</tr>"),
            Tag::TableCell if self.in_head => ("<th scope=\"col\">", "</th>"),
            Tag::TableCell => ("<td>", "</td>"),
            Tag::Emphasis => ("<em>", "</em>"),
            Tag::Strong => ("<strong>", "</strong>"),
            Tag::Strikethrough => ("<s>", "</s>"),
            Tag::Link { dest_url, .. } => return self.link(&dest_url),
            Tag::Image { dest_url, .. } => return self.inert("Image: ", &dest_url, 120),
            _ => ("<div>", "</div>"),
        };
        self.open(open, close);
    }

    fn open(&mut self, open: &str, close: impl Into<Cow<'static, str>>) {
        self.out.push_str(open);
        self.endings.push(close.into());
    }

    /// Opens an element without content, which ends with `close`.
    fn element(&mut self, empty: &Markup, close: &'static str) {
        self.open(empty.0.strip_suffix(close).unwrap_or(&empty.0), close);
    }

    /// A link. One that does not lead to the web becomes text, followed by its target.
    fn link(&mut self, target: &str) {
        if is_web(target) {
            self.element(&html! { a href=(Shown(target)) rel="noopener noreferrer nofollow" {} }, "</a>");
        } else {
            self.inert("", target, 300);
        }
    }

    /// A text in place of a link or an image, followed by at most `most` characters of its target.
    fn inert(&mut self, label: &str, target: &str, most: usize) {
        let close = html! { span class="of" { " (" (Shown(&line(target, most))) ")" } }.0 + "</span>";
        self.open(&format!("<span class=\"inert\">{label}"), close);
    }

    /// A text that is shown as it is, as a block whose source ends at `end`.
    fn passage(&mut self, text: &str, end: usize) {
        // Blank lines around prose have no meaning.
        let text = text.trim_matches(['\r', '\n']);
        if !text.trim().is_empty() {
            self.out.push_str(&passage(Passage { text, byte: 0, max_chars: usize::MAX, mono: false }).0);
            self.blocks.push(Block { html: self.out.len(), source: end });
        }
    }

    /// The HTML, with the blocks after the first ones folded.
    fn folded(&self, text: &str) -> Markup {
        let first = self.blocks.iter().find(|block| block.source >= FOLD);
        let first = first.filter(|block| text.len().saturating_sub(block.source) > FOLD / 4);
        let (shown, hidden, left) = match first {
            Some(block) => (&self.out[..block.html], &self.out[block.html..], &text[block.source.min(text.len())..]),
            None => (self.out.as_str(), "", ""),
        };
        html! {
            div class="md" dir="auto" {
                (PreEscaped(shown))
                @if !hidden.is_empty() {
                    (more(left.chars().count(), "character", PreEscaped(hidden)))
                }
            }
        }
    }
}

impl Code {
    fn new(kind: &CodeBlockKind<'_>) -> Self {
        let language = match kind {
            CodeBlockKind::Fenced(info) => info.split([' ', ',', '{']).next().unwrap_or_default(),
            CodeBlockKind::Indented => "",
        };
        Self { language: language.to_owned(), text: String::new() }
    }

    /// The code, with the lines after the first ones folded if it is long.
    fn draw(&self) -> Markup {
        let mut end = self.text.len();
        if end > FOLD + FOLD / 4 {
            end = self.text.floor_char_boundary(FOLD);
            end = self.text[..end].rfind('\n').map_or(end, |at| at + 1);
        }
        let (shown, hidden) = self.text.split_at(end);
        html! {
            (self.block(shown))
            @if !hidden.is_empty() { (more(hidden.chars().count(), "character", self.block(hidden))) }
        }
    }

    fn block(&self, text: &str) -> Markup {
        let language = Some(self.language.as_str()).filter(|language| !language.is_empty());
        html! { pre data-language=[language.map(Shown)] { code { (Body(text)) } } }
    }
}

fn is_web(target: &str) -> bool {
    let scheme = target.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

#[cfg(test)]
mod tests {
    use super::{markdown, plain, typed};

    fn shown(text: &str) -> String {
        markdown(text).map(|html| html.0).unwrap_or_default()
    }

    #[test]
    fn text_without_markup_is_not_markdown() {
        assert!(markdown("one\ntwo\n\nthree <").is_none());
        assert!(markdown(&"> ".repeat(100)).is_none());
    }

    #[test]
    fn markup_is_rendered() {
        let html = shown(
            "# A\n\n- **b** `c<d>`\n- [ ] e\n\n```rust\nlet x = \"<\";\n```\n\n|f|\n|-|\n|g|\n\nh\ni *j* k/*.l m/*.l",
        );
        for part in [
            "<h4>A</h4>",
            "<strong>b</strong> <code>c&lt;d&gt;</code>",
            "☐ e",
            "<pre data-language=\"rust\"><code>let x = \"&lt;\";\n</code></pre>",
            "<th scope=\"col\">f</th>",
            "<td>g</td>",
            "h<br>i <em>j</em> k/*.l m/*.l",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    /// A reader of the page that hears headings meets none that leaves a level out.
    #[test]
    fn headings_leave_no_level_out() {
        let html = shown("### A\n\n### B\n\n##### C\n\n## D\n\n### E\n\n#### F\n\n##### G");
        for heading in ["<h4>A", "<h4>B", "<h5>C", "<h4>D", "<h5>E", "<h6>F", "<h6>G"] {
            assert!(html.contains(heading), "{heading}: {html}");
        }
    }

    #[test]
    fn a_line_of_it_has_no_markup() {
        assert_eq!(plain("## Done\n\n1. **Fixed** `a_b` <x>\n2. *More*", 100), "Done: Fixed a_b <x> More");
        assert_eq!(plain("one two three", 8), "one two…");
        assert_eq!(plain("a*b*c **d**e", 50), "abc de");
        assert_eq!(plain("/*a*/ and b/_c_", 50), "/*a*/ and b/_c_");
        assert_eq!(plain("In src/*.ts and tests/*.ts, *not* in `a/*`", 50), "In src/*.ts and tests/*.ts, not in a/*");
        assert_eq!(plain("## Steps:\n\nUse `std::fmt` : now", 50), "Steps: Use std::fmt : now");
    }

    #[test]
    fn marks_of_paths_names_and_sums_are_text() {
        for text in [
            "I edited src/pkg/__init__.py and src/**/*.ts and tests/**/*.ts now.",
            "src/**.ts and lib/**, {src,lib}/**/*.{ts,tsx}",
            "**src/**/*.ts and **/a.ts,**/b.ts",
            "*.ts,*.js and *.{a,b},*.{c} and *.*",
            "*_test.go,*_spec.rb",
            "test_*.py, spec_*.py",
            "__init__.py, __Mocks__/a.ts and _app_.tsx",
            "__init__ of self.__class__.__name__",
            "2**3 and 4**5, 2*3*4, x**2 + y**2, n**k and m**j, 2**n, 3**(k)",
            "HEAD~1..HEAD~2, HEAD~1 and HEAD~, 5~10 and 20~30",
            "PATH=~/bin:~/go/bin and H~2~O",
            "handlers[key](event), f(x)[0](y) and a[b][c](d)",
        ] {
            assert_eq!(plain(text, 100), text);
            assert!(markdown(text).is_none(), "{}", shown(text));
        }
        for (text, html) in [
            ("**src/**: a", "<strong>src/</strong>: a"),
            ("**Yes**/**No**", "<strong>Yes</strong>/<strong>No</strong>"),
            ("**.gitignore**: a", "<strong>.gitignore</strong>: a"),
            ("**/etc/hosts**, a", "<strong>/etc/hosts</strong>, a"),
            ("__Note__: a **b**, *c d*.", "<strong>Note</strong>: a <strong>b</strong>, <em>c d</em>."),
            ("这是**重要 的**事", "这是<strong>重要 的</strong>事"),
            ("a/~~b~~ ~~c~~d ~e~", "a/<s>b</s> <s>c</s>d <s>e</s>"),
            ("a[b](https://c.example)", "rel=\"noopener noreferrer nofollow\">b</a>"),
        ] {
            assert!(shown(text).contains(html), "{}", shown(text));
        }
    }

    #[test]
    fn what_people_type_is_shown_as_it_is() {
        assert!(typed("# src/*.ts and tests/*.ts, but __mocks__\n    <b>").is_none());
        let html = typed("Why *.ts?\n\n1. See:\n   ```sh\n   ls *_*\n   ```\nand __mocks__").map(|html| html.0);
        let html = html.unwrap_or_default();
        for part in
            [">Why *.ts?\n\n1. See:\n", "<pre data-language=\"sh\"><code>ls *_*\n</code></pre>", ">and __mocks__<"]
        {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn long_code_is_folded_after_a_line() {
        let log = format!("The log:\n\n```text\n{}```\n", "one line of a log\n".repeat(700));
        for html in [markdown(&log), typed(&log)].map(|html| html.unwrap_or_default().0) {
            let (head, rest) = html.split_once("<details class=\"more\">").unwrap_or_default();
            assert!(head.len() < 4_000 && head.ends_with("log\n</code></pre>"), "{head}");
            assert!(rest.contains("<pre data-language=\"text\"><code>one line"), "{rest}");
        }
        assert!(!shown(&format!("```\n{}```", "one line\n".repeat(300))).contains("<details"));
    }

    #[test]
    fn html_is_text_and_only_the_web_is_linked() {
        let hostile = [
            "<script>x</script>",
            "a <img src=x onerror=y> *b*",
            "[c](javascript:d) [e](data:text/html,f) [g](//h) [i](file:///j) <javascript:k>",
            "[l](JaVaScRiPt:m) [n](https://o\" onclick=\"p)",
            "![q](https://r.example/s.png)",
            "```\"><script>t\n</code></pre><script>u\n```",
            "[v\u{202e}](vbscript:w)",
            "[x]: javascript:y\n\n[x] `\u{1b}[31m`",
        ];
        for text in hostile {
            let html = shown(text);
            for part in
                ["<script", "<img", "href=\"j", "href=\"d", "href=\"/", "href=\"f", "href=\"v", "\u{202e}", "\u{1b}"]
            {
                assert!(!html.contains(part), "{part}: {html}");
            }
            let mut tags = html.split('<').filter_map(|tag| tag.split_once('>')).map(|(tag, _)| tag);
            assert!(!tags.any(|tag| tag.contains("onclick")), "{html}");
        }
        assert!(shown("[a](https://b.example/?c=1&d)").contains("href=\"https://b.example/?c=1&amp;d\""));
        assert!(shown("[a](javascript:b)").contains("javascript:b"), "an inert link shows its target");
    }

    #[test]
    fn long_texts_fold_after_a_whole_block() {
        let html = shown(&"A *word* in a line.\n\n".repeat(400));
        let (head, rest) = html.split_once("<details class=\"more\">").unwrap_or_default();
        assert!(head.ends_with("</p>") && rest.contains("</summary><p>"), "{head}");
    }
}
