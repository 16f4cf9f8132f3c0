// The packages that are published.

/** Libraries beside the command: a program of somebody else can use each alone. Agents need the last two. */
export const LIBRARIES = ['policy', 'guard', 'catalogue', 'agents', 'protocol', 'ledger']

/** The folders below `dist` that npm packs. `sluice` is the command, and holds all that it needs of the others. */
export const PUBLISHED = [...LIBRARIES, 'sluice']
