// A streamed answer of a model as the whole answer it adds up to, with its text handed on as it comes. So the
// rest of the room has one kind of answer, whether somebody follows or not. Used by unique-calls.ts.

import type { LanguageModelMiddleware } from 'ai'

type WrapOptions = Parameters<NonNullable<LanguageModelMiddleware['wrapGenerate']>>[0]
type StreamResult = Awaited<ReturnType<WrapOptions['doStream']>>
type GenerateResult = Awaited<ReturnType<WrapOptions['doGenerate']>>
type StreamPart = StreamResult['stream'] extends ReadableStream<infer Each> ? Each : never
type Finish = Extract<StreamPart, { type: 'finish' }>

export async function gatherStream(
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
