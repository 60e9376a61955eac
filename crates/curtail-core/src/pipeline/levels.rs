//! Which processors apply to a network and an agent: those of every transcript, then the network's, then the agent's. It knows no
//! file and no processor.

use std::fmt;

use crate::suggest::{closest, unknown};
use crate::visible::quoted;

/// Processors (or what describes them) at every level.
#[derive(Debug, Clone)]
pub struct ProcessorLevels<P> {
    /// Those that apply to every transcript.
    pub history: Vec<P>,
    /// The networks.
    pub networks: Vec<Network<P>>,
    /// Agents outside any network.
    pub agents: Vec<AgentLevel<P>>,
}

/// A network: its processors and its agents.
#[derive(Debug, Clone)]
pub struct Network<P> {
    /// Its name.
    pub name: String,
    /// Those that apply to all of its agents.
    pub processors: Vec<P>,
    /// Its agents.
    pub agents: Vec<AgentLevel<P>>,
}

/// The processors of an agent.
#[derive(Debug, Clone)]
pub struct AgentLevel<P> {
    /// Its name.
    pub name: String,
    /// Those that apply to it alone.
    pub processors: Vec<P>,
}

/// A processor and the level that it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<'l, P> {
    /// `history`, `network support`, `agent greeter`.
    pub level: String,
    /// The processor.
    pub entry: &'l P,
}

/// No network or agent has the name that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnknownLevel {
    /// No network has this name.
    Network {
        /// The name.
        name: String,
        /// The names of the networks.
        known: Vec<String>,
    },
    /// No agent has this name, in any network or outside.
    Agent {
        /// The name.
        name: String,
        /// The names of the agents that can be chosen here, or those of all networks if none can.
        known: Vec<String>,
    },
    /// The agent, or one of a similar name, belongs to other networks.
    Elsewhere {
        /// The name that was asked for.
        name: String,
        /// The name of the agent, if it is another one.
        similar: Option<String>,
        /// The network that was chosen, if one was.
        network: Option<String>,
        /// The networks that have such an agent.
        homes: Vec<String>,
    },
}

impl<P> Default for ProcessorLevels<P> {
    fn default() -> Self {
        Self { history: Vec::new(), networks: Vec::new(), agents: Vec::new() }
    }
}

