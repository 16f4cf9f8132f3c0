// Rows of `npm run eval -- features` about the catalogue and the policy commands, as a user types them.

import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { classify } from '../../../packages/catalogue/src/classify/classify.ts'
import { isHeldOut } from '../catalogue/split.ts'
import { readWritten } from '../catalogue/written.ts'
import { command, type Place, says } from './place.ts'

const IN = ['--config', 'sluice.yaml']
const EXAMPLE = join(import.meta.dirname, '../../../examples/policy-tests')
/** The share of definitions of unseen servers whose class is right. */
const ACCURACY_MIN = 0.8

interface Scanned {
  readonly server: string
  readonly name: string
  readonly category: string
  readonly risk: string
  readonly riskBecause: string
  readonly evidence: readonly object[]
  readonly attacks: readonly object[]
}

async function scan(place: Place): Promise<readonly Scanned[]> {
  const { out } = await command(place, 'scan', ...IN, '--json')
  return JSON.parse(out).list
}

/** Of the three tools of PolicyLayer's pages about Claude Flow, and of one that drives another agent. */
export async function classes(place: Place): Promise<boolean> {
  const list = await scan(place)
  const of = (name: string) => list.find((tool) => tool.name === `wasm_agent_${name}`)
  const names = ['export', 'todos', 'is_stopped', 'prompt']
  const categories = names.map((name) => of(name)?.category).join()
  const areExplained = list.every(({ risk, riskBecause }) => risk !== '' && riskBecause !== '')
  return categories === 'Write,Read,Read,Execute' && areExplained
}

export async function attacks(place: Place): Promise<boolean> {
  return (await scan(place)).every(
    ({ server, attacks: known }) => server !== 'agents' || known.length > 0,
  )
}

export async function pages(place: Place): Promise<boolean> {
  const [file, site] = [join(place.gate.folder, 'tools.json'), join(place.gate.folder, 'site')]
  await command(place, 'tools', 'export', ...IN, '--out', file)
  const { code } = await command(place, 'catalogue', 'build', site, '--tools', file)
  const page = join(site, 'agents', 'wasm_agent_export.md')
  const text = code === 0 && existsSync(page) ? readFileSync(page, 'utf8') : ''
  return PAGE_POINTS.every((point) => text.includes(point))
}

/** What a page of PolicyLayer tells of a tool, and evidence and confidence, which it lacks. */
const PAGE_POINTS = [
  '**Write**, medium risk. It makes a copy',
  'How do agents use',
  '[A38 state carried out]',
  '[A39 secrets in a copy]',
  '{ action: allow, rate_limit: { max: 10, window: 60 } }',
  '{ action: require_approval }',
  '{ action: deny, reason: not for agents }',
  'passes the gate before it reaches the server',
  'Add a line to `sluice.yaml`:',
  '/mcp/agents`',
  'the limit resets by itself',
  'Confidence ',
  '| words of the definition | where |',
  ...['Read', 'Execute', 'Destructive', 'Financial'].map((category) => `- Not ${category}: `),
  'Which tools are like',
  'tools: ',
]

export async function policyTests(place: Place): Promise<boolean> {
  const folder = join(place.gate.folder, 'policy-tests')
  cpSync(EXAMPLE, folder, { recursive: true })
  if (!(await says(place, ['policy', 'test', 'policy-tests/cases.yaml'], /passed|ok/))) return false
  const policy = join(folder, 'policy.yaml')
  const text = readFileSync(policy, 'utf8')
  writeFileSync(policy, text.replace('Destructive: require_approval', 'Destructive: allow'))
  const { code } = await command(place, 'policy', 'test', 'policy-tests/cases.yaml')
  writeFileSync(policy, text)
  return code === 1
}

export async function prove(place: Place): Promise<boolean> {
  const args = ['policy-tests/properties.yaml', '--tools', 'policy-tests/tools.json']
  return says(place, ['policy', 'prove', ...args], /proved/)
}

export async function replay(place: Place): Promise<boolean> {
  return says(place, ['policy', 'replay', '--policy', 'policy.yaml', '--data', 'data'], /\bsame\b/)
}

export async function accuracy(): Promise<boolean> {
  const unseen = readWritten().filter(({ tool }) => isHeldOut(tool.server))
  const right = unseen.filter(({ tool, category }) => classify(tool).category === category)
  return right.length / unseen.length >= ACCURACY_MIN
}

/** Every spelling of PolicyLayer is imported, and checked as it is. */
export async function importers(place: Place): Promise<boolean> {
  const condition = { path: 'args.n', op: 'gt', value: 3 }
  const hosted = {
    version: '1',
    default: 'deny',
    tools: {
      pay: {
        deny_if: [{ conditions: [condition], on_deny: 'too much' }],
        limits: [{ scope: 'grant', window: 'minute', max: 3 }],
      },
      drop: { rate_limit: { max: 10, window: 60 } },
    },
  }
  const documents = {
    'hosted.json': JSON.stringify(hosted),
    'pages.yaml':
      'tools:\n  pay:\n    rate_limit: { max: 10, window: 60 }\n  drop: { action: deny, reason: no }\n',
    'intercept.yaml':
      'version: "1"\ntools:\n  pay:\n    rules:\n      - name: few\n        rate_limit: 5/minute\n',
  }
  for (const [name, text] of Object.entries(documents)) {
    writeFileSync(join(place.gate.folder, name), text)
    for (const word of ['import', 'check'])
      if (!(await says(place, ['policy', word, name, '--server', 'shop'], /shop/))) return false
  }
  return true
}
