//! What outlives a run: scopes and transactions in one embedded database file.
