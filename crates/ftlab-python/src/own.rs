//! Policies in Python by name: what the registry is for those in Rust.

use crate::error::Result;
use crate::parameters::{declared, values};
use crate::policy::PythonPolicy;
use crate::workload::{Raised, keep};
use ftlab_ftl::page::{Hints, Policy};
use ftlab_ftl::registry::{DriveShape, FitContext};
use ftlab_sim::{OwnPolicies, OwnPolicy, SimError};
use ftlab_spec::{Parameter, Spec, SpecError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// A policy as Python presents it (`ftlab._own.Own`).
struct Presented {
    own: Py<PyAny>,
    parameters: Vec<Parameter>,
    hints: Hints,
    code: String,
    raised: Raised,
}

/// The policies by name; what they raise is kept in `raised`.
pub(crate) fn policies(own: &[Bound<'_, PyAny>], raised: &Raised) -> Result<OwnPolicies> {
    let mut policies = OwnPolicies::default();
    for one in own {
        let name: String = one.getattr("name")?.extract()?;
        let mut parameters = Vec::new();
        for fields in one.getattr("fields")?.try_iter()? {
            parameters.push(declared(fields?.extract()?));
        }
        let hints: Option<String> = one.getattr("hints")?.extract()?;
        let presented = Presented {
            own: one.clone().unbind(),
            parameters,
            hints: hints_of(&name, hints.as_deref())?,
            code: one.getattr("code")?.extract()?,
            raised: Arc::clone(raised),
        };
        policies.add(&name, presented).map_err(SimError::from)?;
    }
    Ok(policies)
}

fn hints_of(name: &str, hints: Option<&str>) -> std::result::Result<Hints, SpecError> {
    match hints {
        None => Ok(Hints::None),
        Some("lifetimes") => Ok(Hints::Lifetimes),
        Some("streams") => Ok(Hints::Streams),
        Some(other) => Err(SpecError::BadValue {
            of: name.to_owned(),
            key: "hints".into(),
            value: other.to_owned(),
            expects: "lifetimes, streams or None".into(),
        }),
    }
}

/// Policies that nobody will run: what they raise is in the error.
pub(crate) fn only_named(own: &[Bound<'_, PyAny>]) -> Result<OwnPolicies> {
    policies(own, &Raised::default())
}

impl Presented {
    /// The values that `fit` of the policy leaves.
    fn fitted(&self, values: Values, context: &FitContext) -> std::result::Result<Values, PyErr> {
        let (shape, oracle) = (context.shape, context.oracle.iter());
        let shape =
            (shape.blocks, shape.pages_per_block, shape.logical_pages, shape.reserve_blocks);
        let oracle: Vec<_> = oracle.map(|group| (group.pages, group.writes)).collect();
        Python::attach(|py| {
            let texts = PyDict::new(py);
            for (name, text) in &values {
                texts.set_item(name, text)?;
            }
            let fitted = self.own.bind(py).call_method1("fitted", (texts, shape, oracle))?;
            let text = |(name, _)| Ok((name, fitted.get_item(name)?.extract()?));
            values.into_iter().map(text).collect()
        })
    }

    /// The error of what Python raised, which is kept for whoever can raise it.
    fn refused(&self, spec: &Spec, error: PyErr) -> SpecError {
        let reason = error.to_string();
        keep(&self.raised, error);
        SpecError::Syntax { text: spec.to_string(), reason }
    }
}

/// Names of parameters with their values.
type Values = Vec<(&'static str, String)>;

impl OwnPolicy for Presented {
    fn values(
        &self,
        spec: &Spec,
        context: Option<&FitContext>,
    ) -> std::result::Result<Values, SpecError> {
        let given = values(&self.parameters, spec)?;
        let Some(context) = context else { return Ok(given) };
        let fitted =
            self.fitted(given, context).map_err(|error| self.refused(spec, error))?.into_iter();
        // What `fit` returns has to be a value, too.
        let arguments = fitted.map(|(name, text)| (name.to_owned(), text)).collect();
        values(&self.parameters, &Spec { name: spec.name.clone(), arguments })
    }

    fn hints(&self) -> Hints {
        self.hints
    }

    /// Memory held by Python is not counted.
    fn bytes(&self, _: &Spec, _: DriveShape) -> std::result::Result<u64, SpecError> {
        Ok(0)
    }

    fn make(&self, spec: &Spec, shape: DriveShape) -> std::result::Result<Box<dyn Policy>, String> {
        let values = values(&self.parameters, spec).map_err(|error| error.to_string())?;
        let made = Python::attach(|py| {
            let texts = PyDict::new(py);
            for (name, text) in &values {
                texts.set_item(name, text)?;
            }
            let policy = self.own.bind(py).call_method1("make", (texts,))?;
            PythonPolicy::new(&policy, shape, self.hints, &self.raised)
        });
        made.map(|policy| Box::new(policy) as Box<dyn Policy>).map_err(|error| {
            let message = error.to_string();
            keep(&self.raised, error);
            message
        })
    }

    fn code(&self) -> Option<String> {
        Some(self.code.clone())
    }
}
