// What signals mean together where money is, rule by rule: orders, bookings, and books that only tell of it. Called by
// combined-signals, after the rules of other acts (combined-rules.ts).

import {
  anywhere,
  either,
  isAbout,
  name,
  says,
  speaksNear,
  speaksOf,
  takes,
  takesAnywhere,
  text,
} from './feature-patterns.ts'
import type { RuleTable } from './rule-list.ts'

export const MONEY_RULES = {
  'spends on ads': [{ act: either.family('make', 'change', 'power', 'run'), with: takes('spend') }],
  'works on ads': [
    {
      act: either.family('change', 'power', 'run'),
      with: name.actWith('ads'),
      without: takes('spend'),
    },
  ],
  'runs a campaign': [
    {
      act: [either.family('power', 'run'), name.actOn('books')],
      with: name.actWith('campaign'),
      and: [speaksOf('ads', 'seller'), takesAnywhere('money')],
    },
    {
      act: name.verb('resume', 'start', 'launch', 'activate', 'enable', 'unpause'),
      with: name.actWith('campaign'),
      in: 'ads',
    },
    {
      act: name.verb('resume', 'start', 'launch', 'activate', 'enable', 'unpause'),
      with: name.actWith('campaign'),
      and: speaksOf('ads'),
    },
  ],
  'places an order': [
    {
      act: either.verb('place', 'submit', 'complete', 'checkout'),
      with: isAbout('deal'),
      without: says('moves no money'),
    },
    { act: name.verb('complete', 'finalize'), with: name.actOn('purchase') },
  ],
  'buys what is sold': [
    {
      act: either.verb(
        'book',
        'renew',
        'reserve',
        'rent',
        'lease',
        'register',
        'upgrade',
        'order',
        'exercise',
        'request',
        'checkout',
      ),
      with: [speaksOf('sold'), takesAnywhere('buyer')],
    },
  ],
  'sets what is asked for': [
    {
      act: either.family('make', 'change', 'send', 'power', 'run'),
      with: name.actOn('asked'),
      without: anywhere.family('destroy', 'remove'),
      in: 'seller',
    },
  ],
  'changes an order': [
    {
      act: either.verb('amend', 'cancel', 'modify', 'replace', 'close'),
      with: speaksOf('deal'),
      in: 'house',
    },
    {
      act: either.family('change'),
      with: name.actOn('purchase'),
      without: [
        either.actWith('memo'),
        takes('memo'),
        name.actWith('relation', 'message'),
        says('moves no money'),
      ],
      in: 'seller',
    },
    {
      act: either.family('change'),
      with: name.actOn('purchase'),
      and: name.actNear('goods', 'booked'),
      without: name.actWith('memo', 'relation', 'message'),
    },
  ],
  'tells of money': [{ act: either.family('send'), with: text.actOn('message'), in: 'kept' }],
  'sets a price': [
    {
      act: either.family('change', 'send'),
      with: says('sets a price'),
      without: [says('moves no money', 'only reads'), name.family('look', 'judge', 'render')],
    },
  ],
  'changes a trade': [
    {
      act: either.familyOrVerb(
        'amend',
        'cancel',
        'modify',
        'replace',
        'close',
        'change',
        'settle',
        'place',
        'open',
      ),
      with: says('trades'),
      and: speaksOf('deal'),
      without: [anywhere.verb('resolve'), name.family('look', 'judge', 'render')],
    },
  ],
  'only annotates money': [
    {
      act: either.family('change'),
      with: [either.actWith('memo'), takes('memo')],
      and: speaksOf('money', 'deal'),
      without: [takesAnywhere('money', 'plan'), isAbout('price')],
    },
  ],
  'settles a dispute': [
    {
      act: either.verb('accept', 'contest', 'settle'),
      with: speaksOf('dispute'),
    },
  ],
  'keeps books': [
    {
      act: either.family('make', 'change', 'keep', 'settle', 'send'),
      with: speaksOf('books'),
      server: 'books',
      without: [speaksOf('ads', 'campaign'), name.actWith('rate'), says('costs'), takes('spend')],
      notIn: 'ads',
    },
  ],
  'accepts a price': [
    {
      act: either.verb('accept', 'confirm', 'approve'),
      with: isAbout('price', 'money'),
      in: 'house',
    },
    {
      act: name.verb('accept', 'make', 'submit', 'cancel'),
      with: name.actOn('asked'),
      and: [speaksOf('goods', 'money'), takesAnywhere('money')],
    },
  ],
  'costs money': [
    {
      act: either.family(
        'make',
        'change',
        'power',
        'deploy',
        'drive',
        'run',
        'link',
        'settle',
        'trade',
        'pay',
        'send',
      ),
      with: [says('costs'), takes('cost')],
      without: name.family('look', 'judge', 'render'),
    },
  ],
  'books what was spent': [
    {
      act: either.family('make', 'change', 'keep'),
      with: either.actWith('booked'),
      without: [says('costs'), isAbout('house'), name.actOn('purchase')],
      in: 'accounting',
    },
    {
      act: either.family('make', 'change', 'keep'),
      with: name.actOn('booked'),
      and: speaksOf('accounting'),
      without: [says('costs'), isAbout('house'), name.actOn('purchase')],
    },
  ],
  'changes a subscription': [
    {
      act: either.family('make', 'change', 'settle', 'power'),
      with: name.actOn('sold'),
      and: [takesAnywhere('plan', 'money'), says('costs'), text.actWith('price')],
    },
    {
      act: either.verb('cancel', 'pause', 'resume', 'renew'),
      with: name.actOn('sold'),
      and: name.actOn('deal'),
      without: speaksOf('message'),
    },
    { act: name.verb('upgrade', 'downgrade'), with: name.actOn('price') },
    {
      act: name.family('change'),
      with: name.actOn('price'),
      and: text.actWith('sold'),
      without: [says('moves no money'), speaksNear('ads', 'infra')],
    },
  ],
  'takes a payment back': [
    {
      act: name.verb('reverse', 'void', 'capture', 'authorize'),
      with: name.actOn('deal', 'money'),
      without: name.actWith('secret'),
    },
  ],
  'claims what was earned': [
    {
      act: name.verb('claim'),
      with: name.actOn('price', 'deal', 'money'),
      and: speaksOf('money', 'deal'),
    },
  ],
  'moves an amount to somebody': [
    {
      act: [
        name.family('make', 'change', 'send', 'settle', 'pay', 'trade'),
        name.verb('approve', 'authorize', 'move'),
      ],
      with: takes('payee'),
      and: takes('money'),
      without: says('moves no money', 'only reads'),
    },
  ],
  'issues a token': [
    {
      act: [either.family('make', 'deploy'), either.verb('mint', 'launch')],
      with: takes('supply'),
    },
  ],
  'sends a transaction': [
    {
      act: name.verb('send', 'broadcast'),
      with: name.actOn('deal'),
      without: [name.actWith('secret', 'sold'), speaksOf('database')],
    },
  ],
  'takes a deal back': [
    {
      act: either.family('destroy', 'remove', 'clear', 'change'),
      with: says('trades'),
      and: name.actOn('deal', 'money'),
      without: says('moves no money'),
    },
  ],
  'opens a checkout': [
    {
      act: either.family('make', 'change', 'send', 'generate'),
      with: either.actWith('checkout'),
      without: isAbout('document', 'caption', 'matter'),
    },
  ],
  'settles a purchase': [
    {
      act: either.verb(
        'cancel',
        'confirm',
        'accept',
        'approve',
        'reject',
        'decline',
        'refuse',
        'amend',
        'modify',
        'replace',
        'delete',
        'void',
      ),
      with: name.actOn('purchase'),
      without: says('moves no money', 'runs now'),
    },
  ],
  'makes a purchase': [
    {
      act: either.verb('create', 'place', 'submit', 'complete', 'finalize', 'send', 'checkout'),
      with: name.actOn('purchase'),
      and: [speaksOf('goods', 'money', 'record'), takesAnywhere('money', 'buyer', 'plan')],
      without: says('moves no money'),
    },
  ],
  'makes or changes a booking': [
    {
      act: either.familyOrVerb('make', 'change', 'settle', 'cancel', 'modify', 'book', 'delete'),
      with: name.actOn('booking'),
      and: [speaksOf('goods', 'sold', 'money'), takesAnywhere('money', 'buyer'), says('costs')],
      without: speaksOf('relation'),
    },
    {
      act: either.familyOrVerb('make', 'change', 'settle', 'cancel', 'modify', 'book', 'delete'),
      with: name.actOn('booking'),
      in: 'sold',
    },
  ],
  'sets a rate': [
    {
      act: either.family('make', 'change'),
      with: name.actOn('rate'),
      and: [speaksOf('price'), takesAnywhere('money')],
    },
  ],
  'takes goods back': [
    {
      act: either.verb('accept', 'confirm', 'approve', 'process', 'complete', 'refund'),
      with: name.actWith('returned'),
    },
  ],
  'ends a checkout': [
    {
      act: either.family('destroy', 'remove', 'settle', 'power'),
      with: [either.actOn('checkout'), says('payment link')],
    },
  ],
  'checks out': [
    {
      act: either.verb('checkout', 'place', 'complete', 'submit', 'preview'),
      with: says('money moves'),
      without: says('moves no money'),
    },
  ],
} as const satisfies RuleTable
