// The pages of a server's list, asked for one after the other by the gate itself. A server could go on without end,
// so their number is bounded.

import { splitMembers } from '@sluice/protocol/json/raw-members'
import { LIST_PAGES_MAX } from './limits.ts'

export interface ListPage {
  /** The members of the result, as the server wrote them. */
  readonly members: ReadonlyMap<string, string>
  /** Of the result. */
  readonly length: number
}

/** `ask` returns the result of a page; undefined ends the list. `onEndless` is called if there are more pages than the
 * gate reads. */
export async function* listPages(
  ask: (params: Record<string, string>) => Promise<string | undefined>,
  onEndless: () => void,
): AsyncGenerator<ListPage> {
  let params: Record<string, string> = {}
  for (let page = 0; page < LIST_PAGES_MAX; page++) {
    const result = await ask(params)
    if (result === undefined) return
    const members = splitMembers(result)
    yield { members, length: result.length }
    const cursor: unknown = JSON.parse(members.get('nextCursor') ?? 'null')
    if (typeof cursor !== 'string') return
    params = { cursor }
  }
  onEndless()
}
