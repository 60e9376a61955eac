//! Scripts in dialects that are described. Each function says how one of them writes the turns.

use serde_json::{Value, json};

use super::Turn;

/// How a dialect writes what an assistant says, by its parts.
struct Said<'t> {
    reasoning: Option<&'t str>,
    text: Option<&'t str>,
    /// The id, the name and the arguments of each call.
    calls: Vec<(&'t str, &'t str, Value)>,
}

impl Said<'_> {
    fn parts(
        &self,
        thought: impl Fn(&str) -> Value,
        text: impl Fn(&str) -> Value,
        call: impl Fn(&str, &str, &Value) -> Value,
    ) -> Vec<Value> {
        let calls = self.calls.iter().map(|(id, name, arguments)| call(id, name, arguments));
        self.reasoning.map(thought).into_iter().chain(self.text.map(text)).chain(calls).collect()
    }

    /// The calls in the form of chat completions.
    fn chat_calls(&self) -> Vec<Value> {
        self.calls.iter().map(|(id, name, arguments)| {
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
        }).collect()
    }
}

/// Writes each turn as one item: texts by role, what an assistant says, and results.
fn items(
    script: &[Turn],
    text: impl Fn(&str, &str) -> Value,
    said: impl Fn(&Said<'_>) -> Value,
    result: impl Fn(&str, &str, &str) -> Value,
) -> Vec<String> {
    let item = |turn: &Turn| match turn {
        Turn::System(words) => text("system", words),
        Turn::User(words) => text("user", words),
        Turn::Result { id, name, text } => result(id, name, text),
        Turn::Assistant { reasoning, text, calls } => {
            let calls = calls.iter().map(|call| {
                let arguments = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments));
                (call.id.as_str(), call.name.as_str(), arguments)
            });
            said(&Said { reasoning: reasoning.as_deref(), text: text.as_deref(), calls: calls.collect() })
        }
    };
    script.iter().map(|turn| item(turn).to_string()).collect()
}

pub fn haystack(script: &[Turn]) -> Vec<String> {
    let message = |role: &str, parts: Vec<Value>| json!({"role": role, "meta": {}, "name": null, "content": parts});
    let text = |text: &str| json!({"text": text});
    items(
        script,
        |role, words| message(role, vec![text(words)]),
        |said| {
            message("assistant", said.parts(
                |thought| json!({"reasoning": {"reasoning_text": thought, "extra": {}}}),
                text,
                |id, name, arguments| json!({"tool_call": {"tool_name": name, "arguments": arguments, "id": id, "extra": null}}),
            ))
        },
        |id, name, words| {
            let origin = json!({"tool_name": name, "arguments": {}, "id": id, "extra": null});
            message("tool", vec![json!({"tool_call_result": {"result": words, "origin": origin, "error": false}})])
        },
    )
}

pub fn llama_index(script: &[Turn]) -> Vec<String> {
    let message = |role: &str, blocks: Vec<Value>| json!({"role": role, "additional_kwargs": {}, "blocks": blocks});
    let text = |text: &str| json!({"block_type": "text", "text": text});
    items(
        script,
        |role, words| message(role, vec![text(words)]),
        |said| {
            let mut written = message("assistant", said.parts(
                |thought| json!({"block_type": "thinking", "content": thought}),
                text,
                |id, name, arguments| json!({"block_type": "tool_call", "tool_call_id": id, "tool_name": name, "tool_kwargs": arguments}),
            ));
            // The integration of OpenAI keeps every call twice.
            written["additional_kwargs"] = json!({"tool_calls": said.chat_calls()});
            written
        },
        |id, name, words| json!({"role": "tool", "additional_kwargs": {"tool_call_id": id, "name": name}, "blocks": [text(words)]}),
    )
}

pub fn autogen_core(script: &[Turn]) -> Vec<String> {
    items(
        script,
        |role, words| match role {
            "system" => json!({"content": words, "type": "SystemMessage"}),
            _ => json!({"content": words, "source": "user", "type": "UserMessage"}),
        },
        |said| {
            let calls: Vec<Value> = said
                .calls
                .iter()
                .map(|(id, name, arguments)| json!({"id": id, "arguments": arguments.to_string(), "name": name}))
                .collect();
            let content = if calls.is_empty() { json!(said.text.unwrap_or_default()) } else { json!(calls) };
            json!({"content": content, "thought": said.reasoning, "source": "keeper", "type": "AssistantMessage"})
        },
        |id, name, words| json!({"content": [{"content": words, "name": name, "call_id": id, "is_error": false}], "type": "FunctionExecutionResultMessage"}),
    )
}

