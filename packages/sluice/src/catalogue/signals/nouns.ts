// The nouns a tool is judged by: those that turn a plain act into another class (a live thing, a
// relation that can be made again), and those that name an answer; those of money are in money-nouns.ts.
// English as tools are named; the only names in it are those of devices. Pure; called by the readers.

import { toWordSet } from '@sluice/policy/core/word-set'
import {
  ACCOUNTING,
  ADS,
  ASKED,
  BOOKED,
  BOOKED_NAME,
  BOOKING,
  BOOKS,
  CAMPAIGN,
  CHECKOUT,
  DEAL,
  DISPUTE,
  GOODS,
  HOUSES,
  MEMO,
  MONEY,
  MONEYED_NAME,
  PRICE,
  PURCHASE,
  RATE,
  RETURNED,
  SELLER,
  SELLING_NAME,
  SOLD,
} from './money-nouns.ts'

const NOUNS = {
  money: MONEY,
  /** What is made without being kept: to generate one is to work it out. */
  passing: toWordSet(
    'url urls link links preview locator types snippet embed citation citations qr deeplink deeplinks',
  ),
  /** What is told about things: to provide it is to answer. */
  lore: toWordSet(`
    documentation docs guidance guidelines guideline instructions reference references tutorial
    tutorials checklist knowledge explanation explanations examples practices blueprint api specs guide guides recipe
  `),
  house: HOUSES,
  /** Inquiries: to run one is to ask. */
  inquiry: toWordSet(`
    audit audits analysis check checks diagnostics diagnosis scan scans benchmark benchmarks lint
    evaluation assessment search searches report reports lookup inspection health estimate validation
    simulation preview review
  `),
  deal: DEAL,
  price: PRICE,
  /** Nouns that name an answer: `server_status` reads. */
  answer: toWordSet(`
    status info information detail details history metrics stats statistics logs list summary health
    version usage report reports analytics overview help docs documentation schema count counts balance
    weather forecast catalog catalogue categories category examples example guide metadata results result
    insights trends timeline tree graph events activity todos files state tools stopped active reader
    viewer finder level levels availability
    directions distance location stealable trending featured official recent latest quota quotas
    context explanation recommendations suggestions instructions tutorial reference leaderboard profile
    price prices quality traffic names stdout readme about yields text data facts problems totals prices names ids streams rates scores ranking schedule evaluation incidents alerts items results members contacts stories headlines whoami similar related types analysis audit search lookup report reports diagnostics audits
    findings readiness posture inventory rows holdings dividends earnings filings candles ohlc standings roster
    lyrics overview entities sectors attention lista listado datos detalle detalles resumen informe estado tabla
    tablas filas sumario fichas ficha pasos códigos formato historial übersicht daten bericht abfahrten liste
    données résumé rapport état tableau elenco dettagli dati riepilogo resumo dados overzicht gegevens
  `),
  /** Things on a screen: to choose or fill one is to act. */
  screen: toWordSet(`
    browser page pages tab tabs playwright puppeteer mouse keyboard element elements button screen
    webpage selector chrome chromium devtools selenium dialog window simulator emulator device dropdown checkbox input iframe
    android ios ui
  `),
  /** What is run: its noun makes a class of its own. */
  program: toWordSet(`
    command commands shell script scripts code javascript python bash sql terminal expression workflow
    workflows job jobs process pipeline pipelines mutation mutations query queries statement program
    function lambda container containers instance instances vm agent agents deployment build task tests
    test suite session actor graphql cron
  `),
  /** Objects whose end, reset or change gives no way back. */
  secret: toWordSet(`
    secret secrets password passwords token tokens key keys credential credentials cookie cookies
    certificate certificates apikey env
  `),
  /** Live things: to set, start or move one is to drive it. */
  device: toWordSet(`
    light lights lamp thermostat temperature brightness speaker speakers playback door doors fan
    scene scenes robot motor motors vehicle car climate vacuum tv gripper arm printer player horn siren
    sprinkler garage blinds curtain camera drone servo relay hvac homeassistant hass spotify sonos hue
    nest kasa wemo lifx ecobee smartthings shelly zigbee tesla chromecast roku plug plugs thermostats kodi mpd vlc plc gpio tempo pipette clip mute obs ableton octoprint opentrons
    minecraft mineflayer factorio roborock servomotor servomotors stepper actuator actuators valve pump conveyor turtlebot ros cnc lathe
  `),
  /** What is alive when it is made: to create one is to start it. */
  live: toWordSet(`
    run runs prediction predictions deployment deployments sandbox sandboxes swarm swarms rollout invocation
    invocations rerun pod pods
  `),
  /** What runs and ends: to cancel one is to stop it. */
  job: toWordSet(`
    job jobs run runs execution executions build builds pipeline pipelines workflow workflows operation
    operations prediction predictions query queries process deployment deployments crawl scan training
    upload uploads evaluation task tasks queue processes deploy deploys
  `),
  /** Who acts on what it is told. */
  agent: toWordSet('agent agents subagent subagents swarm swarms copilot hive queen crew'),
  /** What is one thing's tie to another: taken away with one call and put back with one. */
  relation: toWordSet(`
    label labels tag tags reaction reactions emoji member members watcher watchers watching assignee assignees
    reviewer reviewers follower followers star favorite favorites favourite link links relation relations
    relationship relationships dependency dependencies association associations mapping mappings tracks
    friend friends participant participants attendee attendees column columns grouping milestone collaborator
    bookmark vote votes like likes highlight connection songs cards subscriber subscribers ip owner target
  `),
  /** By which taking somebody away takes what they may do. */
  access: toWordSet(`
    access permission permissions role roles team teams organization org admin administrator administrators
    share shares sharing invitation invitations grant grants privilege privileges credential
    organisation tenant workspace
  `),
  /** Things that one of two is gone of when they are merged. */
  record: toWordSet(`
    contact contacts company companies ticket tickets record records customer customers lead leads person
    people persons profile profiles duplicate duplicates account accounts user users conversation conversations
    entity entities tag tags payee payees vendor vendors supplier suppliers
  `),
  books: BOOKS,
  ads: ADS,
  /** Questions that are kept: to run one is to read. */
  kept: toWordSet(`
    saved card report reports dashboard question soql jql gaql promql logql kql wiql xpath lint inference
    diagnostics audit analysis stored predefined funnel funnels retention segmentation cohort cohorts trend trends metric
    metrics analytics nrql spl flux dataset datasets logs traces telemetry lucene kusto
  `),
  sold: SOLD,
  seller: SELLER,
  asked: ASKED,
  dispute: DISPUTE,
  copy: toWordSet('backup backups snapshot snapshots checkpoint'),
  /** Where data is kept by key: what is taken out of a list there is gone. */
  store: toWordSet('redis valkey memcached etcd keydb dragonfly dynamodb cassandra'),
  /** Where an agent is a person who helps customers. */
  desk: toWordSet(
    'freshdesk zendesk helpscout freshservice intercom helpdesk servicedesk gorgias kayako livechat callcenter',
  ),
  /** What is written on a thing that runs, and does not drive it. */
  caption: toWordSet(
    'name names title titles description descriptions playlist playlists library metadata lyrics caption',
  ),
  memo: MEMO,
  document: toWordSet(
    'file files document documents thread threads issue issues note notes page post',
  ),
  clock: toWordSet('timer timers stopwatch timesheet entry tracking'),
  message: toWordSet('message messages event events notification notifications'),
  /** What runs on its own until it is told otherwise. */
  machine: toWordSet(`
    service services instance instances vm vms droplet droplets server servers machine machines cluster clusters
    container containers node nodes app apps application daemon
  `),
  media: toWordSet(`
    password uuid hash image images picture text embedding embeddings caption captions summary answer speech completion
    completions prompt
  `),
  infra: toWordSet(`
    migration migrations manifest manifests terraform tofu infrastructure yaml kubernetes kubectl helm k8s
    pulumi plan planned stack cloudformation
  `),
  data: toWordSet(`
    table tables collection collections index indexes database databases schema view views column columns
    keyspace bucket topic
  `),
  database: toWordSet(`
    database databases sql cypher graphql postgres postgresql mysql mariadb sqlite duckdb warehouse oracle mssql
    cockroachdb
  `),
  memory: toWordSet('node nodes entity entities memory memories graph'),
  /** What one proves to be one's own: to verify it changes what it is good for. */
  ownership: toWordSet('domain domains email phone ownership identity dns sender'),
  /** What is open until it is resolved. */
  matter: toWordSet(
    'comment comments thread threads incident incidents alert alerts issue issues conversation discussion ticket',
  ),
  campaign: CAMPAIGN,
  /** By their name a server drives a browser, a desktop or a phone. */
  browser: toWordSet(`
    browser playwright puppeteer chrome chromium devtools selenium webdriver android ios simulator emulator
    adb appium browsermcp stagehand browserbase hyperbrowser windows winui uiautomation autohotkey pyautogui
    mobile iphone ipad maestro
  `),
  accounting: ACCOUNTING,
  booked: BOOKED,
  /** Where what is typed is run. */
  terminal: toWordSet(
    'terminal terminals pty tty tmux pane stdin repl console shell iterm process',
  ),
  checkout: CHECKOUT,
  purchase: PURCHASE,
  booking: BOOKING,
  goods: GOODS,
  returned: RETURNED,
  rate: RATE,
} satisfies Readonly<Record<string, ReadonlySet<string>>>
export type Noun = keyof typeof NOUNS

