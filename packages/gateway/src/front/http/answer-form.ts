// In which form a POST may be answered, by its Accept header: JSON, where the client takes it, else
// events. Pure; asked by the front for every POST, and mostly the same header every time.

export type AnswerForm = 'json' | 'events'

const USUAL = 'application/json, text/event-stream'

/** Returns undefined if the client reads neither. */
export function answerForm(accept: string | undefined): AnswerForm | undefined {
  if (accept === undefined || accept === USUAL) return 'json'
  const ranges = rangesOf(accept)
  if (takes(ranges, 'application', 'json')) return 'json'
  return takes(ranges, 'text', 'event-stream') ? 'events' : undefined
}

/** Media range -> whether it is wanted. */
function rangesOf(accept: string): ReadonlyMap<string, boolean> {
  const ranges = new Map<string, boolean>()
  for (const part of accept.toLowerCase().split(',')) {
    const [range = '', ...parameters] = part.split(';').map((text) => text.trim())
    if (range !== '') ranges.set(range, !parameters.some((each) => /^q=0(?:\.0{0,3})?$/.test(each)))
  }
  // An empty header says no more than none.
  return ranges.size === 0 ? ranges.set('*/*', true) : ranges
}

/** The most precise range decides (RFC 9110, 12.5.1). */
function takes(ranges: ReadonlyMap<string, boolean>, type: string, subtype: string): boolean {
  return ranges.get(`${type}/${subtype}`) ?? ranges.get(`${type}/*`) ?? ranges.get('*/*') ?? false
}
