//! How an error of the operating system is said.

use crate::places::INVALID_UTF8;

/// The error of the operating system, in the form of our messages: it starts in lower case and has neither the number of
/// the error nor what follows that. An error that a library wrapped is unwrapped first, because the library's text repeats
/// the path that our message begins with.
#[must_use]
pub fn system_message(error: &std::io::Error) -> String {
    let cause = innermost(error);
    let message = cause.to_string();
    // What the standard library reports of a file that is read as text.
    if cause.kind() == std::io::ErrorKind::InvalidData && message.ends_with("valid UTF-8") {
        return format!("{INVALID_UTF8}; convert the file to UTF-8");
    }
    let message = message.split(" (os error").next().unwrap_or(&message);
    let mut rest = message.chars();
    let first = rest.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(rest).collect()
}

/// The last system error in the chain of causes.
fn innermost(error: &std::io::Error) -> &std::io::Error {
    let mut last = error;
    let mut cause = error.get_ref().map(|inner| inner as &(dyn std::error::Error + 'static));
    while let Some(error) = cause {
        let inner = error.downcast_ref::<std::io::Error>();
        last = inner.unwrap_or(last);
        cause = match inner {
            Some(inner) => inner.get_ref().map(|inner| inner as &(dyn std::error::Error + 'static)),
            None => error.source(),
        };
    }
    last
}

#[cfg(test)]
mod tests {
    use super::system_message;

    #[test]
    fn a_wrapped_system_error_is_reported_without_its_wrapper() {
        /// An error in the form of a library that adds the operation and the path.
        #[derive(Debug)]
        struct Wrapper(std::io::Error);

        impl std::fmt::Display for Wrapper {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "IO error for operation on x: {}", self.0)
            }
        }

        impl std::error::Error for Wrapper {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                Some(&self.0)
            }
        }

        let missing = std::io::Error::from_raw_os_error(2);
        let wrapped = std::io::Error::new(missing.kind(), Wrapper(missing));
        let twice = std::io::Error::other(wrapped);
        assert_eq!(system_message(&twice), "no such file or directory");
    }
}
