// The texts of a search as the readers get them: in messages, lists and calls, at once or in the slices that the
// gate runs.

import { DATA_KINDS } from '@sluice/policy/calls/data-kinds'
import { compile, compileSteps, readPolicyTree } from '@sluice/policy/compile/compile'
import { Problems } from '@sluice/policy/document/problem'
import { readDocument } from '@sluice/policy/document/read-document'
import { combineAnswerRules } from '@sluice/policy/model/answer-rule'
import { SessionProvenance } from '@sluice/policy/provenance/session-provenance'
import type { JsonValue } from '@sluice/policy/values/json'
import { SEALED_VALUES_MAX } from '../../packages/access/src/identity/limits.ts'
import { SessionVault } from '../../packages/access/src/identity/sessions/session-vault.ts'
import { EMPTY, writeRvf } from '../../packages/agents/src/transfer/rvf.ts'
import { rewriteAnswerSteps } from '../../packages/gateway/src/call/rewrite-answer.ts'
import {
  stripOwnSteps,
  stripOwnTokens,
} from '../../packages/gateway/src/session/strip-gate-tokens.ts'
import { ANSWER_AT_ONCE_LENGTH_MAX } from '../../packages/gateway/src/shared/limits.ts'
import { RELOADED_AT_ONCE_LENGTH_MAX } from '../../packages/gateway/src/state/limits.ts'
import { ResponseReader } from '../../packages/gateway/src/upstream/http/http-response.ts'
import { inspectAnswerSteps } from '../../packages/guard/src/inspect-answer.ts'
import type { ScanEffort } from '../../packages/guard/src/patterns.ts'
import { readMessages } from '../../packages/protocol/src/read-message.ts'

/** A container of an agent. */
export const RVF = 4 * 1_048_576

const ANSWER_RULE = {
  deny: [],
  redact: DATA_KINDS,
  mark: [],
  seal: ['a/b'],
  links: [],
  maxBytes: undefined,
  maxTokens: undefined,
}

/** So many that the longest texts of the search open nearly as much as a call may. */
const SEALED_CHARS = 256

export const SEED = { low: 1, high: 2 }

export function remember(texts: string[], structured?: string[]): void {
  new SessionProvenance(SEED).remember({ texts, structured })
}

export function readTree(text: string) {
  return readDocument(text, new Problems('f', text))
}

/** The gate has long documents read in a thread: only what follows is done in its own. */
export function compileInSlices(text: string): () => unknown {
  if (text.length <= RELOADED_AT_ONCE_LENGTH_MAX) return () => compile({ file: 'p', text })
  const tree = readPolicyTree(text, new Problems('p', text))
  // What has no shape of a policy is refused by the thread.
  if (tree === undefined) return () => undefined
  return () => compileSteps({ file: 'p', text, tree })
}

export function answerOf(result: object): string {
  return JSON.stringify({ result })
}

export function inspectSteps(value: JsonValue) {
  return inspectAnswerSteps(value, ['injection', 'secret'])
}

export function strip(message: string): unknown {
  return message.length > ANSWER_AT_ONCE_LENGTH_MAX
    ? stripOwnSteps(message)
    : stripOwnTokens(message)
}

export function rewriteSteps(
  answer: string,
  vault: SessionVault,
  effort: ScanEffort = 'in slices',
) {
  const rules = combineAnswerRules([ANSWER_RULE])
  return rewriteAnswerSteps(answer, { rules, vault, sources: [], schema: undefined, effort })
}

/** As many values as a session seals, which begin as the text does. */
export function fullVault(text: string): SessionVault {
  const vault = new SessionVault()
  for (let at = 0; at < SEALED_VALUES_MAX; at++) vault.seal(`${text.slice(0, 40)}${at}`, 'key', [])
  return vault
}

/** Arguments with as many placeholders as fit. Their value is of one length whatever the text is: otherwise what is
 * opened would grow by the square. */
export function sealedCall(text: string) {
  const vault = new SessionVault()
  const value = text.padEnd(SEALED_CHARS, text).slice(0, SEALED_CHARS)
  const placeholder = vault.seal(value, 'private key', []) as string
  const count = Math.floor(text.length / placeholder.length)
  const args = JSON.stringify({ a: placeholder.repeat(count) })
  const params = { value: {}, text: new Map([['arguments', args]]) }
  const message = { method: 'tools/call', params }
  return { message, tool: 't', vault, canOpen: () => true, redacts: () => true }
}

export function strings(text: string): string[] {
  return text.match(/[\s\S]{1,4096}/g) ?? []
}

/** As long as texts are joined that a value may be split over. */
export function shortStrings(text: string): string[] {
  return text.match(/[\s\S]{1,1000}/g) ?? []
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

/** A message with it as the result, if the gate reads that, else an empty one. */
export function resultOf(text: string, chars = 0): string {
  const parts = chars === 0 ? text : (text.match(new RegExp(`[\\s\\S]{1,${chars}}`, 'g')) ?? [])
  const message = `{"jsonrpc":"2.0","id":1,"result":{"x":${JSON.stringify(parts)}}}`
  return readMessages(message, { batches: false }).ok ? message : ''
}

export function rvfOf(text: string): Buffer {
  const prompts = [{ name: 'n', system_prompt: text.slice(0, RVF / 8) }]
  return writeRvf({ ...EMPTY, prompts })
}
