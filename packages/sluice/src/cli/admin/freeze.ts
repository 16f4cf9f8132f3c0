// `sluice freeze` and `sluice thaw`: stop everything that goes through the gate, or one server,
// principal or agent, from this instant; and let it go on. Works on a running gate and on one that is
// to run.

import { isObject, type JsonObject } from '@sluice/policy/core/json'
import type { Command } from 'commander'
import { openGateStore } from '../../gateway/data/gate-store.ts'
import { describeFreezeTarget, type Freeze, FreezeStore } from '../../gateway/state/freezes.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { type FreezeParts, freeze, thaw } from '../../operations/freeze.ts'
import { REQUIRED_ROLES } from '../../operations/verify-person.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output, plural, printable } from '../../terminal/output.ts'
import { addDataOptions, type DataOptions, findData } from '../connect/find-data.ts'
import { provePerson, withPeople } from '../connect/prove-person.ts'
import { runOnOwner } from '../connect/run-on-owner.ts'

interface Options extends DataOptions {
  readonly server?: string
  readonly principal?: string
  readonly agent?: string
  readonly why?: string
  readonly as?: string
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
  sluice thaw --server github     ends \`sluice freeze --server github\`

Asks for your PIN at the terminal; the one who thaws has the role policy-manager or admin.`

export function addFreeze(parent: Command, answer: SetExitCode): void {
  command(parent, 'freeze', 'let nothing pass any more, until a person thaws it')
    .option('--why <text>', 'the reason, which callers are told')
    .addHelpText('after', FREEZE_EXAMPLES)
    .action(async (options: Options) => {
      const output = new Output(options)
      const said = await askFreeze(options)
      const { frozen, cancelled, warnings } = said as unknown as FreezeAnswer
      output.value(said)
      output.line(
        `${output.paint('cyan', 'frozen')}: ${whatOf(frozen)}, ${plural(cancelled, 'open call')} cancelled`,
      )
      for (const warning of warnings) output.remark(`warning: ${printable(warning)}`)
      answer(0)
    })
}

export function addThaw(parent: Command, answer: SetExitCode): void {
  command(parent, 'thaw', 'let pass again what was frozen')
    .option('--as <name>', 'who you are, where several people have a PIN')
    .addHelpText('after', THAW_EXAMPLES)
    .action(async (options: Options) => {
      const output = new Output(options)
      const said = await askThaw(options)
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
  return addDataOptions(
    parent
      .command(name)
      .description(description)
      .option('--server <name>', 'only this server')
      .option('--principal <id>', 'only this principal')
      .option('--agent <id>', 'only this agent'),
  ).option('--json', 'answer as JSON')
}

function askFreeze(options: Options): Promise<JsonObject> {
  const { data, request, parts } = asked('freeze', options)
  return runOnOwner(data, request, () =>
    withPeople(data, async ({ ledger }) => parts(ledger, (all) => freeze(all, request))),
  )
}

async function askThaw(options: Options): Promise<JsonObject> {
  const { data, request, parts } = asked('thaw', options)
  const proven = { ...request, proof: await provePerson(data, options) }
  return runOnOwner(data, proven, () =>
    withPeople(data, async ({ ledger, prove }) => {
      const by = await prove(proven, REQUIRED_ROLES.thaw, 'thaw')
      return parts(ledger, (all) => thaw(all, request, by))
    }),
  )
}

function asked(word: 'freeze' | 'thaw', options: Options) {
  const { server, principal, agent, why, ...place } = options
  const { data, servers } = findData(place)
  const given = Object.entries({ server, principal, agent, why })
  const named = given.filter((pair): pair is [string, string] => pair[1] !== undefined)
  const request = { do: word, ...Object.fromEntries(named) }
  const parts = async <T>(ledger: Ledger, work: (all: FreezeParts) => Promise<T>): Promise<T> => {
    const store = openGateStore(data)
    try {
      const freezes = new FreezeStore(store)
      return await work({
        freezes,
        ledger,
        servers: () => servers,
        interrupt: () => 0,
        nowMs: Date.now,
      })
    } finally {
      store.close()
    }
  }
  return { data, request, parts }
}

/** `the server \`github\``, with what may come from elsewhere made harmless. */
export function whatOf(frozen: unknown): string {
  return isObject(frozen) ? printable(describeFreezeTarget(frozen as unknown as Freeze)) : ''
}
