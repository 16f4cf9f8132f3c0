// What a tool brings in and lets out, apart from its class: whose text it reads (public, private,
// written by strangers) and how far what it is given goes (nowhere, inside of its server, outside).
// The lethal trifecta is made of these. Pure; called by classify.

import type { Category, ToolDefinition } from '@sluice/policy/calls/tools'
import { toWordSet } from '@sluice/policy/structures/word-set'
import { propertiesOf } from '../signals/schema-properties.ts'
import { splitNameWords, splitText } from '../signals/split-words.ts'

export type DataSource = 'public' | 'private' | 'untrusted'
export type DataDestination = 'nothing' | 'inside' | 'outside'

/**
 * Where a tool gets data from, and where it sends data to.
 *
 * @example
 * ```ts
 * const { reads, sends }: Flows = assessTool(definition).flows
 * ```
 */
export type Flows = {
  /** Whose data its results may have. */
  readonly reads: readonly DataSource[]
  /** How far its arguments go. */
  readonly sends: DataDestination
}

const WEB =
  toWordSet(`web website websites webpage page url urls scrape crawl news reddit twitter tweet
  youtube transcript search browser http https internet rss feed hackernews wikipedia`)
/** Written by people who are not the user. */
const STRANGERS =
  toWordSet(`email emails mail gmail inbox message messages thread threads comment comments
  issue issues ticket tickets review reviews pull discussion discussions post posts chat channel
  channels conversation conversations attachment attachments submission feedback form responses lead
  contact webpage page content`)
const PRIVATE =
  toWordSet(`email emails mail gmail inbox message messages thread file files document documents
  doc docs drive folder note notes vault calendar event events contact contacts customer customers
  user users account accounts database table tables query sql row rows record records repository repo
  project projects secret secrets token tokens key keys credential cookie cookies balance invoice
  invoices order orders payment payments transaction transactions memory session sessions log logs
  clipboard screenshot bucket object storage environment variable variables board card task tasks deal
  deals env envs ticket tickets issue issues portfolio position positions password wallet spreadsheet sheet
  employee patient profile crm dashboard`)
const PUBLIC =
  toWordSet(`weather forecast news stock stocks ticker wikipedia documentation docs map maps
  directions geocode pricing exchange rates holidays arxiv pubmed library libraries package packages
  guide guidelines examples schema template templates help version time timezone`)
/** Ways out of the organisation: to people, to the public, to an address of free choice. */
const OUT =
  toWordSet(`email emails mail gmail message messages sms send publish tweet post posts broadcast
  notify notification webhook webhooks share invite comment reply slack discord telegram whatsapp
  teams twitter reddit upload push url http request fetch navigate public release deploy`)
const URL_ARGUMENT =
  /^(?:url|urls|uri|link|href|endpoint|webhook_?url|callback_?url|target_?url|website)$/i

export function flowsOf(definition: ToolDefinition, category: Category): Flows {
  const words = splitDefinitionWords(definition, { charsMax: FLOW_CHARS_MAX })
  const has = (of: ReadonlySet<string>) => words.some((word) => of.has(word))
  const takesUrl = argumentsOf(definition).some((name) => URL_ARGUMENT.test(name))
  const web = takesUrl || has(WEB)
  const reads: DataSource[] = []
  const own = has(PRIVATE)
  if (!own && (web || has(PUBLIC))) reads.push('public')
  if (own || reads.length === 0) reads.push('private')
  // What a write answers is mostly what it was given.
  if (
    web ||
    (category === 'Read' && (has(STRANGERS) || readsFiles(words))) ||
    category === 'Execute'
  )
    reads.push('untrusted')
  const names = splitNameWords(String(definition.name)).map(({ text }) => text)
  // A commit has a message, and stays where it is until it is pushed.
  const isLocal = names.includes('commit') && !names.includes('push')
  return { reads, sends: sendsOf(category, takesUrl, has(OUT) && !isLocal) }
}

/** A file's text comes in with it, and anyone may have written it: `read_file`, `read_text_file`, not `list_files`. */
function readsFiles(words: readonly string[]): boolean {
  return words.some((word) => READ.has(word)) && words.some((word) => FILES.has(word))
}

const READ = toWordSet('read reads cat view open contents content')
const FILES = toWordSet('file files document documents doc pdf attachment note notes')

function sendsOf(category: Category, takesUrl: boolean, out: boolean): DataDestination {
  // An address with a secret in it is a letter: to fetch is to send.
  if (takesUrl) return 'outside'
  if (category === 'Read' || category === 'Destructive') return 'nothing'
  if (category === 'Financial' || category === 'Execute' || out) return 'outside'
  return 'inside'
}

/** The words of its name, and of the beginning of its description. */
export function splitDefinitionWords(
  { name, description }: ToolDefinition,
  { until, charsMax }: { readonly until?: RegExp; readonly charsMax: number },
): string[] {
  const prose = typeof description === 'string' ? description : ''
  const stop = until === undefined ? -1 : prose.search(until)
  return [
    ...splitNameWords(typeof name === 'string' ? name : ''),
    ...splitText(prose, 0, Math.min(stop < 0 ? prose.length : stop, charsMax)),
  ].map(({ text }) => text)
}

const FLOW_CHARS_MAX = 160

export function argumentsOf({ inputSchema }: ToolDefinition): string[] {
  return Object.keys(propertiesOf(inputSchema))
}
