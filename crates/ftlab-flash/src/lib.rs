//! The medium: geometry, page and block numbers, the Flash trait and its twins.