export const NOUN_NAMES = Object.keys(NOUNS) as Noun[]
const NOUNS_OF = new Map<string, readonly Noun[]>()
for (const noun of NOUN_NAMES)
  for (const word of NOUNS[noun]) NOUNS_OF.set(word, [...(NOUNS_OF.get(word) ?? []), noun])

const NO_NOUNS: readonly Noun[] = []

export function nounsAt(word: string): readonly Noun[] {
  return NOUNS_OF.get(word) ?? NO_NOUNS
}

/** The nouns of a word in a server's name. */
export function nounsOfServerWord(word: string): readonly Noun[] {
  const known = new Set(nounsAt(word))
  if (SELLING_NAME.test(word)) known.add('seller')
  if (BOOKED_NAME.test(word)) known.add('sold')
  if (!known.has('money') && MONEYED_NAME.test(word)) known.add('house')
  return [...known]
}

/** To generate an address or a preview is to work it out; one that opens something to others is not. */
export function worksOut(words: readonly { readonly text: string }[], index: number): boolean {
  if (index < 0 || !/^generates?$/.test(words[index]?.text ?? '')) return false
  const rest = words.slice(index + 1, index + 1 + OBJECT_WORDS_MAX)
  const passes = rest.some(({ text }) => nounsAt(text).includes('passing'))
  return passes && !words.some(({ text }) => OPENS.test(text))
}

const OBJECT_WORDS_MAX = 4
const OPENS =
  /^(?:share|shared|sharing|invite|invitation|upload|signed|presigned|public|payment|pay|checkout|magic|reset|access|auth|login|billing|invoice)$/
