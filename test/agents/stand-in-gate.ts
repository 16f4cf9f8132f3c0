// A thin stand-in for the gate: a real MCP client in front of a real server over stdio, and a
// function that says what is denied and what is held. What agents ask of a gate, this does; nothing is judged here
// that a policy would judge.

import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type {
  GateCall,
  GateOutcome,
  GateTool,
  ToolGate,
} from '../../packages/agents/src/shared/tool-gate.ts'

export interface StandIn extends ToolGate {
  /** Approves or refuses what is held. */
  decide(ticket: string, approved: boolean): void
  readonly held: string[]
  readonly calls: GateCall[]
  close(): Promise<void>
}

export async function standInGate(
  server: string,
  command: readonly string[],
  judge: (call: GateCall) => 'allow' | 'deny' | 'hold' = () => 'allow',
): Promise<StandIn> {
  const client = new Client({ name: 'stand-in', version: '1' })
  const [program = '', ...args] = command
  await client.connect(new StdioClientTransport({ command: program, args, stderr: 'ignore' }))
  const { tools } = await client.listTools()
  const known: GateTool[] = tools.map(({ name, description = '', inputSchema }) => ({
    server,
    name,
    description,
    inputSchema,
    category: name.startsWith('read') ? 'Read' : 'Write',
  }))
  const waiting = new Map<string, { call: GateCall; decide: (approved: boolean) => void }>()
  const verdicts = new Map<string, Promise<boolean>>()
  const held: string[] = []
  const calls: GateCall[] = []

  const forward = async ({ tool, args: given, effectId }: GateCall): Promise<GateOutcome> => {
    try {
      const result = await client.callTool({
        name: tool,
        arguments: given as Record<string, unknown>,
        _meta: { 'sluice/effect': effectId },
      })
      const text = (result.content as { text?: string }[]).map((part) => part.text ?? '').join('')
      return { kind: 'result', text, isError: result.isError === true }
    } catch (error) {
      return { kind: 'unknown', reason: (error as Error).message }
    }
  }

  return {
    held,
    calls,
    list: async (owner) => (owner === 'nobody' ? [] : known),
    call: async (call) => {
      calls.push(call)
      const verdict = judge(call)
      if (verdict === 'deny')
        return { kind: 'denied', code: 'DENIED', reason: `${call.tool} is not for agents` }
      if (verdict === 'allow') return forward(call)
      const ticket = `ticket-${held.length + 1}`
      held.push(ticket)
      verdicts.set(ticket, new Promise((decide) => waiting.set(ticket, { call, decide })))
      return { kind: 'held', ticket, reason: 'a person has to say yes' }
    },
    settle: async (ticket, signal) => {
      const verdict = verdicts.get(ticket)
      const call = waiting.get(ticket)?.call
      if (verdict === undefined || call === undefined)
        return { kind: 'unknown', reason: 'nobody knows the ticket' }
      const isApproved = await verdict
      if (signal.aborted) return { kind: 'unknown', reason: 'nobody waits for it any more' }
      if (!isApproved) return { kind: 'denied', code: 'DENIED', reason: 'an approver denied it' }
      return forward(call)
    },
    decide: (ticket, approved) => waiting.get(ticket)?.decide(approved),
    close: () => client.close(),
  }
}
