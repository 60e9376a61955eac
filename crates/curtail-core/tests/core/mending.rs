//! What `check --fix` writes: all that was said is still there, and nothing else has changed.

use curtail_core::dialects::Framing;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{Repair, RepairMode};

use crate::checked;
use crate::dialects::files::cut;
use crate::laws::check::cut_with;

/// `text` with what can be mended of it; unchanged, if nothing can.
fn mended(provider: &str, warn: &[&str], text: &str) -> String {
    mended_with(provider, warn, text, true)
}

/// The same, `unsafely` or without mends after which the transcript says something else.
fn mended_with(provider: &str, warn: &[&str], text: &str, unsafely: bool) -> String {
    checked::mended(provider, warn, text, unsafely).unwrap_or_else(|| text.to_owned())
}

fn sharegpt(turns: &[(&str, &str)]) -> String {
    let turns: Vec<String> =
        turns.iter().map(|(from, value)| format!("{{\"from\":\"{from}\",\"value\":\"{value}\"}}")).collect();
    format!("{{\"conversations\":[{}]}}\n", turns.join(","))
}

#[test]
fn all_messages_of_a_run_are_joined() {
    let three = sharegpt(&[("human", "AAA first"), ("human", "BBB second"), ("human", "CCC third"), ("gpt", "It is.")]);
    let one = sharegpt(&[("human", r"AAA first\n\nBBB second\n\nCCC third"), ("gpt", "It is.")]);
    assert_eq!(mended("", &[], &three), one);

    let block = |text: &str| format!("{{\"text\":\"{text}\"}}");
    let message = |role: &str, blocks: &[&str]| {
        let blocks: Vec<String> = blocks.iter().map(|text| block(text)).collect();
        format!("{{\"role\":\"{role}\",\"content\":[{}]}}", blocks.join(","))
    };
    let bedrock = |messages: &[String]| format!("{{\"messages\":[{}]}}\n", messages.join(", "));
    let three = bedrock(&[
        message("user", &["A"]),
        message("user", &["B"]),
        message("user", &["C"]),
        message("assistant", &["Yes."]),
    ]);
    let one = bedrock(&[message("user", &["A", "B", "C"]), message("assistant", &["Yes."])]);
    assert_eq!(mended("bedrock", &[], &three), one);
}