impl<P> ProcessorLevels<P> {
    /// The processors that apply to `network` and `agent`, in order. An agent of the network comes before an agent of the
    /// same name outside it.
    ///
    /// ```
    /// use curtail_core::pipeline::{AgentLevel, ProcessorLevels, Network};
    ///
    /// let greeter = AgentLevel { name: String::from("greeter"), processors: vec!["limit"] };
    /// let support = Network { name: String::from("support"), processors: vec!["window"], agents: vec![greeter] };
    /// let levels = ProcessorLevels { history: vec!["repair"], networks: vec![support], agents: Vec::new() };
    /// let steps = levels.steps(Some("support"), Some("greeter")).expect("both exist");
    /// let order: Vec<_> = steps.iter().map(|step| (step.level.as_str(), *step.entry)).collect();
    /// assert_eq!(order, [("history", "repair"), ("network support", "window"), ("agent greeter", "limit")]);
    /// ```
    ///
    /// # Errors
    /// No network or agent has that name.
    pub fn steps(&self, network: Option<&str>, agent: Option<&str>) -> Result<Vec<Step<'_, P>>, UnknownLevel> {
        let network = network.map(|name| self.network(name)).transpose()?;
        let agent = agent.map(|name| self.agent(network, name)).transpose()?;
        let mut steps = at("history", &self.history);
        if let Some(Network { name, processors, .. }) = network {
            steps.extend(at(&format!("network {name}"), processors));
        }
        if let Some(AgentLevel { name, processors }) = agent {
            steps.extend(at(&format!("agent {name}"), processors));
        }
        Ok(steps)
    }

    /// The processors of all levels, in the order in which they were added.
    #[must_use]
    pub fn everywhere(&self) -> Vec<Step<'_, P>> {
        let mut steps = at("history", &self.history);
        for Network { name, processors, agents } in &self.networks {
            steps.extend(at(&format!("network {name}"), processors));
            for agent in agents {
                steps.extend(at(&format!("network {name} agent {}", agent.name), &agent.processors));
            }
        }
        for AgentLevel { name, processors } in &self.agents {
            steps.extend(at(&format!("agent {name}"), processors));
        }
        steps
    }

    fn network(&self, name: &str) -> Result<&Network<P>, UnknownLevel> {
        self.networks.iter().find(|network| network.name == name).ok_or_else(|| {
            let known = self.networks.iter().map(|network| network.name.clone()).collect();
            UnknownLevel::Network { name: name.to_owned(), known }
        })
    }

    fn agent<'l>(&'l self, network: Option<&'l Network<P>>, name: &str) -> Result<&'l AgentLevel<P>, UnknownLevel> {
        let network_agents = network.map_or(&[][..], |network| &network.agents);
        let mut agents = network_agents.iter().chain(&self.agents);
        agents.clone().find(|agent| agent.name == name).ok_or_else(|| {
            let here: Vec<&str> = agents.by_ref().map(|agent| agent.name.as_str()).collect();
            self.unknown_agent(network, name, &here)
        })
    }

    /// Why no agent `name` can be chosen, but those that are `here`. Of two names that are equally close, one of those is suggested.
    fn unknown_agent(&self, network: Option<&Network<P>>, name: &str, here: &[&str]) -> UnknownLevel {
        let in_networks = self.networks.iter().flat_map(|network| &network.agents).map(|agent| agent.name.as_str());
        let mut all = here.to_vec();
        in_networks.for_each(|agent| {
            if !all.contains(&agent) {
                all.push(agent);
            }
        });
        let found = all.iter().copied().find(|agent| *agent == name).or_else(|| closest(name, all.iter().copied()));
        if let Some(agent) = found.filter(|agent| !here.contains(agent)) {
            return UnknownLevel::Elsewhere {
                name: name.to_owned(),
                similar: (agent != name).then(|| agent.to_owned()),
                network: network.map(|network| network.name.clone()),
                homes: self.networks_of(agent).map(str::to_owned).collect(),
            };
        }
        let known = if here.is_empty() { &all } else { here };
        UnknownLevel::Agent { name: name.to_owned(), known: known.iter().map(|name| (*name).to_owned()).collect() }
    }

    fn networks_of(&self, agent: &str) -> impl Iterator<Item = &str> {
        let homes = self.networks.iter().filter(move |network| network.agents.iter().any(|level| level.name == agent));
        homes.map(|network| network.name.as_str())
    }
}

fn at<'l, P>(level: &str, entries: &'l [P]) -> Vec<Step<'l, P>> {
    entries.iter().map(|entry| Step { level: level.to_owned(), entry }).collect()
}

/// `value` behind the name of a flag, in a shell.
fn value_of_flag(value: &str) -> String {
    let separator = if value.starts_with('-') { '=' } else { ' ' };
    format!("{separator}{}", quoted(value))
}

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network { name, known } => f.write_str(&unknown("there is no network", name, known)),
            Self::Agent { name, known } => f.write_str(&unknown("there is no agent", name, known)),
            Self::Elsewhere { name, similar, network, homes } => {
                let homes: Vec<String> = homes.iter().map(|home| format!("--network{}", value_of_flag(home))).collect();
                match network {
                    Some(network) => write!(f, "no agent `{name}` in `{network}`")?,
                    None => write!(f, "no agent `{name}` at the top level")?,
                }
                let homes = homes.join(" and with ");
                match similar {
                    Some(similar) => write!(f, "; did you mean `{similar}`? there is one with {homes}"),
                    None => write!(f, "; there is one with {homes}"),
                }
            }
        }
    }
}

impl std::error::Error for UnknownLevel {}

#[cfg(test)]
mod tests {
    use super::UnknownLevel;

    #[test]
    fn a_network_is_named_as_the_flag_reads_it() {
        let homes = ["support", "-x", "-a b"].map(str::to_owned).to_vec();
        let error = UnknownLevel::Elsewhere { name: "greeter".to_owned(), similar: None, network: None, homes };
        let flags = "--network support and with --network=-x and with --network='-a b'";
        assert!(error.to_string().ends_with(flags), "{error}");
    }
}
