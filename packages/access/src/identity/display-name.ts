// What a ledger entry, a page or a message may show of the name of a call. The name of a resource
// is its URI, and that is an argument: it may contain a token. Pure; used wherever calls are
// recorded or shown.

/** The name of a call; of a resource the URI without user, values of the query and fragment. */
export function displayName(method: string, name: string): string {
  return method.startsWith('resources/') ? displayUri(name) : name
}

function displayUri(uri: string): string {
  const hash = uri.indexOf('#')
  const whole = hash < 0 ? uri : uri.slice(0, hash)
  const mark = whole.indexOf('?')
  const head = mark < 0 ? whole : whole.slice(0, mark)
  const query =
    mark < 0
      ? ''
      : `?${whole
          .slice(mark + 1)
          .split('&')
          .map(hideValue)
          .join('&')}`
  return hideUser(head) + query + (hash < 0 ? '' : `#${HIDDEN}`)
}

const HIDDEN = '***'

function hideUser(head: string): string {
  const start = /^[^:/\\]*:[/\\]*/.exec(head)?.[0].length ?? 0
  const end = /[/\\]/.exec(head.slice(start))?.index ?? head.length - start
  const at = head.slice(start, start + end).lastIndexOf('@')
  return at < 0 ? head : `${head.slice(0, start)}${HIDDEN}${head.slice(start + at)}`
}

/** A part without `=` may be a value itself. */
function hideValue(part: string): string {
  const equals = part.indexOf('=')
  if (equals >= 0) return `${part.slice(0, equals)}=${HIDDEN}`
  return part === '' ? '' : HIDDEN
}
