// What signals mean together, rule by rule: an act, what must be found beside it and what must not. Those where money
// is are in money-rules.ts. What such a rule weighs is learnt (weights.json), by its name.

import {
  actsAlso,
  anywhere,
  either,
  laterText,
  name,
  outOfHolder,
  says,
  speaksOf,
  speaksOfCall,
  takes,
  text,
} from './feature-patterns.ts'
import type { RuleTable } from './rule-list.ts'

/** What a reading verb hides. */
export const READ_RULES = {
  'saves what it reads': [
    {
      act: [either.familyOrVerb('look', 'judge', 'render', 'audit'), name.family('answer')],
      with: says('saves it'),
    },
  ],
  'writes out what it reads': [
    {
      act: either.verb('dump', 'download', 'capture', 'screenshot', 'export'),
      with: takes('saves'),
    },
    { act: name.verb('screenshot'), with: takes('file') },
    { act: either.family('look', 'judge', 'render'), with: takes('output') },
  ],
  'may act on what it reads': [
    { act: [either.family('look', 'judge', 'render'), name.family('answer')], with: takes('acts') },
  ],
  'makes what it does not find': [
    { act: either.family('look'), with: says('makes what is missing') },
  ],
  'prompts an agent': [{ act: name.verb('ask'), with: takes('prompt') }],
  'shows and checks out': [
    {
      act: text.family('look', 'judge', 'render'),
      with: says('money moves'),
      and: name.noVerbWith('checkout', 'purchase', 'deal'),
    },
  ],
  'puts it up for sale': [
    { act: either.verb('list'), with: says('puts it up for sale'), and: takes('money') },
  ],
  'settles a matter': [{ act: either.verb('resolve', 'unresolve'), with: either.actOn('matter') }],
  'runs any query': [
    {
      act: either.verb('run', 'execute'),
      with: speaksOf('database'),
      and: takes('query', 'sql'),
      without: [says('only reads'), name.verb('read'), speaksOf('kept')],
    },
    {
      act: either.verb('query', 'search', 'select'),
      with: [takes('variables'), says('query language')],
      and: takes('query'),
      without: [says('only reads'), name.verb('read'), speaksOf('kept')],
    },
    {
      act: either.verb('query', 'search', 'select'),
      with: takes('sql'),
      without: [says('only reads'), name.verb('read'), speaksOf('kept')],
    },
  ],
  'sends what it is given': [
    {
      act: either.family('look'),
      with: takes('method'),
      and: takes('payload'),
      without: says('only reads'),
    },
  ],
  'triggers something': [{ act: either.verb('trigger') }],
  'verifies whose it is': [{ act: name.verb('verify'), with: name.readWith('ownership') }],
} as const satisfies RuleTable

