import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { placeWords, wordsOfProse } from '../signals/read-words.ts'
import { encodeLetter, Network, type NetworkData } from './network.ts'

/** One unit, which speaks for the last class. */
function data(features: Readonly<Record<string, number>>): NetworkData {
  const letters = Object.entries(features).map(([key, value]) => [key, encodeLetter(value)])
  return {
    bias: [0],
    output: [[0, 0, 0, 0, 1]],
    constant: [0, 0, 0, 0, 0],
    features: Object.fromEntries(letters),
  }
}

const NONE = new Map<string, number>()

describe('the network', () => {
  test('counts a word once, by its zone, and scales by the length of its inputs', () => {
    const network = new Network(data({ 'd pay': 1, 'a pay': 4 }))
    const tool = { server: 'a', name: '', description: 'Pay, pay and pay' }
    const [, , , , financial] = network.sum(tool, NONE)
    expect(Math.abs((financial as number) - 3 / Math.sqrt(2))).toBeLessThan(0.2)
    expect(network.sum(tool, NONE)).toEqual(network.sum(tool, NONE))
  })

  test('knows a word of a name by its parts', () => {
    const network = new Network(data({ '~<refu': 4 }))
    const sumOf = (name: string) => network.sum({ server: 'a', name }, NONE)[4]
    expect(sumOf('do_refunding')).toBeGreaterThan(0)
    expect(sumOf('do_funding')).toBe(0)
  })

  test('adds signals by their amount', () => {
    const network = new Network(data({ 'name:pay': 2 }))
    const sumOf = (amount: number) =>
      network.sum({ server: 'a', name: 'x' }, new Map([['name:pay', amount]]))[4] as number
    expect(sumOf(1)).toBeGreaterThan(sumOf(0.5))
  })

  test('explains its sum: what the words add is the sum', () => {
    const network = new Network(data({ 'd pay': 1, 'n send': 0.5, 'a amount': 2 }))
    const inputSchema = { type: 'object', properties: { amount: { type: 'number' } } }
    const tool = { server: 'a', name: 'send', description: 'Pay', inputSchema }
    const { words, pulls } = network.explain(tool, [], NONE)
    const added = words.reduce((sum, { feature }) => sum + (pulls.get(feature)?.[4] as number), 0)
    expect(added).toBeCloseTo(network.sum(tool, NONE)[4] as number)
    expect(words.find(({ feature }) => feature === 'a amount')?.at).toBe(
      '/inputSchema/properties/amount',
    )
  })

  test('answers whatever a server writes', () => {
    const network = new Network(data({ 'd __proto__': 1 }))
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), (name, description, inputSchema) => {
        const tool = { server: 'a', name, description, inputSchema } as never
        expect(network.sum(tool, NONE).every(Number.isFinite)).toBe(true)
      }),
    )
  })

  test.each([0, 0.01, 0.3, 1, 2.5, 4, 9])('stores %s as a letter, up to 4', (value) => {
    const network = new Network(data({ 'd pay': value }))
    const { pulls } = network.explain({ server: 'a', name: '', description: 'pay' }, [], NONE)
    const stored = (pulls.get('d pay')?.[4] as number) / (3 / Math.sqrt(2))
    expect(Math.abs(stored - Math.min(4, value))).toBeLessThan(0.1)
  })
})

const toPlain = (text: string) => text.replaceAll('İ', 'I').toLowerCase()

describe('words', () => {
  test('of scripts without spaces are pairs of letters', () => {
    expect(wordsOfProse('退款订单 for Ünal')).toEqual(['退款', '款订', '订单', 'for', 'ünal'])
  })

  test('stand where they are shown', () => {
    const description = 'Sends 退款订单 to İzmir, sends again'
    for (const { word, place } of placeWords({ server: 'a', name: 'sendIt', description }))
      if (place.at === '/description' && /^[a-z退款订单]+$/.test(word))
        expect(toPlain(description.slice(place.start, place.end))).toBe(word)
  })
})
