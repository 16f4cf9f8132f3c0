// The split of servers into training and test. A fifth of the servers, by the hash of their name,
// is held out; the others are left out in eighths, with forks and variants of one product together.

import { createHash } from 'node:crypto'

/** Held out for the last measurement: determined by the name before anything was measured. */
export function isHeldOut(server: string): boolean {
  return hashNumber('sha256', server) % 5 === 0
}

export const FOLDS = 8

/** The fold of each server; servers of one product are in the same. */
export function assignFolds(servers: readonly string[]): ReadonlyMap<string, number> {
  const products = assignProducts(servers)
  return new Map([...products].map(([server, one]) => [server, hashNumber('md5', one) % FOLDS]))
}

/** The product of each server, by the name of one of its servers. */
export function assignProducts(servers: readonly string[]): ReadonlyMap<string, string> {
  const product = new Map(servers.map((server) => [server, server]))
  const rootOf = (server: string): string => {
    const up = product.get(server) as string
    return up === server ? server : rootOf(up)
  }
  const byWord = new Map<string, string>()
  for (const server of [...servers].sort())
    for (const word of listWords(server)) {
      const other = byWord.get(word)
      if (other === undefined) byWord.set(word, server)
      else product.set(rootOf(server), rootOf(other))
    }
  return new Map(servers.map((server) => [server, rootOf(server)]))
}

/** Whether two servers may be of one product. */
export function alike(one: string, other: string): boolean {
  const words = listWords(other)
  return listWords(one).some((word) => words.includes(word))
}

/** Words of a server's name that may name its product. */
function listWords(server: string): string[] {
  const parts = server.toLowerCase().split(/[^a-z0-9]+/)
  const google = parts.some((part) => /google|gmail|gsheets/.test(part)) ? ['google'] : []
  return [...google, ...parts.filter((part) => part.length > 3 && !PLAIN.has(part))]
}

const PLAIN = new Set(
  `server mcpserver tool tools toolkit agent code trade browser google microsoft cloud base labs infra
  modelcontextprotocol shinzolabs executeautomation cyanheads models pipedream`.split(/\s+/),
)

function hashNumber(algorithm: string, text: string): number {
  return Number.parseInt(createHash(algorithm).update(text).digest('hex').slice(0, 8), 16)
}
