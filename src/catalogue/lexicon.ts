// The words a tool is judged by: verbs in families, each family with the class it speaks for, and
// the nouns that turn a plain act into another class. English as tools are named, with the commonest
// Chinese; the only names in it are those of houses of money. The weights of the families are learnt (weights.ts).

import type { Category } from '../core/tools.ts'

/** A family of verbs: the class it speaks for by itself. */
const FAMILIES = {
  look: [
    'Read',
    `get list read search find fetch query show describe count check view lookup look retrieve browse
    inspect discover identify enumerate examine explore peek poll ping monitor watch observe detect
    locate see return obtain access scan crawl scrape extract load tell whoami know learn lists
    recall trace tail ask answer help select match introspect dump research investigate determine
    gather reveal report resolve download log decompile disassemble paginate surface`,
  ],
  judge: [
    'Read',
    `analyze analyse validate verify compare summarize summarise explain diff audit lint estimate
    calculate compute evaluate assess predict forecast recommend suggest rank score classify simulate
    measure benchmark parse decode encode hash tokenize translate transcribe geocode debug diagnose
    review plan think reason interpret infer rate assert expect convert aggregate profile optimize test wait`,
  ],
  render: [
    'Read',
    `display preview visualize visualise render screenshot snapshot capture format guide provide print
    chart plot highlight draw`,
  ],
  make: [
    'Write',
    `create add insert register make append prepend upsert provision allocate compose draft author
    introduce open mint reserve duplicate fork initialize init setup bootstrap scaffold enroll
    populate plant seed`,
  ],
  change: [
    'Write',
    `update edit set modify change put patch write rename move configure adjust alter enable disable
    toggle reorder sort arrange resize transform rewrite amend extend increment decrement switch
    customize fill format convert fix refactor align group ungroup swap replace override apply assign
    merge unmerge sync upgrade downgrade rotate transition annotate freeze unfreeze lock unlock hide
    unhide mute unmute activate deactivate promote demote define specify place rearrange tune prioritize
    reprioritize categorize recategorize unset correct revise improve localize expand increase reduce
    decrease scope stage enhance refine reword reformat transfer rebase cherry overwrite`,
  ],
  send: [
    'Write',
    `send post reply comment respond notify broadcast publish submit email message forward tweet
    announce react vote request invite share upload contest deliver push commit propose emit remind escalate contact`,
  ],
  link: [
    'Write',
    `link unlink attach detach associate disassociate tag untag label unlabel star unstar pin unpin
    follow unfollow like unlike subscribe unsubscribe join leave bookmark bind unbind assign unassign
    mark unmark favorite unfavorite connect disconnect map grant authorize allow deny authenticate login
    logout pair mount unmount reconnect affiliate relate`,
  ],
  settle: [
    'Write',
    `archive unarchive close reopen complete uncomplete resolve approve reject accept decline dismiss
    finish finalize confirm trash untrash restore undelete unpublish schedule reschedule snooze
    acknowledge ack claim capture handoff mark end cancel undo redo revert retire withdraw`,
  ],
  keep: [
    'Write',
    `export backup save download copy clone store remember record import cache stash checkout pull
    pack archive snapshot persist memorize collect ingest index log track load bundle compress zip`,
  ],
  run: [
    'Execute',
    `run exec execute eval invoke call trigger launch spawn dispatch orchestrate delegate retry rerun
    replay automate prompt chat script shell process train instruct command operate debug
    simulate test evaluate`,
  ],
  power: [
    'Execute',
    `start stop restart reboot resume pause boot shutdown halt abort cancel suspend wake unpause
    stopall startup poweron poweroff power interrupt signal quit exit cordon uncordon drain`,
  ],
  deploy: [
    'Execute',
    `deploy redeploy build install compile migrate sync scale rollback release promote rebuild upgrade
    autoscale reload refresh warm package failover`,
  ],
  drive: [
    'Execute',
    `click type navigate press scroll hover drag drop tap swipe goto go back forward fill focus hold
    keyboard mouse emulate handle interact zoom double select uncheck key resize close switch open
    touch pan gesture input`,
  ],
  destroy: [
    'Destructive',
    `delete destroy purge drop erase wipe truncate obliterate shred nuke teardown decommission
    deprovision rm del expunge annihilate deregister unregister rmdir undeploy
    demolish`,
  ],
  remove: ['Destructive', `remove uninstall evict eject kick ban exclude prune strip release`],
  clear: [
    'Destructive',
    `clear flush empty cleanup clean discard reset wipe forget expire zero void`,
  ],
  revoke: [
    'Destructive',
    `revoke rotate reset regenerate invalidate blacklist deauthorize rescind`,
  ],
  kill: ['Destructive', `kill terminate`],
  pay: [
    'Financial',
    `pay charge refund transfer withdraw payout bill settle tip donate reimburse fund deposit
    remit disburse repay borrow lend checkout award debit credit invoice`,
  ],
  trade: [
    'Financial',
    `buy sell purchase trade swap stake unstake bid redeem invest hedge liquidate short long order
    restake bridge`,
  ],
  manage: [
    'Write',
    `manage control administer handle maintain work operate operations management manager`,
  ],
  generate: ['Write', `generate produce synthesize`],
} as const satisfies Record<string, readonly [Category, string]>

