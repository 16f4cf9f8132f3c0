// All that a definition says, as signals: name, title, description, schema. The vendor's annotations
// are not among them: they are a cross-check (annotations.ts). Pure; called by classify and by the
// training script.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { combineSignals, type SilencedSignals } from './combined-signals.ts'
import { readName } from './read-name.ts'
import { readSchema } from './read-schema.ts'
import { readText } from './read-text.ts'
import type { EmitSignal, Signal } from './signal.ts'

export function gatherSignals(definition: ToolDefinition): Signal[] {
  const signals: Signal[] = []
  const emit = emitInto(signals)
  readName(text(definition.name), text(definition.server), emit)
  emitTexts(definition, signals, emit)
  readSchema(definition.inputSchema, emit)
  const silent = SILENT[combineSignals(definition, signals, emit)]
  return silent === undefined ? signals : signals.filter(({ feature }) => !silent.test(feature))
}

/** What bare verbs say, by what a rule of combined signals speaks in the place of. */
const SILENT: Readonly<Record<SilencedSignals, RegExp | undefined>> = {
  nothing: undefined,
  act: /^(?:name|text)[:=](?!look|judge|render|answer|nothing)/,
  money:
    /^(?:name|text)[:=](?!look|judge|render|answer|nothing)|\+(?:money|deal|price)\.|^deal with money/,
  read: /^(?:name|text)[:=]/,
}

/** What the text said the last time: an account asks again with words of the name alone gone. */
let last: { readonly of: string; readonly signals: readonly Signal[] } = { of: '', signals: [] }

function emitTexts(definition: ToolDefinition, signals: Signal[], emit: EmitSignal): void {
  const described = text(definition.description)
  if (described !== '' && described === last.of) return void signals.push(...last.signals)
  const before = signals.length
  if (described.trim() !== '') readText(described, '/description', emit)
  else if (text(definition.title) !== '') readText(text(definition.title), '/title', emit)
  else emit('text:nothing', { at: '/description', start: 0, end: 0 })
  if (described.trim() !== '') last = { of: described, signals: signals.slice(before) }
}

function emitInto(signals: Signal[]): EmitSignal {
  return (feature, { at, start, end }, amount = 1) => {
    signals.push({ feature, amount, at, start, end })
  }
}

/** A server may put anything where text belongs. */
function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Each feature once, with the largest amount it was emitted with: saying it twice proves no more. */
export function amountsOf(signals: readonly Signal[]): Map<string, number> {
  const amounts = new Map<string, number>()
  for (const { feature, amount } of signals) {
    const before = amounts.get(feature)
    if (before === undefined || before < amount) amounts.set(feature, amount)
  }
  return amounts
}
