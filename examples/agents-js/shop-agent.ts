// An agent of OpenAI Agents whose three functions are behind the gate. A run that waits for a person is saved as text,
// as the framework does it, and can go on in another process.

import { Agent, RunState, type RunToolCallOutputItem, run, tool } from '@openai/agents-core'
import { OpenAIChatCompletionsModel } from '@openai/agents-openai'
import OpenAI from 'openai'
import type { AcsClient } from '../support/acs-client.ts'
import { FUNCTIONS, type Shop, type ShopRun, TASK } from '../support/refund-shop.ts'
import { guardTool } from './guard-tool.ts'

export interface ShopAgentOptions {
  readonly acs: AcsClient
  readonly modelUrl: string
  readonly shop: Shop
}

/** Runs until a call waits or the model has no more calls. `saved`: the run goes on with what waited. */
export async function runShopAgent(
  options: ShopAgentOptions,
  saved?: string,
): Promise<ShopRun<string>> {
  const agent = createShopAgent(options)
  const input = saved === undefined ? TASK : await RunState.fromString(agent, saved)
  // The gate decides: what is approved here and not there is asked about again, and not made.
  if (typeof input !== 'string') for (const call of input.getInterruptions()) input.approve(call)
  const result = await run(agent, input)
  const outputs = result.newItems.filter(
    (item): item is RunToolCallOutputItem => item.type === 'tool_call_output_item',
  )
  const isWaiting = result.interruptions.length > 0
  return {
    saved: isWaiting ? result.state.toString() : undefined,
    answers: outputs.map(({ output }) => String(output)),
    text: isWaiting ? '' : (result.finalOutput ?? ''),
  }
}

function createShopAgent({ acs, modelUrl, shop }: ShopAgentOptions): Agent {
  const client = new OpenAI({ baseURL: modelUrl, apiKey: 'none' })
  const tools = FUNCTIONS.map(({ name, args }) =>
    tool({
      name,
      description: `${name} of the shop`,
      parameters: {
        type: 'object',
        properties: Object.fromEntries(args.map((arg) => [arg, { type: 'integer' }])),
        required: [...args],
        additionalProperties: true,
      },
      strict: false,
      execute: (input) => shop.make(name, input),
    }),
  )
  return new Agent({
    name: 'shop',
    model: new OpenAIChatCompletionsModel(client, 'scripted'),
    tools: tools.map((one) => guardTool(acs, one)),
  })
}
