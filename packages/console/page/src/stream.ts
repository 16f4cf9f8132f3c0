// Server-sent events over fetch, because EventSource cannot send the token in a header. A broken
// stream is resumed after its last event; events are passed on one by one.

import { readEvents, type StreamEvent } from '@sluice/protocol/sse'
import { refusal, withAuthorization } from './api.ts'
import { requestPermit, type StreamPolicy, waitForPermit } from './stream-permit.ts'

const PAUSE_MS_MIN = 500
const PAUSE_MS_MAX = 3_000
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const decode = (bytes: Uint8Array): string => UTF8.decode(bytes)

export interface StreamHandlers {
  readonly onEvent: (event: StreamEvent) => void
  /** `why`: the gate's reason, if it refused. */
  readonly onState?: (state: 'open' | 'lost', why?: string) => void
  /** When the stream is kept open; it is resumed where it was. */
  readonly keeps: StreamPolicy
}

/** Returns a function that ends it. */
export function listen(path: string, { onEvent, onState, keeps }: StreamHandlers): () => void {
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
        for await (const event of readEvents(response.body, decode)) {
          last = event.id ?? last
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
