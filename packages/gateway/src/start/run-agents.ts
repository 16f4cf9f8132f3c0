// The agents inside a gate (`builtin: agents`), as far as the gate knows them: what starts them is
// handed in by the composition root, gets the way to the servers behind the gate, and gives back a
// server like any other.

import type { ApprovalService } from '@sluice/access/approvals/approval'
import type { Authenticator } from '@sluice/access/identity/callers/authenticator'
import type { SharedAgents } from '@sluice/ledger/store/postgres/shared-agents'
import { readProgramOwner } from '@sluice/protocol/agent-calls'
import { isBuiltinTool } from '../config/builtin-tools.ts'
import type { TriggerTarget } from '../front/http/serve-triggers.ts'
import { AgentGate } from '../front/sessions/agent-gate.ts'
import type { Gate } from '../gate.ts'
import type { Servers } from '../state/servers.ts'
import type { InProcessPeer, StartInProcess } from '../upstream/in-process.ts'

export interface RunningAgents {
  readonly connect: StartInProcess
  /** The server of `run_code`. */
  readonly connectCode: StartInProcess
  /** Where webhooks go. */
  readonly triggers: TriggerTarget
  /** Leaves the agents to other gates, if there are any, after what is under way has ended, or the time is `over`. */
  handOver(over: Promise<void>): Promise<void>
  close(): Promise<void>
}

export type StartAgents = (
  gate: AgentGate,
  shared: SharedAgents | undefined,
) => Promise<RunningAgents>

interface AgentServices {
  readonly authenticator: Authenticator
  readonly approvals: ApprovalService
  readonly shared?: SharedAgents | undefined
}

/** The built-in server of agents, to which the gate connects. It serves nothing before `start`. */
export class BuiltinAgents {
  readonly #start: StartAgents | undefined
  #running: RunningAgents | undefined

  constructor(start: StartAgents | undefined) {
    this.#start = start
  }

  connect(by: 'connect' | 'connectCode', ...link: Parameters<StartInProcess>): InProcessPeer {
    if (this.#running === undefined) throw new Error('the agents do not run yet')
    return this.#running[by](...link)
  }

  /** Where webhooks go; undefined while the agents do not run. */
  get triggers(): TriggerTarget | undefined {
    return this.#running?.triggers
  }

  async handOver(over: Promise<void>): Promise<void> {
    await this.#running?.handOver(over)
  }

  /** Starts the agents if the configuration has them. Resolves with a function that ends them. */
  async start(
    servers: Servers,
    gate: Gate,
    { authenticator, approvals, shared }: AgentServices,
  ): Promise<() => Promise<void>> {
    const isThere = servers.entries.some(
      ([, { builtin }]) => builtin === 'agents' || builtin === 'code',
    )
    if (!isThere || this.#start === undefined) return async () => {}
    const clientOf = (owner: string) => {
      const client = readProgramOwner(owner)
      return client === undefined ? undefined : authenticator.callerOf(client)
    }
    const agentGate = new AgentGate({
      // A program starts no other.
      servers: (owner) =>
        clientOf(owner) === undefined
          ? servers.callable
          : servers.callable.filter((name) => servers.find(name)?.builtin !== 'code'),
      isOwn: (server, tool) => isBuiltinTool(servers.find(server), tool),
      approvals,
      callerOf: (owner) => clientOf(owner) ?? authenticator.callerOf(owner),
      memoryOf: (family, owner) => {
        const client = clientOf(owner)
        if (client === undefined)
          return gate.sessions.familyMemory(family, authenticator.callerOf(owner))
        return gate.sessions.memoryOf(client, family)
      },
      readsOrigins: (caller) => gate.readsOrigins(caller),
      open: (server, link, who, session) =>
        session.isProgram === true
          ? gate.open(server, link, who, { sessionKey: session.family })
          : gate.openAgents(server, link, who, session),
    })
    const running = await this.#start(agentGate, shared)
    this.#running = running
    return async () => {
      agentGate.close()
      await running.close()
    }
  }
}
