// Twenty sets of five published servers, drawn by a seed: what `sluice threats` says of each under the policy that
// `sluice scan` suggests, beside the tools and their classes, for somebody who judges each path.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { classify } from '../../../packages/catalogue/src/classify/classify.ts'
import { suggestKnownPolicy } from '../../../packages/cli/src/packs/known-fields.ts'
import { Random } from '../../../test/fuzz/mutate.ts'
import { sluice } from '../../../test/support/run-sluice.ts'
import { readTools } from '../catalogue/data.ts'
import { groupByServer, shuffle } from '../facts/draw.ts'

const SEED = 5510
const SETS = 20
const SERVERS = 5
const DESCRIPTION_CHARS_MAX = 300
const NAME_CHARS_MAX = 24

/** Writes for each set what the command prints and answers, its policy, and the tools. */
export async function writeSets(data: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const byServer = groupByServer(readTools(data))
  const order = shuffle([...byServer.keys()].sort(), new Random(SEED))
  for (let set = 0; set < SETS; set++) {
    const servers = order.slice(set * SERVERS, (set + 1) * SERVERS)
    const name = join(folder, String(set + 1).padStart(2, '0'))
    const tools = servers.flatMap((server) =>
      (byServer.get(server) ?? []).map((tool) => ({ ...tool, server: toServerName(server) })),
    )
    const { text, json } = await searchSet(servers.map(toServerName), tools)
    writeFileSync(`${name}.txt`, text)
    writeFileSync(`${name}.json`, json)
    writeFileSync(`${name}.tools.txt`, `${tools.map(describe).join('\n')}\n`)
    const { harms } = JSON.parse(json)
    const paths = harms.flatMap((one: { paths: { serious: boolean }[] }) => one.paths)
    const serious = paths.filter((one: { serious: boolean }) => one.serious).length
    console.log(
      `set ${set + 1}: ${tools.length} tools, ${serious} of ${paths.length} paths certain`,
    )
  }
}

/** Without its publisher, as a configuration may name it. */
function toServerName(server: string): string {
  const [product = ''] = server.toLowerCase().split('__').slice(-1)
  return product.replaceAll(/[^a-z0-9-]/g, '-').slice(0, NAME_CHARS_MAX)
}

/** As a user has them: each server is a process of this machine, without isolation. */
async function searchSet(servers: readonly string[], tools: readonly ToolDefinition[]) {
  const folder = join(mkdtempSync(join(tmpdir(), 'threats-')), 'shop')
  mkdirSync(folder)
  const entries = servers.map((server) => [server, { command: ['npx', '-y', server] }])
  const config = { version: 1, servers: Object.fromEntries(entries), policy: './policy.yaml' }
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify({ ...config, data: './data' }))
  writeFileSync(join(folder, 'policy.yaml'), suggestKnownPolicy(tools).yaml)
  writeFileSync(join(folder, 'tools.json'), JSON.stringify(tools))
  const before = process.cwd()
  process.chdir(folder)
  try {
    const args = ['threats', '--config', 'sluice.yaml', '--tools', 'tools.json', '--all']
    const printed = await sluice(args)
    const answered = await sluice([...args, '--json'])
    if (printed.stdout === '' || answered.stdout === '' || /has errors/.test(printed.stderr))
      throw new Error(printed.stderr)
    const policy = `\npolicy.yaml:\n${suggestKnownPolicy(tools).yaml}`
    return { text: printed.stdout + policy, json: answered.stdout }
  } finally {
    process.chdir(before)
  }
}

function describe(tool: ToolDefinition): string {
  const { category, risk, unknown } = classify(tool)
  const properties = (tool.inputSchema as { properties?: object } | undefined)?.properties ?? {}
  const said = String(tool.description ?? '').replaceAll(/\s+/g, ' ')
  const what = unknown === true ? `class is a guess, perhaps ${category}` : `${category}, ${risk}`
  return `${tool.server}/${tool.name}  [${what}]  (${Object.keys(properties).join(', ')})\n    ${said.slice(0, DESCRIPTION_CHARS_MAX)}`
}
