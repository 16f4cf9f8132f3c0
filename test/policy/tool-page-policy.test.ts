// The rules and the denial that a tool's page shows, compared with the engine and the gate: what a reader
// copies compiles for that tool, and what a denied agent is said to receive is what it receives.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { compile } from '@sluice/policy/compile/compile'
import { expect, test } from 'vitest'
import { classify } from '../../packages/catalogue/src/classify/classify.ts'
import { getAssessment } from '../../packages/catalogue/src/pages/assessment-cache.ts'
import { denialOf, limitFor, WAYS } from '../../packages/catalogue/src/pages/tool-advice.ts'
import { toolPage } from '../../packages/catalogue/src/pages/tool-page.ts'
import { buildRefusalReply } from '../../packages/gateway/src/call/replies.ts'

const tool = (name: string, description: string, properties: object): ToolDefinition => ({
  server: 'acme',
  name,
  description,
  inputSchema: { type: 'object', properties } as never,
})
const text = { type: 'string' }
const TOOLS = [
  tool('read_file', 'Read a file', { path: text }),
  tool('get_secrets', 'Get the secrets', {}),
  tool('execute_sql', 'Execute SQL queries', { sql: text }),
  tool('send_payment', 'Send a payment', { amount: text }),
  tool('place_order', 'Place a buy order', { 'order-amount': text, amount: text }),
  tool('delete_file', 'Delete a file for good', { path: text, force: { type: 'boolean' } }),
  tool('frobnicator', 'Quux of the zyzzy', {}),
]

test.each(TOOLS.map((definition) => [definition.name, definition] as const))(
  'every rule on the page of %s compiles for it without a problem',
  (_, definition) => {
    const tools = [{ definition, ...classify(definition) }]
    const policies = toolPage(definition)
      .sections.flatMap(({ blocks }) => blocks)
      .flatMap((block) =>
        block.kind === 'code' && block.text.startsWith('version:') ? [block.text] : [],
      )
    const rules = [
      limitFor(definition, getAssessment(definition)).rule,
      ...WAYS.map(([, rule]) => rule),
    ]
    const ways = rules.map(
      (rule) => `version: 1\ndefault: deny\ntools:\n  acme/${definition.name}: ${rule}\n`,
    )
    expect(policies).toHaveLength(1)
    expect(ways).toHaveLength(5)
    for (const document of [...policies, ...ways])
      expect(compile({ file: 'policy.yaml', text: document }, { tools }).problems).toEqual([])
  },
)

test.each([
  ['without an output schema', undefined],
  ['with one', { type: 'object' }],
])('a denied agent receives what the page shows, %s', (_, outputSchema) => {
  const definition = {
    ...tool('delete_file', 'Delete a file', {}),
    ...(outputSchema === undefined ? {} : { outputSchema }),
  }
  const decision = { action: 'deny', code: 'DENIED', reason: 'not for agents', retryAfterMs: 0 }
  const reply = buildRefusalReply(
    { id: 1, method: 'tools/call', params: undefined },
    { decision: decision as never, callId: '…', explain: false },
    {
      name: definition.name,
      tool: { definition, ...classify(definition) },
      generation: 'session',
    },
  )
  const { result } = JSON.parse(reply.text)
  expect(result).toMatchObject(JSON.parse(denialOf('not for agents', definition)))
  expect('structuredContent' in result).toBe(outputSchema === undefined)
})
