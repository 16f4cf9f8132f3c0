// `fetch` for servers of models: no answer without end, packed or not, and none from elsewhere than
// where the conversation was sent. Such a server may be anybody's that listens on the machine; what it
// says is read into the gate's memory. Handed to the model libraries by models.ts.

import { MODEL_ANSWER_BYTES_MAX } from '../limits.ts'

export async function boundedFetch(...[url, options]: Parameters<typeof fetch>): Promise<Response> {
  // A redirect would get the conversation, and in some headers the key, to where nobody allowed it.
  const answer = await fetch(url, { ...options, redirect: 'error' })
  const { status, statusText, headers, body } = answer
  if (body === null) return answer
  let bytes = 0
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length
      if (bytes > MODEL_ANSWER_BYTES_MAX)
        controller.error(new Error(`the answer has more than ${MODEL_ANSWER_BYTES_MAX} bytes`))
      else controller.enqueue(chunk)
    },
  })
  return new Response(body.pipeThrough(counted), { status, statusText, headers })
}
