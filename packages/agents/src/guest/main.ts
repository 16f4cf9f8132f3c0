// Where the core meets its host: one function, called with an operation and JSON, answering with
// JSON. A refusal is an answer; anything else that is thrown goes out as it is, and the host throws
// this memory away. This file is what the image of an agent is baked from.

import { Agent } from './agent.ts'
import { GuestError } from './guest-error.ts'
import type { AgentQuery, JournalEvent } from './protocol.ts'
import { answerQuery } from './questions.ts'

let agent: Agent | undefined

function handle(operation: string, text: string, bytes?: Uint8Array): unknown {
  if (operation === 'step') {
    const event = JSON.parse(text) as JournalEvent
    if (event.kind === 'create') {
      if (agent !== undefined) throw new GuestError('AGENT_EVENT', 'the agent is there already')
      agent = new Agent(event, bytes)
    }
    return JSON.stringify({ ok: present().step(event, bytes) })
  }
  const { value, content } = answerQuery(present(), JSON.parse(text) as AgentQuery)
  const said = JSON.stringify({ ok: value })
  return content === undefined ? said : [said, content]
}

function present(): Agent {
  if (agent === undefined) throw new GuestError('AGENT_EVENT', 'there is no agent yet')
  return agent
}

Object.assign(globalThis, {
  __guest(operation: string, text: string, bytes?: Uint8Array): unknown {
    try {
      return handle(operation, text, bytes)
    } catch (error) {
      if (!(error instanceof GuestError)) throw error
      return JSON.stringify({ refused: { code: error.code, message: error.message } })
    }
  },
})
