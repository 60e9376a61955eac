//! The templates of a model, as its files contain them.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::TemplateError;
use curtail_core::small::{SMALL, read_small_text};
use curtail_core::system_error::system_message;

/// The name of the template that renders requests without tools, or all.
pub(super) const DEFAULT: &str = "default";

/// The name of the template that renders requests with tools, if there is one.
pub(super) const TOOL_USE: &str = "tool_use";

/// The templates of a model, as its files contain them.
#[derive(Serialize, Deserialize)]
pub(super) struct Sources {
    /// The file, as errors name it.
    pub(super) origin: String,
    /// The templates by name.
    pub(super) templates: Vec<(String, String)>,
    /// `bos_token` and the like.
    pub(super) special: Vec<(String, String)>,
}

impl Sources {
    /// Those at `path`: of a file, or of the folder of a model.
    pub(super) fn read(path: &Path) -> Result<Self, TemplateError> {
        let is_folder = path.is_dir();
        let folder = if is_folder { path } else { path.parent().unwrap_or(Path::new("")) };
        let beside = folder.join("tokenizer_config.json");
        let jinja = if is_folder { folder.join("chat_template.jinja") } else { path.to_owned() };
        let is_json = !is_folder && path.extension().is_some_and(|extension| extension == "json");
        let mut config = serde_json::Value::Null;
        let (origin, templates) = if is_json || is_folder && !jinja.exists() {
            let origin = if is_json { path } else { &*beside };
            config = read_json(origin)?;
            (origin, templates_of(&config["chat_template"]))
        } else {
            let for_tools = folder.join("additional_chat_templates/tool_use.jinja");
            let mut templates = vec![(DEFAULT.to_owned(), read_text(&jinja)?)];
            if is_folder && for_tools.exists() {
                templates.push((TOOL_USE.to_owned(), read_text(&for_tools)?));
            }
            (&*jinja, templates)
        };
        let origin = origin.display().to_string();
        if templates.is_empty() {
            return Err(TemplateError::new(format!("{origin}: no chat template found")));
        }
        let mut special = special_tokens(&config);
        if special.is_empty() && beside.exists() {
            special = special_tokens(&read_json(&beside)?);
        }
        Ok(Self { origin, templates, special })
    }

    /// One template without special tokens.
    pub(super) fn of_template(source: &str) -> Self {
        let templates = vec![(DEFAULT.to_owned(), source.to_owned())];
        Self { origin: String::from("template"), templates, special: Vec::new() }
    }
}

fn read_text(path: &Path) -> Result<String, TemplateError> {
    let read = std::fs::File::open(path).and_then(|file| read_small_text(file, SMALL));
    read.map_err(|error| TemplateError::new(format!("{}: {}", path.display(), system_message(&error))))
}

/// The JSON value of a file.
pub(super) fn read_json(path: &Path) -> Result<serde_json::Value, TemplateError> {
    serde_json::from_str(&read_text(path)?).map_err(|error| TemplateError::new(format!("{}: {error}", path.display())))
}

/// The templates of a `tokenizer_config.json`: one, or a list of them with names.
fn templates_of(value: &serde_json::Value) -> Vec<(String, String)> {
    if let Some(source) = value.as_str() {
        return vec![(DEFAULT.to_owned(), source.to_owned())];
    }
    let named = value.as_array().into_iter().flatten();
    named
        .filter_map(|entry| Some((entry["name"].as_str()?.to_owned(), entry["template"].as_str()?.to_owned())))
        .collect()
}

/// `bos_token` and the like: strings, or objects with a `content`.
fn special_tokens(config: &serde_json::Value) -> Vec<(String, String)> {
    let members = config.as_object().into_iter().flatten().filter(|(key, _)| key.ends_with("_token"));
    members
        .filter_map(|(key, value)| Some((key.clone(), value.as_str().or(value["content"].as_str())?.to_owned())))
        .collect()
}
