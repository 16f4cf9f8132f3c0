// The entries of a server's list over all of its pages, as the server wrote them: asked for by the gate itself.

import { splitElements } from '@sluice/protocol/json/raw-members'
import { LISTS, type ListKind } from '@sluice/protocol/lists'
import type { JsonRpcResponse } from '@sluice/protocol/message'
import { RPC } from '@sluice/protocol/rpc-codes'
import { LIST_AT_ONCE_LENGTH_MAX, LIST_PAGES_MAX } from '../shared/limits.ts'
import { listPages } from '../shared/list-pages.ts'
import { Slices } from '../shared/slices.ts'

/** Asks the server, as the gate; rejects if no answer comes. */
export type AskServer = (method: string, params: Record<string, string>) => Promise<JsonRpcResponse>

/** None if the server does not have the method. Throws if it does not answer. `onEndless` is called if it lists
 * without end; it may throw. */
export async function* listEntries(
  ask: AskServer,
  list: string,
  onEndless: () => void = () => {
    throw new Error(`the server's \`${list}\` has more than ${LIST_PAGES_MAX} pages`)
  },
): AsyncGenerator<string> {
  const { key } = LISTS.get(list) as ListKind
  const slices = new Slices()
  const askPage = async (params: Record<string, string>) => {
    const { result, error } = await ask(list, params)
    if (result === undefined && error?.code !== RPC.methodNotFound)
      throw new Error(`the server lists no ${key}: ${error?.message}`)
    return result
  }
  for await (const { members, length } of listPages(askPage, onEndless))
    for (const text of splitElements(members.get(key) ?? '[]')) {
      if (length > LIST_AT_ONCE_LENGTH_MAX && slices.isOver) await slices.next()
      yield text
    }
}
