//! The built-in summarizer: within its budget, the same every time, in any language, with its speakers and fences whole.

use std::sync::atomic::{AtomicUsize, Ordering};

use curtail_memory::summarizers::{Budget, Extractive, Speaker, Summarizer, Utterance};
use proptest::prelude::*;

fn bpe(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn summary(utterances: &[(Speaker, &str)], tokens: usize, count: &(dyn Fn(&str) -> usize + Sync)) -> String {
    let utterances: Vec<_> = utterances.iter().map(|(speaker, text)| Utterance::new(speaker.clone(), *text)).collect();
    let budget = Budget { tokens, count };
    Extractive.summarize(&utterances, &budget).expect("it cannot fail")
}

fn tool(name: &str) -> Speaker {
    Speaker::Tool(name.to_owned())
}

/// A run in which something is wanted, decided, changed and broken, among much that is none of that.
fn run() -> Vec<(Speaker, &'static str)> {
    use Speaker::{Assistant, Call, User};
    vec![
        (User, "Hi there! Please make the login page remember the last user name. It must work without cookies."),
        (Assistant, "Sure! Let me have a look around first."),
        (Call("read_file".into()), r#"{"path":"web/login.ts"}"#),
        (tool("read_file"), "import { form } from './form';\nexport function login() {}\n// nothing else here\n"),
        (Assistant, "I see. The page has one form and nothing is stored at all."),
        (User, "OK."),
        (
            Assistant,
            "We could use localStorage or the session on the server. I decided on localStorage, because the server is stateless.",
        ),
        (Call("edit_file".into()), r#"{"path":"web/login.ts","content":"localStorage.setItem('lastUser', name)"}"#),
        (tool("edit_file"), "ok"),
        (Call("bash".into()), r#"{"command":"npm test"}"#),
        (
            tool("bash"),
            "Error: localStorage is not defined (login.test.ts:12)\nrunning 14 tests\n.............\n13 passed, 1 failed\n",
        ),
        (
            Assistant,
            "You're welcome! One test fails, since jsdom has no localStorage; I will stub it in login.test.ts next.",
        ),
    ]
}

#[test]
fn what_was_wanted_decided_changed_and_broken_is_in() {
    let text = summary(&run(), 130, &bpe);
    for part in [
        "remember the last user name",
        "must work without cookies",
        "decided on localStorage",
        "Error: localStorage is not defined",
        "stub it in login.test.ts next",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    for part in ["nothing else here", "running 14", "user: OK."] {
        assert!(!text.contains(part), "{part}:\n{text}");
    }
}

/// A task that is longer than the work on it: rules and forms after the request, an example of another task before it.
#[test]
fn what_is_wanted_is_told_apart_from_rules_and_examples() {
    let rules: Vec<String> = (1..60)
        .map(|n| format!("{n}. Always issue command number {n} of the commands that the rules allow you to issue."))
        .collect();
    let example = format!("Here is an example of a task.\n{}", rules.join("\n"));
    let task = format!(
        "Timestamps lose their zone in the export.\nThe importer rejects such files, so the zone has to be written.\n{}",
        rules.join("\n")
    );
    let utterances = [
        (Speaker::User, example.as_str()),
        (Speaker::User, task.as_str()),
        (Speaker::Call(String::from("bash")), r#"{"command":"cd /app && grep -rn zone src | head -40"}"#),
        (tool("bash"), "277:    zone = find_zone(error)\n-rw-r--r-- 1 root root 236 Oct 24 2024 INSTALL"),
        (Speaker::Call(String::from("bash")), r#"{"command":"cd /app && sed -i 's/naive/aware/' src/export.py"}"#),
        (tool("bash"), ""),
        (Speaker::Assistant, "The export writes aware timestamps now."),
    ];
    let text = summary(&utterances, 160, &bpe);
    assert!(text.contains("Timestamps lose their zone") && text.contains("the zone has to be written"), "{text}");
    assert!(text.contains("aware timestamps now"), "{text}");
    assert!(!text.contains("INSTALL") && !text.contains("277:"), "{text}");
}

#[test]
fn speakers_stand_before_what_they_said_in_order() {
    let text = summary(&run(), 130, &bpe);
    let labels: Vec<&str> = text.lines().filter_map(|line| line.split_once(": ")).map(|(label, _)| label).collect();
    assert_eq!(labels.first(), Some(&"user"));
    assert!(labels.contains(&"tool bash") && labels.contains(&"assistant"), "{labels:?}");
    let place = |part: &str| text.find(part).expect(part);
    assert!(place("remember the last") < place("decided on") && place("decided on") < place("Error: localStorage"));
}

#[test]
fn all_of_a_short_talk_is_kept() {
    let utterances = [(Speaker::User, "Is it raining?"), (Speaker::Assistant, "No. The sun is out.")];
    assert_eq!(summary(&utterances, 50, &bpe), "user: Is it raining?\nassistant: No. The sun is out.");
}

#[test]
fn nothing_said_is_an_empty_summary() {
    for utterances in [&[][..], &[(Speaker::User, " \n")], &[(tool("t"), "---\n***")]] {
        assert_eq!(summary(utterances, 50, &bpe), "");
    }
}

#[test]
fn a_fence_is_whole_or_absent() {
    let code = "```rust\nfn main() {\n    println!(\"never cut me\");\n}\n```";
    let answer =
        format!("The main function prints a line, as you wanted:\n\n{code}\n\nIt was decided to keep it short.");
    let utterances =
        [(Speaker::User, "Write a main function that prints a line."), (Speaker::Assistant, answer.as_str())];
    let mut seen = [false; 2];
    for tokens in 0..100 {
        let text = summary(&utterances, tokens, &bpe);
        let whole = text.contains(code);
        assert!(whole || !text.contains("```") && !text.contains("fn main()"), "{tokens}:\n{text}");
        seen[usize::from(whole)] = true;
    }
    assert_eq!(seen, [true; 2], "both occur");
}

/// A goal, a decision and an error among small talk, which with its labels does not fit whole.
fn found(user: &str, assistant: &str, again: &str, parts: &[&str]) {
    let utterances = [(Speaker::User, user), (Speaker::Assistant, assistant), (Speaker::User, again)];
    let tokens = utterances.iter().map(|(_, text)| bpe(text)).sum();
    let text = summary(&utterances, tokens, &bpe);
    assert!(bpe(&text) <= tokens, "{text}");
    for part in parts {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

#[test]
fn what_matters_is_found_in_german() {
    found(
        "Guten Morgen! Ich möchte die Rechnungen als PDF exportieren. Heute ist das Wetter schön.",
        "Das Wetter ist hier auch schön, und die Sonne scheint. Wir haben uns für die Bibliothek printpdf entschieden. Na dann.",
        "Gut. Der Export der Rechnungen ist aber mit einem Fehler abgebrochen. Sonst ist nichts.",
        &["möchte die Rechnungen", "printpdf entschieden", "mit einem Fehler"],
    );
}

#[test]
fn what_matters_is_found_in_chinese() {
    found(
        "早上好！我想要把发票导出成PDF文件。今天天气很好。",
        "这里天气也不错，太阳出来了。我们决定使用printpdf来导出发票。好吧。",
        "好的。但是导出发票时报错了，PDF文件是空的。其他没什么。",
        &["我想要把发票导出", "决定使用printpdf", "报错了"],
    );
}

#[test]
fn what_matters_is_found_in_japanese() {
    found(
        "おはようございます！請求書をPDFで出力したいです。今日はいい天気ですね。",
        "こちらも晴れています。請求書の出力にはprintpdfを使うことに決定しました。さて。",
        "はい。でも請求書の出力でエラーが出て、PDFが空でした。それだけです。",
        &["出力したいです", "printpdfを使うことに決定", "エラーが出て"],
    );
}

#[test]
fn what_matters_is_found_in_thai() {
    found(
        "สวัสดีตอนเช้า\nต้องการส่งออกใบแจ้งหนี้เป็นไฟล์ PDF\nวันนี้อากาศดี",
        "ที่นี่แดดออก\nตัดสินใจใช้ printpdf เพื่อส่งออกใบแจ้งหนี้\nเอาล่ะ",
        "โอเค\nแต่การส่งออกใบแจ้งหนี้ผิดพลาด ไฟล์ PDF ว่างเปล่า\nแค่นั้น",
        &["ต้องการส่งออกใบแจ้งหนี้", "ตัดสินใจใช้ printpdf", "ผิดพลาด"],
    );
}

#[test]
fn what_matters_is_found_in_arabic() {
    found(
        "صباح الخير! أريد تصدير الفواتير إلى ملف PDF. الطقس جميل اليوم.",
        "الشمس مشرقة هنا أيضا. قررنا استخدام printpdf في تصدير الفواتير. حسنا.",
        "جيد. لكن حدث خطأ في تصدير الفواتير والملف فارغ. لا شيء آخر.",
        &["أريد تصدير الفواتير", "قررنا استخدام printpdf", "حدث خطأ"],
    );
}

#[test]
fn what_matters_is_found_in_korean() {
    found(
        "안녕하세요! 송장을 PDF로 내보내고 싶어요, 꼭 필요합니다. 오늘 날씨가 좋네요.",
        "여기도 맑습니다. 송장을 내보내는 데 printpdf를 쓰기로 결정했습니다. 자.",
        "네. 그런데 송장을 내보낼 때 오류가 나서 PDF가 비어 있어요. 그게 다예요.",
        &["꼭 필요합니다", "쓰기로 결정했습니다", "오류가 나서"],
    );
}

/// Work is bounded where output is long: of a megabyte, only the error at its beginning is counted.
#[test]
fn megabytes_of_output_are_not_weighed() {
    let log = format!("ERROR disk full on /dev/sda1\n{}", "all is well here\n".repeat(60_000));
    let mut utterances = vec![(Speaker::User, "Why does the backup of the disk stop?")];
    utterances.extend((0..20).map(|_| (tool("bash"), log.as_str())));
    let counted = AtomicUsize::new(0);
    let text = summary(&utterances, 60, &|text: &str| {
        counted.fetch_add(text.len(), Ordering::Relaxed);
        words(text)
    });
    assert!(text.contains("ERROR disk full on /dev/sda1"), "{text}");
    assert!(counted.load(Ordering::Relaxed) < 100_000, "{counted:?} bytes counted of {}", log.len() * 20);
}

#[test]
fn every_run_and_every_thread_writes_the_same() {
    let first = summary(&run(), 90, &bpe);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(summary(&run(), 90, &bpe), first));
        }
    });
}

fn speaker() -> impl Strategy<Value = Speaker> {
    prop_oneof![
        Just(Speaker::User),
        Just(Speaker::Assistant),
        Just(Speaker::System),
        "[a-z_]{1,12}".prop_map(Speaker::Call),
        "[a-z_]{1,12}".prop_map(Speaker::Tool),
    ]
}

/// Prose, code, JSON, scripts without spaces, and anything at all.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "([A-Z][a-z]{1,8}( [a-z]{1,9}){0,12}[.!?] ?){1,4}",
        "```[a-z]{0,4}\n([a-z(){};= ]{0,30}\n){0,6}```\n",
        "\\{\"[a-z]{1,5}\":(\"[^\"\\\\]{0,20}\"|[0-9]{1,4})\\}",
        "[東京都に行きたいです。請求書]{1,30}",
        "[กขคงจสวัดี ]{1,30}",
        "(\\PC|[\r\n\t\u{1b}]){0,40}",
        "[ \n]{0,5}",
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(crate::properties::property(160))]

    #[test]
    fn no_budget_is_ever_exceeded(utterances in prop::collection::vec((speaker(), text()), 0..12), tokens in 0_usize..300) {
        let utterances: Vec<(Speaker, &str)> = utterances.iter().map(|(speaker, text)| (speaker.clone(), text.as_str())).collect();
        let text = summary(&utterances, tokens, &bpe);
        prop_assert!(bpe(&text) <= tokens, "{} of {}: {}", bpe(&text), tokens, text);
        prop_assert_eq!(&text, &summary(&utterances, tokens, &bpe));
        let quick = summary(&utterances, tokens, &words);
        prop_assert!(words(&quick) <= tokens);
    }
}
