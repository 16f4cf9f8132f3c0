// What each signal says, in words for people: the sentence behind a piece of evidence. Pure; called
// where evidence is shown.

import { isOfCompany } from '../signals/company.ts'
import { classOf, FAMILY_NAMES, type Family } from '../signals/lexicon.ts'
import { isWordFeature } from '../signals/read-words.ts'

const ACTS: Readonly<Record<Family, string>> = {
  look: 'looking something up',
  judge: 'working something out',
  render: 'showing something',
  make: 'making something',
  change: 'changing something',
  send: 'sending something',
  link: 'linking or granting',
  settle: 'settling a state',
  keep: 'keeping a copy',
  run: 'running something',
  power: 'starting or stopping',
  deploy: 'deploying or building',
  drive: 'driving a live page or device',
  destroy: 'deleting',
  remove: 'removing',
  clear: 'clearing',
  revoke: 'revoking or resetting',
  kill: 'ending something that lives',
  pay: 'moving money',
  trade: 'trading',
  manage: 'managing, by several actions',
  generate: 'generating',
}

const ZONES: Readonly<Record<string, string>> = {
  name: 'the verb of the name',
  'name.and': 'a second verb of the name',
  text: 'the verb of the description',
  'text.and': 'a further act of the description',
  'text.means': 'what the verb means, in brackets',
  'text.noun': 'an act that the description names as a noun',
  'text.too': 'a verb beside the act',
  'text.later': 'a later sentence',
  'text.also': 'what it does as well',
}

const NOUNS: Readonly<Record<string, string>> = {
  money: 'money',
  house: 'a house of money',
  deal: 'an order, a token or the like',
  price: 'prices or what is sold',
  screen: 'a page or device',
  program: 'something that runs',
  secret: 'a secret or key',
  inquiry: 'an inquiry',
  passing: 'something worked out, not kept',
  device: 'a device',
  live: 'something that runs when it is made',
  job: 'something that runs and ends',
  agent: 'an agent',
  relation: 'a tie of one thing to another',
  access: 'what somebody may do',
  record: 'records',
  books: 'books of account',
  ads: 'advertisements',
  kept: 'a question that is kept',
  sold: 'something that is sold',
  asked: 'what is asked for',
  matter: 'a matter that is open',
  ownership: 'what somebody owns',
  copy: 'a backup',
  document: 'a file or document',
  database: 'a database',
  clock: 'a timer',
  message: 'messages',
  machine: 'a machine or service',
  media: 'a text or picture',
  infra: 'what runs elsewhere',
  data: 'what data is kept in',
  memory: 'what is remembered',
  caption: 'a name or title',
  memo: 'a note beside it',
  purchase: 'an order',
  booking: 'a booking',
  goods: 'goods that are paid for',
  returned: 'goods that come back',
  rate: 'a rate',
}

const WHOLE: Readonly<Record<string, string>> = {
  'name:answer': 'the name is a noun for an answer',
  'name:nothing': 'the name has no verb',
  'text:answer': 'the description is a noun for an answer',
  'text:nothing': 'there is no description',
  'changes a price': 'a price or bid is changed',
  'pictures a screen': 'a picture is taken of a page or device',
  'text.read+lore': 'what it answers is documentation or advice',
  'server:device': 'the server drives devices',
  'keeps it somewhere': 'a copy is made, with a place to keep it',
  'keeps it nowhere': 'what is copied is the answer',
  'money that does not move': 'the money is only written down',
  'call:name': 'it speaks of a call',
  'server:money': 'the server deals with money',
  'args:none': 'it takes no arguments',
  'args:only an id': 'it takes nothing but what names a thing',
  'arg:sql': 'takes a statement of a query language',
  'arg:program': 'takes a program or command',
  'arg:money': 'takes an amount, a price or a payee',
  'arg.deep:money': 'takes an amount or price inside of an argument',
  'arg:paging': 'takes what one asks a list with',
  'arg:query': 'takes a search',
  'arg:payload': 'takes content to store or send',
  'arg:worst': 'has a switch for the worst',
  'arg:spend': 'takes a budget or a bid',
  'arg:buyer': 'takes who buys or pays',
  'arg.deep:buyer': 'takes who buys or pays inside of an argument',
  'arg:memo': 'takes a note or tags',
  'arg:empties': 'has a switch that empties what is there',
  'arg:cost': 'asks to accept a cost',
  'arg:file': 'takes the name of a file',
  'arg:rehearsal': 'offers a rehearsal, so the call has effects',
  'arg:saves': 'takes a place to save to',
  'arg:output': 'takes a file to write to',
  'arg:has an effect': 'has an argument by which it does more than answer',
  'arg:variables': 'takes variables for a query',
  'arg:screen': 'takes a place on a screen',
  'arg:method': 'takes an HTTP method',
}

/** By the zones of read-words. */
const WORDS: Readonly<Record<string, string>> = {
  n: 'a word of the name',
  '^': 'the first word of the name',
  d: 'a word of the description',
  f: 'the first word of the description',
  a: 'the name of an argument',
  e: 'a value to choose',
}

export function describeSignal(feature: string): string {
  const word = isWordFeature(feature) ? WORDS[feature[0] as string] : undefined
  if (word !== undefined) return word
  const whole = WHOLE[feature]
  if (whole !== undefined) return whole
  if (isOfCompany(feature)) return `said together: it ${feature}`
  if (feature.startsWith('says:')) return `the text says: ${feature.slice('says:'.length)}`
  const [, zone = '', value = ''] = /^([a-z.]+)[:=](.+)$/.exec(feature) ?? []
  if (FAMILY_NAMES.includes(value as Family))
    return `${ZONES[zone] ?? zone}: ${ACTS[value as Family]} (${classOf(value as Family)})`
  if (feature.includes('=')) return `${ZONES[zone] ?? zone}, as \`${value}\` is used`
  if (zone === 'choice' || zone === 'mode') return `its worst action to choose: ${value}`
  if (zone === 'alone') return `the verb of the description, all there is: ${value}`
  if (zone === 'acts') return `the worst of the acts it lists: ${value}`
  if (feature.startsWith('deal with money'))
    return 'an order, token or the like in the company of money'
  const [, noun = '', role = ''] = /\+([a-z]+)\.([a-z]+)$/.exec(feature) ?? []
  return `${role === 'object' ? 'the act is on' : 'it speaks of'} ${NOUNS[noun] ?? noun}`
}
