import { skeletonOf } from '@sluice/catalogue/attacks/look-alike'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type LookAlikeCandidate, LookAlikeNames } from './look-alike-names.ts'

const NAMES = ['get_item', 'get_item_v2', 'getItem', 'get_itеm', 'fetch', 'fеtch', 'fetch ', 'send']
const word = fc.constantFrom
const accepting = fc.record({
  server: word('one', 'two'),
  name: word(...NAMES),
  words: word('a', 'b', ''),
  atMs: fc.nat(20),
})

function definitionOf({ server, name, words }: { server: string; name: string; words: string }) {
  return { server, name, description: words, inputSchema: {} } as unknown as ToolDefinition
}

/** One after the other, as slow as it is plain. */
function isTwin(
  all: readonly LookAlikeCandidate[],
  of: ToolDefinition,
  settledMs: number,
): boolean {
  const foreign = (name: string) => /[^ -~]|^ | $/.test(name)
  return all.some(({ server, name, definition, atMs }) => {
    if (name === of.name) return false
    const alike = skeletonOf(name) === skeletonOf(of.name)
    if (alike && (foreign(name) || foreign(of.name))) return true
    if (server !== of.server || atMs >= settledMs) return false
    return alike || (definition !== undefined && definition.description === of.description)
  })
}

test('finding: what a new tool is taken for is found without a walk over all that are known', () => {
  fc.assert(
    fc.property(fc.array(accepting, { maxLength: 30 }), accepting, (came, next) => {
      const twins = new LookAlikeNames()
      const known = new Map<string, LookAlikeCandidate>()
      let nowMs = 0
      for (const one of came) {
        nowMs += one.atMs
        const { server, name, words } = one
        const definition = words === '' ? undefined : definitionOf(one)
        const key = `${server}/${name}`
        const accepted = { server, name, definition, atMs: known.get(key)?.atMs ?? nowMs }
        twins.put(accepted)
        known.set(key, accepted)
      }
      fc.pre(!known.has(`${next.server}/${next.name}`))
      const tool = definitionOf(next)
      const settledMs = nowMs - next.atMs
      expect(twins.find(tool, settledMs) !== undefined).toBe(
        isTwin([...known.values()], tool, settledMs),
      )
    }),
  )
})
