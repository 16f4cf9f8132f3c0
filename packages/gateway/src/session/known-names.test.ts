// Names where the policy hides some, and a server that makes looking them up slow.

import { UriTemplate } from '@sluice/protocol/uri-template'
import { afterEach, expect, test, vi } from 'vitest'
import { ResourceRoutes } from '../aggregate/resource-routes.ts'
import { playing } from '../relay/relay.test-support.ts'
import { countSlices } from '../shared/count-slices.test-support.ts'
import { TEMPLATE_STEPS_MAX } from '../shared/turn-limits.ts'

const { play, endPlays } = playing()
afterEach(endPlays)

const RULES = 'default: allow\nresources: { "s/file:///hidden/*": hide }'
const SLOW = `file:///x/${'{+a}b'.repeat(24)}`
const URI = `file:///x/${'b'.repeat(1_900)}c`

/** Answers lists as a server with these templates. */
function playWith(templates: readonly string[]) {
  const one = play({ generation: 'session', rules: RULES })
  one.server.answers = ({ method }) => {
    if (method === 'resources/list') return { resources: [] }
    if (method !== 'resources/templates/list') return undefined
    return { resourceTemplates: templates.map((uriTemplate) => ({ uriTemplate, name: 't' })) }
  }
  return one
}

test('F8: a URI is compared with templates in a bounded number of steps, and then fits none', async () => {
  let steps = 0
  const { fits } = UriTemplate.prototype
  const spy = vi.spyOn(UriTemplate.prototype, 'fits').mockImplementation(function (
    this: UriTemplate,
    uri,
  ) {
    steps += this.stepsFor(uri)
    return fits.call(this, uri)
  })
  // The last one fits, and is never reached.
  const one = playWith([...Array(99).fill(SLOW), 'file:///x/{+all}'])
  const id = await one.ask('resources/read', { uri: URI })
  while (!one.received.some((response) => response.id === id)) await new Promise(setImmediate)
  expect(one.to(id).error).toBeDefined()
  // Looked for at most three times in one request.
  expect(steps).toBeLessThanOrEqual(3 * TEMPLATE_STEPS_MAX)
  steps = 0
  const routes = new ResourceRoutes()
  routes.listTemplates('a', ['file:///x/{+all}'])
  routes.listTemplates(
    'b',
    Array(100)
      .fill(0)
      .map((_, at) => `${SLOW}${at}`),
  )
  expect(routes.find(URI)).toEqual([])
  expect(steps).toBeLessThanOrEqual(TEMPLATE_STEPS_MAX)
  expect(routes.find('file:///x/short')).toEqual(['a'])
  spy.mockRestore()
})

test('F8: one that a template fits within the steps is read', async () => {
  const one = playWith([SLOW, 'file:///x/{+all}'])
  await one.ask('resources/read', { uri: 'file:///x/c' })
  while (one.server.last('resources/read') === undefined) await new Promise(setImmediate)
  expect(one.server.last('resources/read').params).toMatchObject({ uri: 'file:///x/c' })
})

test('F8: a list of odd URIs is weighed in slices', async () => {
  const one = playWith([])
  one.server.answers = () => undefined
  const id = await one.ask('resources/list')
  const uri = (at: number) => `file:///${at}/${'%2e%2E/a;b/'.repeat(745)}`
  const resources = Array.from({ length: 300 }, (_, at) => ({ uri: uri(at), name: 'r' }))
  const slices = countSlices()
  await one.answer('resources/list', { resources })
  while (!one.received.some((response) => response.id === id)) await new Promise(setImmediate)
  expect(slices()).toBeGreaterThan(resources.length / 10)
})
