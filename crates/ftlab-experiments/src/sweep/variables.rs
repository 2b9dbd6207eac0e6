//! What `{name}` and `{a + b}` in an experiment file stand for.

/// Variables with their values, the last of a name first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables(Vec<(String, String)>);

impl Variables {
    pub(crate) fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.push((name.into(), value.into()));
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// `text` with every `{...}` replaced: a variable by its value, anything else is a sum or product
    /// of numbers and variables, worked out from left to right.
    pub(crate) fn fill_in(&self, text: &str) -> Result<String, String> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, inside)) = rest.split_once('{') {
            let Some((inside, after)) = inside.split_once('}') else {
                return Err(format!("{text:?} has a {{ without a }}; close it"));
            };
            filled.push_str(before);
            filled.push_str(&self.value(inside.trim())?);
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn value(&self, inside: &str) -> Result<String, String> {
        if let Some(value) = self.get(inside) {
            return Ok(value.to_owned());
        }
        let words: Vec<&str> = inside.split_whitespace().collect();
        if words.len() < 3 || words.len().is_multiple_of(2) {
            return Err(self.unknown(inside));
        }
        let mut total = self.number(words[0])?;
        for pair in words[1..].chunks(2) {
            let operand = self.number(pair[1])?;
            total = match pair[0] {
                "+" => total + operand,
                "-" => total - operand,
                "*" => total * operand,
                "/" => total / operand,
                other => {
                    return Err(format!(
                        "{{{inside}}}: {other:?} is none of + - * /, with blanks around them"
                    ));
                }
            };
        }
        Ok(total.to_string())
    }

    fn number(&self, word: &str) -> Result<f64, String> {
        if let Ok(number) = word.parse() {
            return Ok(number);
        }
        let value = self.get(word).ok_or_else(|| self.unknown(word))?;
        value.parse().map_err(|_| format!("{{{word}}} is {value:?}, which is not a number"))
    }

    fn unknown(&self, name: &str) -> String {
        let mut known: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        format!(
            "{{{name}}} stands for nothing; add {name} = [...] to [grid], or use one of: {}",
            known.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Variables {
        let mut variables = Variables::default();
        variables.set("theta", "0.9");
        variables.set("drive.pages", "4096");
        variables
    }

    #[test]
    fn variables_and_sums_are_filled_in() {
        for (text, filled) in [
            ("plain", "plain"),
            ("zipf:theta={theta}", "zipf:theta=0.9"),
            ("{drive.pages}/{ theta }", "4096/0.9"),
            ("{drive.pages + 4 * 2}", "8200"),
            ("{drive.pages / 8}", "512"),
        ] {
            assert_eq!(variables().fill_in(text).unwrap(), filled, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_filled_in_says_why() {
        for (text, part) in [
            ("{x}", "add x = [...] to [grid], or use one of: drive.pages, theta"),
            ("{theta", "without a }"),
            ("{theta ^ 2}", "\"^\" is none of + - * /"),
            ("{1 + y}", "{y} stands for nothing"),
        ] {
            let message = variables().fill_in(text).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }
}
