// `sluice stop`: ends the gate of a data directory, however it was started.

import type { ListedSession } from '../../operations/sessions.ts'
import type { GateStatus } from '../../operations/status.ts'
import { defineCommand } from '../../terminal/define-command.ts'
import { printable } from '../../terminal/output.ts'
import { DATA, findData } from '../connect/find-data.ts'
import { stopGate } from '../connect/stop-gate.ts'

const EXAMPLES = `
Examples:
  sluice stop
  sluice stop --data ./.sluice

Open calls are answered first. A client that is still open starts the gate again with its next call:
close it, have every call refused with \`sluice freeze\`, or take the gate out of its way with \`sluice init --undo\`.
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
    output.value({
      stopped: true,
      data,
      pid: response.pid,
      clients: clients.map(({ name }) => name),
    })
    output.line(`stopped process ${response.pid}`)
    for (const { name } of clients)
      output.line(`still open: ${printable(name)}; its next call starts a gate again`)
    return 0
  },
})

/** The sessions of clients that are connected. */
export function openSessions({ sessions }: Pick<GateStatus, 'sessions'>): readonly ListedSession[] {
  return sessions.filter(({ connections }) => connections > 0)
}
