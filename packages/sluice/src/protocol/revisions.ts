// The revisions of MCP that have sessions, the newest last, and which of them is spoken where a client
// wants this one or that. Pure.

export const SESSION_REVISIONS: readonly string[] = [
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
]

/** What a server that is asked for `wanted` settles on. */
export function negotiateRevision(wanted: unknown): string {
  const known = SESSION_REVISIONS.find((revision) => revision === wanted)
  return known ?? (SESSION_REVISIONS.at(-1) as string)
}
