// What signals mean together where money is: orders, bookings, checkouts, subscriptions, advertisements
// and the books that only tell of it. The form of a rule is that of company-rules.ts.

import { type Rule, toRules } from './company-rules.ts'

export const MONEY_RULES: readonly Rule[] = toRules({
  'spends on ads': { act: /^(?:name|text):(?:make|change|power|run)$/, with: /^arg:spend$/ },
  'works on ads': {
    act: /^(?:name|text):(?:change|power|run)$/,
    with: /^name\.act\+ads\./,
    without: /^arg:spend$/,
  },
  'runs a campaign': [
    {
      act: /^(?:name|text):(?:power|run)$|^name\.act\+books\.object$/,
      with: /^name\.act\+campaign\./,
      and: /\+(?:ads|seller)\.|^arg(?:\.deep)?:money$/,
    },
    {
      act: /^name=(?:resume|start|launch|activate|enable|unpause)$/,
      with: /^name\.act\+campaign\./,
      in: 'ads',
    },
    {
      act: /^name=(?:resume|start|launch|activate|enable|unpause)$/,
      with: /^name\.act\+campaign\./,
      and: /\+ads\./,
    },
  ],
  'places an order': [
    {
      act: /^(?:name|text)=(?:place|submit|complete|checkout)$/,
      with: /\+deal\.object$/,
      without: /^says:moves no money$/,
    },
    { act: /^name=(?:complete|finalize)$/, with: /^name\.act\+purchase\.object$/ },
  ],
  'buys what is sold': {
    act: /^(?:name|text)=(?:book|renew|reserve|rent|lease|register|upgrade|order|exercise|request|checkout)$/,
    with: /\+sold\.|^arg(?:\.deep)?:buyer$/,
  },
  'sets what is asked for': {
    act: /^(?:name|text):(?:make|change|send|power|run)$/,
    with: /^name\.act\+asked\.object$/,
    without: /:(?:destroy|remove)$/,
    in: 'seller',
  },
  'changes an order': [
    { act: /^(?:name|text)=(?:amend|cancel|modify|replace|close)$/, with: /\+deal\./, in: 'house' },
    {
      act: /^(?:name|text):change$/,
      with: /^name\.act\+purchase\.object$/,
      without:
        /^(?:name|text)\.act\+memo\.|^arg:memo$|^name\.act\+(?:relation|message)\.|^says:moves no money$/,
      in: 'seller',
    },
    {
      act: /^(?:name|text):change$/,
      with: /^name\.act\+purchase\.object$/,
      and: /^name\.act\+(?:goods|booked)\.near$/,
      without: /^name\.act\+(?:memo|relation|message)\./,
    },
  ],
  'tells of money': {
    act: /^(?:name|text):send$/,
    with: /^text\.act\+message\.object$/,
    in: 'kept',
  },
  'sets a price': {
    act: /^(?:name|text):(?:change|send)$/,
    with: /^says:sets a price$/,
    without: /^says:(?:moves no money|only reads)$|^name:(?:look|judge|render)$/,
  },
  'changes a trade': {
    act: /^(?:name|text)[:=](?:amend|cancel|modify|replace|close|change|settle|place|open)$/,
    with: /^says:trades$/,
    and: /\+deal\./,
    without: /=resolve$|^name:(?:look|judge|render)$/,
  },
  'only annotates money': {
    act: /^(?:name|text):change$/,
    with: /^(?:name|text)\.act\+memo\.|^arg:memo$/,
    and: /\+(?:money|deal)\./,
    without: /^arg(?:\.deep)?:(?:money|plan)$|\+price\.object$/,
  },
  'settles a dispute': {
    act: /^(?:name|text)=(?:accept|contest|concede|settle|appeal)$/,
    with: /\+dispute\./,
  },
  'keeps books': {
    act: /^(?:name|text):(?:make|change|keep|settle|send)$/,
    with: /\+books\./,
    server: 'books',
    without: /\+(?:ads|campaign)\.|^name\.act\+rate\.|^says:costs$|^arg:spend$/,
    notIn: 'ads',
  },
  'accepts a price': [
    {
      act: /^(?:name|text)=(?:accept|confirm|approve)$/,
      with: /\+(?:price|money)\.object$/,
      in: 'house',
    },
    {
      act: /^name=(?:accept|counter|make|submit|cancel)$/,
      with: /^name\.act\+asked\.object$/,
      and: /\+(?:goods|money)\.|^arg(?:\.deep)?:money$/,
    },
  ],
  'costs money': {
    act: /^(?:name|text):(?:make|change|power|deploy|drive|run|link|settle|trade|pay|send)$/,
    with: /^says:costs$|^arg:cost$/,
    without: /^name:(?:look|judge|render)$/,
  },
  'books what was spent': [
    {
      act: /^(?:name|text):(?:make|change|keep)$/,
      with: /^(?:name|text)\.act\+booked\./,
      without: /^says:costs$|\+house\.object$|^name\.act\+purchase\.object$/,
      in: 'accounting',
    },
    {
      act: /^(?:name|text):(?:make|change|keep)$/,
      with: /^name\.act\+booked\.object$/,
      and: /\+accounting\./,
      without: /^says:costs$|\+house\.object$|^name\.act\+purchase\.object$/,
    },
  ],
  'changes a subscription': [
    {
      act: /^(?:name|text):(?:make|change|settle|power)$/,
      with: /^name\.act\+sold\.object$/,
      and: /^arg(?:\.deep)?:(?:plan|money)$|^says:costs$|^text\.act\+price\./,
    },
    {
      act: /^(?:name|text)=(?:cancel|pause|resume|reactivate|renew)$/,
      with: /^name\.act\+sold\.object$/,
      and: /^name\.act\+deal\.object$/,
      without: /\+message\./,
    },
    { act: /^name=(?:upgrade|downgrade)$/, with: /^name\.act\+price\.object$/ },
    {
      act: /^name:change$/,
      with: /^name\.act\+price\.object$/,
      and: /^text\.act\+sold\./,
      without: /^says:moves no money$|\+(?:ads|infra)\.near$/,
    },
  ],
  'takes a payment back': {
    act: /^name=(?:reverse|void|capture|authorize)$/,
    with: /^name\.act\+(?:deal|money)\.object$/,
    without: /^name\.act\+secret\./,
  },
  'claims what was earned': {
    act: /^name=claim$/,
    with: /^name\.act\+(?:price|deal|money)\.object$/,
    and: /\+(?:money|deal)\./,
  },
  'moves an amount to somebody': {
    act: /^name:(?:make|change|send|settle|pay|trade)$|^name=(?:approve|authorize|move)$/,
    with: /^arg:payee$/,
    and: /^arg:money$/,
    without: /^says:(?:moves no money|only reads)$/,
  },
  'issues a token': {
    act: /^(?:name|text):(?:make|deploy)$|^(?:name|text)=(?:mint|launch|issue)$/,
    with: /^arg:supply$/,
  },
  'sends a transaction': {
    act: /^name=(?:send|sign|broadcast)$/,
    with: /^name\.act\+deal\.object$/,
    without: /^name\.act\+(?:secret|sold)\.|\+database\./,
  },
  'takes a deal back': {
    act: /^(?:name|text):(?:destroy|remove|clear|change)$/,
    with: /^says:trades$/,
    and: /^name\.act\+(?:deal|money)\.object$/,
    without: /^says:moves no money$/,
  },
  'opens a checkout': {
    act: /^(?:name|text):(?:make|change|send|generate)$/,
    with: /^(?:name|text)\.act\+checkout\./,
    without: /\+(?:document|caption|matter)\.object$/,
  },
  'settles a purchase': {
    act: /^(?:name|text)=(?:cancel|confirm|accept|approve|reject|decline|refuse|amend|modify|replace|delete|void)$/,
    with: /^name\.act\+purchase\.object$/,
    without: /^says:(?:moves no money|runs now)$/,
  },
  'makes a purchase': {
    act: /^(?:name|text)=(?:create|place|submit|complete|finalize|send|checkout)$/,
    with: /^name\.act\+purchase\.object$/,
    and: /\+(?:goods|money|record)\.|^arg(?:\.deep)?:(?:money|buyer|plan)$/,
    without: /^says:moves no money$/,
  },
  'makes or changes a booking': [
    {
      act: /^(?:name|text)[:=](?:make|change|settle|cancel|modify|book|delete)$/,
      with: /^name\.act\+booking\.object$/,
      and: /\+(?:goods|sold|money)\.|^arg(?:\.deep)?:(?:money|buyer)$|^says:costs$/,
      without: /\+relation\./,
    },
    {
      act: /^(?:name|text)[:=](?:make|change|settle|cancel|modify|book|delete)$/,
      with: /^name\.act\+booking\.object$/,
      in: 'sold',
    },
  ],
  'sets a rate': {
    act: /^(?:name|text):(?:make|change)$/,
    with: /^name\.act\+rate\.object$/,
    and: /\+price\.|^arg(?:\.deep)?:money$/,
  },
  'takes goods back': {
    act: /^(?:name|text)=(?:accept|confirm|approve|process|complete|refund)$/,
    with: /^name\.act\+returned\./,
  },
  'ends a checkout': {
    act: /^(?:name|text):(?:destroy|remove|settle|power)$/,
    with: /^(?:name|text)\.act\+checkout\.object$|^says:payment link$/,
  },
  'checks out': {
    act: /^(?:name|text)=(?:checkout|proceed|place|complete|submit|preview)$/,
    with: /^says:money moves$/,
    without: /^says:moves no money$/,
  },
})
