// What reaches a server of the resources that a policy names: only URIs in normal form, or as the
// server itself lists them; completions only for what may be read.

import { afterEach, describe, expect, test } from 'vitest'
import { playing } from './relay.test-support.ts'

const { play, endPlays } = playing()
afterEach(endPlays)

const RESOURCES = [
  { uri: 'file:///public/a', name: 'a' },
  { uri: 'FILE:///public/B C', name: 'b' },
  { uri: 'file:///public/../secret/listed', name: 'listed' },
]
const TEMPLATES = [
  { uriTemplate: 'file:///public/{+path}', name: 'public' },
  { uriTemplate: 'file:///public/../secret/{x}', name: 'climbs' },
]
const PROMPTS = [{ name: 'open' }, { name: 'closed' }]

const RULES = `
default: deny
categories: { Read: allow }
resources: { "s/file:///secret/*": deny }
prompts: { s/closed: deny }
`

const ODD = [
  'file:///public/../secret/key',
  'file:///public/%2e%2e/secret/key',
  'FILE:///secret/key',
  'file:///public/..%2Fsecret/key',
]

function begin(generation: 'session' | 'stateless', rules = RULES) {
  const stage = play({ generation, rules })
  stage.server.answers = ({ method }) => {
    if (method === 'resources/list') return { resources: RESOURCES }
    if (method === 'resources/templates/list') return { resourceTemplates: TEMPLATES }
    return method === 'prompts/list' ? { prompts: PROMPTS } : undefined
  }
  const sent = (method: string) =>
    stage.server.sent.filter((each) => each.method === method).map(({ params }) => params)
  return { stage, sent }
}

describe.each(['session', 'stateless'] as const)('in the %s generation', (generation) => {
  test('F3: no other spelling of a denied URI reaches the server', async () => {
    const { stage, sent } = begin(generation)
    for (const uri of [...ODD, 'file:///secret/key', 'file:///public/../secret/listed']) {
      const id = await stage.ask('resources/read', { uri })
      expect(stage.to(id).error, uri).toBeDefined()
      if (generation === 'stateless') {
        const notifications = { resourceSubscriptions: [uri, 'file:///public/a'] }
        await stage.ask('subscriptions/listen', { notifications })
        const granted = { resourceSubscriptions: ['file:///public/a'] }
        expect(sent('subscriptions/listen').at(-1)).toMatchObject({ notifications: granted })
      } else {
        for (const method of ['resources/subscribe', 'resources/unsubscribe'])
          if (method === 'resources/subscribe' || ODD.includes(uri))
            expect(stage.to(await stage.ask(method, { uri })).error, method + uri).toBeDefined()
      }
    }
    expect(sent('resources/read')).toEqual([])
    expect(sent('resources/subscribe')).toEqual([])
    for (const uri of ['FILE:///public/B C', 'file:///public/deep/file.txt'])
      await stage.ask('resources/read', { uri })
    expect(sent('resources/read')).toHaveLength(2)
  })

  test('F3: lists show a resource or template by what its URI means', async () => {
    const { stage } = begin(generation, RULES.replaceAll('deny', 'hide'))
    stage.server.answers = () => undefined
    const resources = await stage.ask('resources/list')
    await stage.answer('resources/list', { resources: RESOURCES })
    expect(JSON.stringify(stage.to(resources).result)).not.toContain('listed')
    const templates = await stage.ask('resources/templates/list')
    await stage.answer('resources/templates/list', { resourceTemplates: TEMPLATES })
    expect(JSON.stringify(stage.to(templates).result)).not.toContain('climbs')
    expect(JSON.stringify(stage.to(templates).result)).toContain('{+path}')
  })

  test('F18: a completion for what is denied does not reach the server', async () => {
    const { stage, sent } = begin(generation)
    const argument = { name: 'x', value: '' }
    const denied = [
      { type: 'ref/prompt', name: 'closed' },
      { type: 'ref/resource', uri: 'file:///secret/{x}' },
      { type: 'ref/resource', uri: 'file:///public/../secret/{x}' },
      { type: 'ref/resource', uri: 'file:///public/%2e%2e/secret/{x}' },
    ]
    for (const ref of denied)
      expect(
        stage.to(await stage.ask('completion/complete', { ref, argument })).error,
      ).toBeDefined()
    expect(sent('completion/complete')).toEqual([])
    for (const ref of [
      { type: 'ref/prompt', name: 'open' },
      { type: 'ref/resource', uri: 'file:///public/{+path}' },
    ])
      await stage.ask('completion/complete', { ref, argument })
    expect(sent('completion/complete')).toHaveLength(2)
  })
})

test('F3: a change of a hidden resource is told in no spelling', async () => {
  const { stage } = begin('session', RULES.replaceAll('deny', 'hide'))
  for (const uri of ['file:///secret/key', ...ODD])
    stage.server.say({ method: 'notifications/resources/updated', params: { uri } })
  stage.server.say({
    method: 'notifications/resources/updated',
    params: { uri: 'file:///public/a' },
  })
  expect(stage.received.filter(({ method }) => method !== undefined)).toHaveLength(1)
})