pub fn semantic_kernel(script: &[Turn]) -> Vec<String> {
    let message = |role: &str, items: Vec<Value>| json!({"metadata": {}, "content_type": "message", "role": role, "items": items});
    let text = |text: &str| json!({"metadata": {}, "content_type": "text", "text": text});
    items(
        script,
        |role, words| message(role, vec![text(words)]),
        |said| {
            message("assistant", said.parts(
                |thought| json!({"content_type": "reasoning", "text": thought}),
                text,
                |id, name, arguments| json!({"content_type": "function_call", "id": id, "name": name, "arguments": arguments.to_string()}),
            ))
        },
        |id, name, words| {
            message("tool", vec![json!({"content_type": "function_result", "id": id, "name": name, "result": words})])
        },
    )
}

pub fn extensions_ai(script: &[Turn]) -> Vec<String> {
    let message = |role: &str, contents: Vec<Value>| json!({"role": role, "contents": contents});
    let text = |text: &str| json!({"$type": "text", "text": text});
    items(
        script,
        |role, words| message(role, vec![text(words)]),
        |said| {
            message("assistant", said.parts(
                |thought| json!({"$type": "reasoning", "text": thought}),
                text,
                |id, name, arguments| json!({"$type": "functionCall", "callId": id, "name": name, "arguments": arguments}),
            ))
        },
        |id, _, words| message("tool", vec![json!({"$type": "functionResult", "callId": id, "result": words})]),
    )
}

pub fn spring_ai(script: &[Turn]) -> Vec<String> {
    items(
        script,
        |role, words| json!({"messageType": role.to_uppercase(), "metadata": {}, "text": words}),
        |said| {
            let calls: Vec<Value> = said.calls.iter().map(|(id, name, arguments)| json!({"id": id, "type": "function", "name": name, "arguments": arguments.to_string()})).collect();
            json!({"messageType": "ASSISTANT", "metadata": {}, "toolCalls": calls, "text": said.text.unwrap_or_default()})
        },
        |id, name, words| json!({"messageType": "TOOL", "metadata": {}, "responses": [{"id": id, "name": name, "responseData": words}], "text": ""}),
    )
}

pub fn langchain4j(script: &[Turn]) -> Vec<String> {
    items(
        script,
        |role, words| match role {
            "system" => json!({"text": words, "type": "SYSTEM"}),
            _ => json!({"contents": [{"text": words, "type": "TEXT"}], "type": "USER"}),
        },
        |said| {
            let calls: Vec<Value> = said
                .calls
                .iter()
                .map(|(id, name, arguments)| json!({"id": id, "name": name, "arguments": arguments.to_string()}))
                .collect();
            let mut written = json!({"text": said.text, "type": "AI", "thinking": said.reasoning});
            if !calls.is_empty() {
                written["toolExecutionRequests"] = json!(calls);
            }
            written
        },
        |id, name, words| json!({"id": id, "toolName": name, "text": words, "type": "TOOL_EXECUTION_RESULT"}),
    )
}

pub fn ag_ui(script: &[Turn]) -> Vec<String> {
    items(
        script,
        |role, words| json!({"id": "m", "role": role, "content": words}),
        |said| json!({"id": "a", "role": "assistant", "content": said.text, "toolCalls": said.chat_calls()}),
        |id, _, words| json!({"id": "t", "role": "tool", "content": words, "toolCallId": id}),
    )
}

pub fn continue_session(script: &[Turn]) -> Vec<String> {
    items(
        script,
        |role, words| json!({"message": {"role": role, "content": words}, "contextItems": [{"content": "The lamp.", "name": "a"}]}),
        |said| json!({"message": {"role": "assistant", "content": said.text.unwrap_or_default(), "toolCalls": said.chat_calls()}, "contextItems": []}),
        |id, _, words| json!({"message": {"role": "tool", "content": words, "toolCallId": id}, "contextItems": []}),
    )
}

