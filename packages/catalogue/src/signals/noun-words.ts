// The nouns that tools are judged by, in groups: those that turn a plain act into another class (money, a live thing,
// a relation that can be made again), and those that name an answer. English as tools are named; the only names in
// it are those of devices and of houses of money.

/** A group of nouns that mean the same for the class of a tool. */
interface NounEntry {
  /** What such a noun stands for, for people: it follows "it speaks of". */
  readonly thing: string
  /** Several on a line. A word may be in several groups. */
  readonly words: readonly string[]
}

export const NOUNS = {
  /** Nouns by which a plain act is one with money. */
  money: {
    thing: 'money',
    words: [
      'payment payments payout payouts refund refunds reimbursement reimbursements fund funds money trade',
      'trades trading purchase purchases withdrawal withdrawals loan loans erc20 erc721 erc1155 nft nfts',
      'usdc usdt btc eth crypto cryptocurrency futures perpetual leverage margin collateral liquidity',
      'donation donations invoice invoices escrow bounty savings staking settlement remittance salary',
      'cashout topup spending dcd dca twap earn lending brokerage portfolio payer payee bank banking',
      'billing pay finance exchange commerce shop bets bet wager charges spender compensation premium',
      'tariff autorefill refill bill bills memecoin memecoins airdrop airdrops perp perps defi dex payroll',
      'payslip airtime boleto boletos pix sepa cashback satoshi satoshis sats onchain spl weth wbtc dai',
      'stablecoin stablecoins wagers',
    ],
  },
  /** What is made without being kept: to generate one is to work it out. */
  passing: {
    thing: 'something worked out, not kept',
    words: [
      'url urls link links preview locator types snippet embed citation citations qr deeplink deeplinks',
    ],
  },
  /** What is told about things: to provide it is to answer. */
  lore: {
    thing: 'lore',
    words: [
      'documentation docs guidance guidelines guideline instructions reference references tutorial',
      'tutorials checklist knowledge explanation explanations examples practices blueprint api specs guide',
      'guides recipe',
    ],
  },
  /** Well-known houses of money: with their name on a server or in a text, a deal is one with money. */
  house: {
    thing: 'a house of money',
    words: [
      'paypal stripe square adyen braintree chargebee recurly paddle razorpay mollie plaid wise coinbase',
      'binance kraken alpaca robinhood bybit polymarket uniswap solana ethereum metamask shopify gocardless',
      'lago brex ramp mercury chargify zuora paystack flutterwave ibkr etrade webull kalshi phantom',
      'pancakeswap sushiswap opensea lido compound quickbooks xero klarna venmo revolut ebay etsy',
      'woocommerce bigcommerce okx kucoin bitfinex hyperliquid aave jupiter lemonsqueezy zerodha kite',
      'upstox groww metatrader mt4 mt5 ctrader oanda tradier tastytrade schwab questrade etoro saxo bitget',
      'gateio mexc deribit bitstamp bitmex upbit bitflyer coincheck ccxt mercadopago payu cashfree paytm',
      'xendit midtrans iyzico alipay affirm afterpay sumup worldpay dwolla lithic payoneer',
    ],
  },
  /** Inquiries: to run one is to ask. */
  inquiry: {
    thing: 'an inquiry',
    words: [
      'audit audits analysis check checks diagnostics diagnosis scan scans benchmark benchmarks lint',
      'evaluation assessment search searches report reports lookup inspection health estimate validation',
      'simulation preview review',
    ],
  },
  /** Nouns that mean money beside a noun of money, and other things elsewhere: an order, a token. */
  deal: {
    thing: 'an order, a token or the like',
    words: [
      'order orders checkout subscription subscriptions membership memberships pool pools transaction',
      'transactions transfer transfers deposit deposits charge charges stake position positions token',
      'tokens option options coin coins native sol algo grid bot bid bids mandate mandates credit credits',
      'reward rewards allowance swap swaps tip tips',
    ],
  },
  /** Nouns of the neighbourhood: a price, a plan, a product moves no money by itself. */
  price: {
    thing: 'prices or what is sold',
    words: [
      'price prices pricing offer offers plan plans coupon coupons discount discounts product products tax',
      'taxes quote quotes budget dispute disputes campaign ad ads promotion promotions customer wallet',
      'wallets customers cost costs balance balances fee fees ledger policy policies bidding markdown',
      'account evidence stock stocks shares',
    ],
  },
  /** Nouns that name an answer: `server_status` reads. */
  answer: {
    thing: 'answer',
    words: [
      'status info information detail details history metrics stats statistics logs list summary health',
      'version usage report reports analytics overview help docs documentation schema count counts balance',
      'weather forecast catalog catalogue categories category examples example guide metadata results',
      'result insights trends timeline tree graph events activity todos files state tools stopped active',
      'reader viewer finder level levels availability directions distance location stealable trending',
      'featured official recent latest quota quotas context explanation recommendations suggestions',
      'instructions tutorial reference leaderboard profile price prices quality traffic names stdout readme',
      'about yields text data facts problems totals ids streams rates scores ranking schedule evaluation',
      'incidents alerts items members contacts stories headlines whoami similar related types analysis',
      'audit search lookup diagnostics audits findings readiness posture inventory rows holdings dividends',
      'earnings filings candles ohlc standings roster lyrics entities sectors attention lista listado datos',
      'detalle detalles resumen informe estado tabla tablas filas sumario fichas ficha pasos códigos',
      'formato historial übersicht daten bericht abfahrten liste données résumé rapport état tableau elenco',
      'dettagli dati riepilogo resumo dados overzicht gegevens',
    ],
  },
  /** Things on a screen: to choose or fill one is to act. */
  screen: {
    thing: 'a page or device',
    words: [
      'browser page pages tab tabs playwright puppeteer mouse keyboard element elements button screen',
      'webpage selector chrome chromium devtools selenium dialog window simulator emulator device dropdown',
      'checkbox input iframe android ios ui',
    ],
  },
  /** What is run: its noun makes a class of its own. */
  program: {
    thing: 'something that runs',
    words: [
      'command commands shell script scripts code javascript python bash sql terminal expression workflow',
      'workflows job jobs process pipeline pipelines mutation mutations query queries statement program',
      'function lambda container containers instance instances vm agent agents deployment build task tests',
      'test suite session actor graphql cron',
    ],
  },
  /** Objects whose end, reset or change gives no way back. */
  secret: {
    thing: 'a secret or key',
    words: [
      'secret secrets password passwords token tokens key keys credential credentials cookie cookies',
      'certificate certificates apikey env',
    ],
  },
  /** Live things: to set, start or move one is to drive it. */
  device: {
    thing: 'a device',
    words: [
      'light lights lamp thermostat temperature brightness speaker speakers playback door doors fan scene',
      'scenes robot motor motors vehicle car climate vacuum tv gripper arm printer player horn siren',
      'sprinkler garage blinds curtain camera drone servo relay hvac homeassistant hass spotify sonos hue',
      'nest kasa wemo lifx ecobee smartthings shelly zigbee tesla chromecast roku plug plugs thermostats',
      'kodi mpd vlc plc gpio tempo pipette clip mute obs ableton octoprint opentrons minecraft mineflayer',
      'factorio roborock servomotor servomotors stepper actuator actuators valve pump conveyor turtlebot',
      'ros cnc lathe',
    ],
  },
  /** What is alive when it is made: to create one is to start it. */
  live: {
    thing: 'something that runs when it is made',
    words: [
      'run runs prediction predictions deployment deployments sandbox sandboxes swarm swarms rollout',
      'invocation invocations rerun pod pods',
    ],
  },
  /** What runs and ends: to cancel one is to stop it. */
  job: {
    thing: 'something that runs and ends',
    words: [
      'job jobs run runs execution executions build builds pipeline pipelines workflow workflows operation',
      'operations prediction predictions query queries process deployment deployments crawl scan training',
      'upload uploads evaluation task tasks queue processes deploy deploys',
    ],
  },
  /** Who acts on what it is told. */
  agent: {
    thing: 'an agent',
    words: ['agent agents subagent subagents swarm swarms copilot hive queen crew'],
  },
  /** What is one thing's tie to another: taken away with one call and put back with one. */
  relation: {
    thing: 'a tie of one thing to another',
    words: [
      'label labels tag tags reaction reactions emoji member members watcher watchers watching assignee',
      'assignees reviewer reviewers follower followers star favorite favorites favourite link links',
      'relation relations relationship relationships dependency dependencies association associations',
      'mapping mappings tracks friend friends participant participants attendee attendees column columns',
      'grouping milestone collaborator bookmark vote votes like likes highlight connection songs cards',
      'subscriber subscribers ip owner target',
    ],
  },
  /** Taking a person away from one of these takes what they may do. */
  access: {
    thing: 'what somebody may do',
    words: [
      'access permission permissions role roles team teams organization org admin administrator',
      'administrators share shares sharing invitation invitations grant grants privilege privileges',
      'credential organisation tenant workspace',
    ],
  },
  /** Things that one of two is gone of when they are merged. */
  record: {
    thing: 'records',
    words: [
      'contact contacts company companies ticket tickets record records customer customers lead leads',
      'person people persons profile profiles duplicate duplicates account accounts user users conversation',
      'conversations entity entities tag tags payee payees vendor vendors supplier suppliers',
    ],
  },
  /** Books that tell of money and move none. */
  books: {
    thing: 'books of account',
    words: [
      'journal journals expense expenses ledger bookkeeping receipt receipts timesheet timesheets budget',
      'budgets budgeting ynab splitwise actual firefly entry entries category categories accrual',
    ],
  },
  /** Spending that runs by itself: advertisements and what they cost. */
  ads: {
    thing: 'advertisements',
    words: [
      'ad ads advert adset adgroup adgroups bid bids bidding googleads adwords promotion promotions',
      'sponsored',
    ],
  },
  /** Questions that are kept: to run one is to read. */
  kept: {
    thing: 'a question that is kept',
    words: [
      'saved card report reports dashboard question soql jql gaql promql logql kql wiql xpath lint',
      'inference diagnostics audit analysis stored predefined funnel funnels retention segmentation cohort',
      'cohorts trend trends metric metrics analytics nrql spl flux dataset datasets logs traces telemetry',
      'lucene kusto',
    ],
  },
  /** What is paid for when it is booked, reserved or renewed. */
  sold: {
    thing: 'something that is sold',
    words: [
      'domain domains subscription subscriptions license licenses licence membership memberships',
      'registration hosting insurance flight flights hotel hotels ticket tickets ride rides trip seat seats',
      'rental rentals option options shipment shipments tier cart stay stays accommodation lodging cruise',
      'tour tours train trains bus fare fares vehicle vehicles car cars',
    ],
  },
  /** Where one sells, and what is asked for there. */
  seller: {
    thing: 'seller',
    words: ['ebay etsy shopify woocommerce bigcommerce magento amazon walmart seller marketplace'],
  },
  asked: {
    thing: 'what is asked for',
    words: ['offer offers listing listings promotion promotions markdown'],
  },
  dispute: {
    thing: 'dispute',
    words: ['dispute disputes chargeback chargebacks claim'],
  },
  copy: {
    thing: 'a backup',
    words: ['backup backups snapshot snapshots checkpoint'],
  },
  /** Where data is kept by key: what is taken out of a list there is gone. */
  store: {
    thing: 'store',
    words: ['redis valkey memcached etcd keydb dragonfly dynamodb cassandra'],
  },
  /** Where an agent is a person who helps customers. */
  desk: {
    thing: 'desk',
    words: [
      'freshdesk zendesk helpscout freshservice intercom helpdesk servicedesk gorgias kayako livechat',
      'callcenter',
    ],
  },
  /** What is written on a thing that runs, and does not drive it. */
  caption: {
    thing: 'a name or title',
    words: [
      'name names title titles description descriptions playlist playlists library metadata lyrics caption',
    ],
  },
  /** What stands beside a payment or an order and moves no money. */
  memo: {
    thing: 'a note beside it',
    words: ['note notes memo metadata metafield metafields tags tracking fulfillment'],
  },
  document: {
    thing: 'a file or document',
    words: ['file files document documents thread threads issue issues note notes page post'],
  },
  clock: {
    thing: 'a timer',
    words: ['timer timers stopwatch timesheet entry tracking'],
  },
  message: {
    thing: 'messages',
    words: ['message messages event events notification notifications'],
  },
  /** What runs on its own until it is told otherwise. */
  machine: {
    thing: 'a machine or service',
    words: [
      'service services instance instances vm vms droplet droplets server servers machine machines cluster',
      'clusters container containers node nodes app apps application daemon',
    ],
  },
  media: {
    thing: 'a text or picture',
    words: [
      'password uuid hash image images picture text embedding embeddings caption captions summary answer',
      'speech completion completions prompt',
    ],
  },
  infra: {
    thing: 'what runs elsewhere',
    words: [
      'migration migrations manifest manifests terraform tofu infrastructure yaml kubernetes kubectl helm',
      'k8s pulumi plan planned stack cloudformation',
    ],
  },
  data: {
    thing: 'what data is kept in',
    words: [
      'table tables collection collections index indexes database databases schema view views column',
      'columns keyspace bucket topic',
    ],
  },
  database: {
    thing: 'a database',
    words: [
      'database databases sql cypher graphql postgres postgresql mysql mariadb sqlite duckdb warehouse',
      'oracle mssql cockroachdb',
    ],
  },
  memory: {
    thing: 'what is remembered',
    words: ['node nodes entity entities memory memories graph'],
  },
  /** What one proves to be one's own: to verify it changes what it is good for. */
  ownership: {
    thing: 'what somebody owns',
    words: ['domain domains email phone ownership identity dns sender'],
  },
  /** What is open until it is resolved. */
  matter: {
    thing: 'a matter that is open',
    words: [
      'comment comments thread threads incident incidents alert alerts issue issues conversation discussion',
      'ticket',
    ],
  },
  campaign: {
    thing: 'campaign',
    words: ['campaign campaigns'],
  },
  /** Names of servers that drive a browser, a desktop or a phone. */
  browser: {
    thing: 'browser',
    words: [
      'browser playwright puppeteer chrome chromium devtools selenium webdriver android ios simulator',
      'emulator adb appium browsermcp stagehand browserbase hyperbrowser windows winui uiautomation',
      'autohotkey pyautogui mobile iphone ipad maestro',
    ],
  },
  /** Programs that keep books: what is entered there moves no money by itself. */
  accounting: {
    thing: 'accounting',
    words: [
      'quickbooks xero freshbooks sage netsuite odoo erpnext dolibarr wave freee accounting bookkeeping',
      'books ledger',
    ],
  },
  booked: {
    thing: 'booked',
    words: [
      'bill bills deposit deposits vendor supplier purchase purchases transaction transactions',
    ],
  },
  /** Where what is typed is run. */
  terminal: {
    thing: 'terminal',
    words: ['terminal terminals pty tty tmux pane stdin repl console shell iterm process'],
  },
  /** Where a customer is asked to pay. */
  checkout: {
    thing: 'checkout',
    words: ['checkout paywall paylink payout payouts'],
  },
  /** What somebody bought or is about to: to cancel, confirm or change one commits money. */
  purchase: {
    thing: 'an order',
    words: ['order orders'],
  },
  /** What was booked: a room is paid for, a table is not. */
  booking: {
    thing: 'a booking',
    words: ['booking bookings reservation reservations itinerary'],
  },
  /** Words that say that an order, a booking or a return is of goods or services that are paid for. */
  goods: {
    thing: 'goods that are paid for',
    words: [
      'buyer buyers seller sellers merchant merchants shop shops menu cart basket checkout shipped shipping',
      'delivery guest guests hotel hotels room rooms rental rentals fare fares passenger passengers',
      'traveler travelers traveller travellers refund refunds refundable nightly fee fees price prices',
      'grocery groceries meal meals food marketplace ecommerce sales',
    ],
  },
  /** Goods that come back: to accept one pays the buyer back. */
  returned: {
    thing: 'goods that come back',
    words: ['return returns rma'],
  },
  /** What is asked for a night, an hour or a unit. */
  rate: {
    thing: 'a rate',
    words: ['rate rates'],
  },
} as const satisfies Readonly<Record<string, NounEntry>>

export type Noun = keyof typeof NOUNS
