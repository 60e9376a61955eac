//! Every dialect on its fixtures: what is read, that nothing to do changes nothing, and that sniffing tells it from the others.

#[path = "dialects/data.rs"]
mod data;
#[path = "dialects/files.rs"]
mod files;
#[path = "dialects/identity.rs"]
mod identity;
#[path = "dialects/sniffing.rs"]
mod sniffing;
#[path = "dialects/views.rs"]
mod views;
