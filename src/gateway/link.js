// One side of a conversation: a client's session or a connection to a server. The gate stands
// between two links and judges what passes; a link only carries messages.
export {};
