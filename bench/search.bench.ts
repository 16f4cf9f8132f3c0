// `npm run bench -- search --tools FILE [--count N]`: what a search of a tool mode costs a gate: CPU of its process for
// the first search, which lists every server, and for each of the next ones, and how often servers are asked for their
// lists. FILE is a JSON array of definitions with `server`; each server is an address of one HTTP server.

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import type { RunOptions } from '../scripts/dispatch.ts'
import { ROOT } from '../scripts/run-step.ts'
import { PlainClient } from '../test/support/plain-client.ts'
import { endGates, startGate } from '../test/support/start-gate.ts'
import { cpuUs } from './gateway/process-figures.ts'

/** Searches before the measurement: the code is compiled by then, and servers that were late have listed. */
const WARM = 20

export async function run({ tools: file, count = '50' }: RunOptions): Promise<number> {
  if (typeof file !== 'string') {
    console.error('usage: npm run bench -- search --tools FILE [--count N]')
    return 2
  }
  const bySource = new Map<string, ToolDefinition[]>()
  for (const tool of JSON.parse(readFileSync(file, 'utf8')) as ToolDefinition[])
    bySource.set(tool.server, [...(bySource.get(tool.server) ?? []), tool])
  // Names of a catalogue are no names of servers in sluice.yaml.
  const servers = new Map(
    [...bySource].map(([source, tools], at) => [
      `${source
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .slice(0, 18)}-${at}`.replace(/^-/, ''),
      tools,
    ]),
  )
  const upstream = await serve(servers)
  const addresses = [...servers.keys()].map((name) => [name, { url: `${upstream.url}/${name}` }])
  const gate = await startGate({ servers: Object.fromEntries(addresses) })
  const questions = JSON.parse(
    readFileSync(join(ROOT, 'scripts/eval/search/questions.json'), 'utf8'),
  ) as { readonly question: string }[]
  const client = await PlainClient.open(gate, '?mode=search')
  const search = async (at: number): Promise<void> => {
    const { question } = questions[at % questions.length] ?? { question: '' }
    await client.call('search_tools', { query: question })
  }
  const { pid = 0 } = gate.process
  const measure = async (name: string, from: number, to: number): Promise<void> => {
    const before = { us: cpuUs(pid), lists: upstream.lists() }
    for (let at = from; at < to; at++) await search(at)
    const cpuMs = (cpuUs(pid) - before.us) / 1_000 / (to - from)
    const lists = upstream.lists() - before.lists
    console.log(`${name}: ${cpuMs.toFixed(1)} ms of CPU each, servers asked ${lists} times`)
  }
  console.log(`${servers.size} servers`)
  await measure('first search', 0, 1)
  await measure('warming', 1, WARM)
  await measure('searches', WARM, WARM + Number(count))
  await endGates()
  upstream.close()
  return 0
}

/** Servers that list their tools and do nothing else. */
async function serve(servers: ReadonlyMap<string, readonly ToolDefinition[]>) {
  let lists = 0
  const http = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end()
      const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString())
      if (id === undefined) return void response.writeHead(202).end()
      if (method === 'tools/list') lists++
      const tools = servers.get(request.url?.slice(1) ?? '') ?? []
      const result =
        method === 'tools/list'
          ? { tools: tools.map(({ server: _, ...tool }) => tool) }
          : {
              protocolVersion: params?.protocolVersion,
              capabilities: { tools: {} },
              serverInfo: { name: 'bench', version: '1' },
            }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    lists: () => lists,
    close: () => {
      http.closeAllConnections()
      http.close()
    },
  }
}
