// The tool node of a LangGraph graph (`@langchain/langgraph`) behind a gate. All calls of a message are asked about
// before one is made: a node that is interrupted begins again when it is resumed, and must not make a call twice. It
// asks under new ids then, because an id passes once; what was allowed and not made still counts for limits.

import { randomUUID } from 'node:crypto'
import type { AcsClient, ToolCall } from '../support/acs-client.ts'

/** A message of the model that calls tools. */
export interface AiMessage {
  readonly tool_calls?: readonly {
    readonly id?: string | undefined
    readonly name: string
    readonly args: ToolCall['args']
  }[]
}

/** What a graph takes as the answer of a tool. */
export interface ToolMessage {
  readonly type: 'tool'
  readonly tool_call_id: string
  readonly name: string
  readonly content: string
}

export interface NodeOptions {
  readonly acs: AcsClient
  readonly tools: Readonly<Record<string, (args: ToolCall['args']) => Promise<string>>>
  /** That of `@langchain/langgraph`: ends the run here until it is resumed. */
  readonly interrupt: (value: { readonly waiting: readonly string[] }) => unknown
}

export function createToolNode({ acs, tools, interrupt }: NodeOptions) {
  return async ({
    messages,
  }: {
    readonly messages: readonly unknown[]
  }): Promise<{ messages: ToolMessage[] }> => {
    const { tool_calls: calls = [] } = messages.at(-1) as AiMessage
    const asked = await Promise.all(
      calls.map(async ({ id = '', name, args }) => ({
        id,
        name,
        verdict: await acs.ask({ id: randomUUID(), tool: name, args }),
      })),
    )
    const waiting = asked.flatMap(({ verdict }) =>
      verdict.is === 'waiting' ? [verdict.approval ?? ''] : [],
    )
    // Each `interrupt` that was resumed before returns at once: what nobody has approved yet waits on.
    while (waiting.length > 0) interrupt({ waiting })
    const answers: ToolMessage[] = []
    for (const { id, name, verdict } of asked) {
      const content =
        verdict.is === 'allowed'
          ? await acs.result(
              verdict.step,
              name,
              (await tools[name]?.(verdict.args)) ?? 'no such tool',
            )
          : verdict.reason
      answers.push({ type: 'tool', tool_call_id: id, name, content: String(content) })
    }
    return { messages: answers }
  }
}
