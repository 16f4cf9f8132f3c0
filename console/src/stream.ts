// Server-sent events over fetch, because EventSource cannot send the token in a header. A broken
// stream is resumed after its last event; events are passed on one by one.

import { refusal, withAuthorization } from './api.ts'
import { requestPermit, type StreamPolicy, waitForPermit } from './stream-permit.ts'

const PAUSE_MS_MIN = 500
const PAUSE_MS_MAX = 3_000

export interface StreamEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

export interface StreamHandlers {
  readonly onEvent: (event: StreamEvent) => void
  /** `why`: the gate's reason, if it refused. */
  readonly onState?: (state: 'open' | 'lost', why?: string) => void
  /** When the stream is kept open; it is resumed where it was. */
  readonly keeps?: StreamPolicy
}

/** Returns a function that ends it. */
export function listen(
  path: string,
  { onEvent, onState, keeps = 'always' }: StreamHandlers,
): () => void {
  const ending = new AbortController()
  const permit = requestPermit(path, keeps, ending.signal)
  void run()
  return () => ending.abort()

  async function run(): Promise<void> {
    let last = ''
    let pauseMs = PAUSE_MS_MIN
    while (!ending.signal.aborted) {
      await waitForPermit(permit, ending.signal)
      const going = new AbortController()
      const letGo = permit.onChange(() => {
        if (!permit.isGiven) going.abort()
      })
      let why: string | undefined
      try {
        const headers = withAuthorization({ accept: 'text/event-stream' })
        if (last !== '') headers['last-event-id'] = last
        const signal = AbortSignal.any([ending.signal, going.signal])
        const request = { headers, signal, cache: 'no-store' as const }
        const response = await fetch(`/api${path}`, request)
        if (!response.ok || response.body === null) throw await refusal(response)
        onState?.('open')
        pauseMs = PAUSE_MS_MIN
        for await (const event of readEvents(response.body)) {
          if (event.id !== '') last = event.id
          onEvent(event)
        }
      } catch (error) {
        if (ending.signal.aborted) return
        const { status, message } = error as { status?: number; message: string }
        if (status === 401 || status === 403) return onState?.('lost')
        if (status !== undefined) why = message
      } finally {
        letGo()
      }
      if (ending.signal.aborted) return
      if (going.signal.aborted) continue
      onState?.('lost', why)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      pauseMs = Math.min(PAUSE_MS_MAX, pauseMs * 2)
    }
  }
}

async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    rest += value
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = parseBlock(block)
      if (event !== undefined) yield event
    }
  }
}

function parseBlock(block: string): StreamEvent | undefined {
  let [id, event] = ['', 'message']
  const data: string[] = []
  for (const line of block.split('\n')) {
    const at = line.indexOf(':')
    if (at < 1) continue
    const value = line.slice(at + 1).replace(/^ /, '')
    const field = line.slice(0, at)
    if (field === 'id') id = value
    else if (field === 'event') event = value
    else if (field === 'data') data.push(value)
  }
  return data.length === 0 ? undefined : { id, event, data: data.join('\n') }
}
