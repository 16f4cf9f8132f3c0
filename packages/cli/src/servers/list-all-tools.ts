// Lists the tools of several servers at the same time and reports progress on stderr, for `sluice init`,
// `sluice scan` and `sluice tools export`. A server that fails does not stop the others.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { CliError } from '../terminal/errors.ts'
import { ASKED_AT_ONCE_MAX, WAIT_SHOWN_AFTER_MS } from '../terminal/limits.ts'
import { type Output, plural, printable } from '../terminal/output.ts'

export interface ToolSource {
  readonly name: string
  /** Rejects with a CliError if the server cannot be listed. */
  list(): Promise<readonly ToolDefinition[]>
}

export type ToolListing =
  | { readonly tools: readonly ToolDefinition[] }
  | { readonly error: CliError }

/** One result for each source, in the same order. */
export async function listAllTools(
  sources: readonly ToolSource[],
  output: Output,
): Promise<ToolListing[]> {
  const listings: ToolListing[] = []
  const waiting = new Set<string>()
  const isSingle = sources.length === 1
  if (sources.length > 1)
    output.remark(`asking ${sources.map(({ name }) => name).join(', ')} for their tools`)
  let waitMs = WAIT_SHOWN_AFTER_MS
  const remind = (): void => {
    const names = [...waiting].map(printable).join(', ')
    output.remark(`still waiting for ${names}; a package may have to be downloaded first`)
    waitMs *= 2
    reminder = setTimeout(remind, waitMs).unref()
  }
  let reminder = setTimeout(remind, waitMs).unref()
  const left = [...sources.entries()]
  let done = 0
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [at, source] = next
      waiting.add(source.name)
      const listing = await list(source)
      waiting.delete(source.name)
      listings[at] = listing
      const result =
        'tools' in listing
          ? plural(listing.tools.length, 'tool')
          : `left out: ${describeFailure(listing.error)}`
      if (!isSingle)
        output.remark(`  ${++done}/${sources.length} ${source.name}: ${printable(result)}`)
    }
  }
  try {
    await Promise.all(Array.from({ length: ASKED_AT_ONCE_MAX }, work))
  } finally {
    clearTimeout(reminder)
  }
  return listings
}

async function list(source: ToolSource): Promise<ToolListing> {
  try {
    return { tools: await source.list() }
  } catch (error) {
    if (error instanceof CliError) return { error }
    throw error
  }
}

/** Without the name of the server, which the caller shows. */
export function describeFailure({ message }: Error): string {
  return message.replace(/^the tools of `[^`]*` cannot be listed: /, '')
}
