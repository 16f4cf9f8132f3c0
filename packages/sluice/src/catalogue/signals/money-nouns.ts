// The nouns of money: what is paid, traded, priced, sold and booked, where, and what stands beside it
// without moving any. English as tools are named; the only names in it are those of houses of money.
// Pure; nouns.ts has the others.

import { toWordSet } from '@sluice/policy/core/word-set'

/** Nouns by which a plain act is one with money. */
export const MONEY = toWordSet(`
  payment payments payout payouts refund refunds reimbursement reimbursements fund funds money trade trades trading purchase
  purchases withdrawal withdrawals loan loans erc20 erc721 erc1155 nft nfts usdc usdt btc eth crypto
  cryptocurrency futures perpetual leverage margin collateral liquidity donation
  donations invoice invoices escrow bounty savings staking settlement remittance salary
  cashout topup spending dcd dca twap earn lending brokerage portfolio
  payer payee bank banking billing pay finance exchange commerce shop bets bet wager charges
  spender compensation premium tariff autorefill refill bill bills memecoin memecoins airdrop airdrops
  perp perps defi dex payroll payslip airtime boleto boletos pix sepa cashback satoshi satoshis sats onchain spl weth wbtc dai stablecoin stablecoins wager wagers
`)

/** Nouns that mean money in its company, and other things in another: an order, a token. */
export const DEAL = toWordSet(`
  order orders checkout subscription subscriptions membership memberships pool pools transaction transactions transfer transfers deposit deposits
  charge charges stake position positions token tokens option options coin coins native sol algo grid
  bot bid bids mandate mandates credit credits reward rewards allowance swap swaps tip tips
`)

/** The kinds of nouns that another kind of order or subscription is none of. */
export const DEALS: ReadonlySet<string> = new Set(['deal', 'sold', 'purchase', 'booking'])

/** An order or a subscription of another kind, by the word before it. */
export const OTHER_DEALS = toWordSet(`
  setting settings menu select filter search sorting configuration config preference
  draft sort display column field layer tab card item notification webhook event topic email feed push
  calendar realtime pubsub access api oauth user client session csrf auth refresh bearer playback build cell cursor slide element deploy work lab tab z
`)

/** Nouns of the neighbourhood: a price, a plan, a product moves no money by itself. */
export const PRICE = toWordSet(`
  price prices pricing offer offers plan plans coupon coupons discount discounts product products tax taxes quote quotes budget
  dispute disputes campaign ad ads promotion promotions customer wallet wallets
  customers cost costs balance balances fee fees ledger policy policies bidding markdown account evidence stock stocks shares
`)

/** By its name a server deals in money: `somepay`, `anycoin`, `thistrade`. */
export const MONEYED_NAME =
  /^(?:pay(?!load|roll)|crypto|invoic|billing|wallet|defi)|(?:pay|payments?|coin|swap|trade|trading|wallet|broker|brokers|exchange|bank)$/

/** By its name a server sells goods, `prestashop`, or what is booked, `hotelplanet`. */
export const SELLING_NAME =
  /shop|commerce|(?:^|[a-z])store$|retail|marketplace|^wildberries$|^ozon$/
export const BOOKED_NAME =
  /^(?:hotel|flight|travel|airline|airbnb|hostel|rental)|(?:hotels?|flights?|travel|trips?|airlines?|rentals?)$/

/** Well-known houses of money: their name on a server or in a text puts deals in money's company. */
export const HOUSES = toWordSet(`
  paypal stripe square adyen braintree chargebee recurly paddle razorpay mollie plaid wise coinbase
  binance kraken alpaca robinhood bybit polymarket uniswap solana ethereum metamask shopify
  gocardless lago brex ramp mercury chargify zuora paystack flutterwave ibkr etrade webull kalshi phantom
  pancakeswap sushiswap opensea lido compound quickbooks xero klarna venmo revolut ebay etsy woocommerce bigcommerce okx kucoin bitfinex hyperliquid aave jupiter lemonsqueezy
  zerodha kite upstox groww metatrader mt4 mt5 ctrader oanda tradier tastytrade schwab questrade etoro saxo
  bitget gateio mexc deribit bitstamp bitmex upbit bitflyer coincheck ccxt mercadopago payu cashfree paytm
  xendit midtrans iyzico alipay affirm afterpay sumup worldpay dwolla lithic payoneer
`)

/** Books that tell of money and move none. */
export const BOOKS = toWordSet(`
  journal journals expense expenses ledger bookkeeping receipt receipts timesheet timesheets budget
  budgets budgeting ynab splitwise actual firefly entry entries category categories accrual
`)

/** Spending that runs by itself: advertisements and what they cost. */
export const ADS = toWordSet(`
  ad ads advert adset adgroup adgroups bid bids bidding googleads adwords promotion promotions sponsored
`)

/** What is paid for when it is booked, reserved or renewed. */
export const SOLD = toWordSet(`
  domain domains subscription subscriptions license licenses licence membership memberships registration hosting
  insurance flight flights hotel hotels ticket tickets ride rides trip seat seats rental rentals option
  options shipment shipments tier cart stay stays accommodation lodging cruise tour tours train trains bus
  fare fares vehicle vehicles car cars
`)

/** Where one sells, and what is asked for there. */
export const SELLER = toWordSet(
  'ebay etsy shopify woocommerce bigcommerce magento amazon walmart seller marketplace',
)

export const ASKED = toWordSet('offer offers listing listings promotion promotions markdown')

export const CAMPAIGN = toWordSet('campaign campaigns')

export const DISPUTE = toWordSet('dispute disputes chargeback chargebacks claim')

/** What stands beside a payment or an order and moves no money. */
export const MEMO = toWordSet(
  'note notes memo metadata metafield metafields tags tracking fulfillment',
)

/** Programs that keep books: what is entered there moves no money by itself. */
export const ACCOUNTING = toWordSet(
  'quickbooks xero freshbooks sage netsuite odoo erpnext dolibarr wave freee accounting bookkeeping books ledger',
)

export const BOOKED = toWordSet(
  'bill bills deposit deposits vendor supplier purchase purchases transaction transactions',
)

/** Where a customer is asked to pay. */
export const CHECKOUT = toWordSet('checkout paywall paylink payout payouts')

/** What somebody bought or is about to: to cancel, confirm or change one commits money. */
export const PURCHASE = toWordSet('order orders')
/** What was booked: a room is paid for, a table is not. */
export const BOOKING = toWordSet('booking bookings reservation reservations itinerary')
/** By these an order, a booking or a return is one of goods or services that are paid for. */
export const GOODS = toWordSet(`
  buyer buyers seller sellers merchant merchants shop shops menu cart basket checkout
  shipped shipping delivery guest guests hotel hotels room rooms rental rentals fare fares passenger passengers
  traveler travelers traveller travellers refund refunds refundable nightly fee fees price prices grocery groceries
  meal meals food marketplace ecommerce sales
`)
/** What is asked for a night, an hour or a unit. */
export const RATE = toWordSet('rate rates')
/** Goods that come back: to accept one pays the buyer back. */
export const RETURNED = toWordSet('return returns rma')