pub fn kimi_wire(script: &[Turn]) -> Vec<String> {
    let event =
        |kind: &str, payload: Value| json!({"timestamp": 1, "message": {"type": kind, "payload": payload}}).to_string();
    let mut lines = vec![json!({"type": "metadata", "protocol_version": "1.3"}).to_string()];
    for turn in script {
        match turn {
            Turn::System(words) | Turn::User(words) => lines.push(event("TurnBegin", json!({"user_input": words}))),
            Turn::Result { id, text, .. } => {
                // The text of a failure is in `message`, with an empty `output` before it.
                let failed = text.len() % 2 == 1;
                let (output, message) = if failed { ("", text.as_str()) } else { (text.as_str(), "") };
                let value = json!({"is_error": failed, "output": output, "message": message, "display": []});
                lines.push(event("ToolResult", json!({"tool_call_id": id, "return_value": value})));
            }
            Turn::Assistant { reasoning, text, calls } => {
                lines.extend(
                    reasoning.iter().map(|thought| event("ContentPart", json!({"type": "think", "think": thought}))),
                );
                lines.extend(text.iter().map(|text| event("ContentPart", json!({"type": "text", "text": text}))));
                lines.extend(calls.iter().map(|call| event("ToolCall", json!({"type": "function", "id": call.id, "function": {"name": call.name, "arguments": call.arguments}}))));
            }
        }
    }
    lines
}

pub fn mcp_sampling(script: &[Turn]) -> Vec<String> {
    items(
        script,
        |role, words| json!({"role": role, "content": {"type": "text", "text": words}}),
        |said| {
            let parts = said.parts(
                |thought| json!({"type": "thinking", "thinking": thought}),
                |text| json!({"type": "text", "text": text}),
                |id, name, arguments| json!({"type": "tool_use", "id": id, "name": name, "input": arguments}),
            );
            json!({"role": "assistant", "content": parts})
        },
        |id, _, words| json!({"role": "user", "content": [{"type": "tool_result", "toolUseId": id, "content": [{"type": "text", "text": words}]}]}),
    )
}

/// A message has its calls with what came of them.
pub fn mastra(script: &[Turn]) -> Vec<String> {
    let message = |role: &str, parts: Vec<Value>| json!({"id": "m", "role": role, "createdAt": "x", "content": {"format": 2, "parts": parts}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let result = |id: &str| {
        script.iter().find_map(|turn| match turn {
            Turn::Result { id: of, text, .. } if of == id => Some(text.clone()),
            _ => None,
        })
    };
    let mut lines = Vec::new();
    for turn in script {
        match turn {
            Turn::System(words) => lines.push(message("system", vec![text(words)]).to_string()),
            Turn::User(words) => lines.push(message("user", vec![text(words)]).to_string()),
            Turn::Result { .. } => {}
            Turn::Assistant { reasoning, text: said, calls } => {
                let mut parts: Vec<Value> =
                    reasoning.iter().map(|thought| json!({"type": "reasoning", "reasoning": thought})).collect();
                parts.extend(said.iter().map(|said| text(said)));
                parts.extend(calls.iter().map(|call| {
                    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
                    let mut tool =
                        json!({"state": "call", "toolCallId": call.id, "toolName": call.name, "args": arguments});
                    if let Some(result) = result(&call.id) {
                        tool["state"] = json!("result");
                        tool["result"] = json!(result);
                    }
                    json!({"type": "tool-invocation", "toolInvocation": tool})
                }));
                lines.push(message("assistant", parts).to_string());
            }
        }
    }
    lines
}

pub fn ollama(script: &[Turn]) -> Vec<String> {
    items(
        script,
        |role, words| json!({"role": role, "content": words}),
        |said| {
            let calls: Vec<Value> = said
                .calls
                .iter()
                .map(|(_, name, arguments)| json!({"function": {"name": name, "arguments": arguments}}))
                .collect();
            json!({"role": "assistant", "content": said.text.unwrap_or_default(), "thinking": said.reasoning, "tool_calls": calls})
        },
        |_, name, words| json!({"role": "tool", "tool_name": name, "content": words}),
    )
}
