// A graph of LangGraph whose three functions are behind the gate: a node that asks the model, and the tool node of
// guard-node.ts. A run that waits for a person is in the checkpointer, under its thread.

import {
  Command,
  END,
  interrupt,
  isInterrupted,
  type MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import type { AcsClient } from '../support/acs-client.ts'
import { FUNCTIONS, type Shop, type ShopRun, TASK } from '../support/refund-shop.ts'
import { type AiMessage, createToolNode } from './guard-node.ts'

export interface ShopGraphOptions {
  readonly acs: AcsClient
  readonly modelUrl: string
  readonly shop: Shop
  /** Keeps runs that wait. In production one that stores them. */
  readonly checkpointer: MemorySaver
}

const CONFIG = { configurable: { thread_id: 'refund' } }

/** Runs until a call waits or the model has no more calls. `saved`: the run goes on from the checkpointer. */
export async function runShopGraph(
  options: ShopGraphOptions,
  saved?: 'checkpointed',
): Promise<ShopRun<'checkpointed'>> {
  const graph = createShopGraph(options)
  const input = { messages: [{ role: 'user', content: TASK }] }
  // The gate decides, not the value of `resume`.
  const state = await (saved === undefined
    ? graph.invoke(input, CONFIG)
    : graph.invoke(new Command({ resume: true }), CONFIG))
  const { messages } = state
  const answers = messages.filter((message) => message.getType() === 'tool')
  return {
    saved: isInterrupted(state) ? 'checkpointed' : undefined,
    answers: answers.map(({ text }) => text),
    text: messages.at(-1)?.text ?? '',
  }
}

function createShopGraph({ acs, modelUrl, shop, checkpointer }: ShopGraphOptions) {
  const tools = Object.fromEntries(
    FUNCTIONS.map(({ name }) => [name, async (args: object) => shop.make(name, args)]),
  )
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await askModel(modelUrl, messages)] }))
    .addNode('tools', createToolNode({ acs, tools, interrupt }))
    .addEdge(START, 'model')
    .addConditionalEdges('model', ({ messages }) =>
      (messages.at(-1) as AiMessage).tool_calls?.length ? 'tools' : END,
    )
    .addEdge('tools', 'model')
    .compile({ checkpointer })
}

type Message = (typeof MessagesAnnotation.State)['messages'][number]

interface Completion {
  readonly choices: readonly { readonly message: object }[]
}

/** What `ChatOpenAI` of `@langchain/openai` does: the messages as chat completions. */
async function askModel(url: string, messages: readonly Message[]): Promise<object> {
  const roles: Readonly<Record<string, string>> = { ai: 'assistant', human: 'user' }
  const sent = messages.map((message) => {
    const type = message.getType()
    return { role: roles[type] ?? type, content: message.text }
  })
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'scripted', messages: sent }),
  })
  const { choices } = (await response.json()) as Completion
  return { ...choices[0]?.message, content: '', ...choices[0]?.message }
}
