// `sluice pin`: writes sluice.lock, the pins of all accepted definitions, for review; lists what is
// held; accepts it. Works on a running gate and on one that is to run.

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { classify, classifyOwn } from '@sluice/catalogue/classify/classify'
import { isOwnTool } from '@sluice/catalogue/classify/own-tools'
import { type Pin, writeLock } from '@sluice/catalogue/pins/lock-file'
import { pinOf } from '@sluice/catalogue/pins/pin'
import { readGateStore } from '@sluice/gateway/data/gate-store'
import {
  ACCEPT_PINS,
  acceptStored,
  HELD_PINS,
  type PendingPin,
  REFUSE_PINS,
} from '@sluice/gateway/operations/pins'
import { sha256 } from '@sluice/gateway/tools/pins'
import type { Category, Risk } from '@sluice/policy/calls/tools'
import { OperationClient } from '../connect/ask-operation.ts'
import { DATA, findData } from '../connect/find-data.ts'
import { PROOF } from '../connect/prove-person.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError } from '../terminal/errors.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { readDefinitions } from '../terminal/read-tools.ts'
import { getInstructions } from '../terminal/server-instructions.ts'

const EXAMPLES = `
Examples:
  sluice pin                             write sluice.lock: what the gate has accepted, for review
  sluice pin --tools tools.json          the same from a file of definitions
  sluice pin --held                      what waits for a person, with what changed
  sluice pin --accept github             accept all that is held of a server
  sluice pin --accept github/get_issue
  sluice pin --refuse github/get_issue --why "it wants to write now"
                                         it stays held, and callers are told by whom

--accept and --refuse ask for your PIN at the terminal (role policy-manager or admin).
With a sluice.lock beside sluice.yaml the gate accepts what it pins and nothing else.`

const OPTIONS = {
  ...DATA,
  '--tools <file>': 'pin these definitions: a JSON array, each with "server"',
  '--held': 'list what is held',
  '--accept <name>': 'accept what is held of a server, or one tool: SERVER/TOOL',
  '--refuse <name>': 'refuse what is held of a server, or one tool: SERVER/TOOL',
  '--why <text>': 'with --refuse: the reason, recorded and told to callers',
  ...PROOF,
} as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'pin',
  options: OPTIONS,
  examples: EXAMPLES,
  run: async (options, output) => {
    if (options.held === true) await listHeld(options, output)
    else if (options.accept !== undefined) await accept(options.accept, options, output)
    else if (options.refuse !== undefined) await refuse(options.refuse, options, output)
    else write(options, output)
  },
})

async function listHeld(options: Options, output: Output): Promise<void> {
  const response = await new OperationClient(findData(options), options).ask(HELD_PINS, {})
  output.value(response)
  const { held } = response
  for (const one of held) printHeld(one, output)
  output.line(held.length === 0 ? 'nothing is held' : `${plural(held.length, 'tool')} held`)
}

function namedBy(target: string): { readonly server: string; readonly name?: string } {
  const cut = target.indexOf('/')
  if (cut < 0) return { server: target }
  return { server: target.slice(0, cut), name: target.slice(cut + 1) }
}

/** As it is held now: a server that changes it once more has not been refused that. */
async function refuse(target: string, options: Options, output: Output): Promise<void> {
  const { why = '' } = options
  const client = new OperationClient(findData(options), options)
  const response = await client.ask(REFUSE_PINS, { ...namedBy(target), why })
  output.value(response)
  for (const one of response.refused) printHeld(one, output)
  output.line(`${output.paint('red', 'refused')}: ${plural(response.refused.length, 'tool')}`)
}

async function accept(target: string, options: Options, output: Output): Promise<void> {
  const client = new OperationClient(findData(options), options)
  const named = namedBy(target)
  // Shown before the PIN, and accepted only as it was shown. Where no gate runs nothing changes.
  const { held } = await client.ask(
    HELD_PINS,
    {},
    { offline: () => ({ ...HELD_PINS, run: () => ({ held: [] }) }) },
  )
  const shown = held.filter(
    ({ server, name }) => server === named.server && (named.name ?? name) === name,
  )
  for (const one of shown) printHeld(one, output)
  const seen = shown.map(({ digest = '' }) => digest)
  const response = await client.ask(
    ACCEPT_PINS,
    { ...named, seen },
    { offline: ({ store }) => acceptStored(store) },
  )
  output.value(response)
  const { accepted } = response
  if (shown.length === 0) for (const one of accepted) printHeld(one, output)
  output.line(`${output.paint('green', 'accepted')}: ${plural(accepted.length, 'tool')}`)
}

function printHeld(
  { server, name, category, unknown, because, changes, refused }: PendingPin,
  output: Output,
): void {
  const label = unknown === true ? `unknown, perhaps ${category}` : category
  output.line(`${printable(`${server}/${name}`)}  ${label}: ${printable(because)}`)
  for (const change of changes) output.line(`  ${printable(change)}`)
  if (refused !== undefined) {
    const why = refused.why === '' ? '' : `: ${printable(refused.why)}`
    output.line(
      `  refused by ${printable(refused.by)} at ${new Date(refused.atMs).toISOString()}${why}`,
    )
  }
}

function write(options: Options, output: Output): void {
  const pins = options.tools === undefined ? keptPins(options) : pinsOf(options.tools)
  // A lock file without pins would hold every tool there is.
  if (pins.length === 0)
    throw new ArgumentError(
      'no definition of a tool is known yet, so there is nothing to pin',
      'let a client list the tools through the gate first, or name definitions with --tools',
    )
  const file = join(dirname(resolve(options.config)), 'sluice.lock')
  const text = writeLock(pins)
  const same = existsSync(file) && readFileSync(file, 'utf8') === text
  if (!same) {
    const fresh = `${file}.new`
    // Not through a link that came with the folder.
    rmSync(fresh, { force: true })
    writeFileSync(fresh, text, { flag: 'wx' })
    renameSync(fresh, file)
  }
  output.value({ file, pins: pins.length, changed: !same })
  output.line(`${file}: ${plural(pins.length, 'tool')} pinned${same ? ', as before' : ''}`)
}

/** What the gate has accepted. */
function keptPins(options: Options): Pin[] {
  const select = 'SELECT server, name, digest, category, risk FROM pins'
  const rows = readGateStore(findData(options).data, (store) => store.prepare(select).all())
  return rows.map(({ server, name, digest, category, risk }) => ({
    server: String(server),
    name: String(name),
    digest: String(digest),
    category: category as Category,
    risk: risk as Risk,
  }))
}

function pinsOf(file: string): Pin[] {
  return readDefinitions(file).map((definition) => ({
    server: definition.server,
    name: definition.name,
    digest: pinOf(definition, sha256, { instructions: getInstructions(definition) ?? '' }),
    ...(isOwnTool(definition) ? classifyOwn(definition) : classify(definition)),
  }))
}
