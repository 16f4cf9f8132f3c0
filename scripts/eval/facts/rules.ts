// Rules that were tried for facts of tools: by the words of a tool's name, the names of its arguments, its server's name
// and its class. They are no part of the product: docs/decisions/2026-11-19-facts-of-tools.md.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { isPathName, splitName } from '@sluice/policy/provenance/names'
import { toWordSet } from '@sluice/policy/structures/word-set'
import { classify } from '../../../packages/catalogue/src/classify/classify.ts'
import { argumentsOf } from '../../../packages/catalogue/src/classify/flows.ts'
import type { FactValues } from './labels.ts'

interface Reading {
  readonly words: readonly string[]
  readonly server: readonly string[]
  readonly args: readonly string[]
  readonly category: string
}

export function getFacts(definition: ToolDefinition): FactValues {
  const tool = {
    words: splitName(String(definition.name)),
    server: splitName(definition.server),
    args: argumentsOf(definition),
    category: classify(definition).category,
  }
  const writer = getWriter(tool)
  return {
    writer,
    private: isPrivate(tool, writer) ? 'yes' : 'no',
    reach: getReach(tool),
    files: writesFiles(tool) ? 'yes' : 'no',
  }
}

function has(words: readonly string[], of: ReadonlySet<string>): boolean {
  return words.some((word) => of.has(word))
}

const URL_ARGUMENT = /^(?:url|urls|uri|website|link)$/i
const FREE_CODE = /^(?:command|cmd|script|code|expression|sql)$/i
/** Where anybody publishes. */
const OPEN_WEB =
  toWordSet(`web reddit subreddit tweet tweets twitter youtube tiktok instagram linkedin
  facebook news hackernews crawl scrape serp webpage website wikipedia arxiv papers browse spider amazon walmart`)
const OPEN_NAMES = toWordSet(`erc1155 erc721 nft nfts token metadata app apps marketplace`)
const OPEN_SERVERS =
  toWordSet(`reddit exa jina firecrawl tavily brave brightdata youtube twitter hackernews arxiv
  duckduckgo searxng serper perplexity bluesky mastodon`)
const CODE_HOSTS = toWordSet('github gitlab gitea bitbucket codeberg')
const BROWSERS = toWordSet('browser puppeteer playwright chrome selenium stagehand browserbase')
const PAGE_WORDS =
  toWordSet(`console network errors logs text html content markdown snapshot page dom screenshot
  extract source elements tabs`)
const CORRESPONDENCE =
  toWordSet(`email emails mail gmail inbox ticket tickets customer customers order orders invoice
  invoices review reviews lead leads contact contacts conversation conversations calendar form forms
  responses submissions sms whatsapp crash crashes feedback dispute disputes`)
const CORRESPONDING_SERVERS = toWordSet(
  'ebay zendesk intercom gmail outlook calendar hubspot shopify sentry',
)
const EXCHANGES = toWordSet('polymarket alpaca binance coinbase kraken')
const LOCAL_SERVERS = toWordSet(
  'filesystem sqlite git eslint prisma desktop commander serena pdf word excel',
)
/** Figures and states: nobody wrote them. */
const FIGURES =
  toWordSet(`price prices quote quotes balance metric metrics performance usage health ping status
  version versions backup backups upgrade upgrades signatures progress weather forecast rate rates time
  docs documentation guide help stats statistics count portfolio position positions losers gainers trending summary`)

/** It answers what was there: a read, one that saves what it has read, or free code. */
function isRead(tool: Reading): boolean {
  return tool.category === 'Read' || savesResult(tool)
}

function savesResult({ args }: Reading): boolean {
  return args.some((name) => SAVE_ARGUMENT.test(name))
}

function runsFreeCode({ args, category }: Reading): boolean {
  return category === 'Execute' && args.some((name) => FREE_CODE.test(name))
}

function isOfBrowser({ words, server }: Reading): boolean {
  return has(server, BROWSERS) || has(words, BROWSERS)
}

function takesUrl({ args }: Reading): boolean {
  return args.some((name) => URL_ARGUMENT.test(name))
}

function isDocs({ words }: Reading): boolean {
  return words.includes('docs') || words.includes('documentation')
}

