// What the name of a tool says of its answers and of what it is given: whether it hands over a text as
// somebody wrote it, makes something of its input, or reaches any host that it is given.

import { splitName } from './names.ts'

/** Words of tools that hand over a text as somebody wrote it. */
const CONTENT = new Set(
  `file page webpage website url document doc content body readme article attachment transcript diff
   blob raw text note paste gist clipboard resource`.split(/\s+/),
)
const FOREIGN = new Set('web internet fetch browse scrape crawl download curl http news'.split(' '))
const LISTING = new Set('list search find query'.split(' '))

/** Whether the answers of a tool are texts as somebody wrote them, by its name. */
export function handsOverContent(name: string): boolean {
  const words = splitName(name)
  if (words.some((word) => FOREIGN.has(word))) return true
  if (words.some((word) => LISTING.has(word))) return false
  return words.some((word) => CONTENT.has(word) || CONTENT.has(word.replace(/s$/, '')))
}

const TRANSFORMING = new Set(
  `decode encode base64 base32 hex rot13 decrypt encrypt decompress unzip gunzip unescape escape
   transform convert reverse concat concatenate join format render template evaluate eval calculate
   compute translate echo replace substring slugify`.split(/\s+/),
)

/** Whether its answers are made of what it is given. */
export function transformsInput(name: string): boolean {
  return splitName(name).some((word) => TRANSFORMING.has(word))
}

const REACHING = new Set(
  `ping dns resolve whois traceroute nslookup dig curl http visit navigate goto browse crawl
   scrape`.split(/\s+/),
)

/** Whether a bare host among its arguments is one that it talks to. */
export function reachesHosts(name: string): boolean {
  return splitName(name).some((word) => REACHING.has(word))
}
