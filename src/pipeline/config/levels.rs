//! Which processors hold for a network and an agent, in the order history, network, agent.

use super::{Config, ConfigError, Named, Network, ProcessorEntry};
use crate::pipeline::Chain;
use crate::suggest::unknown;

/// A processor at its level.
#[derive(Debug, Clone)]
pub struct Step<'c> {
    /// `history`, `network support`, `agent greeter`.
    pub level: String,
    /// The processor.
    pub entry: &'c ProcessorEntry,
}

impl Config {
    /// The processors that hold for `network` and `agent`, in order.
    ///
    /// An agent of the network goes before an agent of the same name at the top level.
    ///
    /// # Errors
    /// A name that the file does not have.
    pub fn steps(&self, network: Option<&str>, agent: Option<&str>) -> Result<Vec<Step<'_>>, ConfigError> {
        let network = network.map(|name| self.network(name)).transpose()?;
        let agent = agent.map(|name| self.agent(network, name)).transpose()?;
        let mut steps = at("history", &self.history);
        if let Some(Network { own, .. }) = network {
            steps.extend(at(&format!("network {}", own.name), &own.processors));
        }
        if let Some(own) = agent {
            steps.extend(at(&format!("agent {}", own.name), &own.processors));
        }
        Ok(steps)
    }

    /// The processors of all levels, as they stand in the file.
    #[must_use]
    pub fn everywhere(&self) -> Vec<Step<'_>> {
        let mut steps = at("history", &self.history);
        for Network { own, agents } in &self.networks {
            steps.extend(at(&format!("network {}", own.name), &own.processors));
            let level = |agent: &Named| format!("network {} agent {}", own.name, agent.name);
            steps.extend(agents.iter().flat_map(|agent| at(&level(agent), &agent.processors)));
        }
        steps.extend(self.agents.iter().flat_map(|agent| at(&format!("agent {}", agent.name), &agent.processors)));
        steps
    }

    /// The chain of `steps`.
    ///
    /// # Errors
    /// What a processor needs and cannot have, with the place of its table.
    pub fn chain(&self, steps: &[Step<'_>]) -> Result<Chain, ConfigError> {
        let mut chain = Chain { described: described(steps), ..Chain::default() };
        for Step { level, entry } in steps {
            let processors = entry.spec.processors(&entry.flags).map_err(|error| ConfigError {
                file: self.file.clone(),
                place: Some(entry.place),
                what: format!("{} at {level}: {error:#}", entry.spec.name),
            })?;
            chain = chain.at(level, processors);
        }
        Ok(chain)
    }

    fn network(&self, name: &str) -> Result<&Network, ConfigError> {
        self.networks.iter().find(|network| network.own.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.networks.iter().map(|network| network.own.name.as_str()).collect();
            self.fault(unknown("there is no network", name, &known))
        })
    }

    fn agent<'c>(&'c self, network: Option<&'c Network>, name: &str) -> Result<&'c Named, ConfigError> {
        let own = network.map_or(&[][..], |network| &network.agents);
        let mut agents = own.iter().chain(&self.agents);
        agents.clone().find(|agent| agent.name == name).ok_or_else(|| {
            let known: Vec<&str> = agents.by_ref().map(|agent| agent.name.as_str()).collect();
            let homes: Vec<String> = self.networks_of(name).map(|home| format!("--network {home}")).collect();
            if homes.is_empty() {
                return self.fault(unknown("there is no agent", name, &known));
            }
            let place = network
                .map_or_else(|| String::from("at the top level"), |network| format!("in `{}`", network.own.name));
            self.fault(format!("no agent `{name}` {place}; there is one with {}", homes.join(" and with ")))
        })
    }

    fn networks_of(&self, agent: &str) -> impl Iterator<Item = &str> {
        let has = move |network: &&Network| network.agents.iter().any(|own| own.name == agent);
        self.networks.iter().filter(has).map(|network| network.own.name.as_str())
    }

    fn fault(&self, what: String) -> ConfigError {
        ConfigError { file: self.file.clone(), place: None, what }
    }
}

fn at<'c>(level: &str, entries: &'c [ProcessorEntry]) -> Vec<Step<'c>> {
    entries.iter().map(|entry| Step { level: level.to_owned(), entry }).collect()
}

/// The options of the processors on one line.
fn described(steps: &[Step<'_>]) -> String {
    let stages = steps.iter().map(|Step { level, entry }| {
        let values = entry.values().into_iter().map(|value| format!(" {}={}", value.name, value.value));
        format!("{level}: {}{}", entry.spec.name, values.collect::<String>())
    });
    stages.collect::<Vec<_>>().join("; ")
}
