//! What the requests of a log cost: the log's own figures or, if it has none, an estimate from the provider's counts.

use std::collections::{HashMap, HashSet};

use super::requests::LoggedUsages;
use curtail_core::json::Value;
use curtail_core::numbers::figure;
use curtail_core::transcript::Message;
use curtail_lab::replay::Prices;

/// Where logs write the cost of one request, in US dollars.
const OF_REQUEST: &[&[&str]] = &[
    &["message", "usage", "cost", "total"],
    &["message", "usage", "cost"],
    &["usage", "cost", "total"],
    &["usage", "cost"],
    &["info", "cost"],
    &["extra", "cost"],
    &["metrics", "cost_usd"],
    &["costUSD"],
    &["cost"],
];
/// Where logs write which request a message belongs to, if each part of its reply is a record that repeats the cost.
const REQUEST: &[&[&str]] = &[&["requestId"], &["message", "id"]];
/// Where logs write what the session cost so far.
const SO_FAR: &str = "total_cost_usd";

/// What a session cost, in US dollars.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Spending {
    pub(super) dollars: f64,
    /// The cost of the request that each message belongs to, at the first of them.
    pub(super) messages: Vec<f64>,
    pub(super) source: CostSource,
}

/// Where the cost is from.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum CostSource {
    /// The log itself.
    #[default]
    Log,
    /// An estimate from the provider's counts.
    Estimate {
        /// The date of the prices.
        date: String,
        /// Whether it includes the replies.
        with_output: bool,
        /// The number of requests whose tokens the log has, and of all requests.
        counted: usize,
        requests: usize,
    },
}

impl Spending {
    /// The cost of a session with these items and messages, if the log has it or if all counted requests have a price.
    pub(super) fn new(
        items: &[Value<'_>],
        messages: &[Message<'_>],
        usages: &LoggedUsages,
        prices: Option<&Prices>,
    ) -> Option<Self> {
        Self::of_log(items, messages).or_else(|| Self::estimated(messages.len(), usages, prices?))
    }

    fn of_log(items: &[Value<'_>], messages: &[Message<'_>]) -> Option<Self> {
        let mut costs = costs_of(messages);
        let so_far = items.iter().filter_map(|item| number(item.get(SO_FAR)?)).fold(0.0, f64::max);
        let sum: f64 = costs.iter().sum();
        if sum == 0.0 {
            // A log may write the cost beside the messages.
            let besides: f64 = items.iter().filter_map(|item| of_request(*item)).sum();
            costs.clear();
            let dollars = if so_far > 0.0 { so_far } else { besides };
            return (dollars > 0.0).then_some(Self { dollars, messages: costs, source: CostSource::Log });
        }
        Some(Self { dollars: sum.max(so_far), messages: costs, source: CostSource::Log })
    }

    fn estimated(messages: usize, usages: &LoggedUsages, prices: &Prices) -> Option<Self> {
        let mut costs = vec![0.0; messages];
        for request in &usages.provided {
            *costs.get_mut(request.message)? += prices.of_usage(request.model.as_deref()?, request.usage)?;
        }
        let with_output = usages.provided.iter().any(|request| {
            let price = request.model.as_deref().and_then(|model| prices.model(model));
            request.usage.output > 0 && price.is_some_and(|price| price.output.is_some())
        });
        let source = CostSource::Estimate {
            date: prices.date.clone(),
            with_output,
            counted: usages.provided.len(),
            requests: usages.requests,
        };
        (!usages.provided.is_empty()).then(|| Self { dollars: costs.iter().sum(), messages: costs, source })
    }
}

/// The costs of messages: of several in one value or of one request, the first one has it. A record that is written later has what
/// the request had cost by then.
fn costs_of(messages: &[Message<'_>]) -> Vec<f64> {
    let mut costs = vec![0.0_f64; messages.len()];
    let mut values = HashSet::new();
    let mut requests: HashMap<&str, usize> = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        let Some(value) = message.value().filter(|value| values.insert(value.span().start)) else { continue };
        let Some(cost) = of_request(value) else { continue };
        let first =
            at_any(value, REQUEST).filter(|id| !id.is("")).map_or(at, |id| *requests.entry(id.raw()).or_insert(at));
        costs[first] = costs[first].max(cost);
    }
    costs
}

/// Dollars for people.
pub(super) fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.01 {
        return String::from("<$0.01");
    }
    let text = format!("{amount:.2}");
    let (whole, cents) = text.split_once('.').unwrap_or((&text, "00"));
    format!("${}.{cents}", whole.parse::<u64>().map_or_else(|_| whole.to_owned(), figure))
}

fn of_request(item: Value<'_>) -> Option<f64> {
    OF_REQUEST.iter().find_map(|path| number(at_path(item, path)?))
}

fn at_any<'a>(item: Value<'a>, paths: &[&[&str]]) -> Option<Value<'a>> {
    paths.iter().find_map(|path| at_path(item, path))
}

fn at_path<'a>(item: Value<'a>, path: &[&str]) -> Option<Value<'a>> {
    path.iter().try_fold(item, |value, key| value.some(key))
}

fn number(value: Value<'_>) -> Option<f64> {
    value.raw().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::dollars;

    #[test]
    fn dollars_are_readable() {
        assert_eq!([0.0, 0.004, 30.333, 12_345.6].map(dollars), ["$0.00", "<$0.01", "$30.33", "$12,345.60"]);
    }
}
