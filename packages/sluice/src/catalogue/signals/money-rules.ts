// What signals mean together where money is: orders, bookings, checkouts, subscriptions, advertisements
// and the books that only tell of it. The form of a rule is that of company-rules.ts.

import type { Rule } from './company-rules.ts'

export const MONEY_RULES: readonly Rule[] = [
  {
    feature: 'spends on ads',
    act: /^(?:name|text):(?:make|change|power|run)$/,
    with: /^arg:spend$/,
  },
  {
    feature: 'works on ads',
    act: /^(?:name|text):(?:change|power|run)$/,
    with: /^name\.act\+ads\./,
    server: 'ads',
    without: /^arg:spend$/,
  },
  {
    feature: 'runs a campaign',
    act: /^(?:name|text):(?:power|run)$|^name\.act\+books\.object$/,
    with: /^name\.act\+campaign\./,
    and: /\+(?:ads|seller)\.|^arg(?:\.deep)?:money$/,
  },
  {
    feature: 'places an order',
    act: /^(?:name|text)=(?:place|submit|complete|checkout)$/,
    with: /\+deal\.object$/,
    without: /^says:moves no money$/,
  },
  {
    feature: 'buys what is sold',
    act: /^(?:name|text)=(?:book|renew|reserve|rent|lease|register|upgrade|order|exercise|request|checkout)$/,
    with: /\+sold\.|^arg(?:\.deep)?:buyer$/,
  },
  {
    feature: 'sets what is asked for',
    act: /^(?:name|text):(?:make|change|send|power|run)$/,
    with: /^name\.act\+asked\.object$/,
    without: /:(?:destroy|remove)$/,
    in: 'seller',
  },
  {
    feature: 'changes an order',
    act: /^(?:name|text)=(?:amend|cancel|modify|replace|close)$/,
    with: /\+deal\./,
    in: 'house',
  },
  {
    feature: 'changes a trade',
    act: /^(?:name|text)[:=](?:amend|cancel|modify|replace|close|change|settle|place)$/,
    with: /^says:trades$/,
    and: /\+deal\./,
    without: /=resolve$/,
  },
  {
    feature: 'only annotates money',
    act: /^(?:name|text):change$/,
    with: /^(?:name|text)\.act\+memo\.|^arg:memo$/,
    and: /\+(?:money|deal)\./,
    without: /^arg(?:\.deep)?:(?:money|plan)$|\+price\.object$/,
  },
  {
    feature: 'settles a dispute',
    act: /^(?:name|text)=(?:accept|contest|concede|settle|appeal)$/,
    with: /\+dispute\./,
  },
  {
    feature: 'keeps books',
    act: /^(?:name|text):(?:make|change|keep|settle|send)$/,
    with: /\+books\./,
    server: 'books',
    without: /\+(?:ads|campaign)\.|^name\.act\+rate\.|^says:costs$|^arg:spend$/,
    notIn: 'ads',
  },
  {
    feature: 'accepts a price',
    act: /^(?:name|text)=(?:accept|confirm|approve)$/,
    with: /\+(?:price|money)\.object$/,
    in: 'house',
  },
  {
    feature: 'costs money',
    act: /^(?:name|text):(?:make|change|power|deploy|drive|run|link|settle|trade|pay|send)$/,
    with: /^says:costs$|^arg:cost$/,
  },
  {
    feature: 'books what was spent',
    act: /^(?:name|text):(?:make|change|keep)$/,
    with: /^(?:name|text)\.act\+booked\./,
    without: /^says:costs$|\+house\.object$/,
    in: 'accounting',
  },
  {
    feature: 'changes a subscription',
    act: /^(?:name|text):(?:make|change|settle|power)$/,
    with: /^name\.act\+sold\.object$/,
    and: /^arg(?:\.deep)?:(?:plan|money)$|^says:costs$|^text\.act\+price\./,
  },
  {
    feature: 'takes a deal back',
    act: /^(?:name|text):(?:destroy|remove|clear|change)$/,
    with: /^says:trades$/,
    and: /^name\.act\+(?:deal|money)\.object$/,
    without: /^says:moves no money$/,
  },
  {
    feature: 'opens a checkout',
    act: /^(?:name|text):(?:make|change|send|generate)$/,
    with: /^(?:name|text)\.act\+checkout\./,
    without: /\+(?:document|caption|matter)\.object$/,
  },
  {
    feature: 'settles a purchase',
    act: /^(?:name|text)=(?:cancel|confirm|accept|approve|reject|decline|refuse|amend|modify|replace|delete)$/,
    with: /^name\.act\+purchase\.object$/,
    without: /^says:(?:moves no money|runs now)$/,
  },
  {
    feature: 'makes a purchase',
    act: /^(?:name|text)=(?:create|place|submit|complete|finalize|send|checkout)$/,
    with: /^name\.act\+purchase\.object$/,
    and: /\+goods\.|\+money\.|^arg(?:\.deep)?:(?:money|buyer)$/,
    without: /^says:moves no money$/,
  },
  {
    feature: 'makes or changes a booking',
    act: /^(?:name|text)[:=](?:make|change|settle|cancel|modify|book|delete)$/,
    with: /^name\.act\+booking\.object$/,
    and: /\+(?:goods|sold|money)\.|^arg(?:\.deep)?:(?:money|buyer)$|^says:costs$/,
    without: /\+relation\./,
  },
  {
    feature: 'makes or changes a booking',
    act: /^(?:name|text)[:=](?:make|change|settle|cancel|modify|book|delete)$/,
    with: /^name\.act\+booking\.object$/,
    in: 'sold',
  },
  {
    feature: 'sets a rate',
    act: /^(?:name|text):(?:make|change)$/,
    with: /^name\.act\+rate\.object$/,
    and: /\+price\.|^arg(?:\.deep)?:money$/,
  },
  {
    feature: 'takes goods back',
    act: /^(?:name|text)=(?:accept|confirm|approve|process|complete|refund)$/,
    with: /^name\.act\+returned\./,
  },
  {
    feature: 'ends a checkout',
    act: /^(?:name|text):(?:destroy|remove|settle|power)$/,
    with: /^(?:name|text)\.act\+checkout\.object$|^says:payment link$/,
  },
  {
    feature: 'checks out',
    act: /^(?:name|text)=(?:checkout|proceed|place|complete|submit|preview)$/,
    with: /^says:money moves$/,
    without: /^says:moves no money$/,
  },
]
