// `sluice freeze` and `sluice thaw`: stop everything that goes through the gate, or one server,
// principal or agent, from this instant; and let it go on. Works on a running gate and on one that is
// to run.

import type { Command } from 'commander'
import { isObject, type JsonObject } from '../core/json.ts'
import { type FreezeParts, freeze, thaw } from '../gateway/operate/freeze.ts'
import { Freezes, type Frozen, nameOf } from '../gateway/operate/freezes.ts'
import { openGateStore } from '../gateway/operate/gate-store.ts'
import { Ledger } from '../ledger/ledger.ts'
import type { Answer } from './answer.ts'
import { askOwner } from './ask-owner.ts'
import { addPlaceOptions, findData, type PlaceOptions } from './find-data.ts'
import { Output, plural, printable } from './output.ts'

interface Options extends PlaceOptions {
  readonly server?: string
  readonly principal?: string
  readonly agent?: string
  readonly why?: string
  readonly json?: boolean
}

const FREEZE_EXAMPLES = `
Examples:
  sluice freeze                                    nothing passes the gate any more
  sluice freeze --server github --why "odd calls"  only this server
  sluice freeze --principal ci
  sluice status                                    what is frozen, among other things

Open calls are cancelled. A freeze outlives restarts of the gate, and is on record; it can be set
before the gate runs. \`sluice thaw\` with the same option ends it.`

const THAW_EXAMPLES = `
Examples:
  sluice thaw                     ends \`sluice freeze\`
  sluice thaw --server github     ends \`sluice freeze --server github\``

export function addFreeze(parent: Command, answer: Answer): void {
  command(parent, 'freeze', 'let nothing pass any more, until a person thaws it')
    .option('--why <text>', 'the reason, which callers are told')
    .addHelpText('after', FREEZE_EXAMPLES)
    .action(async (options: Options) => {
      const output = new Output(options)
      const said = await ask('freeze', freeze, options)
      const { frozen, cancelled, warnings } = said as unknown as FreezeAnswer
      output.value(said)
      output.line(
        `${output.paint('cyan', 'frozen')}: ${whatOf(frozen)}, ${plural(cancelled, 'open call')} cancelled`,
      )
      for (const warning of warnings) output.remark(`warning: ${printable(warning)}`)
      answer(0)
    })
}

export function addThaw(parent: Command, answer: Answer): void {
  command(parent, 'thaw', 'let pass again what was frozen')
    .addHelpText('after', THAW_EXAMPLES)
    .action(async (options: Options) => {
      const output = new Output(options)
      const said = await ask('thaw', thaw, options)
      const { thawed, left } = said as unknown as { thawed: JsonObject; left: JsonObject[] }
      output.value(said)
      output.line(`${output.paint('green', 'thawed')}: ${whatOf(thawed)}`)
      for (const frozen of left) output.line(`still frozen: ${whatOf(frozen)}`)
      answer(0)
    })
}

interface FreezeAnswer {
  readonly frozen: JsonObject
  readonly cancelled: number
  readonly warnings: readonly string[]
}

function command(parent: Command, name: string, description: string): Command {
  return addPlaceOptions(
    parent
      .command(name)
      .description(description)
      .option('--server <name>', 'only this server')
      .option('--principal <id>', 'only this principal')
      .option('--agent <id>', 'only this agent'),
  ).option('--json', 'answer as JSON')
}

async function ask(
  word: 'freeze' | 'thaw',
  work: (parts: FreezeParts, request: JsonObject) => Promise<JsonObject>,
  { server, principal, agent, why, ...place }: Options,
): Promise<JsonObject> {
  const { data, servers } = findData(place)
  const given = Object.entries({ server, principal, agent, why })
  const named = given.filter((pair): pair is [string, string] => pair[1] !== undefined)
  const request = { do: word, ...Object.fromEntries(named) }
  return askOwner(data, request, async () => {
    const ledger = Ledger.open({ directory: data })
    try {
      const store = openGateStore(data)
      try {
        const freezes = new Freezes(store)
        const parts = { freezes, ledger, servers, interrupt: () => 0, nowMs: Date.now }
        return await work(parts, request)
      } finally {
        store.close()
      }
    } finally {
      ledger.close()
    }
  })
}

/** `the server \`github\``, with what may come from elsewhere made harmless. */
export function whatOf(frozen: unknown): string {
  return isObject(frozen) ? printable(nameOf(frozen as unknown as Frozen)) : ''
}
