//! Transcripts of any size: each function makes one of so many messages, calls, results, faults or records.

use std::fmt::Write as _;

fn call(id: &str) -> String {
    format!(r#"{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#)
}

/// One message with all the calls, and what follows it.
pub(super) fn one_message(calls: usize, answered: bool) -> String {
    let calls_json: Vec<String> = (0..calls).map(|nth| call(&format!("c{nth}"))).collect();
    let mut text = format!(
        "{}\n{{\"role\":\"assistant\",\"content\":\"ok\",\"tool_calls\":[{}]}}\n",
        r#"{"role":"user","content":"go"}"#,
        calls_json.join(",")
    );
    for nth in (0..calls).filter(|_| answered) {
        let _ = writeln!(text, r#"{{"role":"tool","tool_call_id":"c{nth}","content":"ok"}}"#);
    }
    text + "{\"role\":\"user\",\"content\":\"and?\"}\n"
}

/// A message of Claude's export with many calls and results.
pub(super) fn exported(calls: usize) -> String {
    let call = |nth: usize| format!("{{\"type\":\"tool_use\",\"id\":\"c{nth}\",\"name\":\"f\",\"input\":{{}}}}");
    let result = |nth: usize| {
        let id = if nth.is_multiple_of(2) { format!("\"c{nth}\"") } else { String::from("null") };
        format!("{{\"type\":\"tool_result\",\"tool_use_id\":{id},\"name\":\"f\",\"content\":\"seen\"}}")
    };
    let blocks: Vec<String> = (0..calls).map(call).chain((0..calls).map(result)).collect();
    let asked = "{\"uuid\":\"m\",\"sender\":\"human\",\"text\":\"Look\"}";
    let blocks = blocks.join(",");
    format!(
        "{{\"chat_messages\":[{asked},{{\"uuid\":\"n\",\"sender\":\"assistant\",\"text\":\"\",\"content\":[{blocks}]}}]}}\n"
    )
}

/// A message with many parts, each beside a long text that no format knows.
pub(super) fn unknown_beside_parts(parts: usize) -> String {
    let part = |nth: usize| format!("{{\"text\":\"{nth}\",\"note\":\"{}\"}}", "so it goes on and on. ".repeat(3));
    let parts: Vec<String> = (0..parts).map(part).collect();
    format!("{{\"contents\":[{{\"role\":\"user\",\"parts\":[{}]}}]}}\n", parts.join(","))
}

/// A message with nothing but thoughts.
pub(super) fn thoughts(count: usize) -> String {
    let thought = |nth: usize| format!("{{\"type\":\"thinking\",\"thinking\":\"{nth}\",\"signature\":\"c2ln\"}}");
    let thoughts: Vec<String> = (0..count).map(thought).collect();
    let asked = "{\"role\":\"user\",\"content\":\"go\"}";
    format!("{asked}\n{{\"role\":\"assistant\",\"content\":[{}]}}\n", thoughts.join(","))
}

/// A message with many thoughts, which have the signatures of its call.
pub(super) fn signing_thoughts(count: usize) -> String {
    let thought = |nth: usize| format!("{{\"text\":\"{nth}\",\"thought\":true,\"thoughtSignature\":\"c2ln\"}}");
    let thoughts: Vec<String> = (0..count).map(thought).collect();
    format!(
        "{{\"role\":\"user\",\"parts\":[{{\"text\":\"go\"}}]}}\n\
         {{\"role\":\"model\",\"parts\":[{},{{\"functionCall\":{{\"name\":\"f\",\"args\":{{}}}}}}]}}\n\
         {{\"role\":\"user\",\"parts\":[{{\"functionResponse\":{{\"name\":\"f\",\"response\":{{}}}}}}]}}\n\
         {{\"role\":\"user\",\"parts\":[{{\"text\":\"and?\"}}]}}\n",
        thoughts.join(",")
    )
}

/// Calls without ids in one message, all answered in the next.
pub(super) fn gemini(calls: usize) -> String {
    let called = vec![r#"{"functionCall":{"name":"f","args":{}}}"#; calls].join(",");
    let answered = vec![r#"{"functionResponse":{"name":"f","response":{"output":"ok"}}}"#; calls].join(",");
    format!(
        "{{\"role\":\"user\",\"parts\":[{{\"text\":\"go\"}}]}}\n{{\"role\":\"model\",\"parts\":[{called}]}}\n\
         {{\"role\":\"user\",\"parts\":[{answered}]}}\n{{\"role\":\"model\",\"parts\":[{{\"text\":\"done\"}}]}}\n"
    )
}

/// A recording of Gemini CLI: each answer is written twice, and now and then the last prompts are rolled back.
pub(super) fn recorded(messages: usize) -> String {
    let mut text = String::from("{\"sessionId\":\"s\",\"projectHash\":\"9f2c\",\"kind\":\"main\"}\n");
    for nth in 0..messages / 2 {
        text += &format!("{{\"id\":\"u{nth}\",\"type\":\"user\",\"content\":[{{\"text\":\"go\"}}]}}\n");
        text += &format!("{{\"id\":\"g{nth}\",\"type\":\"gemini\",\"content\":\"done\"}}\n").repeat(2);
        if nth % 50 == 49 {
            text += &format!("{{\"$rewindTo\":\"u{}\"}}\n", nth - 1);
        }
    }
    text
}

/// Consecutive calls whose results all come later, after a text.
pub(super) fn detached(calls: usize) -> String {
    let mut text = String::from("{\"role\":\"user\",\"content\":\"go\"}\n");
    for nth in 0..calls {
        let _ = writeln!(text, r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, call(&format!("c{nth}")));
    }
    text.push_str("{\"role\":\"user\",\"content\":\"and?\"}\n");
    for nth in 0..calls {
        let _ = writeln!(text, r#"{{"role":"tool","tool_call_id":"c{nth}","content":"ok"}}"#);
    }
    text
}

/// Calls whose results come three calls later, each beside a text: a window that drops a call takes a text out of the round in
/// flight, reaches less far back, and drops the next call.
pub(super) fn retreating(calls: usize) -> String {
    let question = "{\"role\":\"user\",\"content\":\"go\"}\n";
    let mut text = String::from(question);
    for nth in 0..calls {
        let call = format!(r#"{{"type":"tool_use","id":"c{nth}","name":"f","input":{{}}}}"#);
        let _ = writeln!(text, r#"{{"role":"assistant","content":[{{"type":"text","text":"so"}},{call}]}}"#);
        if nth == 0 {
            let answer = "{\"role\":\"assistant\",\"content\":\"well\"}\n";
            text.push_str(&[answer, question, answer].concat());
        }
        if let Some(answered) = nth.checked_sub(3) {
            let result = format!(r#"{{"type":"tool_result","tool_use_id":"c{answered}","content":"ok"}}"#);
            let _ = writeln!(text, r#"{{"role":"user","content":[{result},{{"type":"text","text":"and"}}]}}"#);
        }
    }
    text
}

/// Calls behind one that is still pending, in a log of Claude Code: the notes about them have one place.
pub(super) fn behind_pending(calls: usize) -> String {
    let mut text = String::new();
    let mut line = |role: &str, content: &str| {
        let message = format!(r#"{{"role":"{role}","content":{content}}}"#);
        let _ = writeln!(text, r#"{{"sessionId":"s","parentUuid":null,"type":"{role}","message":{message}}}"#);
    };
    let call = |id: &str, name: &str| format!(r#"[{{"type":"tool_use","id":"{id}","name":"{name}","input":{{}}}}]"#);
    line("user", "\"go\"");
    line("assistant", &call("first", "g"));
    for nth in 0..calls {
        line("assistant", &call(&format!("c{nth}"), "f"));
    }
    for nth in 0..calls {
        line("user", &format!(r#"[{{"type":"tool_result","tool_use_id":"c{nth}","content":"ok"}}]"#));
    }
    text
}

/// Calls in a log of Claude Code, and a first kept message that hangs from a long line of kept records before them.
pub(super) fn behind_a_long_line(records: usize) -> String {
    let mut text = String::new();
    let mut line = |parent: usize, id: usize, rest: &str| {
        let links = format!("\"parentUuid\":\"u{parent}\",\"uuid\":\"u{id}\",\"isSidechain\":false");
        let _ = writeln!(text, r#"{{"sessionId":"s",{links},{rest}}}"#);
    };
    let message =
        |role: &str, content: &str| format!(r#""type":"{role}","message":{{"role":"{role}","content":{content}}}"#);
    for nth in 1..=records {
        line(nth - 1, nth, r#""type":"system","content":"ok""#);
    }
    for nth in records + 1..=records * 2 {
        line(
            nth - 1,
            nth,
            &message("assistant", &format!(r#"[{{"type":"tool_use","id":"c{nth}","name":"f","input":{{}}}}]"#)),
        );
    }
    for nth in records + 1..=records * 2 {
        let result = format!(r#"[{{"type":"tool_result","tool_use_id":"c{nth}","content":"ok"}}]"#);
        line(nth + records - 1, nth + records, &message("user", &result));
    }
    line(records, records * 3 + 1, &message("user", "\"and?\""));
    text
}

/// A log of Claude Code with a small conversation of a sub-agent for each call of the main one; the last call of each is open.
pub(super) fn side_conversations(calls: usize) -> String {
    let mut text = String::new();
    let mut line = |head: &str, role: &str, content: &str| {
        let message = format!(r#"{{"role":"{role}","content":{content}}}"#);
        let _ = writeln!(text, r#"{{"sessionId":"s",{head},"type":"{role}","message":{message}}}"#);
    };
    let call = |id: &str| format!(r#"[{{"type":"tool_use","id":"{id}","name":"f","input":{{}}}}]"#);
    let result = |id: &str| format!(r#"[{{"type":"tool_result","tool_use_id":"{id}","content":"ok"}}]"#);
    line(r#""uuid":"m0","parentUuid":null"#, "user", "\"go\"");
    for nth in 0..calls {
        let main = |own: &str, parent: &str| format!(r#""uuid":"{own}","parentUuid":"{parent}","isSidechain":false"#);
        line(&main(&format!("c{nth}"), &format!("m{nth}")), "assistant", &call(&format!("c{nth}")));
        let side = |own: usize| {
            let parent =
                own.checked_sub(1).map_or_else(|| String::from("null"), |parent| format!("\"s{nth}-{parent}\""));
            format!(r#""uuid":"s{nth}-{own}","parentUuid":{parent},"isSidechain":true,"agentId":"a{nth}""#)
        };
        line(&side(0), "user", "\"look\"");
        line(&side(1), "assistant", &call(&format!("s{nth}")));
        line(&side(2), "user", &result(&format!("s{nth}")));
        line(&side(3), "assistant", &call(&format!("t{nth}")));
        line(&main(&format!("m{}", nth + 1), &format!("c{nth}")), "user", &result(&format!("c{nth}")));
    }
    text
}

/// Many short messages, in lines.
pub(super) fn messages(count: usize) -> String {
    "{\"role\":\"user\",\"content\":\"and another of the many words in a row\"}\n".repeat(count)
}

/// A log of pi with a compaction after every reply; each keeps everything from the first message on.
pub(super) fn compactions(count: usize) -> String {
    let mut text = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/\"}\n");
    let mut line = |id: usize, rest: &str| {
        let parent = id.checked_sub(1).map_or_else(|| String::from("null"), |parent| format!("\"e{parent}\""));
        let _ = writeln!(text, r#"{{"type":{rest},"id":"e{id}","parentId":{parent}}}"#);
    };
    for nth in 0..count {
        for (at, role) in ["user", "assistant"].into_iter().enumerate() {
            let content = r#"[{"type":"text","text":"go"}]"#;
            line(nth * 3 + at, &format!(r#""message","message":{{"role":"{role}","content":{content}}}"#));
        }
        line(nth * 3 + 2, r#""compaction","summary":"s","firstKeptEntryId":"e0","tokensBefore":9"#);
    }
    text
}

/// A session of the Agent Development Kit with a compaction after every reply, which replaces everything before it. Every so
/// many invocations, the last two are rolled back.
pub(super) fn compactions_by_time(count: usize, rewind_every: usize) -> String {
    let mut text = String::new();
    let mut time = 0;
    let mut event = |invocation: usize, author: &str, rest: &str| {
        time += 1;
        let head = format!(r#""id":"e{time}","timestamp":{time},"invocation_id":"i{invocation}","author":"{author}""#);
        let _ = writeln!(text, "{{{head},{}}}", rest.replace("NOW", &time.to_string()));
    };
    for nth in 0..count {
        for (author, role) in [("user", "user"), ("agent", "model")] {
            event(nth, author, &format!(r#""content":{{"role":"{role}","parts":[{{"text":"go"}}]}}"#));
        }
        let summary = r#"{"role":"model","parts":[{"text":"s"}]}"#;
        let times = r#""start_timestamp":0,"end_timestamp":NOW"#;
        event(nth, "user", &format!(r#""actions":{{"compaction":{{{times},"compacted_content":{summary}}}}}"#));
        if (nth + 1).is_multiple_of(rewind_every) {
            event(nth, "user", &format!(r#""actions":{{"rewind_before_invocation_id":"i{}"}}"#, nth - 1));
        }
    }
    text
}

/// A log of Claude Code with a compaction after every reply, which preserves that reply.
pub(super) fn preserving_compactions(count: usize) -> String {
    let mut text = String::new();
    for nth in 0..count {
        for role in ["user", "assistant"] {
            let message = format!(r#"{{"role":"{role}","content":"go","id":"m{nth}"}}"#);
            let _ = writeln!(text, r#"{{"type":"{role}","sessionId":"s","uuid":"{role}{nth}","message":{message}}}"#);
        }
        let kept = format!(r#"{{"preservedMessages":{{"uuids":["assistant{nth}"]}}}}"#);
        let _ = writeln!(
            text,
            r#"{{"type":"system","subtype":"compact_boundary","uuid":"b{nth}","sessionId":"s","compactMetadata":{kept}}}"#
        );
    }
    text
}

/// A log of Codex in which every second turn is rolled back alone, and the others together with everything before them.
pub(super) fn rolled_back(turns: usize) -> String {
    let mut text = String::from("{\"type\":\"session_meta\",\"payload\":{\"id\":\"x\",\"cwd\":\"/\"}}\n");
    for nth in 0..turns {
        for (role, kind) in [("user", "input_text"), ("assistant", "output_text")] {
            let content = format!(r#"[{{"type":"{kind}","text":"q"}}]"#);
            let payload = format!(r#"{{"type":"message","role":"{role}","content":{content}}}"#);
            let _ = writeln!(text, r#"{{"type":"response_item","payload":{payload}}}"#);
        }
        let count = if nth % 2 == 0 { 1_000_000 } else { 1 };
        let payload = format!(r#"{{"type":"thread_rolled_back","num_turns":{count}}}"#);
        let _ = writeln!(text, r#"{{"type":"event_msg","payload":{payload}}}"#);
    }
    text
}

/// A log of `OpenHands` with the sums of the usage after each reply.
pub(super) fn summed_usages(replies: usize) -> String {
    let mut text = String::new();
    for nth in 0..replies {
        let call = format!(r#""tool_call_id":"c{nth}","tool_name":"f","llm_response_id":"r{nth}""#);
        let _ = writeln!(text, r#"{{"kind":"ActionEvent","id":"a{nth}","source":"agent",{call}}}"#);
        let usage = format!(r#"{{"accumulated_token_usage":{{"prompt_tokens":{}}}}}"#, nth * 100 + 100);
        let value = format!(r#"{{"usage_to_metrics":{{"agent":{usage}}}}}"#);
        let _ = writeln!(text, r#"{{"kind":"ConversationStateUpdateEvent","source":"environment","value":{value}}}"#);
    }
    text
}

/// Questions and answers, in lines.
pub(super) fn chat(messages: usize) -> String {
    let exchange = "{\"role\":\"user\",\"content\":\"x\"}\n{\"role\":\"assistant\",\"content\":\"y\"}\n";
    exchange.repeat(messages / 2)
}

/// Call number `nth` with its result; the assistant message has `text`, which is JSON.
fn round(nth: usize, text: &str) -> String {
    let called = call(&format!("c{nth}"));
    format!(
        "{{\"role\":\"assistant\",\"content\":{text},\"tool_calls\":[{called}]}}\n\
         {{\"role\":\"tool\",\"tool_call_id\":\"c{nth}\",\"content\":\"a long line of src/main.rs, {nth}\"}}\n"
    )
}

/// A question, and calls with their results; the model writes text beside every call whose number is a multiple of `every`, and
/// names the same file.
fn agent(messages: usize, every: usize) -> String {
    let begin = "{\"role\":\"system\",\"content\":\"be brief\"}\n{\"role\":\"user\",\"content\":\"go\"}\n";
    let text = |nth: usize| if nth.is_multiple_of(every) { "\"now src/main.rs\"" } else { "null" };
    begin.to_owned() + &(0..messages / 2).map(|nth| round(nth, text(nth))).collect::<String>()
}

pub(super) fn talkative(messages: usize) -> String {
    agent(messages, 3)
}

pub(super) fn silent(messages: usize) -> String {
    agent(messages, messages)
}

/// Questions and answers, and a result before every hundredth.
pub(super) fn rarely(messages: usize) -> String {
    (0..messages / 100).map(|nth| round(nth, "null") + &chat(98)).collect()
}

/// A hundred short messages that templates of these tests render, and between them others that they do not.
pub(super) fn marked(count: usize, others: &str) -> String {
    let text = |nth: usize| if nth.is_multiple_of(count / 100) { "mark" } else { others };
    (0..count).map(|nth| format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", text(nth))).collect()
}

/// A pretty-printed list of records.
pub(super) fn list(records: usize) -> String {
    let record = "{\n  \"messages\": [\n    {\"role\": \"user\", \"content\": \"one\"}\n  ]\n}";
    format!("[\n{}\n]\n", vec![record; records].join(",\n"))
}

/// A list of records in a line, each with a question.
pub(super) fn records_in_a_list(records: usize) -> String {
    format!("[{}]\n", vec![r#"{"messages":[{"role":"user","content":"one"}]}"#; records].join(","))
}

/// A message and a result with so many images each.
pub(super) fn images(count: usize) -> String {
    let image =
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAA"}}"#;
    let all = vec![image; count].join(",");
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"look","input":{}}]}"#;
    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":["#;
    format!("{{\"role\":\"user\",\"content\":[{all}]}}\n{call}\n{result}{all}]}}]}}\n")
}

/// A list of records, each with an orphan.
pub(super) fn orphans_in_a_list(records: usize) -> String {
    let record = r#"{"messages":[{"role":"user","content":"go"},{"role":"tool","tool_call_id":"c","content":"one"}]}"#;
    format!("[{}]\n", vec![record; records].join(",\n"))
}

/// Conversations of a dataset in one list.
pub(super) fn dataset(conversations: usize) -> String {
    let turn = |from: &str| format!("{{\"from\":\"{from}\",\"value\":\"{}\"}}", "so it goes ".repeat(9));
    let conversation = format!("{{\"conversations\":[{},{}]}}", turn("human"), turn("gpt"));
    format!("[{}]", vec![conversation; conversations].join(","))
}

/// A row to learn a preference from, whose answers are whole conversations that differ in the last message.
pub(super) fn preference(messages: usize) -> String {
    let asked = r#"{"role":"user","content":"a question"},{"role":"assistant","content":"an answer"}"#;
    let shared = vec![asked; messages / 2].join(",");
    let side = |last: &str| format!("[{shared},{{\"role\":\"assistant\",\"content\":\"{last}\"}}]");
    format!("{{\"chosen\":{},\"rejected\":{}}}\n", side("Yes."), side("No."))
}

/// A conversation in which only the user speaks, before one answer.
pub(super) fn one_side(messages: usize) -> String {
    let asked = vec![r#"{"from":"human","value":"and?"}"#; messages].join(",");
    format!("{{\"conversations\":[{asked},{{\"from\":\"gpt\",\"value\":\"Well.\"}}]}}\n")
}

/// Messages of which each third has a role that no format defines.
pub(super) fn unknown_roles(messages: usize) -> String {
    let lines = [r#"{"role":"user","content":"a"}"#, r#"{"role":"assistant","content":"b"}"#, r#"{"role":"exit"}"#];
    lines.iter().cycle().take(messages).map(|line| format!("{line}\n")).collect()
}

/// Calls of one message, none with an id or a name that the provider accepts.
pub(super) fn misnamed(calls: usize) -> String {
    let call = |nth: usize| format!(r#"{{"type":"tool_use","id":"c {nth}","name":"f {}","input":{{}}}}"#, nth % 9);
    let result = |nth: usize| format!(r#"{{"type":"tool_result","tool_use_id":"c {nth}","content":"ok"}}"#);
    let [calls, results] = [(0..calls).map(call).collect::<Vec<_>>(), (0..calls).map(result).collect()];
    format!(
        "{{\"role\":\"user\",\"content\":\"go\"}}\n{{\"role\":\"assistant\",\"content\":[{}]}}\n{{\"role\":\"user\",\"content\":[{}]}}\n",
        calls.join(","),
        results.join(",")
    )
}

/// A conversation with many facts of every kind, each another one.
pub(super) fn facts(messages: usize) -> String {
    let line = |role: &str, text: &str| format!("{{\"role\":\"{role}\",\"content\":\"{text}\"}}\n");
    let said = |nth: usize| {
        let asked = format!("Never touch src/file{nth}.rs again. TODO: port module_{nth}. The limit is {nth}4321 now.");
        let told = format!(
            "We decided to use crate_{nth} instead of crate_{}. pytest tests/part{nth} passes, `make target-{nth}` fails.",
            nth + 1
        );
        line("user", &asked) + &line("assistant", &told)
    };
    (0..messages / 2).map(said).collect()
}

/// A log of Kimi whose compactions keep two prompts each, and which is cleared now and then.
pub(super) fn kept_prompts(turns: usize) -> String {
    let turn = |nth: usize| {
        let content = format!("[{{\"type\":\"text\",\"text\":\"{nth}\"}}]");
        let message = |role: &str| {
            format!(
                "{{\"type\":\"context.append_message\",\"message\":{{\"role\":\"{role}\",\"content\":{content},\"toolCalls\":[]}},\"time\":1}}\n"
            )
        };
        let change = match nth % 4 {
            0 => "{\"type\":\"context.clear\",\"time\":1}\n",
            _ => {
                "{\"type\":\"context.apply_compaction\",\"summary\":\"So far.\",\"compactedCount\":2,\"keptUserMessageCount\":2,\"tokensAfter\":9,\"time\":1}\n"
            }
        };
        message("user") + &message("assistant") + change
    };
    (0..turns).map(turn).collect()
}

/// A log of the Kimi CLI in which old results are cleared after every reply.
pub(super) fn clearings(turns: usize) -> String {
    let mut text = String::new();
    for nth in 0..turns {
        for role in ["user", "assistant"] {
            let content = r#"[{"type":"text","text":"go"}]"#;
            let message = format!(r#"{{"role":"{role}","content":{content},"toolCalls":[]}}"#);
            let _ = writeln!(text, r#"{{"type":"context.append_message","message":{message},"time":1}}"#);
        }
        let _ = writeln!(text, r#"{{"type":"micro_compaction.apply","cutoff":{},"time":1}}"#, 2 * nth);
    }
    text
}

/// A reply that begins many calls and ends none.
pub(super) fn open_tags(calls: usize) -> String {
    let tags = "<tool_call>{".repeat(calls);
    format!(
        "{{\"role\":\"user\",\"content\":\"go\"}}\n{{\"role\":\"assistant\",\"content\":\"{tags}\"}}\n{{\"role\":\"tool\",\"content\":\"ok\"}}\n"
    )
}

/// A record of many prompts before the only reply.
pub(super) fn prompts_before_a_reply(prompts: usize) -> String {
    let prompt = |nth: usize| format!("{{\"role\":\"user\",\"content\":\"event {nth}\"}}");
    let prompts: Vec<String> = (0..prompts).map(prompt).collect();
    format!("{{\"messages\":[{},{{\"role\":\"assistant\",\"content\":\"ok\"}}]}}\n", prompts.join(","))
}

/// A log of Codex with many questions and answers.
pub(super) fn rollout(messages: usize) -> String {
    let line = |nth: usize| {
        let (role, kind) = [("user", "input_text"), ("assistant", "output_text")][nth % 2];
        format!(
            "{{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"{role}\",\
             \"content\":[{{\"type\":\"{kind}\",\"text\":\"message {nth} of many\"}}]}}}}\n"
        )
    };
    (0..messages).map(line).collect()
}

/// A log of Codex with what a program printed behind it.
pub(super) fn noise(lines: usize) -> String {
    rollout(4) + &"INFO starting\n".repeat(lines)
}
