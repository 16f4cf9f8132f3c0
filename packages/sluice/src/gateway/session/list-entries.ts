// The entries of a server's list over all of its pages, as the server wrote them: asked for by the gate itself.

import { splitElements } from '../../protocol/json/raw-members.ts'
import type { JsonRpcResponse } from '../../protocol/message.ts'
import { RPC } from '../../protocol/rpc-codes.ts'
import { LIST_PAGES_MAX } from '../shared/limits.ts'
import { listPages } from '../shared/list-pages.ts'
import { Slices } from '../shared/slices.ts'

/** Asks the server, as the gate; rejects if no answer comes. */
export type AskServer = (method: string, params: Record<string, string>) => Promise<JsonRpcResponse>

/** None if the server does not have the method. Throws if it does not answer, or lists without end. */
export async function* listEntries(
  ask: AskServer,
  list: string,
  key: string,
): AsyncGenerator<string> {
  const slices = new Slices()
  const askPage = async (params: Record<string, string>) => {
    const { result, error } = await ask(list, params)
    if (result === undefined && error?.code !== RPC.methodNotFound)
      throw new Error(`the server does not answer \`${list}\``)
    return result
  }
  const refuse = () => {
    throw new Error(`the server's \`${list}\` has more than ${LIST_PAGES_MAX} pages`)
  }
  for await (const { members } of listPages(askPage, refuse))
    for (const text of splitElements(members.get(key) ?? '[]')) {
      if (slices.isOver) await slices.next()
      yield text
    }
}