function getWriter(tool: Reading): string {
  const { words, server, args } = tool
  if (isDocs(tool)) return 'nobody'
  if (words.includes('agent') && args.includes('task')) return 'anybody'
  if (runsFreeCode(tool)) return isOfBrowser(tool) ? 'anybody' : 'colleague'
  if (!isRead(tool)) return 'nobody'
  if (takesUrl(tool) || has(words, OPEN_WEB) || has(server, OPEN_SERVERS)) return 'anybody'
  if (isOfBrowser(tool)) return has(words, PAGE_WORDS) ? 'anybody' : 'nobody'
  if (has(server, CODE_HOSTS)) return 'anybody'
  if (has(words, OPEN_NAMES) && !server.includes('figma')) return 'anybody'
  if (has(server, LOCAL_SERVERS) || isLocal(tool)) return 'file'
  if (has(words, FIGURES) || isPublicData(tool)) return 'nobody'
  if (has(server, EXCHANGES)) return 'nobody'
  if (has(words, CORRESPONDENCE) || has(server, CORRESPONDING_SERVERS)) return 'correspondent'
  return 'colleague'
}

/** A path, and no id of a place elsewhere. */
function isLocal({ args }: Reading): boolean {
  return args.some((name) => isPathName(name)) && !args.some((name) => ELSEWHERE.test(name))
}

const ELSEWHERE = /(?:id|owner|repo|repository|bucket|branch|workspace|project)$/i
const PUBLIC_DATA =
  toWordSet(`weather forecast map maps directions geocode registry quote ticker symbol losers gainers
  trending stock stocks company market markets coin coins erc1155 erc721 nft library libraries exchange`)
const PUBLIC_SERVERS = toWordSet('finance yahoo maps weather everart wikipedia coingecko shadcn')

function isPrivate(tool: Reading, writer: string): boolean {
  const { words, server } = tool
  if (runsFreeCode(tool)) return true
  if (!isRead(tool) || isDocs(tool) || words.includes('ping')) return false
  if (isOfBrowser(tool)) return has(words, PAGE_WORDS)
  if (writer === 'anybody') return has(server, CODE_HOSTS)
  return !isPublicData(tool)
}

function isPublicData({ words, server, args }: Reading): boolean {
  return has(words, PUBLIC_DATA) || has(server, PUBLIC_SERVERS) || args.includes('network')
}

const FETCHES = toWordSet(
  `fetch scrape crawl navigate open browse goto clone extract webhook webhooks`,
)
const SENDS = toWordSet('send invite share email')
const RECIPIENT = /^(?:to|recipient|recipients|emails?|phone|cc|bcc)$/i
const PUBLISHES = toWordSet('publish tweet post broadcast deploy release')
const CHAIN = toWordSet('contract transfer swap mint nft token')
const REPLIES = toWordSet('comment reply message review')

function getReach(tool: Reading): string {
  const { words, server, args, category } = tool
  if (isDocs(tool)) return 'nobody'
  if (words.includes('agent') && args.includes('task')) return 'address'
  if (takesUrl(tool) && (has(words, FETCHES) || !isRead(tool))) return 'address'
  if (args.some((name) => RECIPIENT.test(name)) && has(words, SENDS)) return 'address'
  if (isRead(tool) || category === 'Destructive') return 'nobody'
  if (runsFreeCode(tool)) return args.includes('sql') ? 'own' : 'address'
  if (has(words, CHAIN)) return 'public'
  if (has(words, PUBLISHES)) return 'public'
  if (has(words, REPLIES) && (has(server, CODE_HOSTS) || words.includes('reply'))) return 'origin'
  return 'own'
}

const REMOTE = toWordSet('ssh remote cloud toolbox database server')
const WRITES_FILE = toWordSet(
  'write edit move copy rename create save export download generate init migrate',
)
const SAVE_ARGUMENT =
  /^(?:save_?path|output_?(?:path|file|dir|directory)|save_?to|download_?(?:path|dir))$/i

function writesFiles(tool: Reading): boolean {
  const { words, server, category } = tool
  if (savesResult(tool)) return true
  if (isRead(tool) || category === 'Destructive') return false
  if (server.includes('sqlite')) return true
  if (runsFreeCode(tool)) return !has(server, REMOTE) && !isOfBrowser(tool)
  return isLocal(tool) && has(words, WRITES_FILE)
}
