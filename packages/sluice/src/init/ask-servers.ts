// Asks the servers that were agreed to for their tools, several at once, and says how far it is. A server that
// does not list its tools would not work behind the gate either: it is left, with what it said.

import type { ToolDefinition } from '@sluice/policy/core/tools'
import { clientVariables } from '../gateway/processes/environment.ts'
import { listServerTools, type ServerAddress } from '../terminal/list-server-tools.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { ASKED_AT_ONCE_MAX, WAITING_TOLD_EVERY_MS } from './files/limits.ts'
import type { TextTemplate } from './files/read-server.ts'
import type { NamedServer } from './move/name-servers.ts'

export interface AskedServers {
  readonly servers: readonly NamedServer[]
  readonly tools: readonly ToolDefinition[]
  readonly failed: readonly { readonly server: NamedServer; readonly because: string }[]
}

type Answer = { readonly tools: readonly ToolDefinition[] } | { readonly because: string }

export async function askServers(
  agreed: readonly NamedServer[],
  output: Output,
): Promise<AskedServers> {
  const answers = new Map<NamedServer, Answer>()
  const waiting = new Set<NamedServer>()
  const names = agreed.map(({ name }) => name).join(', ')
  if (agreed.length > 0) output.remark(`asking ${names} for their tools`)
  const teller = setInterval(() => {
    const still = [...waiting].map(({ name }) => name).join(', ')
    output.remark(`still waiting for ${still}; a package may have to be downloaded first`)
  }, WAITING_TOLD_EVERY_MS).unref()
  const left = [...agreed]
  const work = async (): Promise<void> => {
    for (let server = left.shift(); server !== undefined; server = left.shift()) {
      waiting.add(server)
      const answer = await askOne(server)
      waiting.delete(server)
      answers.set(server, answer)
      const said =
        'tools' in answer ? plural(answer.tools.length, 'tool') : `left: ${answer.because}`
      output.remark(`  ${answers.size}/${agreed.length} ${server.name}: ${printable(said)}`)
    }
  }
  await Promise.all(Array.from({ length: ASKED_AT_ONCE_MAX }, work))
  clearInterval(teller)
  const all = agreed.map((server) => ({ server, answer: answers.get(server) as Answer }))
  return {
    servers: all.flatMap(({ server, answer }) => ('tools' in answer ? [server] : [])),
    tools: all.flatMap(({ answer }) => ('tools' in answer ? answer.tools : [])),
    failed: all.flatMap(({ server, answer }) =>
      'because' in answer ? [{ server, because: answer.because }] : [],
    ),
  }
}

async function askOne(server: NamedServer): Promise<Answer> {
  try {
    return { tools: await listServerTools(server.name, addressOf(server)) }
  } catch (error) {
    const { message } = error as Error
    const because = /HTTP 40[13]/.test(message)
      ? 'it wants a login, which the client holds: `auth: login` in sluice.yaml and `sluice login` give the gate one'
      : message.replace(/^the tools of `[^`]*` cannot be listed: /, '')
    return { because }
  }
}

function addressOf({ read }: NamedServer): ServerAddress {
  const text = (parts: TextTemplate): string =>
    parts.map((part) => (typeof part === 'string' ? part : process.env[part.variable])).join('')
  const texts = (values: Readonly<Record<string, TextTemplate>>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, text(value)]))
  return read.kind === 'http'
    ? { url: text(read.url), headers: texts(read.headers) }
    : {
        ...{ command: read.command.map(text), env: texts(read.env), cwd: read.cwd },
        // As its client would start it.
        client: { variables: clientVariables(process.env, undefined), isWhole: true },
      }
}
