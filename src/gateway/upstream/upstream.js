// A link to a server, as both transports make it: what a Link can do, and what only a server's side
// has. A request that fails gets onFailure; a request still open at onClose has an unknown outcome.
export {}
