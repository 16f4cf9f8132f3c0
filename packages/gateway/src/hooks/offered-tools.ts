// What each published client offered its model when it was last looked at (offered-tools.json, written by
// `npm run eval -- client-tools --write`).

import type { HookClient } from './clients/table.ts'
import offered from './offered-tools.json' with { type: 'json' }

export interface OfferedTools {
  /** The version of the client. */
  readonly version: string
  /** The names of the arguments of each tool, by the client's own name for it. */
  readonly tools: Readonly<Record<string, readonly string[]>>
}

/** Clients that were never run have none. */
export const OFFERED_TOOLS: Readonly<Partial<Record<HookClient, OfferedTools>>> = offered
