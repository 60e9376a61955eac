//! Draws what is known of a call: a command, a diff, a list, a question.

use maud::{Markup, html};

use super::{Answer, CallKind, Question, other_arguments};
use crate::capped::capped;
use crate::content::{Passage, command, passage};
use crate::markdown::markdown;
use crate::visible::{Shown, line};
use curtail_facts::{Progress, Todo};

impl CallKind {
    /// The command, file or pattern that is shown on the line of its name.
    pub(crate) fn target(&self) -> Markup {
        match self {
            Self::Shell { command, .. } => html! { span class="preview" { (Shown(&line(command, 90))) } },
            Self::Edit { path, edits, .. } => {
                let added: usize = edits.iter().map(|edit| edit.diff().added).sum();
                let removed: usize = edits.iter().map(|edit| edit.diff().removed).sum();
                html! {
                    code { (Shown(&line(path, 120))) } " "
                    span class="tally" { ins { "+" (added) } " " del { "−" (removed) } }
                }
            }
            Self::List { items, .. } => {
                let done = items.iter().filter(|item| item.progress == Progress::Done).count();
                html! { span class="tokens" { (done) " of " (items.len()) " done" } }
            }
            Self::Prose { .. } | Self::Ask { .. } | Self::Other => html! {},
            Self::Lookup { target, .. } => html! { code { (Shown(&line(target, 140))) } },
        }
    }

    /// The call in a form that people know; `None` to show only the arguments. `answer` is its result, if it asks.
    pub(crate) fn draw(&self, byte: usize, max_chars: usize, answer: &str) -> Option<Markup> {
        Some(match self {
            Self::Shell { command: text, folder, .. } => command(text, folder.as_deref(), byte, max_chars),
            Self::Edit { edits, .. } => html! {
                @for edit in edits {
                    (other_arguments(&edit.item, byte, max_chars, &edit.drawn))
                    (edit.diff().draw(byte, max_chars))
                }
            },
            Self::List { items, .. } => html! { ul class="todos" { @for item in items { (todo(item)) } } },
            Self::Prose { text, .. } => {
                let html = if capped(text, max_chars).1 > 0 { None } else { markdown(text) };
                html.unwrap_or_else(|| passage(Passage { text, byte, max_chars, mono: false }))
            }
            Self::Ask { questions, .. } => {
                html! { @for question in questions { (question.draw(&question.chosen_in(answer, questions.len()))) } }
            }
            Self::Lookup { .. } | Self::Other => return None,
        })
    }
}

/// An item of a list.
fn todo(item: &Todo) -> Markup {
    let (class, mark) = match item.progress {
        Progress::Done => ("done", "☑ "),
        Progress::InProgress => ("begun", "▸ "),
        Progress::Pending => ("open", "☐ "),
    };
    html! {
        li class=(class) {
            (mark) (Shown(&item.text))
            @if item.progress == Progress::InProgress { span class="of" { " in progress" } }
        }
    }
}

impl Question {
    /// The labels that `result` chooses for this one of `count` questions: `"Deploy?"="Yes"` names it, and otherwise only the
    /// answer to a single question is known, which may be a sentence that names one label.
    fn chosen_in(&self, result: &str, count: usize) -> Vec<&str> {
        let named = result.split_once(&format!("\"{}\"=\"", self.text));
        let answer = match named {
            Some((_, rest)) => rest.split('"').next().unwrap_or_default(),
            None if count == 1 => result,
            None => "",
        };
        let labels = self.answers.iter().map(|offered| offered.label.as_str()).filter(|label| !label.is_empty());
        let pieces: Vec<&str> =
            answer.split(['"', '\n', '<', '>']).flat_map(|piece| piece.split(", ")).map(str::trim).collect();
        let chosen: Vec<&str> = labels.clone().filter(|label| pieces.contains(label)).collect();
        if named.is_some() || !chosen.is_empty() {
            return chosen;
        }
        let mut said: Vec<&str> = labels.filter(|label| names(answer, label)).collect();
        // `React Native` names `React` as well.
        let longer = said.clone();
        said.retain(|label| !longer.iter().any(|other| other != label && other.contains(label)));
        if said.len() == 1 { said } else { Vec::new() }
    }

    /// The question with the answers that it offers; those in `chosen` were chosen.
    fn draw(&self, chosen: &[&str]) -> Markup {
        html! {
            div class="question" {
                (markdown(&self.text).unwrap_or_else(|| html! { p { (Shown(&self.text)) } }))
                @if !self.answers.is_empty() {
                    ul { @for offered in &self.answers { (offered.draw(chosen.contains(&offered.label.as_str()))) } }
                }
            }
        }
    }
}

