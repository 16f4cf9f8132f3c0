// The names of a view, for any servers and tools.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { AdvertisedNames } from '../aggregate/advertised-names.ts'
import { View } from './view.ts'

const server = fc.stringMatching(/^[a-z0-9-]{1,24}$/)
const names = fc.uniqueArray(fc.stringMatching(/^[a-z_]{0,6}x{0,70}[a-z]{1,3}$/), { minLength: 1 })

test('every name is short enough behind the view’s, unlike the others, and finds its tool', () => {
  const tools = fc.dictionary(server, names, { minKeys: 1, maxKeys: 4, noNullPrototype: true })
  const view = fc.stringMatching(/^[a-z0-9-]{1,16}$/)
  fc.assert(
    fc.property(view, tools, fc.nat(), (name, all, chosen) => {
      const places = Object.entries(all).flatMap(([of, each]) => each.map((tool) => [of, tool]))
      const [renamedServer = '', renamed = ''] = places[chosen % places.length] ?? []
      const made = new View(name, {
        tools: ['*/*'],
        as: { [`${renamedServer}/${renamed}`]: 'own' },
      })
      const advertised = new AdvertisedNames(() => made)
      const given = Object.entries(all).flatMap(([of, each]) => advertised.list(of, each))
      expect(new Set(given).size).toBe(given.length)
      for (const [at, one = ''] of given.entries()) {
        expect(`mcp__${name}__${one}`.length).toBeLessThan(64)
        const [of, tool] = places[at] ?? []
        expect(advertised.find(one)).toEqual({ server: of, name: tool })
      }
      expect(given).toContain('own')
    }),
    runs(200),
  )
})

test('names of tools that a server does not have come with the nearest one', () => {
  const view = new View('support', {
    tools: ['crm/*', 'mail/sned', 'mail/zz*', 'mail/read'],
    as: { 'mail/raed': 'look' },
  })
  expect(view.unknownTools('mail', ['send', 'read'])).toEqual([
    { tool: 'mail/sned', near: 'mail/send' },
    { tool: 'mail/zz*' },
    { tool: 'mail/raed', near: 'mail/read' },
  ])
  expect(view.unknownTools('crm', ['get'])).toEqual([])
})
