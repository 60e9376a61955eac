//! Replies that stand beside the messages of their request: they are counted, and once.

use serde_json::{Value, json};

use super::files::read_transcripts;

/// A row may have its reply beside the messages and at their end, and a list of items more than the reply.
#[test]
fn only_the_reply_beside_the_messages_is_counted_and_once() {
    let asked = json!({"role": "user", "content": "Lit?"});
    let reply = json!({"role": "assistant", "content": "It is."});
    let items = json!([
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "A lamp that is lit."},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is."}]},
    ]);
    let said = json!([{"from": "human", "value": "Lit?"}, {"from": "gpt", "value": "It is."}]);
    let thought =
        json!([{"type": "thinking", "thinking": "It is.", "signature": "s"}, {"type": "text", "text": "No."}]);
    let named = json!([{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{\"lit\": true}"}}]);
    let call = json!({"role": "assistant", "content": null, "tool_calls": named});
    let many: Value = (0..2000).map(|at| json!({"role": "assistant", "content": format!("{}", at / 2)})).collect();
    for (row, count) in [
        (json!({"messages": [asked, reply], "response": {"message": reply}}), 0),
        (json!({"messages": [asked, reply], "output": [reply]}), 0),
        (json!({"messages": [asked, reply], "output": "It is."}), 0),
        (json!({"messages": [asked, reply], "response": [asked, reply]}), 0),
        (json!({"conversations": said, "output": "It is."}), 0),
        (json!({"messages": [["human", "Lit?"], ["ai", "It is."]], "output": "It is."}), 0),
        (json!({"messages": [asked, call], "response": "{\"lit\": true}"}), 0),
        (json!({"messages": [asked, call], "response": "look"}), 1),
        (json!({"messages": [asked, {"role": "assistant", "content": thought}], "response": "It is."}), 1),
        (json!({"messages": [asked], "response": [asked, reply]}), 1),
        (json!({"messages": [asked], "output": items}), 3),
        (json!({"messages": [asked], "output": [{"role": "ai", "content": "It is."}]}), 1),
        (json!({"messages": [asked], "output": [{"call_id": "c", "name": "look", "arguments": {"at": 1}}]}), 2),
        (json!({"messages": [asked], "output": many}), 1000),
        (json!({"prompt": [asked], "chosen": "It is.", "rejected": "No."}), 1),
        (json!({"messages": [asked], "chosen": "Yes.", "rejected": "It is not."}), 1),
        (json!({"messages": [asked], "chosen": "It is."}), 0),
        (json!({"messages": [asked, reply], "rejected_response": "No."}), 1),
        (
            json!({"kind": "task", "history": [{"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "Lit?"}]}],
                "status": {"state": "completed", "message": {"kind": "message", "messageId": "n", "role": "agent", "parts": [{"kind": "text", "text": "Done."}]}},
                "artifacts": [{"artifactId": "a", "parts": [{"kind": "text", "text": "It is."}, {"kind": "data", "data": {"lit": true}}]}]}),
            2,
        ),
    ] {
        read_transcripts(&row.to_string(), |_, transcript| assert_eq!(transcript.layout.replies.len(), count, "{row}"))
            .expect("it is read");
    }
    let history = json!({"history": [["A?", "B."]], "instruction": "Lit?", "input": "Lit?", "output": "Lit?"});
    read_transcripts(&history.to_string(), |_, transcript| assert_eq!(transcript.layout.outside().count(), 3))
        .expect("it is read");
}

/// The format in which OpenAI takes answers that are compared has the tools beside the messages.
#[test]
fn what_is_beside_the_input_of_compared_answers_is_counted() {
    let tools = json!([{"type": "function", "function": {"name": "look", "parameters": {}}}]);
    let said = |text: &str| json!([{"role": "assistant", "content": text}]);
    let input = json!({"messages": [{"role": "user", "content": "Lit?"}], "tools": tools});
    let row = json!({"input": input, "preferred_output": said("It is."), "non_preferred_output": said("No.")});
    read_transcripts(&row.to_string(), |_, transcript| {
        let outside: Vec<String> = transcript.layout.outside().map(|text| text.decode().into_owned()).collect();
        assert_eq!(outside, [tools[0].to_string(), String::from("It is.")]);
    })
    .expect("it is read");
}

/// However a response writes the reasoning of its reply, that is counted, and once.
#[test]
fn the_reasoning_of_a_reply_is_counted_and_once() {
    let asked = json!({"role": "user", "content": "Lit?"});
    let chat = json!({"role": "assistant", "content": "It is.", "reasoning_content": "I look."});
    let routed = json!({"role": "assistant", "content": "It is.", "reasoning": "I look.", "reasoning_details": [{"type": "reasoning.text", "text": "I look."}]});
    let blocks = json!({"role": "assistant", "content": [
        {"type": "thinking", "thinking": "I look.", "signature": "c2lnbmVk"}, {"type": "text", "text": "It is."}]});
    let items = json!([
        {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "I look."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is."}]},
    ]);
    let of_choices = |message: &Value| json!({"choices": [{"message": message}]});
    for (row, expected) in [
        (json!({"messages": [asked], "response": of_choices(&chat)}), &["I look.", "It is."][..]),
        (json!({"messages": [asked], "response": of_choices(&routed)}), &["I look.", "It is."]),
        (json!({"messages": [asked], "response": blocks}), &["I look.", "It is."]),
        (json!({"input": [asked], "output": items}), &["I look.", "It is."]),
        (json!({"input": [asked], "response": {"output": items}}), &["I look.", "It is."]),
        (json!({"messages": [asked, chat], "response": of_choices(&chat)}), &[]),
        (json!({"messages": [asked, blocks], "response": blocks}), &[]),
        (json!({"input": [asked, items[0], items[1]], "output": items}), &[]),
        (json!({"messages": [asked, chat], "output": "I look."}), &["I look."]),
        (json!({"messages": [asked], "outputs": [{"index": 0, "text": "It is."}]}), &["It is."]),
    ] {
        let mut counted = Vec::new();
        read_transcripts(&row.to_string(), |_, transcript| {
            counted.extend(transcript.layout.replies.iter().map(|text| text.decode().into_owned()));
        })
        .expect("it is read");
        assert_eq!(counted, expected, "{row}");
    }
}

/// A row of a batch has the request and the reply: what the reply says is counted, whatever provider gave it.
#[test]
fn the_reply_beside_a_request_is_counted() {
    let asked = json!([{"role": "user", "content": "Is the lamp lit?"}]);
    let blocks = json!([{"type": "text", "text": "It is lit."}]);
    let call = json!([{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]);
    for record in [
        json!({"messages": asked, "output": "It is lit."}),
        json!({"input": asked, "output": "It is lit."}),
        json!({"messages": asked, "completion": "It is lit."}),
        json!({"messages": asked, "outputs": ["It is lit."]}),
        json!({"messages": asked, "response": {"choices": [{"message": {"role": "assistant", "content": "It is lit."}}]}}),
        json!({"messages": asked, "response": {"choices": [{"message": {"role": "assistant", "content": blocks}}]}}),
        json!({"messages": asked, "response": {"role": "assistant", "content": blocks}}),
        json!({"modelInput": {"messages": asked}, "modelOutput": {"role": "assistant", "type": "message", "content": blocks}}),
        json!({"modelInput": {"messages": asked}, "modelOutput": {"output": {"message": {"role": "assistant", "content": [{"text": "It is lit."}]}}}}),
        json!({"messages": asked, "response": {"message": {"role": "assistant", "content": "It is lit."}}}),
        json!({"input": asked, "output": [{"type": "reasoning", "summary": []}, {"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "It is lit."}]}]}),
        json!({"body": {"input": asked}, "response": {"output": [{"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": "It is lit."}]}]}}),
        json!({"request": {"contents": [{"role": "user", "parts": [{"text": "Is the lamp lit?"}]}]},
            "response": {"candidates": [{"content": {"role": "model", "parts": [{"text": "It is lit."}]}}]}}),
    ] {
        let mut said = Vec::new();
        read_transcripts(&record.to_string(), |_, transcript| {
            assert!(transcript.layout.preamble.is_empty(), "{record}");
            said.extend(transcript.layout.replies.iter().map(|text| text.decode().into_owned()));
        })
        .expect("it is read");
        assert_eq!(said, ["It is lit."], "{record}");
    }
    let silent = json!({"messages": asked, "response": {"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": call}}]}});
    read_transcripts(&silent.to_string(), |_, transcript| assert_eq!(transcript.layout.replies.len(), 1))
        .expect("it is read");
}