export type Family = keyof typeof FAMILIES
export const FAMILY_NAMES = Object.keys(FAMILIES) as Family[]

export function classOf(family: Family): Category {
  return FAMILIES[family][0]
}

/**
 * Words that are nouns as often as verbs: a verb at the head of a name or sentence, and nowhere
 * else (`log_event` logs, `get_log` and `log_list` do not).
 */
const NOUNISH = words(`
  order trade swap transfer report log tag label comment backup message post list file share link
  record build release charge note email mail call star copy project schedule snapshot key prompt
  template index import export command script run check view query state test search update claim
  invoice credit fund bid contact request review plan score rate rank group map trace cache
  track profile audit input mouse keyboard power process store stage guide help research format chart
  debit stake deposit purchase payout refund checkout tip bridge short long double text dm fax chat
  pin like react vote branch fork commit merge push pull stash package bundle focus hold pan touch
  answer draft place load match lists access return use new open work control back forward go type
  select set scope signal profile drop cascade trash object reason cancel clone filter release
  follow bookmark favorite benchmark forecast estimate change move count diff screenshot preview
  deploy install stop start end exit quit handle
`)

/** Nouns by which a plain act is one with money. */
const MONEY = words(`
  payment payments payout payouts refund refunds fund funds money trade trades trading purchase
  purchases withdrawal withdrawals loan loans erc20 erc721 erc1155 nft nfts usdc usdt btc eth crypto
  cryptocurrency wallet wallets futures perpetual leverage margin collateral liquidity donation
  donations checkout invoice invoices escrow bounty savings staking settlement remittance salary
  payroll cashout topup spending dcd dca twap earn lending stock stocks shares brokerage portfolio
  payer payee bank banking billing pay finance exchange commerce shop cart bets bet wager
`)

/** Nouns that mean money in its company, and other things in another: an order, a token. */
const DEAL = words(`
  order orders subscription subscriptions transaction transactions transfer transfers deposit deposits
  charge charges stake position positions token tokens option options coin coins native sol algo grid
  bot bid bids credit credits reward rewards allowance swap swaps tip tips contract contracts
`)

/** An order or a subscription of another kind, by the word before it. */
export const OTHER_DEALS = words(`
  draft sort display column field layer tab card item notification webhook event topic email feed push
  calendar realtime pubsub access api auth refresh bearer playback build cell cursor slide element
`)

/** Nouns of the neighbourhood: a price, a plan, a product moves no money by itself. */
const PRICE = words(`
  price prices pricing offer offers plan plans coupon coupons discount discounts product products tax taxes quote quotes budget
  dispute disputes campaign ad ads promotion promotions customer
  customers cost costs balance balances fee fees ledger policy policies bidding markdown account evidence
`)

/** Nouns that name an answer: `server_status` reads. */
const ANSWER = words(`
  status info information detail details history metrics stats statistics logs list summary health
  version usage report reports analytics overview help docs documentation schema count counts balance
  weather forecast catalog catalogue categories category examples example guide metadata results result
  insights trends timeline tree graph events activity todos files state tools turn stopped active
  directions distance location stealable trending featured official recent latest quota quotas
  context explanation recommendations suggestions instructions tutorial reference leaderboard profile
  whoami similar related types analysis audit search lookup report reports diagnostics audits
`)

/** Things on a screen: to choose or fill one is to act. */
const SCREEN = words(`
  browser page pages tab tabs playwright puppeteer mouse keyboard element elements button screen
  webpage selector chrome chromium devtools selenium dialog window simulator emulator device dropdown checkbox input iframe
  android ios ui
`)

/** Inquiries: to run one is to ask. */
const INQUIRY = words(`
  audit audits analysis check checks diagnostics diagnosis scan scans benchmark benchmarks lint
  evaluation assessment search searches report reports lookup inspection health estimate validation
  simulation preview review
`)

/** Well-known houses of money: their name on a server or in a text puts deals in money's company. */
const HOUSES = words(`
  paypal stripe square adyen braintree chargebee recurly paddle razorpay mollie plaid wise coinbase
  binance kraken alpaca robinhood bybit polymarket uniswap solana ethereum metamask shopify
  quickbooks xero klarna venmo revolut okx kucoin bitfinex hyperliquid aave jupiter lemonsqueezy
`)

/** What is made without being kept: to generate one is to work it out. */
const PASSING = words(
  'url urls link links preview locator types snippet embed citation citations qr',
)

