// Tools whose arguments cannot be repeated in headers as their definition wants. A client of the stateless
// generation, which the gate is too towards newer servers, leaves them out of its list. Logged once each.

import type { KnownTool } from '@sluice/policy/calls/tools'
import { listParamHeaders } from '@sluice/protocol/mcp-headers'
import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import type { Log } from '../shared/log.ts'

export class UnusableTools {
  readonly #isNewer: (server: string) => boolean
  readonly #logged = new WeakSet<KnownTool>()

  constructor(isNewer: (server: string) => boolean) {
    this.#isNewer = isNewer
  }

  has(tool: KnownTool, generation: ProtocolGeneration, log: Log): boolean {
    const { server, name, inputSchema } = tool.definition
    const isNewer = generation === 'stateless' || this.#isNewer(server)
    if (!isNewer || listParamHeaders(inputSchema) !== undefined) return false
    if (!this.#logged.has(tool)) log('warn', `left out: \`x-mcp-header\` of \`${name}\` is wrong`)
    this.#logged.add(tool)
    return true
  }
}
