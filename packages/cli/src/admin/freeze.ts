// `sluice freeze`: stop everything that goes through the gate, or one server, principal, agent or session, from
// this instant; and let it go on with --lift. Works on a running gate and on one that is to run.

import { FREEZE, type FreezeView, THAW } from '@sluice/gateway/operations/freeze'
import { describeFreezeTarget } from '@sluice/gateway/state/freezes'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { OperationClient } from '../connect/ask-operation.ts'
import { DATA, findData } from '../connect/find-data.ts'
import { PROOF } from '../connect/prove-person.ts'
import { type CommandOptions, defineCommand } from '../terminal/define-command.ts'
import { ArgumentError } from '../terminal/errors.ts'
import { type Output, plural, printable } from '../terminal/output.ts'

const EXAMPLES = `
Examples:
  sluice freeze                                    nothing passes the gate any more
  sluice freeze --server github --why "odd calls"  only this server
  sluice freeze --principal ci
  sluice status                                    what is frozen, among other things
  sluice freeze --lift --server github             github goes on
  sluice freeze --lift                             ends \`sluice freeze\`

Open calls are cancelled. A freeze outlives restarts of the gate, and is on record; it can be set
before the gate runs. --lift asks for your PIN at the terminal: your role is policy-manager or admin.`

const TARGET = {
  '--server <name>': 'only this server',
  '--principal <name>': 'only this principal',
  '--agent <id>': 'only this agent',
  '--session <id>': 'only this session, by its id',
} as const

const FREEZE_OPTIONS = {
  ...TARGET,
  '--why <text>': 'the reason, told to callers',
  '--lift': 'end the freeze',
  ...DATA,
  ...PROOF,
} as const

const THAW_OPTIONS = { ...TARGET, ...DATA, ...PROOF } as const

/** The options of the old command, which are those of `freeze --lift`. */
type LiftOptions = CommandOptions<object, typeof THAW_OPTIONS>

interface Target {
  readonly server: string | undefined
  readonly principal: string | undefined
  readonly agent: string | undefined
  readonly session: string | undefined
}

export const add = defineCommand({
  name: 'freeze',
  options: FREEZE_OPTIONS,
  examples: EXAMPLES,
  run: async ({ lift, why, ...options }, output) => {
    if (lift === true && why !== undefined)
      throw new ArgumentError('--why is the reason of a freeze', 'leave it out with --lift')
    if (lift === true) return liftFreeze(options, output)
    const client = new OperationClient(findData(options), options)
    const answer = await client.ask(FREEZE, pickDefined({ ...pickTarget(options), why }))
    output.value(answer)
    const calls = plural(answer.cancelled, 'open call')
    output.line(`${output.paint('cyan', 'frozen')}: ${describe(answer.frozen)}, ${calls} cancelled`)
    for (const warning of answer.warnings) output.remark(`warning: ${printable(warning)}`)
    return 0
  },
})

/** The old name of `sluice freeze --lift`. */
export const addThaw = defineCommand({ name: 'thaw', options: THAW_OPTIONS, run: liftFreeze })

async function liftFreeze(options: LiftOptions, output: Output): Promise<0> {
  const client = new OperationClient(findData(options), options)
  const answer = await client.ask(THAW, pickDefined(pickTarget(options)))
  output.value(answer)
  output.line(`${output.paint('green', 'thawed')}: ${describe(answer.thawed)}`)
  for (const frozen of answer.left) output.line(`still frozen: ${describe(frozen)}`)
  return 0
}

function pickTarget({ server, principal, agent, session }: LiftOptions): Target {
  return { server, principal, agent, session }
}

/** `the server \`github\``, with what may come from elsewhere made harmless. */
function describe(frozen: FreezeView): string {
  return printable(describeFreezeTarget(frozen))
}
