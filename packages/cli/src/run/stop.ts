// `sluice stop`: ends the gate of a data directory, however it was started.

import type { ListedSession } from '@sluice/gateway/operations/sessions'
import type { GateStatus } from '@sluice/gateway/operations/status'
import { DATA, findData } from '../connect/find-data.ts'
import { stopGate } from '../connect/stop-gate.ts'
import { asksGateAt, inspectHooks } from '../init/hooks.ts'
import { defineCommand } from '../terminal/define-command.ts'
import { printable } from '../terminal/output.ts'

const EXAMPLES = `
Examples:
  sluice stop
  sluice stop --data ./.sluice

Open calls are answered first. A client that runs \`sluice stdio\` starts the gate again with its next call:
close it, have every call refused with \`sluice freeze\`, or take the gate out of its way with \`sluice init --undo\`.
Clients with hooks are named: some stop until a gate runs, the others go on unwatched.
Exit code 0 if a gate was stopped, 1 if none ran.`

export const add = defineCommand({
  name: 'stop',
  options: DATA,
  examples: EXAMPLES,
  run: async (options, output) => {
    const { data } = findData(options, { mayBeMissing: options.data === undefined })
    const response = await stopGate(data)
    if (response === undefined) {
      output.value({ stopped: false, data })
      output.line(`no gate runs on ${printable(data)}`)
      return 1
    }
    const clients = openSessions(response)
    const hooks = inspectHooks().filter((each) => asksGateAt(each, [response.url]))
    output.value({
      stopped: true,
      data,
      pid: response.pid,
      clients: clients.map(({ name }) => name),
      hooks: hooks.map(({ client, asks }) => ({ client, blocks: asks?.blocks === true })),
    })
    output.line(`stopped process ${response.pid}`)
    for (const { name, kind } of clients)
      output.line(
        `still open: ${printable(name)}; ${kind === 'pipe' ? 'its next call starts a gate again' : 'its calls fail until a gate runs: `sluice up`'}`,
      )
    for (const { client, asks } of hooks)
      output.line(
        asks?.blocks === true
          ? `blocked until a gate runs: ${client}, whose next session starts one`
          : `goes on unwatched until a gate runs: ${client}`,
      )
    return 0
  },
})

/** The sessions of clients that are connected. */
export function openSessions({ sessions }: Pick<GateStatus, 'sessions'>): readonly ListedSession[] {
  return sessions.filter(({ connections }) => connections > 0)
}
