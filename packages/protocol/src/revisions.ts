// The revisions of MCP that have sessions, the newest last, and revision negotiation. Pure.

export const SESSION_REVISIONS: readonly string[] = [
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
]

/** The revision a server agrees to when `wanted` is requested. */
export function negotiateRevision(wanted: unknown): string {
  const known = SESSION_REVISIONS.find((revision) => revision === wanted)
  return known ?? (SESSION_REVISIONS.at(-1) as string)
}
