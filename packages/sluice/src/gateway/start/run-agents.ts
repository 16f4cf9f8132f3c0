// The agents inside a gate (`builtin: agents`), as far as the gate knows them: what starts them is
// handed in by the composition root, gets the way to the servers behind the gate, and gives back a
// server like any other.

import type { ApprovalService } from '../../core/approval.ts'
import type { Authenticator } from '../../identity/callers/authenticator.ts'
import { AgentGate } from '../front/sessions/agent-gate.ts'
import type { Gate } from '../gate.ts'
import type { Servers } from '../state/servers.ts'
import type { StartInProcess } from '../upstream/in-process.ts'

export interface RunningAgents {
  readonly connect: StartInProcess
  close(): Promise<void>
}

export type StartAgents = (gate: AgentGate) => Promise<RunningAgents>

/** What the gate connects to; nothing is there before `start`. */
export class BuiltinAgents {
  readonly #start: StartAgents | undefined
  #running: RunningAgents | undefined

  constructor(start: StartAgents | undefined) {
    this.#start = start
  }

  readonly connect: StartInProcess = (caller, say) => {
    if (this.#running === undefined) throw new Error('the agents do not run yet')
    return this.#running.connect(caller, say)
  }

  /** Only where the configuration has them. Resolves with what ends them. */
  async start(
    servers: Servers,
    gate: Gate,
    door: Authenticator,
    approvals: ApprovalService,
  ): Promise<() => Promise<void>> {
    const isThere = servers.entries.some(([, { kind }]) => kind === 'builtin')
    if (!isThere || this.#start === undefined) return async () => {}
    const agentGate = new AgentGate({
      servers: () => servers.names,
      isOwn: (server) => servers.find(server)?.kind === 'builtin',
      approvals,
      callerOf: (owner) => door.callerOf(owner),
      labelsOf: (family) => gate.sessions.familyLabels(family),
      open: (server, link, who, session) => gate.openAgents(server, link, who, session),
    })
    const running = await this.#start(agentGate)
    this.#running = running
    return async () => {
      agentGate.close()
      await running.close()
    }
  }
}
