// Tool calls of one model turn as the rest of the module can rely on them: every call has an id of its
// own, because the SDK and the conversation find a call by its id, and a model server that numbers
// badly would have one call made twice and the other never. Arguments with a number that no double
// holds are marked: rounded, they would be judged and sent as another amount. Pure; called by models.ts.

import { saysExactly } from '@sluice/policy/values/is-exact-double'
import type { LanguageModelMiddleware } from 'ai'

type ContentPart = { readonly type: string; readonly toolCallId?: string; readonly input?: unknown }

/** Sixteen digits or more, or an exponent: everything shorter is exact. */
const MAY_BE_INEXACT = /[\d.]{16}|\d[eE]/

/** What makes the calls of one turn unique. */
export interface UniqueCalls {
  readonly middleware: LanguageModelMiddleware
  /** Why a call of the answered turn cannot be made, by its id. */
  readonly refused: ReadonlyMap<string, string>
}

/** Gives each call of a turn an id of its own. If `onText` is given, the model is asked for a stream. */
export function uniqueCalls(onText?: (text: string) => void): UniqueCalls {
  const refused = new Map<string, string>()
  const wrapGenerate: LanguageModelMiddleware['wrapGenerate'] = async ({
    doGenerate,
    doStream,
  }) => {
    const answer =
      onText === undefined ? await doGenerate() : await gatherStream(await doStream(), onText)
    return { ...answer, content: withUniqueIds(answer.content, refused) }
  }
  return { middleware: { specificationVersion: 'v4', wrapGenerate }, refused }
}

function withUniqueIds<Each extends ContentPart>(
  content: readonly Each[],
  refused: Map<string, string>,
): Each[] {
  const callIds = new Set(content.map(({ toolCallId }) => toolCallId))
  const used = new Set<string>()
  // One counter for the whole turn, so that thousands of equal ids cost no more than others.
  let next = 2
  return content.map((part) => {
    if (part.type !== 'tool-call') return part
    let id = String(part.toolCallId)
    if (used.has(id)) {
      while (callIds.has(`${part.toolCallId}_${next}`)) next += 1
      id = `${part.toolCallId}_${next++}`
    }
    used.add(id)
    const inexact = typeof part.input === 'string' ? inexactNumber(part.input) : undefined
    if (inexact !== undefined)
      refused.set(id, `the number ${inexact} cannot be kept exactly: send it as a string`)
    return { ...part, toolCallId: id }
  })
}

/** The text of the first number that a double would change. */
function inexactNumber(json: string): string | undefined {
  if (!MAY_BE_INEXACT.test(json)) return undefined
  let duplicate: string | undefined
  try {
    JSON.parse(json, function look(_key, value, context?: { source?: string }) {
      const source = context?.source
      if (typeof value === 'number' && source !== undefined && !saysExactly(value, source))
        duplicate ??= source.slice(0, 100)
      return null
    } as (key: string, value: unknown) => unknown)
  } catch {
    // Not JSON: the SDK says so.
  }
  return duplicate
}

type WrapOptions = Parameters<NonNullable<LanguageModelMiddleware['wrapGenerate']>>[0]

type StreamResult = Awaited<ReturnType<WrapOptions['doStream']>>

type GenerateResult = Awaited<ReturnType<WrapOptions['doGenerate']>>

type StreamPart = StreamResult['stream'] extends ReadableStream<infer Each> ? Each : never

type Finish = Extract<StreamPart, { type: 'finish' }>

/**
 * A streamed answer of a model as the whole answer it adds up to, with its text handed on as it comes: the
 * caller has one kind of answer, streamed or not.
 */
async function gatherStream(
  { stream }: StreamResult,
  onText: (text: string) => void,
): Promise<GenerateResult> {
  let text = ''
  let finish: Finish | undefined
  const calls: Extract<StreamPart, { type: 'tool-call' }>[] = []
  for await (const part of stream as AsyncIterable<StreamPart>) {
    if (part.type === 'error') throw part.error
    if (part.type === 'text-delta') {
      text += part.delta
      onText(part.delta)
    } else if (part.type === 'tool-call') calls.push(part)
    else if (part.type === 'finish') finish = part
  }
  // A server that hung up in the middle has not answered.
  if (finish === undefined) throw new Error('the stream of the model ended before its answer did')
  const { usage, finishReason } = finish
  const parts = text === '' ? [] : [{ type: 'text' as const, text }]
  return { content: [...parts, ...calls], finishReason, usage, warnings: [] }
}