/// Ollama's own API takes objects as arguments, and no content.
#[test]
fn arguments_are_objects_where_the_format_is_that_of_ollama() {
    let chat = concat!(
        r#"{"messages":[{"role":"user","content":"Rain?"},"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]},"#,
        r#"{"role":"tool","tool_name":"weather","content":"no"}]}"#,
    );
    assert_eq!(mended("", &[], chat), chat.replace(r#""{\"city\":\"Oslo\"}""#, r#"{"city":"Oslo"}"#));
}

/// A member that is `null` is replaced: a second one with its key would be another fault.
#[test]
fn arguments_of_null_are_written_in_its_place() {
    let chat = concat!(
        r#"{"role":"user","content":"Rain?"}"#,
        "\n",
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":null}}]}"#,
        "\n",
        r#"{"role":"tool","tool_call_id":"call_1","content":"no"}"#,
        "\n",
    );
    assert_eq!(mended("openai", &[], chat), chat.replace(r#""arguments":null"#, r#""arguments":"{}""#));
}

/// Bedrock's mark is a block of its own, and what would be left of it is refused.
#[test]
fn a_mark_that_is_a_block_of_its_own_is_removed_with_it() {
    let mark = r#"{"cachePoint":{"type":"default"}}"#;
    let request = |first: &str| {
        format!(
            r#"{{"modelId":"m","system":[{{"text":"Be brief."}},{mark}],"toolConfig":{{"tools":[{{"toolSpec":{{"name":"x","inputSchema":{{"json":{{}}}}}}}},{mark}]}},"messages":[{{"role":"user","content":[{{"text":"Rain?"}}{first}]}},{{"role":"assistant","content":[{{"text":"No."}},{mark}]}},{{"role":"user","content":[{{"text":"Snow?"}},{mark}]}}]}}"#
        )
    };
    assert_eq!(mended_with("", &[], &request(&format!(",{mark}")), false), request(""));
}

/// A request whose choice names a tool that it does not define is refused as well.
#[test]
fn a_tool_that_the_choice_names_stays() {
    let openai = |tools: &[String], choice: &str| {
        let tools = tools.join(",");
        format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":"Rain?"}}],"tools":[{tools}],"tool_choice":{choice}}}"#
        )
    };
    let tool = |at: usize| format!(r#"{{"type":"function","function":{{"name":"t{at}","parameters":{{}}}}}}"#);
    let mut tools: Vec<String> = (0..130).map(tool).collect();
    let named = r#"{"type":"function","function":{"name":"t129"}}"#;
    let allowed = format!(r#"{{"type":"allowed_tools","allowed_tools":{{"mode":"auto","tools":[{named}]}}}}"#);
    let all = tools.clone();
    tools.drain(127..129);
    for choice in [named, &allowed] {
        assert_eq!(mended("openai", &[], &openai(&all, choice)), openai(&tools, choice));
    }
    assert_eq!(mended("openai", &[], &openai(&all, r#""auto""#)), openai(&all[..128], r#""auto""#));

    let gemini = |count: usize, last: &str| {
        let tools: Vec<String> = (0..count).map(|at| format!(r#"{{"name":"t{at}"}}"#)).collect();
        let tools = tools.join(",");
        format!(
            r#"{{"contents":[{{"role":"user","parts":[{{"text":"Rain?"}}]}}],"tools":[{{"functionDeclarations":[{tools},{last}]}}],"toolConfig":{{"functionCallingConfig":{{"mode":"ANY","allowedFunctionNames":["rain"]}}}}}}"#
        )
    };
    let rain = r#"{"name":"rain"}"#;
    assert_eq!(mended("gemini", &[], &gemini(513, rain)), gemini(511, rain));
}

/// The longer a run is, the more of it would be lost.
#[test]
fn runs_of_every_length_are_joined() {
    for length in 2..20 {
        let texts: Vec<String> = (0..length).map(|nth| format!("question {nth}")).collect();
        let asked = |from: usize| texts[from..].iter().map(|text| ("human", text.as_str()));
        let turns: Vec<(&str, &str)> =
            asked(0).chain([("gpt", "Well.")]).chain(asked(1)).chain([("gpt", "Yes.")]).collect();
        let joined = [texts.join(r"\n\n"), texts[1..].join(r"\n\n")];
        let expected = sharegpt(&[("human", &joined[0]), ("gpt", "Well."), ("human", &joined[1]), ("gpt", "Yes.")]);
        assert_eq!(mended("", &[], &sharegpt(&turns)), expected);
    }
}

/// Two calls in one text would be no call, and would be dropped as one that cannot be read.
#[test]
fn calls_are_not_joined() {
    let call = |city: &str| format!(r#"{{\"name\":\"rain\",\"arguments\":{{\"city\":\"{city}\"}}}}"#);
    let [oslo, rome] = ["Oslo", "Rome"].map(call);
    let turns = [
        ("human", "Rain?"),
        ("function_call", oslo.as_str()),
        ("function_call", rome.as_str()),
        ("observation", "rain"),
        ("observation", "sun"),
        ("gpt", "In Oslo."),
    ];
    assert_eq!(mended("", &[], &sharegpt(&turns)), sharegpt(&turns));
}

#[test]
fn what_stands_between_the_messages_of_a_run_stays() {
    let turns = [("human", "A"), ("system", "Be brief."), ("human", "B"), ("gpt", "Yes.")];
    let after = mended("", &[], &sharegpt(&turns));
    assert_eq!(after, sharegpt(&[("system", "Be brief."), ("human", r"A\n\nB"), ("gpt", "Yes.")]));
}

#[test]
fn arguments_and_results_of_other_calls_are_not_renamed() {
    let anthropic = concat!(
        r#"{"role":"user","content":"Read it."}"#,
        "\n",
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read file","input":{}},{"type":"tool_use","id":"toolu_2","name":"search","input":{"name":"read file"}}]}"#,
        "\n",
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"text"},{"type":"tool_result","tool_use_id":"toolu_2","content":[{"type":"text","text":"read file"}]}]}"#,
        "\n",
    );
    let expected = anthropic.replacen(r#""name":"read file""#, r#""name":"read_file""#, 1);
    assert_eq!(mended("anthropic", &[], anthropic), expected);

    let gemini = concat!(
        r#"{"contents":[{"role":"user","parts":[{"text":"Read it."}]},{"role":"model","parts":[{"functionCall":{"name":"read file","args":{}}},{"functionCall":{"name":"list_tools","args":{"of":{"name":"read file"}}}}]},"#,
        r#"{"role":"user","parts":[{"functionResponse":{"name":"read file","response":{"output":"text"}}},{"functionResponse":{"name":"list_tools","response":{"tools":[{"name":"read file"}]}}}]},{"role":"model","parts":[{"text":"Done."}]}]}"#,
        "\n",
    );
    let expected = gemini
        .replace(r#"functionCall":{"name":"read file"#, r#"functionCall":{"name":"read_file"#)
        .replace(r#"functionResponse":{"name":"read file"#, r#"functionResponse":{"name":"read_file"#);
    assert_eq!(mended("gemini", &[], gemini), expected);
    // Also beside the text of the result.
    let beside = gemini.replace(r#"{"output":"text"}"#, r#"{"output":"text","name":"read file"}"#);
    let expected = expected.replace(r#"{"output":"text"}"#, r#"{"output":"text","name":"read file"}"#);
    assert_eq!(mended("gemini", &[], &beside), expected);
}

#[test]
fn white_space_at_the_end_of_a_piece_is_removed_from_the_string() {
    let chat = |text: &str| {
        format!("{{\"role\":\"user\",\"content\":\"Rain?\"}}\n{{\"role\":\"assistant\",\"content\":\"{text}\"}}\n")
    };
    let after = mended("", &["trailing-white-space"], &chat(r#"<think>hm</think>It \"is\" "#));
    assert_eq!(after, chat(r#"<think>hm</think>It \"is\""#));
    assert_eq!(mended("", &["trailing-white-space"], &chat("It is ")), chat("It is"));
}

#[test]
fn a_member_of_an_empty_object_has_no_comma() {
    let chat = concat!(
        r#"{"role":"user","content":"Rain? \ud83e"}"#,
        "\n",
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{}}]}"#,
        "\n",
        r#"{"role":"tool","tool_call_id":"call_1","content":"no"}"#,
        "\n",
    );
    let after = mended("openai", &[], chat);
    assert!(after.contains(r#""arguments":"{}""#) && after.contains("ufffd"), "{after}");
    assert!(after.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{after}");
}

#[test]
fn all_answers_at_the_end_are_dropped() {
    let asked = "{\"role\":\"user\",\"content\":\"Rain?\"}\n";
    let answers: String =
        (0..25).map(|nth| format!("{{\"role\":\"assistant\",\"content\":\"No, {nth}.\"}}\n")).collect();
    assert_eq!(mended("", &["ends-with-assistant"], &format!("{asked}{answers}")), asked);
}

/// The provider answered the call in the message itself, so nothing is open. What a client answered is not dropped.
#[test]
fn an_answer_behind_an_answered_call_is_dropped() {
    let asked = "{\"role\":\"user\",\"content\":\"Rain?\"}\n";
    let call = r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}"#;
    let result = r#"{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}"#;
    let text = r#"{"type":"text","text":"It rains."}"#;
    let empty = r#"{"type":"text","text":""}"#;
    for (blocks, is_dropped) in
        [(&[call, result, text][..], true), (&[text, call, result], false), (&[text, call, result, empty], false)]
    {
        let chat = format!("{asked}{{\"role\":\"assistant\",\"content\":[{}]}}\n", blocks.join(","));
        let expected = if is_dropped { asked } else { chat.as_str() };
        let expected = expected.replace(&format!(",{empty}"), "");
        assert_eq!(mended("anthropic", &["ends-with-assistant"], &chat), expected);
    }
    let answered = r#"{"type":"tool-look","toolCallId":"c","state":"output-available","input":{},"output":"wet"}"#;
    for last in [text, r#"{"type":"step-start"}"#] {
        let chat = format!(
            r#"[{{"id":"a","role":"user","parts":[{{"type":"text","text":"Rain?"}}]}},{{"id":"b","role":"assistant","parts":[{answered},{last}]}}]"#
        );
        assert_eq!(mended("", &["ends-with-assistant"], &chat), chat);
    }
}

#[test]
fn several_items_of_unknown_roles_are_removed_at_once() {
    let ask = r#"{"role":"user","content":"Rain?"}"#;
    let say = r#"{"role":"assistant","content":"No."}"#;
    let exit = r#"{"role":"exit","content":"done"}"#;
    assert_eq!(mended("", &[], &[exit, ask, exit, say, exit, exit, ""].join("\n")), [ask, say, ""].join("\n"));
    let list = |items: &[&str]| format!("{{\"messages\": [{}]}}\n", items.join(", "));
    assert_eq!(mended("", &[], &list(&[exit, exit, ask, exit, say, exit, exit])), list(&[ask, say]));
}

/// No message is lost for the spelling of its role.
#[test]
fn an_undefined_role_of_known_meaning_gets_the_name_that_is_defined() {
    let chat = |roles: &[&str]| {
        let message = |(nth, role): (usize, &&str)| format!("{{\"role\":\"{role}\",\"content\":\"{nth}\"}}\n");
        roles.iter().enumerate().map(message).collect::<String>()
    };
    let right = chat(&["system", "user", "assistant"]);
    for provider in ["", "openai", "deepseek", "mistral"] {
        for roles in [["system", "human", "assistant"], ["system", "human", "bot"], ["system", "User", "ai"]] {
            let wrong = chat(&roles);
            for unsafely in [false, true] {
                assert_eq!(mended_with(provider, &[], &wrong, unsafely), right, "{provider} {roles:?} {unsafely}");
            }
        }
    }
    let left = chat(&["system", "human", "bot", "exit"]);
    assert_eq!(mended("", &[], &left), right);
    assert_eq!(mended_with("", &[], &left, false), chat(&["system", "user", "assistant", "exit"]));
}

#[test]
fn late_instructions_of_every_role_are_said_by_the_user() {
    let chat = |role: &str| {
        let lines = [
            r#"{"role":"user","content":"Rain?"}"#.to_owned(),
            format!("{{\"role\":\"{role}\",\"content\":\"Answer in one sentence.\"}}"),
            r#"{"role":"assistant","content":"No."}"#.to_owned(),
        ];
        lines.join("\n") + "\n"
    };
    for role in ["system", "developer"] {
        assert_eq!(mended("", &["system-not-first"], &chat(role)), chat("user"), "{role}");
    }
    // What the lists of a row repeat is mended in all of them.
    let row = |role: &str| {
        let list = |text: &str| {
            format!(
                "[{{\"role\":\"user\",\"content\":\"Hi\"}},{{\"role\":\"{role}\",\"content\":\"Be brief.\"}},{{\"role\":\"assistant\",\"content\":\"{text}\"}}]"
            )
        };
        format!("{{\"chosen\":{},\"rejected\":{}}}\n", list("Yes."), list("No."))
    };
    assert_eq!(mended("", &["system-not-first"], &row("system")), row("user"));
}

/// What a provider takes as it is, is left: only calls of functions have their arguments and their output in a text.
#[test]
fn items_of_the_responses_api_keep_the_shapes_of_their_types() {
    let request = |items: &str| {
        format!(r#"{{"model":"gpt-5","input":[{{"role":"user","content":"Open the page."}},{items}]}}"#) + "\n"
    };
    for items in [
        concat!(
            r#"{"type":"computer_call","id":"cu_1","call_id":"c1","action":{"type":"screenshot"},"pending_safety_checks":[],"status":"completed"},"#,
            r#"{"type":"computer_call_output","call_id":"c1","output":{"type":"computer_screenshot","image_url":"https://x/y.png"}}"#
        ),
        concat!(
            r#"{"type":"tool_search_call","id":"ts_1","call_id":"c1","execution":"client","arguments":{"goal":"shipping"},"status":"completed"},"#,
            r#"{"type":"tool_search_output","id":"to_1","call_id":"c1","execution":"client","tools":[],"status":"completed"}"#
        ),
        concat!(
            r#"{"type":"shell_call","id":"sh_1","call_id":"c1","action":{"commands":["ls"]},"status":"completed"},"#,
            r#"{"type":"shell_call_output","id":"so_1","call_id":"c1","output":[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]}"#
        ),
    ] {
        assert_eq!(mended("responses", &[], &request(items)), request(items));
    }
    let call = |arguments: &str, output: &str| {
        let call = format!(r#"{{"type":"function_call","call_id":"c1","name":"open","arguments":{arguments}}}"#);
        request(&format!(r#"{call},{{"type":"function_call_output","call_id":"c1","output":{output}}}"#))
    };
    assert_eq!(mended("responses", &[], &call("{}", r#"{"ok":1}"#)), call(r#""{}""#, r#""{\"ok\":1}""#));
}

#[test]
fn a_thought_stays_with_its_text() {
    let request = |parts: &str| {
        let call = format!(r#"{{"role":"model","parts":[{parts}]}}"#);
        let result = r#"{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"ok":1}}}]}"#;
        format!(
            r#"{{"model":"gemini-2.5-pro","contents":[{{"role":"user","parts":[{{"text":"Look."}}]}},{call},{result}]}}"#
        ) + "\n"
    };
    let joined = r#"{"text":"I think about it","thought":true,"functionCall":{"name":"look","args":{}},"thoughtSignature":"abc"}"#;
    let apart = concat!(
        r#"{"text":"I think about it","thought":true},"#,
        r#"{"functionCall":{"name":"look","args":{}},"thoughtSignature":"abc"}"#
    );
    assert_eq!(mended("gemini", &[], &request(joined)), request(apart));
}

/// A request to a provider that has a block where a list belongs is in no other format: a sound pair would be broken there.
#[test]
fn a_block_in_place_of_a_list_is_mended_and_nothing_else() {
    let pair = concat!(
        r#"{"role":"user","content":"hi"},"#,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]},"#
    );
    let calls = concat!(
        r#"{"role":"user","content":"hi"},"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},"#,
        r#"{"role":"tool","tool_call_id":"c1","content":"ok"},"#
    );
    let table = [
        (r#""model":"claude-sonnet-4-5","max_tokens":10"#, pair),
        (r#""model":"gpt-5""#, calls),
        (r#""model":"gpt-5""#, r#"{"role":"user","content":"hi"},"#),
    ];
    for (beside, before) in table {
        let request = |content: &str| {
            format!(r#"{{{beside},"messages":[{before}{{"role":"assistant","content":{content}}}]}}"#) + "\n"
        };
        let block = r#"{"type":"text","text":"done"}"#;
        assert_eq!(mended("", &[], &request(block)), request(&format!("[{block}]")), "{beside}");
    }
    // Without a model, nobody knows whether it is a request: nothing is wrong.
    let messages = format!("[{pair}{}]", r#"{"role":"assistant","content":{"type":"text","text":"done"}}"#);
    let of_cloud = format!(r#"{{"anthropic_version":"bedrock-2023-05-31","max_tokens":10,"messages":{messages}}}"#);
    for sound in [messages + "\n", of_cloud + "\n"] {
        assert_eq!(mended("", &[], &sound), sound);
    }
}

/// The result stays that a role in other letters is, and answers its call.
#[test]
fn roles_of_results_are_written_as_in_the_api() {
    let ask = r#"{"role":"user","content":"Rain?"}"#;
    let call = r#"{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{}"}}"#;
    let modern = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{call}]}}"#);
    let without_id = modern.replace(r#""id":"call_1","#, "");
    let legacy = r#"{"role":"assistant","content":null,"function_call":{"name":"weather","arguments":"{}"}}"#;
    for (call, result, usual) in [
        (modern.as_str(), r#"{"role":"Tool","tool_call_id":"call_1","content":"no"}"#, "tool"),
        (&without_id, r#"{"role":"TOOL","name":"weather","content":"no"}"#, "tool"),
        (&without_id, r#"{"role":"Observation","content":"no"}"#, "observation"),
        (legacy, r#"{"role":"Function","name":"weather","content":"no"}"#, "function"),
    ] {
        let chat = |result: &str| format!("{ask}\n{call}\n{result}\n{{\"role\":\"assistant\",\"content\":\"No.\"}}\n");
        let written = ["Tool", "TOOL", "Observation", "Function"];
        let mended_result = written.iter().fold(result.to_owned(), |text, name| text.replace(name, usual));
        assert_eq!(mended_with("", &[], &chat(result), false), chat(&mended_result), "{result}");
    }
}

/// The result of a call of a computer is a picture: no text stands in for it.
#[test]
fn a_call_of_a_computer_gets_no_stub() {
    let question = r#"{"role":"user","content":"Open the page."}"#;
    let call = r#"{"type":"computer_call","id":"cu_1","call_id":"c1","action":{"type":"screenshot"},"pending_safety_checks":[],"status":"completed"}"#;
    let request = |items: &[&str]| format!("{{\"model\":\"gpt-5\",\"input\":[{}]}}\n", items.join(","));
    let text = request(&[question, call, question]);
    let chain = Chain::default().then(Repair { mode: RepairMode::Stub, pending: true });
    assert_eq!(cut(chain, &text), request(&[question, question]));
}

/// The output of a program comes after the calls that the program made.
#[test]
fn a_program_with_calls_of_its_own_gets_no_stub() {
    let program = r#"{"type":"program","id":"p","call_id":"call_1","code":"await tools.f()"}"#;
    let call = r#"{"type":"function_call","id":"fc_1","call_id":"call_2","name":"f","arguments":"{}","caller":{"type":"program","caller_id":"call_1"}}"#;
    let question = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"Measure."}]}"#;
    let repair = || Chain::default().then(Repair { mode: RepairMode::Stub, pending: true });
    let cut = |items: &[&str]| {
        let text = items.iter().map(|item| format!("{item}\n")).collect::<String>();
        cut_with(repair(), Some("responses"), Framing::Lines, &text).expect("it is cut")
    };
    assert_eq!(cut(&[question, program, call]), format!("{question}\n"));
    assert!(cut(&[question, program]).contains("program_output"), "a program without calls is answered");
}