impl Answer {
    fn draw(&self, is_chosen: bool) -> Markup {
        html! {
            li class=[is_chosen.then_some("chosen")] {
                b { (if is_chosen { "● " } else { "○ " }) (Shown(&self.label)) }
                @if is_chosen { span class="hidden" { " (chosen)" } }
                @if !self.description.is_empty() { span class="of" { (Shown(&self.description)) } }
            }
        }
    }
}

/// Whether `text` has `label` between other words.
fn names(text: &str, label: &str) -> bool {
    text.match_indices(label).any(|(at, _)| {
        !text[..at].ends_with(char::is_alphanumeric) && !text[at + label.len()..].starts_with(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::CallKind;
    use crate::tools::other_arguments;

    fn drawn(name: &str, raw: &str) -> String {
        let call = CallKind::from_call(name, raw);
        let body = call.draw(0, 1_000, "").map(|body| body.0).unwrap_or_default();
        format!("{}: {} {body}", call.class(), call.target().0)
    }

    /// A tool, its arguments, and what is shown of them.
    const CALLS: &[(&str, &str, &[&str])] = &[
        (
            "Edit",
            r#"{"file_path":"a<b>","old_string":"x\ny","new_string":"x\n<z>"}"#,
            &["edit: <code>a&lt;b&gt;</code>", "+1</ins>", "<del>-y\n</del><ins>+&lt;z&gt;"],
        ),
        (
            "MultiEdit",
            r#"{"file_path":"a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"z","new_string":""}]}"#,
            &["+1</ins> <del>−2</del>"],
        ),
        ("write", r#"{"path":"a","content":"x\n"}"#, &["<ins>+x"]),
        (
            "replace_in_file",
            r#"{"path":"a","diff":"<<<<<<< SEARCH\n:start_line:1\n-------\nx\n=======\ny\nz\n>>>>>>> REPLACE\n"}"#,
            &["edit: <code>a</code>", "+2</ins> <del>−1", "<del>-x\n</del><ins>+y"],
        ),
        (
            "search_replace",
            r#"{"file_path":"a","content":"<<<<<<< SEARCH\nx\n=======\ny\nz\n>>>>>>> REPLACE"}"#,
            &["edit: <code>a</code>", "+2</ins> <del>−1", "<del>-x\n</del><ins>+y"],
        ),
        (
            "write_file",
            r#"{"path":"a","content":"See:\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n"}"#,
            &["+6</ins> <del>−0"],
        ),
        (
            "write_file",
            r#"{"path":"a","content":"<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\nis an edit.\n"}"#,
            &["+6</ins> <del>−0"],
        ),
        (
            "search_replace",
            r#"{"file_path":"a","content":"```\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```\n\n"}"#,
            &["<del>-x\n</del><ins>+y"],
        ),
        (
            "apply_diff",
            r#"{"path":"a","diff":"--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n"}"#,
            &["edit: <code>a</code>", "+1</ins> <del>−1"],
        ),
        (
            "str_replace_editor",
            r#"{"command":"insert","path":"a","insert_line":3,"new_str":"x"}"#,
            &["edit: <code>a</code>", "<ins>+x"],
        ),
        (
            "str_replace_editor",
            r#"{"command":"str_replace","path":"a","old_str":"x"}"#,
            &["edit: <code>a</code>", "<del>-x"],
        ),
        (
            "multi_replace_string_in_file",
            r#"{"replacements":[{"filePath":"a","oldString":"x","newString":"y"}]}"#,
            &["edit: <code>a</code>", "<del>-x\n</del><ins>+y"],
        ),
        (
            "multi_replace_string_in_file",
            r#"{"replacements":[{"filePath":"a","oldString":"x","newString":"y"},{"filePath":"b","oldString":"v","newString":"w"}]}"#,
            &[
                "<code>a and 1 other file</code>",
                "<dt>filePath</dt><dd><code>b</code></dd></div></dl><pre class=\"diff\"><del>-v",
            ],
        ),
        (
            "MultiEdit",
            r#"{"file_path":"a","edits":[{"old_string":"x","new_string":"y","replace_all":true}]}"#,
            &["edit: <code>a</code>", "<dt>replace_all</dt><dd><code>true</code>"],
        ),
        (
            "single_find_and_replace",
            r#"{"filepath":"a","old_string":"x","new_string":"y"}"#,
            &["edit: <code>a</code>", "<del>-x\n</del><ins>+y"],
        ),
        ("builtin_read_file", r#"{"filepath":"a"}"#, &["look: <code>a</code>"]),
        ("send_message", r#"{"target":"bob","content":"hi"}"#, &["other: "]),
        ("find_and_replace", r#"{"path":"a","pattern":"x","with":"y"}"#, &["other: "]),
        ("str_replace_based_edit_tool", r#"{"command":"view","path":"src"}"#, &["look: <code>src</code>"]),
        ("apply_patch", "*** Begin Patch\n*** Add File: n\n+1\n*** End Patch", &["edit: <code>n</code>", "<ins>+1"]),
        (
            "shell",
            r#"{"command":["bash","-lc","ls | <wc>"],"workdir":"/w"}"#,
            &["shell:", "/w", "</span>ls | &lt;wc&gt;"],
        ),
        (
            "shell",
            r#"{"command":["apply_patch","*** Begin Patch\n*** Update File: m\n-1\n*** End Patch"]}"#,
            &["edit: <code>m</code>"],
        ),
        ("shell", r#"{"commands":["ls","pwd"]}"#, &["shell:", "</span>ls\npwd"]),
        ("str_replace_editor", r#"{"command":"view","path":"src"}"#, &["look: <code>src</code>"]),
        ("text_editor_execution", r#"{"command":"view","path":"src"}"#, &["look: <code>src</code>"]),
        ("text_editor_execution", r#"{"command":"undo_edit","document":"src"}"#, &["other: "]),
        ("runEditorCommand", r#"{"command":"format","note":"n"}"#, &["other: "]),
        ("toolbox", r#"{"command":"list"}"#, &["other: "]),
        ("Skill", r#"{"command":"pdf"}"#, &["other: "]),
        ("SlashCommand", r#"{"command":"/review all"}"#, &["other: "]),
        ("task_tracker", r#"{"command":"view"}"#, &["other: "]),
        ("toolbox", r#"{"command":"ls src"}"#, &["shell:"]),
        ("run", r#"{"command":"make"}"#, &["shell:"]),
        ("pwsh", r#"{"command":"make"}"#, &["shell:"]),
        ("fish", r#"{"command":"make"}"#, &["shell:"]),
        ("run_ksh", r#"{"command":"make"}"#, &["shell:"]),
        ("catch_fish", r#"{"command":"trout"}"#, &["other: "]),
        ("start_search", r#"{"query":"tides"}"#, &["look: <code>tides</code>"]),
        ("shell", r#"{"command":["ssh","-T","git@github.com"]}"#, &["</span>ssh -T git@github.com"]),
        ("shell", r#"{"command":["/bin/zsh","-lc","ls"]}"#, &["</span>ls"]),
        ("web-search", r#"{"query":"tides"}"#, &["look: <code>tides</code>"]),
        ("allocate", r#"{"path":"a"}"#, &["other: "]),
        (
            "AskUserQuestion",
            r#"{"questions":[{"question":"Glaze <it>?","options":[{"label":"Yes","description":"twice"},{"label":"No"}]}]}"#,
            &["ask:", "Glaze &lt;it&gt;?", "○ Yes", "twice", "○ No"],
        ),
        (
            "ask_followup_question",
            r#"{"question":"Which kiln?","follow_up":["The old one"]}"#,
            &["ask:", "○ The old one"],
        ),
        (
            "TodoWrite",
            r#"{"todos":[{"content":"<a>","status":"completed"},{"content":"b","status":"in_progress"}]}"#,
            &["1 of 2 done", "☑ &lt;a&gt;", "in progress"],
        ),
        ("update_plan", r#"{"plan":[{"step":"a","status":"pending"}]}"#, &["☐ a"]),
        (
            "task_tracker",
            r#"{"command":"plan","task_list":[{"title":"a","status":"done"},{"title":"b","status":"skipped"}]}"#,
            &["2 of 2 done", "☑ a", "☑ b"],
        ),
        (
            "manage_todo_list",
            r#"{"operation":"write","todoList":[{"id":1,"title":"a","status":"not-started"}]}"#,
            &["☐ a"],
        ),
        ("update_todo_list", r#"{"todos":"[x] a\n[-] b"}"#, &["☑ a", "▸ b"]),
        ("Task", r#"{"description":"a","prompt":"- [ ] b"}"#, &["other: "]),
        ("create_order", r#"{"items":[{"title":"mug","quantity":2}]}"#, &["other: "]),
        ("search_orders", r#"{"query":"mugs","offset":20,"limit":10}"#, &["<code>mugs</code>"]),
        ("Read", r#"{"file_path":"a","offset":0,"limit":100}"#, &["<code>a, 100 lines</code>"]),
        ("read_file", r#"{"filePath":"a","startLine":3,"endLine":5}"#, &["<code>a, lines 3 to 5</code>"]),
        (
            "str_replace_editor",
            r#"{"command":"view","path":"a","view_range":[3,-1]}"#,
            &["<code>a, from line 3</code>"],
        ),
        ("Read", r#"{"file_path":"a","offset":10,"limit":0}"#, &["<code>a, from line 10</code>"]),
        ("ExitPlanMode", r##"{"plan":"# A <script>\n- [ ] b"}"##, &["<h4>A &lt;script&gt;</h4>"]),
        ("Read", r#"{"file_path":"a.rs","offset":10,"limit":5}"#, &["<code>a.rs, lines 10 to 14</code>"]),
        ("Grep", r#"{"pattern":"<x>","path":"src"}"#, &["<code>&lt;x&gt; in src</code>"]),
        ("timetable", r#"{"from":"Graz"}"#, &["other: "]),
        ("bash", "not json", &["shell:", "not json"]),
    ];

    #[test]
    fn an_answer_is_chosen_where_its_question_says_so() {
        let asked = r#"{"questions":[{"question":"Deploy now?","options":[{"label":"Yes"},{"label":"No"}]},
            {"question":"React or React Native?","options":[{"label":"React"},{"label":"React Native"}]}]}"#;
        let result = "Answered: \"Deploy now?\"=\"Yes\", \"React or React Native?\"=\"React Native\". Go on.";
        let html = CallKind::from_call("AskUserQuestion", asked).draw(0, 1_000, result).unwrap().0;
        for part in ["● Yes", "○ No", "○ React<", "● React Native"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        let asked = r#"{"questions":[{"question":"Deploy?","options":[{"label":"Yes"},{"label":"No"}]}]}"#;
        for (result, chosen) in
            [("They said Yes.", 1), ("\"Deploy?\"=\"No idea, ask Bob\"", 0), ("Declined. Yes or No stays open.", 0)]
        {
            let html = CallKind::from_call("AskUserQuestion", asked).draw(0, 1_000, result).unwrap().0;
            assert_eq!(html.matches('●').count(), chosen, "{result}");
        }
    }

    /// What a call draws is not shown among its arguments, and everything else is.
    #[test]
    fn arguments_are_drawn_once() {
        for (name, raw, shown) in [
            ("ask_user", r#"{"question":"Glaze?","choices":["Yes"]}"#, ""),
            ("ask_user", r#"{"question":"Glaze?","choices":["Yes"],"answers":["No"]}"#, "answers"),
            ("ask_user", r#"{"question":"Glaze?","options":"Yes or no","choices":["Yes"]}"#, "options"),
            ("ask_user", r#"{"question":"Glaze?","choices":["Yes",1]}"#, "choices"),
            ("ask_user", r#"{"question":1,"prompt":"Glaze?"}"#, "question"),
            ("AskUserQuestion", r#"{"questions":[{"question":"Glaze?"},1]}"#, "questions"),
            ("AskUserQuestion", r#"{"questions":[{"question":"Glaze?"}],"answers":{"Glaze?":"Yes"}}"#, "answers"),
            ("TodoWrite", r#"{"todos":[{"content":"a","status":"done"}]}"#, ""),
            ("task_tracker", r#"{"task_list":[{"title":"a","status":"done","notes":"b"}]}"#, "task_list"),
            ("update_todo_list", r#"{"todos":"Soon:\n[x] a"}"#, "todos"),
            ("Edit", r#"{"file_path":"a","old_string":"x","new_string":"y","content":"z"}"#, "content"),
            ("edit", r#"{"command":"create","path":"a","file_text":"x","old_str":null,"new_str":""}"#, ""),
            ("edit", r#"{"command":"make it","path":"a","content":"x"}"#, "command"),
            ("MultiEdit", r#"{"file_path":"a","edits":[{"old_string":"x","new_string":"y"},{"new":1}]}"#, "edits"),
            ("bash", r#"{"command":"ls","script":"pwd","cwd":"a"}"#, "script"),
            ("finish", r#"{"message":"Done.","result":"ok"}"#, "message"),
        ] {
            let html = other_arguments(raw, 0, 1_000, CallKind::from_call(name, raw).shown()).0;
            let keys: Vec<&str> = html.split("<dt>").skip(1).filter_map(|key| Some(key.split_once('<')?.0)).collect();
            assert_eq!(keys.join(", "), shown, "{name}");
        }
    }

    #[test]
    fn calls_are_known_by_their_arguments() {
        for (name, raw, parts) in CALLS {
            let html = drawn(name, raw);
            for part in *parts {
                assert!(html.contains(part), "{name} {part}: {html}");
            }
        }
    }
}
