//! Counting what a chat template renders.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueHint};

use super::CountingOptions;
use curtail_core::processors::Counting;
use curtail_tokens::templates::{ChatTemplate, ToolList};
use curtail_tokens::tokenizers;

/// Counting what a chat template renders.
#[derive(Debug, Clone, Args)]
pub(crate) struct TemplateOptions {
    /// Count what this chat template renders: a `chat_template.jinja`, `tokenizer_config.json` or model folder
    ///
    /// Totals then equal the tokens of `apply_chat_template`, tools included, and budgets hold for them. With the folder of a
    /// model, its `tokenizer.json` counts unless another tokenizer is named.
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = "Counting")]
    template: Option<PathBuf>,

    /// Tools for the template, a JSON list, where a transcript contains none
    #[arg(long, value_name = "FILE", requires = "template", help_heading = "Counting")]
    tools: Option<PathBuf>,

    /// Count the beginning of a reply that the template adds
    #[arg(long, requires = "template", help_heading = "Counting")]
    add_generation_prompt: bool,
}

impl TemplateOptions {
    /// The files that decide what is counted: those of the template, the tools, and the tokenizer of `options`.
    #[must_use]
    pub(crate) fn files(&self, options: &CountingOptions) -> Vec<PathBuf> {
        let mut files = options.files();
        if let Some(path) = &self.template {
            let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
            files.extend(
                ["chat_template.jinja", "tokenizer_config.json", "tokenizer.json"].map(|name| folder.join(name)),
            );
            files.push(path.clone());
        }
        files.extend(self.tools.clone());
        files
    }

    /// How `options` count, with this template.
    ///
    /// # Errors
    /// As [`CountingOptions::counting`]; a template or a list of tools that cannot be read.
    pub(crate) fn counting(&self, options: &CountingOptions) -> anyhow::Result<Counting> {
        let counting = options.counting()?;
        let Some(path) = &self.template else { return Ok(counting) };
        anyhow::ensure!(
            counting.by_usage.is_none(),
            "--template counts what a model reads, and --tokenizer usage what a log says; pass one of them"
        );
        let mut template = ChatTemplate::open(path)?;
        template.tools = self.tools.as_deref().map(ToolList::open).transpose()?;
        template.add_generation_prompt = self.add_generation_prompt;
        crate::cli::render::isolate(&mut template)?;
        let own = path.join("tokenizer.json");
        let tokenizer = match !options.is_named() && own.is_file() {
            true => tokenizers::tokenizer_by_name(&own.to_string_lossy())?,
            false => counting.tokenizer,
        };
        Ok(Counting { tokenizer, template: Some(Arc::new(template)), ..counting })
    }
}
