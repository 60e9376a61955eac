//! Tool definitions in the form that chat templates expect, whichever API they were written for.

use std::path::Path;

use minijinja::Value;
use serde_json::{Value as Json, json};

use super::TemplateError;
use super::messages::from_json;
use super::sources::read_json;
use curtail_core::json::Text;

/// Tool definitions in the form that chat templates expect.
#[derive(Debug, Clone)]
pub struct ToolList(pub(super) Value);

impl ToolList {
    /// Reads tools from a JSON file: a list of them, or an object with one under `tools`.
    ///
    /// # Errors
    /// The file cannot be read or contains no list.
    pub fn open(path: &Path) -> Result<Self, TemplateError> {
        let value = read_json(path)?;
        if value.is_array() || value["tools"].is_array() {
            return Ok(Self::from_definitions(definitions(value)));
        }
        Err(TemplateError::new(format!("{}: no list of tools found", path.display())))
    }

    /// The tools among the texts outside the messages (`None` without any), and the other texts. Tools are JSON lists or objects,
    /// or strings that contain some: instructions may be JSON as well.
    pub fn from_preamble(preamble: &[Text<'_>]) -> (Option<Self>, Vec<String>) {
        let mut tools = Vec::new();
        let mut others = Vec::new();
        for text in preamble {
            let decoded = text.decode();
            let is_json = matches!(text, Text::Json(_));
            match serde_json::from_str(&decoded) {
                Ok(value @ (Json::Array(_) | Json::Object(_))) if is_json || are_tools(&value) => {
                    tools.extend(definitions(value).into_iter().filter(|tool| *tool != json!({})));
                }
                _ => others.push(decoded.into_owned()),
            }
        }
        let list = (!tools.is_empty()).then(|| Self::from_definitions(tools));
        (list, others)
    }

    fn from_definitions(definitions: Vec<Json>) -> Self {
        Self(from_json(definitions.into_iter().map(as_function).collect()))
    }
}

/// The definitions in a list, or in an object that holds one, as in the APIs of Gemini and Bedrock.
fn definitions(mut value: Json) -> Vec<Json> {
    if let Json::Array(list) = value {
        return list.into_iter().flat_map(definitions).collect();
    }
    let lists = ["tools", "functionDeclarations", "function_declarations"];
    match lists.iter().find(|key| value[**key].is_array()) {
        Some(key) => definitions(value[*key].take()),
        None => vec![value],
    }
}

/// The keys of the schema of a tool's arguments: those of OpenAI and Gemini, of Anthropic, and of MCP and Bedrock.
const SCHEMAS: [&str; 3] = ["parameters", "input_schema", "inputSchema"];

/// Whether a value names tools only, and says what one does or takes; an empty one names none.
fn are_tools(value: &Json) -> bool {
    if value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(serde_json::Map::is_empty) {
        return true;
    }
    let definitions = definitions(value.clone()).into_iter().map(as_function);
    let functions: Vec<Json> =
        definitions.map(|definition| definition.get("function").cloned().unwrap_or_default()).collect();
    functions.iter().all(|function| function["name"].is_string())
        && functions.iter().any(|function| ["parameters", "description"].iter().any(|key| function.get(*key).is_some()))
}

/// A definition with its function under `function`. One that has this form, or names no tool, is unchanged.
fn as_function(definition: Json) -> Json {
    let tool = definition.get("toolSpec").unwrap_or(&definition);
    if definition["function"].is_object() || !tool["name"].is_string() {
        return definition;
    }
    let mut function = json!({"name": tool["name"]});
    if tool["description"].is_string() {
        function["description"] = tool["description"].clone();
    }
    if let Some(schema) = SCHEMAS.iter().find_map(|key| tool.get(key)) {
        function["parameters"] = schema.get("json").unwrap_or(schema).clone();
    }
    json!({"type": "function", "function": function})
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tools of a preamble, as JSON.
    fn read(preamble: &str) -> Json {
        let (tools, _) = ToolList::from_preamble(&[Text::Json(preamble)]);
        serde_json::to_value(&tools.unwrap().0).unwrap()
    }

    #[test]
    fn the_tools_of_every_api_are_functions() {
        let schema = r#"{"type":"object","properties":{"place":{"type":"string"}}}"#;
        let [openai, anthropic, bedrock] = ["parameters", "input_schema", "inputSchema"]
            .map(|key| format!(r#""name":"tide","description":"Levels","{key}":{schema}"#));
        let expected: Json =
            serde_json::from_str(&format!(r#"[{{"type":"function","function":{{{openai}}}}}]"#)).unwrap();
        for list in [
            format!(r#"[{{"type":"function","function":{{{openai}}}}}]"#),
            format!(r#"[{{"type":"function",{openai},"strict":true}}]"#),
            format!("[{{{anthropic}}}]"),
            format!(r#"{{{anthropic},"cache_control":{{"type":"ephemeral"}}}}"#),
            format!("[{{{bedrock}}}]"),
            format!(r#"[{{"functionDeclarations":[{{{openai}}}]}}]"#),
            format!(
                r#"{{"tools":[{{"toolSpec":{{"name":"tide","description":"Levels","inputSchema":{{"json":{schema}}}}}}}]}}"#
            ),
        ] {
            assert_eq!(read(&list), expected, "{list}");
        }
    }

    #[test]
    fn instructions_may_be_json() {
        let persona = r#"{\"name\":\"Ada\",\"rules\":[1,2]}"#;
        let list = r#"[{\"name\":\"tide\",\"description\":\"When.\"}]"#;
        let (tools, texts) = ToolList::from_preamble(&[persona, list, "[1]", "[]", "{}"].map(Text::Escaped));
        assert_eq!(texts, [r#"{"name":"Ada","rules":[1,2]}"#, "[1]"]);
        assert_eq!(tools.unwrap().0.len(), Some(1));
    }

    #[test]
    fn what_names_no_tool_is_unchanged() {
        assert_eq!(read(r#"[{"googleSearch":{}}]"#), json!([{"googleSearch": {}}]));
        assert_eq!(read(r#"[{"name":"stop"}]"#), json!([{"type": "function", "function": {"name": "stop"}}]));
    }
}