/** What is told about things: to provide it is to answer. */
const LORE = words(`
  documentation docs guidance guidelines guideline instructions reference references tutorial
  tutorials checklist knowledge explanation explanations examples practices blueprint api specs
`)

/** What is run: its noun makes a class of its own. */
const PROGRAM = words(`
  command commands shell script scripts code javascript python bash sql terminal expression workflow
  workflows job jobs process pipeline pipelines mutation mutations query queries statement program
  function lambda container containers instance instances vm agent agents deployment build task tests
  test suite session actor graphql cron
`)

/** Objects whose end, reset or change gives no way back. */
const SECRET = words(`
  secret secrets password passwords token tokens key keys credential credentials cookie cookies
  certificate certificates apikey env
`)

/** Chinese: a definition may speak it while its name does not. */
export const CHINESE: readonly (readonly [RegExp, Family])[] = [
  [/删除|移除|清空|清除|销毁|注销/u, 'destroy'],
  [/支付|付款|退款|转账|下单|购买|充值|提现|交易/u, 'pay'],
  [/执行|运行|启动|停止|重启|部署|点击/u, 'run'],
  [/创建|新建|添加|新增|生成|注册|预约|预订/u, 'make'],
  [/修改|更新|设置|编辑|重命名|移动/u, 'change'],
  [/发送|发布|回复|上传|通知/u, 'send'],
  [/查询|获取|搜索|检索|查看|列出|计算|规划|转换|定位|识别|分析|编码|解析|测量|返回/u, 'look'],
]

interface Entry {
  readonly families: readonly Family[]
  readonly nounish: boolean
  readonly base: string
  /** `base` and `third person` head a clause; a participle or gerund does so only after a hint. */
  readonly form: 'base' | 'third' | 'gerund' | 'participle'
}

const VERBS = new Map<string, Entry>()

for (const family of FAMILY_NAMES)
  for (const base of split(FAMILIES[family][1])) {
    const known = VERBS.get(base)
    const families = known?.form === 'base' ? [...new Set([...known.families, family])] : [family]
    VERBS.set(base, { families, nounish: NOUNISH.has(base), base, form: 'base' })
  }
for (const [base, entry] of [...VERBS]) {
  for (const [form, spelt] of [
    ['third', thirdPerson(base)],
    ['gerund', `${stemOf(base)}ing`],
    ['participle', base.endsWith('e') ? `${base}d` : `${stemOf(base)}ed`],
  ] as const)
    if (!VERBS.has(spelt)) VERBS.set(spelt, { ...entry, form })
}
for (const [spelt, base, form] of [
  ['sent', 'send', 'participle'],
  ['sold', 'sell', 'participle'],
  ['bought', 'buy', 'participle'],
  ['ran', 'run', 'participle'],
  ['paid', 'pay', 'participle'],
] as const) {
  const entry = VERBS.get(base)
  if (entry !== undefined) VERBS.set(spelt, { ...entry, form })
}

export function verbAt(word: string): Entry | undefined {
  return VERBS.get(word)
}

export type Noun =
  | 'passing'
  | 'lore'
  | 'money'
  | 'house'
  | 'inquiry'
  | 'deal'
  | 'price'
  | 'answer'
  | 'screen'
  | 'program'
  | 'secret'
const NOUNS: readonly (readonly [Noun, ReadonlySet<string>])[] = [
  ['money', MONEY],
  ['passing', PASSING],
  ['lore', LORE],
  ['house', HOUSES],
  ['inquiry', INQUIRY],
  ['deal', DEAL],
  ['price', PRICE],
  ['answer', ANSWER],
  ['screen', SCREEN],
  ['program', PROGRAM],
  ['secret', SECRET],
]
const NOUNS_OF = new Map<string, readonly Noun[]>()
for (const [noun, set] of NOUNS)
  for (const word of set) NOUNS_OF.set(word, [...(NOUNS_OF.get(word) ?? []), noun])

const NO_NOUNS: readonly Noun[] = []

export function nounsAt(word: string): readonly Noun[] {
  return NOUNS_OF.get(word) ?? NO_NOUNS
}

function thirdPerson(base: string): string {
  if (/(s|x|z|ch|sh)$/.test(base)) return `${base}es`
  return /[^aeiou]y$/.test(base) ? `${base.slice(0, -1)}ies` : `${base}s`
}

/** What `-ing` and `-ed` are put behind: `creat`, `dropp`, `modifi` is left to `modifying`. */
function stemOf(base: string): string {
  if (base.endsWith('e') && !base.endsWith('ee')) return base.slice(0, -1)
  if (/^[^aeiou]*[aeiou][bdgklmnprt]$/.test(base)) return base + base.slice(-1)
  return base
}

function split(list: string): string[] {
  return list.trim().split(/\s+/)
}

function words(list: string): ReadonlySet<string> {
  return new Set(split(list))
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
