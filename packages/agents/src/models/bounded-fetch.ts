// `fetch` for servers of models: no answer without end, packed or not, and none from elsewhere than
// where the conversation was sent. Such a server may be anybody's that listens on the machine; what it
// says is read into the gate's memory. Handed to the model libraries by models.ts.

import { MODEL_ANSWER_BYTES_MAX, MODEL_ANSWER_MARKS_MAX } from '../shared/limits.ts'

export function boundedFetch(...[url, options]: Parameters<typeof fetch>): Promise<Response> {
  return fetchBounded(url, options, false)
}

/** Fetches for a request whose answer is read event by event (SSE): the values of one event are parsed in one piece. */
export function boundedEventFetch(...[url, options]: Parameters<typeof fetch>): Promise<Response> {
  return fetchBounded(url, options, true)
}

async function fetchBounded(
  url: Parameters<typeof fetch>[0],
  options: RequestInit | undefined,
  isStream: boolean,
): Promise<Response> {
  // A redirect would send the conversation, and in some headers the key, to a host that is not allowed.
  const answer = await fetch(url, { ...options, redirect: 'error' })
  const { status, statusText, headers, body } = answer
  if (body === null) return answer
  let bytes = 0
  // Anything but a success is an error, which is read whole.
  const count = isStream && answer.ok ? countOfEvent() : countOfAll()
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length
      const marks = count(chunk)
      if (bytes > MODEL_ANSWER_BYTES_MAX)
        controller.error(new Error(`the answer has more than ${MODEL_ANSWER_BYTES_MAX} bytes`))
      else if (marks > MODEL_ANSWER_MARKS_MAX)
        controller.error(new Error(`the answer has more than ${MODEL_ANSWER_MARKS_MAX} values`))
      else controller.enqueue(chunk)
    },
  })
  return new Response(body.pipeThrough(counted), { status, statusText, headers })
}

/** `,`, `:`, `[` and `{`: lists in lists are values too, without a comma between them. */
const MARKS = [0x2c, 0x3a, 0x5b, 0x7b]
const [LINE_FEED, RETURN] = [0x0a, 0x0d]

function countOfAll(): (chunk: Uint8Array) => number {
  let marks = 0
  return (chunk) => {
    marks += countMarks(chunk)
    return marks
  }
}

/** The most that any event of the chunk has; an empty line ends an event. */
function countOfEvent(): (chunk: Uint8Array) => number {
  let marks = 0
  let isLineEmpty = false
  return (chunk) => {
    let most = 0
    for (const byte of chunk) {
      if (byte === LINE_FEED && isLineEmpty) {
        most = Math.max(most, marks)
        marks = 0
      }
      if (byte !== RETURN) isLineEmpty = byte === LINE_FEED
      if (MARKS.includes(byte)) marks++
    }
    return Math.max(most, marks)
  }
}

/** The libraries parse an answer in one piece, on the thread of the gate. */
function countMarks(chunk: Uint8Array): number {
  let count = 0
  for (const mark of MARKS)
    for (let at = chunk.indexOf(mark); at >= 0; at = chunk.indexOf(mark, at + 1)) count++
  return count
}
