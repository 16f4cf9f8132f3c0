// All that a definition says, as signals: name, title, description, schema. The vendor's annotations
// are not among them: they are a cross-check (annotations.ts). Pure; called by classify and by the
// training script.

import type { ToolDefinition } from '../core/tools.ts'
import { nounsAt } from './lexicon.ts'
import { readName } from './read-name.ts'
import { readSchema } from './read-schema.ts'
import { readText } from './read-text.ts'
import type { Signal, Tell } from './signal.ts'
import { splitName } from './words.ts'

/** `schema`: the signals of the schema, where they are known already. */
export function gatherSignals(
  definition: ToolDefinition,
  schema: readonly Signal[] = schemaSignals(definition),
): Signal[] {
  const signals: Signal[] = []
  const tell = teller(signals)
  readName(text(definition.name), text(definition.server), tell)
  tellTexts(definition, signals, tell)
  signals.push(...schema)
  readCompany(definition, signals, tell)
  return signals
}

/** What the text said the last time: an account asks again with words of the name alone gone. */
let last: { readonly of: string; readonly said: readonly Signal[] } = { of: '', said: [] }

function tellTexts(definition: ToolDefinition, signals: Signal[], tell: Tell): void {
  const described = text(definition.description)
  if (described !== '' && described === last.of) return void signals.push(...last.said)
  const before = signals.length
  if (described.trim() !== '') readText(described, '/description', tell)
  else if (text(definition.title) !== '') readText(text(definition.title), '/title', tell)
  else tell('text:nothing', { at: '/description', start: 0, end: 0 })
  if (described.trim() !== '') last = { of: described, said: signals.slice(before) }
}

export function schemaSignals(definition: ToolDefinition): Signal[] {
  const signals: Signal[] = []
  readSchema(definition.inputSchema, teller(signals))
  return signals
}

function teller(signals: Signal[]): Tell {
  return (feature, { at, start, end }, amount = 1) => {
    signals.push({ feature, amount, at, start, end })
  }
}

/** What several signals mean together: an order beside an amount, a choice on a screen. */
function readCompany(definition: ToolDefinition, signals: readonly Signal[], tell: Tell): void {
  const server = splitName(text(definition.server)).flatMap((word) => nounsAt(word.text))
  const acts = signals.some(({ feature }) => ACTS.test(feature))
  if (!acts) return
  const money =
    server.includes('money') ||
    server.includes('house') ||
    signals.some(({ feature }) => MONEYED.test(feature))
  for (const { feature, at, start, end } of signals) {
    const deal = /^(name|text)\.(?:act|none)\+deal\.(object|near)$/.exec(feature)
    if (money && deal !== null) tell(`deal with money:${deal[1]}.${deal[2]}`, { at, start, end })
  }
  if (signals.some(({ feature }) => /^(?:name|text):change$/.test(feature)))
    for (const { feature, at, start, end } of signals)
      if (
        /^name\.act\+(?:price|deal)\./.test(feature) &&
        LIVE_PRICE.test(textAt(definition, at).slice(start, end))
      )
        tell('changes a price', { at, start, end })
  const name = { at: '/name', start: 0, end: 0 }
  const screen =
    server.includes('screen') || signals.some(({ feature }) => /\+screen\./.test(feature))
  const picture = signals.find(({ feature }) =>
    /^(?:name|text)=(?:snapshot|capture)$/.test(feature),
  )
  if (picture !== undefined && screen) tell('pictures a screen', picture)
  else if (server.includes('screen')) tell('server:screen', name)
  if (server.includes('money') || server.includes('house')) tell('server:money', name)
}

const LIVE_PRICE = /^(?:prices?|pricing|bids?|bidding)$/i

function textAt(definition: ToolDefinition, at: string): string {
  return text(at === '/name' ? definition.name : definition.description)
}

const ACTS = /^(?:name|text)\.(?:act|none)\+|^(?:name|text):(?!look|judge|render|answer|nothing)/
const MONEYED = /\+(?:money|house)\.|^arg(?:\.deep)?:money$|^says:money/

/** A server may put anything where text belongs. */
function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Each feature once, with the largest amount it was told with: saying it twice proves no more. */
export function amountsOf(signals: readonly Signal[]): Map<string, number> {
  const amounts = new Map<string, number>()
  for (const { feature, amount } of signals) {
    const before = amounts.get(feature)
    if (before === undefined || before < amount) amounts.set(feature, amount)
  }
  return amounts
}
