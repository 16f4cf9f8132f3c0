// The nouns that a tool is judged by (noun-words.ts), found by word, and what the words of a server's name say of it.
// Pure; called by the readers.

import { alternatives, group, sequence } from '@sluice/policy/readers/join-patterns'
import { toWordSet, toWords } from '@sluice/policy/structures/word-set'
import { getOwn } from '@sluice/policy/values/json'
import { NOUNS, type Noun } from './noun-words.ts'

export const NOUN_NAMES = Object.keys(NOUNS) as Noun[]
const NOUNS_OF = new Map<string, readonly Noun[]>()
for (const noun of NOUN_NAMES)
  for (const word of toWordSet(NOUNS[noun].words.join(' ')))
    NOUNS_OF.set(word, [...(NOUNS_OF.get(word) ?? []), noun])

const NO_NOUNS: readonly Noun[] = []

export function nounsAt(word: string): readonly Noun[] {
  return NOUNS_OF.get(word) ?? NO_NOUNS
}

/** What such a noun stands for, for people; the name itself if it is none of these. */
export function thingOf(noun: string): string {
  return getOwn<{ readonly thing: string }>(NOUNS, noun)?.thing ?? noun
}

/** The kinds of nouns that another kind of order or subscription is none of. */
export const DEALS: ReadonlySet<string> = new Set(['deal', 'sold', 'purchase', 'booking'])

/** An order or a subscription of another kind, by the word before it. */
export const OTHER_DEALS = toWordSet(`
  setting settings menu select filter search sorting configuration config preference
  draft sort display column field layer tab card item notification webhook event topic email feed push
  calendar realtime pubsub access api oauth user client session csrf auth refresh bearer
  playback build cell cursor slide element deploy work lab tab z
`)

/** Names of servers that deal in money: `somepay`, `anycoin`, `thistrade`. */
const MONEYED_NAME = new RegExp(
  alternatives([
    /^(?:pay(?!load|roll)|crypto|invoic|billing|wallet|defi)/,
    /(?:pay|payments?|coin|swap|trade|trading|wallet|broker|brokers|exchange|bank)$/,
  ]),
)

/** Names of servers that sell goods, `prestashop`, or what is booked, `hotelplanet`. */
const SELLING_NAME = /shop|commerce|(?:^|[a-z])store$|retail|marketplace|^wildberries$|^ozon$/
const BOOKED_NAME =
  /^(?:hotel|flight|travel|airline|airbnb|hostel|rental)|(?:hotels?|flights?|travel|trips?|airlines?|rentals?)$/

/** The nouns of a word in a server's name. */
export function nounsOfServerWord(word: string): readonly Noun[] {
  const known = new Set(nounsAt(word))
  if (SELLING_NAME.test(word)) known.add('seller')
  if (BOOKED_NAME.test(word)) known.add('sold')
  if (!known.has('money') && MONEYED_NAME.test(word)) known.add('house')
  return [...known]
}

/** Whether `generate` means to compute, as of an address or a preview; one that opens something to others is more
 * than that. */
export function worksOut(words: readonly { readonly text: string }[], index: number): boolean {
  if (index < 0 || !/^generates?$/.test(words[index]?.text ?? '')) return false
  const rest = words.slice(index + 1, index + 1 + OBJECT_WORDS_MAX)
  const passes = rest.some(({ text }) => nounsAt(text).includes('passing'))
  return passes && !words.some(({ text }) => OPENS.test(text))
}

const OBJECT_WORDS_MAX = 4
const OPENS = new RegExp(
  sequence(
    /^/,
    group(
      toWords(`
        share shared sharing invite invitation upload signed presigned public payment pay
        checkout magic reset access auth login billing invoice
      `),
    ),
    /$/,
  ),
)
