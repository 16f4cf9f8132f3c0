// Asks the servers that were agreed to for their tools, as their clients would start them. A server that
// does not answer is left out, with the reason.

import { clientVariables } from '@sluice/gateway/processes/environment'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { describeFailure, listAllTools } from '../servers/list-all-tools.ts'
import { listServerTools, type ServerAddress } from '../servers/list-server-tools.ts'
import type { Output } from '../terminal/output.ts'
import { fillTemplate, type TextTemplate } from './files/read-server.ts'
import type { NamedServer } from './move/name-servers.ts'

/** What the servers that were asked have said. */
export interface AskedServers {
  /** The servers that listed their tools. */
  readonly servers: NamedServer[]
  readonly tools: ToolDefinition[]
  /** The servers that did not, with the reason. */
  readonly failed: { readonly server: NamedServer; readonly because: string }[]
}

export async function askServers(
  agreed: readonly NamedServer[],
  output: Output,
): Promise<AskedServers> {
  const sources = agreed.map((server) => ({
    name: server.name,
    list: () => listServerTools(server.name, addressOf(server)),
  }))
  const servers: NamedServer[] = []
  const tools: ToolDefinition[] = []
  const failed: { server: NamedServer; because: string }[] = []
  for (const [at, listing] of (await listAllTools(sources, output)).entries()) {
    const server = agreed[at] as NamedServer
    if ('error' in listing) failed.push({ server, because: reasonOf(listing.error) })
    else {
      servers.push(server)
      tools.push(...listing.tools)
    }
  }
  return { servers, tools, failed }
}

function reasonOf(error: Error): string {
  return /HTTP 40[13]/.test(error.message)
    ? 'it wants a login, which the client holds: `auth: login` in sluice.yaml and `sluice login` give the gate one'
    : describeFailure(error)
}

function addressOf({ read }: NamedServer): ServerAddress {
  const text = (parts: TextTemplate) => fillTemplate(parts, process.env)
  const texts = (values: Readonly<Record<string, TextTemplate>>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, text(value)]))
  return read.kind === 'http'
    ? { url: text(read.url), headers: texts(read.headers) }
    : {
        command: read.command.map(text),
        env: texts(read.env),
        cwd: read.cwd,
        // As its client would start it.
        client: { variables: clientVariables(process.env, undefined), isWhole: true },
      }
}
