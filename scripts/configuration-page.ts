// Writes docs/reference/configuration.md from the shape of sluice.yaml: every key with its type,
// default and an example. Run by hand after the shape has changed
// (`node scripts/configuration-page.ts`); a test compares.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describeShape } from '@sluice/policy/document/describe-shape'
import type { ObjectShape } from '@sluice/policy/document/json-schema'
import type { Field, Shape } from '@sluice/policy/document/shape'
import { stringify } from 'yaml'
import { CONFIG } from '../packages/gateway/src/config/shape.ts'
import { ROOT } from './run-step.ts'

export const CONFIGURATION_PAGE = join(ROOT, 'docs', 'reference', 'configuration.md')

const HEAD = `# Configuration

<!-- Made by scripts/configuration-page.ts from the shape of sluice.yaml: change that. -->

\`sluice.yaml\` says which servers stand behind the gate, which policy applies, and how the gate runs. It is
YAML or JSON. An unknown key, a wrong type or a value out of range stops the start, with line and column.
The policy language has [its own page](policy-language.md).

## The keys that most people set

Twelve keys, in one file:

\`\`\`yaml
# yaml-language-server: $schema=./node_modules/sluice/schema/config.json
version: 1
listen: 127.0.0.1:7433                  # beyond loopback: tls, or public_url
data: ./.sluice                         # ledger, approvals, agents, keys
servers:
  files:
    command: [mcp-server-filesystem, /srv/notes]
    sandbox: { write: [/srv/notes] }    # it sees nothing else, and reaches no host
  github:
    url: https://api.githubcopilot.com/mcp/
    auth: login                         # \`sluice login github\`; or headers with a key:
  crm:
    url: https://crm.example.com/mcp
    headers: { Authorization: "Bearer \${CRM_TOKEN}" }
  agents: { builtin: agents }           # agents in a sandbox
policy: ./policy.yaml                   # without one everything is denied
policies: { readonly: ./readonly.yaml } # for grants: \`sluice grants add ci --policy readonly\`
ledger: { keep: 90d }                   # how long calls are kept; without it all are
\`\`\`

A gate for others also has \`public_url\` or [\`tls\`](#tls); one that people of a company use, [\`auth\`](#auth); one whose approvers
are told of held calls, [\`approvals\`](#approvals); several gates, \`store\` and [\`cluster\`](#cluster).

**Variables.** \`\${NAME}\` in a text is a variable of the environment, or else a line \`NAME=value\` of
\`sluice.env\` beside the file (\`NAME="…"\` as JSON if the value has line breaks), which only its owner may be able to
read. A missing variable stops the start.

**Paths** are relative to the folder of \`sluice.yaml\`.

**Durations** are whole seconds, or a number with \`s\`, \`m\`, \`h\` or \`d\`.

**Editors** that use the YAML language server complete and check the file by the first line of the
example. The schemas are \`schema/config.json\` and \`schema/policy.json\` in the installed package. With a
global installation, \`npm root -g\` prints the folder to put in place of \`./node_modules\`.

## All keys

A key is shown with an example, unless its default is one.
`

export function configurationPage(): string {
  const shown = new Map<string, string>()
  const sections = [...listSections(CONFIG, [])].map((section) => toSection(section, shown))
  return `${[HEAD, ...sections].join('\n')}`
}

interface Section {
  readonly path: readonly string[]
  readonly shape: ObjectShape
  /** The format of the names of a mapping. */
  readonly names?: string
}

/** Every object of the document, with the path that leads to it, parents first. */
function* listSections(
  shape: ObjectShape,
  path: readonly string[],
  of?: Partial<Section>,
): Generator<Section> {
  yield { path, shape, ...of }
  for (const [name, field] of Object.entries(shape.fields)) {
    const below = objectIn(field.shape)
    if (below === undefined) continue
    const { object, names } = below
    const next = [...path, name, ...(names === undefined ? [] : ['NAME'])]
    yield* listSections(object, next, names === undefined ? {} : { names })
  }
}

