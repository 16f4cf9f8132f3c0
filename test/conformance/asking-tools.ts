// Tools of the fixture that ask the client in the middle of a call, as the session generation does: a
// model's answer, a person's answer, with defaults and every kind of choice.

import {
  type ElicitRequestFormParams,
  fromJsonSchema,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { answer } from './content.ts'

type Schema = ElicitRequestFormParams['requestedSchema']

const string = { type: 'string' } as const
const titled = [
  { const: 'value1', title: 'First Option' },
  { const: 'value2', title: 'Second Option' },
  { const: 'value3', title: 'Third Option' },
]
const options = ['option1', 'option2', 'option3']

const WHO: Schema = {
  type: 'object',
  properties: { username: string, email: string },
  required: ['username', 'email'],
}
const DEFAULTS: Schema = {
  type: 'object',
  properties: {
    name: { ...string, default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { ...string, enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
}
const CHOICES: Schema = {
  type: 'object',
  properties: {
    untitledSingle: { ...string, enum: options },
    titledSingle: { ...string, oneOf: titled },
    legacyEnum: { ...string, enum: ['opt1', 'opt2'], enumNames: ['Option One', 'Option Two'] },
    untitledMulti: { type: 'array', items: { ...string, enum: options } },
    titledMulti: { type: 'array', items: { anyOf: titled } },
  },
}

export function addAskingTools(server: McpServer): void {
  const one = (name: string) =>
    fromJsonSchema<Record<string, string>>({
      type: 'object',
      properties: { [name]: string },
      required: [name],
    })
  server.registerTool(
    'test_sampling',
    { description: "asks the client's model", inputSchema: one('prompt') },
    async ({ prompt = '' }, { mcpReq }) => {
      const content = { type: 'text', text: prompt } as const
      const messages = [{ role: 'user', content } as const]
      const params = { messages, maxTokens: 100 }
      const sampled = await mcpReq.send({ method: 'sampling/createMessage', params })
      return answer(`LLM response: ${JSON.stringify(sampled.content)}`)
    },
  )
  server.registerTool(
    'test_elicitation',
    { description: "asks the client's user", inputSchema: one('message') },
    async ({ message = '' }, { mcpReq }) =>
      answer(await ask(mcpReq, { message, requestedSchema: WHO })),
  )
  for (const [name, requestedSchema] of [
    ['test_elicitation_sep1034_defaults', DEFAULTS],
    ['test_elicitation_sep1330_enums', CHOICES],
  ] as const)
    server.registerTool(name, { description: `asks with ${name}` }, async ({ mcpReq }) =>
      answer(await ask(mcpReq, { message: 'Choose', requestedSchema })),
    )
}

/** By `send`, which ties the question to its call: `elicitInput` does not, so that a client that has
 * no GET stream open yet never sees it. */
async function ask(
  call: ServerContext['mcpReq'],
  params: ElicitRequestFormParams,
): Promise<string> {
  return JSON.stringify(await call.send({ method: 'elicitation/create', params: { ...params } }))
}
