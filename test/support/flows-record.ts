// Records the answers of test/cases/flows from the servers themselves, without a gate: each task and
// attack in a world of its own, with the markers left in. Writes the traces and the list of tools.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { type FlowStep, readLines } from './flows-suite.ts'
import { FLOWS, MARKER, resetWorld, WORLD_NAME, worldServers } from './flows-world.ts'

interface Recorded {
  readonly id: string
  readonly steps: readonly FlowStep[]
}

export async function recordFlows(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-record-'))
  const root = join(directory, 'world')
  resetWorld(root, MARKER, true)
  const clients = await connect(root)
  try {
    for (const file of ['benign.jsonl', 'injections.jsonl']) {
      const lines: string[] = []
      for (const one of readLines<Recorded>(file))
        lines.push(JSON.stringify({ ...one, steps: await recordSteps(one.steps, root, clients) }))
      writeFileSync(join(FLOWS, file), `${lines.join('\n')}\n`)
    }
    writeFileSync(join(FLOWS, 'tools.json'), await listTools(clients))
  } finally {
    for (const client of clients.values()) await client.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** The steps with the answers that the servers give, in a new world. */
export async function recordSteps(
  steps: readonly FlowStep[],
  root: string,
  clients: ReadonlyMap<string, Client>,
): Promise<FlowStep[]> {
  resetWorld(root, MARKER, true)
  const recorded: FlowStep[] = []
  for (const step of steps) {
    const args = JSON.parse(JSON.stringify(step.args).replaceAll(WORLD_NAME, root))
    const answer = await clients.get(step.server)?.callTool({ name: step.tool, arguments: args })
    const content = (answer?.content ?? []) as { type: string; text?: string }[]
    const text = content.map((part) => part.text ?? '').join('\n')
    recorded.push({ ...step, answer: text.replaceAll(root, WORLD_NAME) })
  }
  return recorded
}

export async function connect(
  root: string,
  names?: readonly string[],
): Promise<Map<string, Client>> {
  const clients = new Map<string, Client>()
  for (const [name, spec] of Object.entries(worldServers(root))) {
    if (!('command' in spec) || names?.includes(name) === false) continue
    const [command = '', ...args] = spec.command
    const env = { ...(process.env as Record<string, string>), ...('env' in spec ? spec.env : {}) }
    const transport = new StdioClientTransport({ command, args, env, stderr: 'ignore' })
    const client = new Client({ name: 'recorder', version: '1' })
    await client.connect(transport)
    clients.set(name, client)
  }
  return clients
}

async function listTools(clients: ReadonlyMap<string, Client>): Promise<string> {
  const lines: string[] = []
  for (const [server, client] of clients) {
    const { tools } = await client.listTools()
    for (const { name, description, inputSchema, annotations } of tools)
      lines.push(JSON.stringify({ server, name, description, inputSchema, annotations }))
  }
  return `[\n${lines.join(',\n')}\n]\n`
}
