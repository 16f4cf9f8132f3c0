// What the name of a tool says of its answers and of what it is given: whether it hands over a text as
// somebody wrote it, makes something of its input, or reaches any host that it is given.

import { memoize } from '../structures/memoize.ts'
import { toWordSet } from '../structures/word-set.ts'
import { NAMES_MAX, splitName } from './names.ts'

/** Words of tools that hand over a text as somebody wrote it. */
const CONTENT =
  toWordSet(`file page webpage website url document doc content body readme article attachment transcript diff
   blob raw text note paste gist clipboard resource`)
const FOREIGN = toWordSet('web internet fetch browse scrape crawl download curl http news')
const LISTING = toWordSet('list search find query')

const TRANSFORMING =
  toWordSet(`decode encode base64 base32 hex rot13 decrypt encrypt decompress unzip gunzip unescape escape
   transform convert reverse concat concatenate join format render template evaluate eval calculate
   compute translate echo replace substring slugify`)

const REACHING =
  toWordSet(`ping dns resolve whois traceroute nslookup dig host hostname probe telnet curl http visit navigate goto browse crawl
   scrape`)

/** What the name of a tool says of its answers and of its arguments. */
export interface ToolWords {
  /** Its answers are texts as somebody wrote them. */
  readonly handsOverContent: boolean
  /** Its answers are made of what it is given. */
  readonly transformsInput: boolean
  /** A bare host among its arguments is one that it talks to. */
  readonly reachesHosts: boolean
}

/** Remembered by the name, since it is asked for with every call. */
export const getToolWords = memoize((name): ToolWords => {
  const words = splitName(name)
  const hasOneOf = (set: ReadonlySet<string>) => words.some((word) => set.has(word))
  return {
    handsOverContent: hasOneOf(FOREIGN) || (!hasOneOf(LISTING) && words.some(isContent)),
    transformsInput: hasOneOf(TRANSFORMING),
    reachesHosts: hasOneOf(REACHING),
  }
}, NAMES_MAX)

function isContent(word: string): boolean {
  return CONTENT.has(word) || CONTENT.has(word.replace(/s$/, ''))
}
