//! Parameters as Python has them, and those that a policy in Python declares.

use crate::error::Result;
use crate::policy::lasting;
use ftlab_spec::{Domain, Parameter, Spec, SpecError};
use pyo3::prelude::*;

/// A parameter: name, default, allowed values, what it does, source of the default, domain.
pub(crate) type ParameterFields = (String, String, String, String, String, DomainFields);

/// A domain: kind, least, greatest, choices.
type DomainFields = (&'static str, Option<f64>, Option<f64>, Vec<String>);

/// A domain as Python tells it: kind, least, greatest, choices.
type DomainGiven = (String, Option<f64>, Option<f64>, Vec<String>);

/// What stands for a value that the policy works out for drive and workload.
const AUTO: &str = "auto";

/// The parameter of this name, as listings have it; refused if its name or its default is none.
#[pyfunction]
pub(crate) fn parameter(
    name: String,
    default: String,
    summary: String,
    source: String,
    domain: DomainGiven,
) -> Result<ParameterFields> {
    let is_in_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if name.is_empty() || !name.chars().all(is_in_name) {
        return Err(SpecError::BadValue {
            of: "parameter".into(),
            key: "name".into(),
            value: name,
            expects: "made of letters, digits and dashes, such as blk-util".into(),
        }
        .into());
    }
    let mut declared = Parameter {
        name: lasting(name),
        expects: String::new(),
        domain: domain_of(domain),
        doc: summary,
        source: lasting(source),
        group: "",
        default,
    };
    declared.expects = expects(&declared);
    declared.default = read(&declared, "parameter", &declared.default)?;
    Ok(parameter_fields(declared))
}

pub(crate) fn parameter_fields(of: Parameter) -> ParameterFields {
    let domain = domain(of.domain);
    (of.name.to_owned(), of.default, of.expects, of.doc, of.source.to_owned(), domain)
}

fn domain(domain: Domain) -> DomainFields {
    match domain {
        Domain::Whole { low, high } => ("whole", low, high, Vec::new()),
        Domain::Number { low, high } => ("number", low, high, Vec::new()),
        Domain::Choice(choices) => ("choice", None, None, choices),
        Domain::Text => ("text", None, None, Vec::new()),
    }
}

/// The parameter that Python has as these fields.
pub(crate) fn declared(
    (name, default, expects, doc, source, domain): (
        String,
        String,
        String,
        String,
        String,
        DomainGiven,
    ),
) -> Parameter {
    let (name, source, domain) = (lasting(name), lasting(source), domain_of(domain));
    Parameter { name, default, expects, domain, doc, source, group: "" }
}

/// Names of parameters with their values under `spec`.
pub(crate) fn values(
    parameters: &[Parameter],
    spec: &Spec,
) -> std::result::Result<Vec<(&'static str, String)>, SpecError> {
    let is_known = |key: &str| parameters.iter().any(|parameter| parameter.name == key);
    if let Some((key, _)) = spec.arguments.iter().find(|(key, _)| !is_known(key)) {
        return Err(SpecError::UnknownParameter {
            of: spec.name.clone(),
            key: key.clone(),
            known: parameters.iter().map(|of| of.name.to_owned()).collect(),
        });
    }
    let value = |of: &Parameter| {
        let text = spec.get(of.name).unwrap_or(&of.default);
        Ok((of.name, read(of, &spec.name, text)?))
    };
    parameters.iter().map(value).collect()
}

fn domain_of((kind, low, high, choices): DomainGiven) -> Domain {
    match kind.as_str() {
        "whole" => Domain::Whole { low, high },
        "number" => Domain::Number { low, high },
        "choice" => Domain::Choice(choices),
        _ => Domain::Text,
    }
}

/// A value as it is printed: what means the same gives the same text.
fn read(of: &Parameter, ftl: &str, text: &str) -> std::result::Result<String, SpecError> {
    if text == AUTO && of.default == AUTO {
        return Ok(AUTO.into());
    }
    let within = |number: f64, low: Option<f64>, high: Option<f64>| {
        low.is_none_or(|low| low <= number) && high.is_none_or(|high| number <= high)
    };
    let read = match &of.domain {
        Domain::Whole { low, high } => text
            .parse()
            .ok()
            .filter(|number: &i64| within(*number as f64, *low, *high))
            .map(|number| number.to_string()),
        Domain::Number { low, high } => text
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite() && within(*number, *low, *high))
            .map(|number| number.to_string()),
        Domain::Choice(choices) => {
            let text = match text {
                "true" if is_switch(choices) => "on",
                "false" if is_switch(choices) => "off",
                text => text,
            };
            choices.iter().find(|choice| *choice == text).cloned()
        }
        Domain::Text => (!text.contains(',')).then(|| text.to_owned()),
    };
    read.ok_or_else(|| SpecError::BadValue {
        of: ftl.to_owned(),
        key: of.name.to_owned(),
        value: text.to_owned(),
        expects: of.expects.clone(),
    })
}

/// What its values look like, to follow "is not".
fn expects(of: &Parameter) -> String {
    let range = |what: &str, low: Option<String>, high: Option<String>| match (low, high) {
        (None, None) => what.to_owned(),
        (Some(low), None) => format!("{what} of at least {low}"),
        (None, Some(high)) => format!("{what} of at most {high}"),
        (Some(low), Some(high)) => format!("{what} in {low}..={high}"),
    };
    let whole = |limit: &f64| format!("{limit}");
    let real = |limit: &f64| format!("{limit:?}");
    let value = match &of.domain {
        Domain::Whole { low, high } => {
            range("a whole number", low.as_ref().map(whole), high.as_ref().map(whole))
        }
        Domain::Number { low, high } => {
            range("a number", low.as_ref().map(real), high.as_ref().map(real))
        }
        Domain::Choice(choices) if is_switch(choices) => "on or off".into(),
        Domain::Choice(choices) => format!("one of {}", choices.join(", ")),
        Domain::Text => "a text without commas".into(),
    };
    if of.default == AUTO { format!("auto or {value}") } else { value }
}

fn is_switch(choices: &[String]) -> bool {
    choices == ["on", "off"]
}