function objectIn(shape: Shape): { object: ObjectShape; names?: string } | undefined {
  if (shape.kind === 'object') return { object: shape }
  if (shape.kind === 'either') return shape.of.map(objectIn).find((found) => found !== undefined)
  if (shape.kind !== 'record' || shape.of.kind !== 'object') return undefined
  const names = shape.keys.kind === 'form' ? shape.keys.help : ''
  return { object: shape.of, names }
}

/** `shown`: the section that each row before stands in. */
function toSection({ path, shape, names }: Section, shown: Map<string, string>): string {
  const key = path.join('.')
  const title = path.length === 0 ? '### Top level' : `### \`${key}\``
  const rows = Object.entries(shape.fields).map(([name, each]) => ({
    name,
    row: toRow(path, name, each),
  }))
  const lines = shortenRepeated(rows, shown)
  for (const { row } of rows) if (!shown.has(row)) shown.set(row, key)
  return [
    title,
    '',
    ...(names === undefined ? [] : [`\`NAME\`: ${names}.`, '']),
    ...lines,
    '',
  ].join('\n')
}

/** Two keys or more in a row that stand in an earlier section word for word are a link to it. */
function shortenRepeated(
  rows: readonly { readonly name: string; readonly row: string }[],
  shown: ReadonlyMap<string, string>,
): string[] {
  const lines: string[] = []
  for (let at = 0; at < rows.length; ) {
    const section = shown.get(rows[at]?.row ?? '')
    const next = rows.findIndex(({ row }, index) => index > at && shown.get(row) !== section)
    const run = rows.slice(at, next < 0 ? rows.length : next)
    if (section === undefined || run.length === 1) {
      lines.push(...run.slice(0, 1).map(({ row }) => row))
      at += 1
      continue
    }
    const keys = run.map(({ name }) => `\`${name}\``).join(', ')
    lines.push(`- ${keys}: as under [\`${section}\`](#${toAnchor(section)})`)
    at += run.length
  }
  return lines
}

function toRow(path: readonly string[], name: string, field: Field): string {
  const below = objectIn(field.shape)
  const part = [...path, name, ...(below?.names === undefined ? [] : ['NAME'])].join('.')
  const example = getExample(field)
  const isShown = example !== undefined && example !== field.default
  const type = describeType(field.shape)
  const about = [
    below === undefined ? type : type.replace('a mapping', `[a mapping](#${toAnchor(part)})`),
    ...(field.required === true ? ['**required**'] : []),
    ...(field.default === undefined ? [] : [`default \`${field.default}\``]),
    ...(field.unset === undefined ? [] : [`without it: ${field.unset}`]),
  ]
  return `- \`${isShown ? `${name}: ${flow(example)}` : name}\` (${about.join('; ')}): ${field.doc}`
}

function describeType(shape: Shape): string {
  if (shape.kind === 'either') return shape.of.map(describeType).join(', or ')
  if (shape.kind === 'duration') return 'duration'
  if (shape.kind === 'record')
    return shape.of.kind === 'text' ? 'a mapping of names to text' : 'a mapping'
  return describeShape(shape)
}

/** What a reader may copy; none for a section that has its own table. */
export function getExample({ shape, default: value, example }: Field): unknown {
  if (example !== undefined) return example
  if (shape.kind === 'boolean') return true
  if (value !== undefined) return value
  if (shape.kind === 'constant') return shape.value
  return shape.kind === 'word' ? shape.words[0] : undefined
}

/** As GitHub derives it from a heading. */
function toAnchor(path: string): string {
  return path.toLowerCase().replaceAll('.', '')
}

function flow(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim()
}

if (import.meta.main) {
  mkdirSync(dirname(CONFIGURATION_PAGE), { recursive: true })
  writeFileSync(CONFIGURATION_PAGE, configurationPage())
}