/** What an act means by what stands beside it. */
export const ACT_RULES = {
  'takes a tie away': [
    {
      act: either.verb('remove', 'kick', 'strip', 'exclude'),
      with: [either.actOn('relation'), outOfHolder],
      without: [
        speaksOf('access'),
        says('access is lost', 'gone for good'),
        speaksOf('secret'),
        name.family('clear'),
      ],
      notIn: 'store',
    },
  ],
  'takes access away': [
    {
      act: [either.family('remove'), either.verb('detach')],
      with: [speaksOf('access'), says('access is lost')],
    },
    { act: name.verb('logout'), with: name.actOn('record') },
  ],
  'hands it over': [
    {
      act: name.verb('transfer'),
      with: name.actOn('document', 'ownership', 'data', 'access', 'machine', 'copy'),
      without: speaksOf('sold'),
    },
  ],
  'stops a job': [
    {
      act: either.verb('cancel', 'terminate', 'kill', 'abort', 'end', 'stop', 'unblock'),
      with: [speaksOf('job', 'terminal'), says('runs now')],
      without: speaksOf('agent', 'deal'),
    },
  ],
  'starts by making': [{ act: either.family('make'), with: either.actOn('live') }],
  'drives a device': [
    {
      act: either.familyOrVerb('change', 'power', 'drive', 'run', 'activate', 'play', 'mute'),
      with: either.actOn('device'),
      server: 'device',
    },
  ],
  'merges records': [{ act: either.verb('merge'), with: either.actOn('record') }],
  'runs a question': [
    {
      act: either.verb('run', 'execute', 'invoke', 'perform'),
      with: either.actWith('kept'),
      without: [takes('sql', 'program'), says('runs anything', 'changes data')],
    },
  ],
  'runs what only reads': [
    {
      act: either.verb('run', 'execute'),
      with: says('only reads'),
      and: speaksOf('program', 'database'),
      without: [
        takes('program'),
        says('runs anything', 'changes data'),
        name.family('change', 'make', 'destroy'),
      ],
    },
  ],
  'keeps time': [{ act: either.family('power', 'run'), with: either.actOn('clock') }],
  'drives an agent': [
    {
      act: either.familyOrVerb(
        'run',
        'send',
        'make',
        'assign',
        'chat',
        'ask',
        'power',
        'prompt',
        'delegate',
      ),
      with: [name.actWith('agent'), text.actOn('agent')],
      notIn: 'desk',
    },
  ],
  'places a call': [
    {
      act: either.verb('make', 'create', 'place', 'start', 'call', 'dial'),
      with: speaksOfCall,
      without: text.verb('log', 'record'),
    },
  ],
  'acts on a screen': [
    {
      act: either.family('make', 'change', 'send', 'settle', 'link', 'drive', 'power', 'manage'),
      without: name.family('destroy', 'remove', 'clear', 'keep'),
      in: 'browser',
    },
  ],
  'writes on what runs': [
    {
      act: either.family('make', 'change', 'link', 'keep', 'remove'),
      with: either.actOn('caption'),
      in: 'device',
    },
  ],
  'restores over what is there': [
    { act: either.verb('restore'), with: [speaksOf('copy'), says('restores over')] },
  ],
  'applies it for real': [{ act: either.verb('apply'), with: speaksOf('infra'), server: 'infra' }],
  'renews a token': [
    { act: either.verb('refresh', 'exchange', 'set'), with: either.actOn('secret') },
  ],
  'generates the answer': [
    {
      act: either.verb('generate', 'synthesize'),
      with: either.actOn('media'),
      without: [takes('saves', 'file'), says('saves it')],
    },
    {
      act: name.verb('generate'),
      with: laterText.family('look'),
      without: [
        takes('saves', 'file'),
        says('saves it', 'shares it', 'acts on it'),
        actsAlso,
        speaksOf('secret', 'money', 'data'),
      ],
    },
  ],
  'drives a machine': [
    {
      act: either.verb(
        'suspend',
        'unsuspend',
        'resize',
        'scale',
        'upgrade',
        'pause',
        'resume',
        'activate',
        'deactivate',
      ),
      with: either.actOn('machine'),
    },
  ],
  'pushes a button': [{ act: either.verb('push', 'press', 'hit'), with: speaksOf('screen') }],
  'answers with an address': [
    {
      act: either.verb('export'),
      with: speaksOf('passing'),
      without: [takes('saves'), says('saves it', 'shares it')],
    },
  ],
  'drops data': [{ act: either.verb('drop'), with: either.actWith('data') }],
  'makes a secret void': [
    {
      act: either.verb('rotate', 'reset', 'regenerate', 'revoke', 'expire', 'unset'),
      with: either.actOn('secret'),
    },
  ],
  'pushes by force': [{ act: either.verb('push'), with: takes('worst') }],
  'empties first': [
    { act: either.family('change', 'keep', 'make', 'send'), with: takes('empties') },
  ],
  'replaces the whole': [
    {
      act: [either.family('change', 'settle', 'keep', 'make'), either.verb('replace', 'set')],
      with: says('replaces the whole'),
    },
  ],
  'may be undone': [
    {
      act: either.family('destroy', 'remove', 'clear', 'revoke', 'settle', 'change', 'power'),
      with: says('can be undone'),
    },
  ],
  'loses what was there': [
    {
      act: either.family('change', 'keep', 'link', 'settle', 'deploy'),
      with: says('gone for good'),
      without: says('can be undone'),
    },
  ],
  'submits a job': [
    { act: either.verb('submit', 'approve', 'enqueue'), with: either.actOn('job') },
  ],
  'signs in by hand': [
    { act: either.familyOrVerb('link', 'make', 'power', 'run'), with: says('signs in by hand') },
  ],
  'sets it going': [
    { act: either.family('change', 'settle', 'make', 'send'), with: says('sets it going') },
  ],
  'sends any command': [
    {
      act: either.family('send', 'make', 'change', 'link', 'manage'),
      with: says('runs anything'),
      without: anywhere.family('destroy', 'remove'),
    },
  ],
  'works the answer out': [
    {
      act: either.verb(
        'generate',
        'export',
        'format',
        'convert',
        'scale',
        'draft',
        'compose',
        'write',
        'produce',
      ),
      with: says('in the answer', 'only reads'),
      without: [takes('saves'), says('saves it')],
    },
  ],
  'locks a document': [
    { act: either.verb('lock', 'unlock', 'mute', 'unmute'), with: either.actOn('document') },
  ],
  'types into a terminal': [
    {
      act: [either.family('send'), either.verb('write', 'put', 'type', 'input')],
      with: either.actWith('terminal'),
      without: speaksOf('message'),
    },
  ],
  'starts it over': [
    {
      act: either.verb('create', 'make', 'install', 'build', 'reset', 'set', 'format', 'provision'),
      with: says('starts over'),
      and: speaksOf('machine'),
    },
  ],
  'prompts an agent': [
    {
      act: either.with('agent'),
      with: takes('prompt'),
      without: name.family('look', 'judge', 'render'),
    },
  ],
  'forgets a login': [
    {
      act: [either.verb('logout'), either.family('clear', 'remove')],
      with: says('forgets a login'),
    },
  ],
} as const satisfies RuleTable
