// Lenient peers for the bypass tests: they use the first or the last of duplicate keys, ignore
// case, accept batches, skip byte order marks, or split their input into lines. What each would do
// with a text is a list of calls.

/** What a peer acts on. `args` is canonical: keys sorted, numbers as written. */
export interface Seen {
  readonly method: string
  readonly name: string
  readonly args: string
}

export type Peer = (text: string) => Seen[]

type Node = { entries: [string, Node][] } | { items: Node[] } | { text: string }
type Lookup = (entries: [string, Node][], key: string) => Node | undefined

// biome-ignore lint/suspicious/noControlCharactersInRegex: Python's splitlines splits at them
const ANY_LINE_BREAK = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/

const lookups: Record<string, Lookup> = {
  'the last key wins': (entries, key) => entries.findLast(([name]) => name === key)?.[1],
  'the first key wins': (entries, key) => entries.find(([name]) => name === key)?.[1],
  'the last key wins, whatever its case (Go)': (entries, key) =>
    entries.findLast(([name]) => sameFold(name, key))?.[1],
  'the first key wins, whatever its case': (entries, key) =>
    entries.find(([name]) => sameFold(name, key))?.[1],
  'capitals win': (entries, key) =>
    [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).find(([name]) => sameFold(name, key))?.[1],
}

/** Read a text as one message, or a batch of any depth. */
export const PEERS = new Map<string, Peer>(
  Object.entries(lookups).map(([name, lookup]) => [
    name,
    (text) => {
      const node = parse(text.replace(/^\ufeff/, ''))
      return node === undefined ? [] : see(node, lookup)
    },
  ]),
)

/** The same, for each line of the input. */
export const LINE_PEERS = new Map<string, Peer>(
  [...PEERS].map(([name, peer]) => [
    `line by line, ${name}`,
    (text) => text.split(ANY_LINE_BREAK).flatMap(peer),
  ]),
)

function sameFold(name: string, key: string): boolean {
  const escaped = key.replace(/[^\w]/g, '\\$&')
  return new RegExp(`^${escaped}$`, 'iu').test(name)
}

function see(node: Node, lookup: Lookup): Seen[] {
  if ('items' in node) return node.items.flatMap((item) => see(item, lookup))
  if (!('entries' in node)) return []
  const method = lookup(node.entries, 'method')
  if (method === undefined) return []
  const params = lookup(node.entries, 'params')
  const inner = params !== undefined && 'entries' in params ? params.entries : []
  const name = lookup(inner, 'name')
  const args = lookup(inner, 'arguments')
  return [{ method: render(method), name: render(name), args: render(args) }]
}

/** Of a JSON text. */
export function canonical(text: string | undefined): string {
  return render(text === undefined ? undefined : parse(text))
}

function render(node: Node | undefined): string {
  if (node === undefined) return 'none'
  if ('text' in node) return node.text
  if ('items' in node) return `[${node.items.map(render)}]`
  return `{${node.entries.map(([key, value]) => `${JSON.stringify(key)}:${render(value)}`).sort()}}`
}

/** JSON with all its duplicate keys, or undefined if it is not JSON. */
function parse(text: string): Node | undefined {
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  const tokens = text.match(/"(?:\\.|[^"\\])*"|[[\]{}:,]|[^\s[\]{}:,"]+/g) ?? []
  let at = 0
  const value = (): Node => {
    const token = tokens[at++] ?? ''
    if (token === '{') {
      const entries: [string, Node][] = []
      while (tokens[at] !== '}') {
        if (tokens[at] === ',') at++
        const key = JSON.parse(tokens[at] ?? '') as string
        at += 2
        entries.push([key, value()])
      }
      at++
      return { entries }
    }
    if (token === '[') {
      const items: Node[] = []
      while (tokens[at] !== ']') {
        if (tokens[at] === ',') at++
        items.push(value())
      }
      at++
      return { items }
    }
    return { text: token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token }
  }
  return value()
}
