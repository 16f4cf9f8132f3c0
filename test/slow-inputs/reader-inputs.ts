// The texts of a search as the readers get them: in messages, lists and calls, at once or in the slices that the
// gate runs. What is made for a text is made once: the best of its runs has only what is measured.

import { compile, compileSteps, readPolicyTree } from '@sluice/policy/compile/compile'
import { DATA_KINDS } from '@sluice/policy/core/data-kinds'
import type { JsonValue } from '@sluice/policy/core/json'
import { runSteps, type Steps } from '@sluice/policy/core/steps'
import { Problems } from '@sluice/policy/document/problem'
import { readDocument } from '@sluice/policy/document/read-document'
import { combineAnswerRules } from '@sluice/policy/model/answer-rule'
import { SessionProvenance } from '@sluice/policy/provenance/session-provenance'
import { EMPTY, writeRvf } from '../../packages/sluice/src/agents/transfer/rvf.ts'
import {
  stripOwnSteps,
  stripOwnTokens,
} from '../../packages/sluice/src/gateway/session/strip-gate-tokens.ts'
import {
  ANSWER_AT_ONCE_LENGTH_MAX,
  INSPECTED_AT_ONCE_LENGTH_MAX,
  RELOADED_AT_ONCE_LENGTH_MAX,
} from '../../packages/sluice/src/gateway/shared/limits.ts'
import { ResponseReader } from '../../packages/sluice/src/gateway/upstream/http/http-response.ts'
import { inspectAnswerSteps } from '../../packages/sluice/src/guard/inspect-answer.ts'
import { SEALED_VALUES_MAX } from '../../packages/sluice/src/identity/limits.ts'
import { SessionVault } from '../../packages/sluice/src/identity/sessions/session-vault.ts'
import { readMessages } from '../../packages/sluice/src/protocol/read-message.ts'

/** A container of an agent. */
export const RVF = 4 * 1_048_576

const ANSWER_RULE = {
  ...{ deny: [], redact: DATA_KINDS, mark: [], seal: ['a/b'], links: [] },
  ...{ maxBytes: undefined, maxTokens: undefined },
}

export const SEED = { low: 1, high: 2 }

export function remember(texts: string[], structured?: string[]): void {
  new SessionProvenance(SEED).remember({ texts, structured })
}

export function readTree(text: string) {
  return readDocument(text, new Problems('f', text))
}

let lastTree:
  | { readonly text: string; readonly tree: ReturnType<typeof readPolicyTree> }
  | undefined

/** The gate has long documents read in a thread. */
export function compileInSlices(text: string): unknown {
  if (text.length <= RELOADED_AT_ONCE_LENGTH_MAX) return compile({ file: 'p', text })
  if (lastTree?.text !== text) {
    const tree = readPolicyTree(text, new Problems('p', text))
    lastTree = { text, tree }
  }
  // What has no shape of a policy is refused by the thread.
  if (lastTree.tree === undefined) return undefined
  return compileSteps({ file: 'p', text, tree: lastTree.tree })
}

export function answerOf(result: object): string {
  return JSON.stringify({ result })
}

/** At once if the gate looks through a message of this length at once. */
export function inSlices(steps: Steps<unknown>, text: string): unknown {
  return text.length > INSPECTED_AT_ONCE_LENGTH_MAX ? steps : runSteps(steps)
}

export function inspectInSlices(value: JsonValue, text: string): unknown {
  return inSlices(inspectAnswerSteps(value, ['injection', 'secret']), text)
}

export function strip(message: string): unknown {
  return message.length > ANSWER_AT_ONCE_LENGTH_MAX
    ? stripOwnSteps(message)
    : stripOwnTokens(message)
}

export function rewriteContext(vault: SessionVault) {
  return { rules: combineAnswerRules([ANSWER_RULE]), vault, sources: [], schema: undefined }
}

/** As many values as a session seals, which begin as the text does. */
export function fullVault(text: string): SessionVault {
  const vault = new SessionVault()
  for (let at = 0; at < SEALED_VALUES_MAX; at++) vault.seal(`${text.slice(0, 40)}${at}`, 'key', [])
  return vault
}

/** Arguments with as many placeholders of a long value as fit. */
export function sealedCall(text: string) {
  const vault = new SessionVault()
  const placeholder = vault.seal(text.slice(0, 16_384), 'private key', []) as string
  const count = Math.floor(text.length / placeholder.length)
  const args = JSON.stringify({ a: placeholder.repeat(count) })
  const params = { value: {}, text: new Map([['arguments', args]]) }
  const message = { method: 'tools/call', params }
  return { message, tool: 't', vault, canOpen: () => true, redacts: () => true }
}

let lastStrings: { readonly text: string; readonly strings: string[] } | undefined

/** Made once for a text, as `resultOf`. */
export function strings(text: string): string[] {
  if (lastStrings?.text !== text)
    lastStrings = { text, strings: text.match(/[\s\S]{1,4096}/g) ?? [] }
  return lastStrings.strings
}

let lastShort: { readonly text: string; readonly strings: string[] } | undefined

/** As long as texts are joined that a value may be split over. */
export function shortStrings(text: string): string[] {
  if (lastShort?.text !== text) lastShort = { text, strings: text.match(/[\s\S]{1,1000}/g) ?? [] }
  return lastShort.strings
}

export function readResponse(text: string): void {
  const nothing = () => {}
  const events = { onHead: nothing, onData: nothing, onEnd: nothing, onWhole: nothing }
  new ResponseReader(events).push(Buffer.from(text, 'latin1'))
}

/** `text` as the member of an object, cut so that the JSON has at most `chars`. */
export function jsonWithin(text: string, chars: number): string {
  const whole = JSON.stringify({ text })
  if (whole.length <= chars) return whole
  return JSON.stringify({ text: text.slice(0, (text.length * chars) / whole.length - 16) })
}

let lastText: string | undefined
let lastChars = 0
let lastMessage = ''

/** A message with it as the result, if the gate reads that, else an empty one. Made once for a text: the
 * best of its runs has only what is measured. */
export function resultOf(text: string, chars = 0): string {
  if (text === lastText && chars === lastChars) return lastMessage
  const parts = chars === 0 ? text : (text.match(new RegExp(`[\\s\\S]{1,${chars}}`, 'g')) ?? [])
  const message = `{"jsonrpc":"2.0","id":1,"result":{"x":${JSON.stringify(parts)}}}`
  lastText = text
  lastChars = chars
  lastMessage = readMessages(message, { batches: false }).ok ? message : ''
  return lastMessage
}

let lastContainer: { readonly text: string; readonly bytes: Buffer } | undefined

export function rvfOf(text: string): Buffer {
  if (lastContainer?.text === text) return lastContainer.bytes
  const prompts = [{ name: 'n', system_prompt: text.slice(0, RVF / 8) }]
  lastContainer = { text, bytes: writeRvf({ ...EMPTY, prompts }) }
  return lastContainer.bytes
}
