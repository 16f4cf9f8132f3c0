// What an HTTP transport (Streamable HTTP or the old one) and its exchanges have from the link they
// belong to, and what the link has from the transport. Types only; http.ts is the link.
export {}
