// What signals mean together, rule by rule: an act, what must be told beside it and what must not. The
// nouns are those of nouns.ts, the acts families and verbs of lexicon.ts.

import type { Noun } from './nouns.ts'

export interface Rule {
  readonly feature: string
  /** The act, as a family or a verb; its place is the evidence. */
  readonly act: RegExp
  /** What else must be told, if any. */
  readonly with?: RegExp
  /** And what else. */
  readonly and?: RegExp
  /** A noun of the server's name that will do instead. */
  readonly server?: Noun
  /** A noun that the server's name must have. */
  readonly in?: Noun
  /** A noun that the server's name must not have. */
  readonly notIn?: Noun
  readonly without?: RegExp
}

/** What a reading verb hides. */
export const OVER_READS: readonly Rule[] = [
  {
    feature: 'saves what it reads',
    act: /^(?:name|text)[:=](?:look|judge|render|audit)$|^name:answer$/,
    with: /^says:saves it$/,
  },
  {
    feature: 'writes out what it reads',
    act: /^(?:name|text)=(?:dump|download|capture|screenshot|export)$/,
    with: /^arg:saves$/,
  },
  {
    feature: 'writes out what it reads',
    act: /^name=screenshot$/,
    with: /^arg:file$/,
  },
  {
    feature: 'may act on what it reads',
    act: /^(?:name|text):(?:look|judge|render)$|^name:answer$/,
    with: /^arg:acts$/,
  },
  {
    feature: 'makes what it does not find',
    act: /^(?:name|text):look$/,
    with: /^says:makes what is missing$/,
  },
  {
    feature: 'settles a matter',
    act: /^(?:name|text)=(?:un)?resolve$/,
    with: /^(?:name|text)\.act\+matter\.object$/,
  },
  {
    feature: 'runs any query',
    act: /^(?:name|text)=(?:run|execute)$/,
    with: /\+database\./,
    and: /^arg:(?:query|sql)$/,
    without: /^says:only reads$|^name=read$|\+kept\./,
  },
  { feature: 'triggers something', act: /^(?:name|text)=trigger$/ },
  {
    feature: 'verifies whose it is',
    act: /^name=verify$/,
    with: /^name\.read\+ownership\./,
  },
]

export const RULES: readonly Rule[] = [
  {
    feature: 'takes a tie away',
    act: /^(?:name|text)=(?:remove|kick|strip|exclude)$/,
    with: /^(?:name|text)\.act\+relation\.object$|^out of a holder$/,
    without: /\+access\.|^says:(?:access is lost|gone for good)|\+secret\.|^name:clear$/,
    notIn: 'store',
  },
  {
    feature: 'takes access away',
    act: /^(?:name|text)(?::remove|=detach)$/,
    with: /\+access\.|^says:access is lost$/,
  },
  {
    feature: 'stops a job',
    act: /^(?:name|text)=(?:cancel|terminate|kill|abort|end|stop|unblock)$/,
    with: /\+job\.|^says:runs now$/,
    without: /\+(?:agent|deal)\./,
  },
  {
    feature: 'starts by making',
    act: /^(?:name|text):make$/,
    with: /^(?:name|text)\.act\+live\.object$/,
  },
  {
    feature: 'drives a device',
    act: /^(?:name|text)[:=](?:change|power|drive|run|activate|play|mute)$/,
    with: /^(?:name|text)\.act\+device\.object$/,
    server: 'device',
  },
  {
    feature: 'merges records',
    act: /^(?:name|text)=merge$/,
    with: /^(?:name|text)\.act\+record\.object$/,
  },
  {
    feature: 'runs a question',
    act: /^(?:name|text)=(?:run|execute|invoke|perform)$/,
    with: /^(?:name|text)\.act\+kept\./,
    without: /^arg:(?:sql|program)$|^says:(?:runs anything|changes data)/,
  },
  {
    feature: 'runs what only reads',
    act: /^(?:name|text)=(?:run|execute)$/,
    with: /^says:only reads$/,
    and: /\+(?:program|database)\./,
    without: /^arg:program$|^says:(?:runs anything|changes data)$|^name:(?:change|make|destroy)$/,
  },
  {
    feature: 'keeps time',
    act: /^(?:name|text):(?:power|run)$/,
    with: /^(?:name|text)\.act\+clock\.object$/,
  },
  {
    feature: 'drives an agent',
    act: /^(?:name|text)[:=](?:run|send|make|assign|chat|ask|power|prompt|delegate)$/,
    with: /^name\.act\+agent\.|^text\.act\+agent\.object$/,
    notIn: 'desk',
  },
  {
    feature: 'places a call',
    act: /^(?:name|text)=(?:make|create|place|start|initiate|call|dial)$/,
    with: /^call:/,
  },
  {
    feature: 'spends on ads',
    act: /^(?:name|text):(?:change|power|run)$/,
    with: /^name\.act\+ads\./,
    server: 'ads',
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
    with: /\+sold\./,
  },
  {
    feature: 'sets what is asked for',
    act: /^(?:name|text):(?:make|change|send|power|run)$/,
    with: /^name\.act\+asked\.object$/,
    without: /:(?:destroy|remove)$/,
    in: 'seller',
  },
  {
    feature: 'acts on a screen',
    act: /^(?:name|text):(?:make|change|send|settle|link|drive|power|manage)$/,
    without: /^name:(?:destroy|remove|clear|keep)$/,
    in: 'browser',
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
    with: /^(?:name|text)\.act\+memo\./,
    and: /\+(?:money|deal)\./,
  },
  {
    feature: 'writes on what runs',
    act: /^(?:name|text):(?:make|change|link|keep|remove)$/,
    with: /^(?:name|text)\.act\+caption\.object$/,
    in: 'device',
  },
  {
    feature: 'settles a dispute',
    act: /^(?:name|text)=(?:accept|contest|concede|settle|appeal)$/,
    with: /\+dispute\./,
  },
  {
    feature: 'restores over what is there',
    act: /^(?:name|text)=restore$/,
    with: /\+copy\.|^says:restores over$/,
  },
  {
    feature: 'applies it for real',
    act: /^(?:name|text)=apply$/,
    with: /\+infra\./,
    server: 'infra',
  },
  {
    feature: 'renews a token',
    act: /^(?:name|text)=(?:refresh|exchange|set)$/,
    with: /^(?:name|text)\.act\+secret\.object$/,
  },
  {
    feature: 'generates the answer',
    act: /^(?:name|text)=(?:generate|synthesize)$/,
    with: /^(?:name|text)\.act\+media\.object$/,
    without: /^arg:(?:saves|file)$|^says:saves it$/,
  },
  {
    feature: 'drives a machine',
    act: /^(?:name|text)=(?:suspend|unsuspend|resize|scale|upgrade|pause|resume|activate|deactivate)$/,
    with: /^(?:name|text)\.act\+machine\.object$/,
  },
  {
    feature: 'pushes a button',
    act: /^(?:name|text)=(?:push|press|hit)$/,
    with: /\+screen\./,
  },
  {
    feature: 'answers with an address',
    act: /^(?:name|text)=export$/,
    with: /\+passing\./,
    without: /^arg:saves$|^says:(?:saves it|shares it)$/,
  },
  {
    feature: 'takes messages in',
    act: /^(?:name|text)=(?:pull|receive|consume|fetch)$/,
    with: /^(?:name|text)\.(?:act|read|none)\+message\./,
  },
  {
    feature: 'drops data',
    act: /^(?:name|text)=drop$/,
    with: /^(?:name|text)\.act\+data\./,
  },
  {
    feature: 'makes a secret void',
    act: /^(?:name|text)=(?:rotate|reset|regenerate|revoke|expire|unset)$/,
    with: /^(?:name|text)\.act\+secret\.object$/,
  },
  {
    feature: 'opens to read',
    act: /^(?:name|text)=open$/,
    with: /^(?:name|text)\.act\+memory\./,
  },
  { feature: 'pushes by force', act: /^(?:name|text)=push$/, with: /^arg:worst$/ },
  {
    feature: 'empties first',
    act: /^(?:name|text):(?:change|keep|make|send)$/,
    with: /^arg:empties$/,
  },
  {
    feature: 'keeps books',
    act: /^(?:name|text):(?:make|change|keep|settle|send)$/,
    with: /\+books\./,
    without: /\+(?:ads|campaign)\.|^says:costs$/,
  },
  {
    feature: 'replaces the whole',
    act: /^(?:name|text)(?::change|:settle|=replace|=set|:keep|:make)$/,
    with: /^says:replaces the whole$/,
  },
  {
    feature: 'may be undone',
    act: /^(?:name|text):(?:destroy|remove|clear|revoke|settle|change|power)$/,
    with: /^says:can be undone$/,
  },
  {
    feature: 'loses what was there',
    act: /^(?:name|text):(?:change|keep|link|settle|deploy)$/,
    with: /^says:gone for good$/,
    without: /^says:can be undone$/,
  },
  {
    feature: 'accepts a price',
    act: /^(?:name|text)=(?:accept|confirm|approve)$/,
    with: /\+(?:price|money)\.object$/,
    in: 'house',
  },
  {
    feature: 'submits a job',
    act: /^(?:name|text)=(?:submit|approve|enqueue)$/,
    with: /^(?:name|text)\.act\+job\.object$/,
  },
  {
    feature: 'signs in by hand',
    act: /^(?:name|text)[:=](?:link|make|power|run)$/,
    with: /^says:signs in by hand$/,
  },
  {
    feature: 'sets it going',
    act: /^(?:name|text):(?:change|settle|make|send)$/,
    with: /^says:sets it going$/,
  },
  {
    feature: 'sends any command',
    act: /^(?:name|text):(?:send|make|change|link|manage)$/,
    with: /^says:runs anything$/,
    without: /:(?:destroy|remove)$/,
  },
  {
    feature: 'works the answer out',
    act: /^(?:name|text)=(?:generate|export|format|convert|scale|draft|compose|write|produce)$/,
    with: /^says:(?:in the answer|only reads)$/,
    without: /^arg:saves$|^says:saves it$/,
  },
  {
    feature: 'locks a document',
    act: /^(?:name|text)=(?:lock|unlock|mute|unmute)$/,
    with: /^(?:name|text)\.act\+document\.object$/,
  },
  {
    feature: 'costs money',
    act: /^(?:name|text):(?:make|change|power|deploy|run|link|settle|trade|pay|send)$/,
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
    feature: 'types into a terminal',
    act: /^(?:name|text)(?::send|=write|=put|=type|=input)$/,
    with: /^(?:name|text)\.act\+terminal\./,
    without: /\+message\./,
  },
  {
    feature: 'starts it over',
    act: /^(?:name|text)=(?:create|make|install|build|reset|set|format|provision)$/,
    with: /^says:starts over$/,
    and: /\+machine\./,
  },
  {
    feature: 'changes a subscription',
    act: /^(?:name|text):(?:make|change|settle|power)$/,
    with: /^name\.act\+sold\.object$/,
    and: /^arg(?:\.deep)?:(?:plan|money)$|^says:costs$/,
  },
  {
    feature: 'any request to a house of money',
    act: /^(?:name|text):(?:run|make|send|manage)$/,
    with: /^arg:(?:method|payload)$/,
    and: /\+lore\.|^acts:|^choice:|\+endpoint\./,
    in: 'house',
    without: /^name\.act\+(?:record|document|message|matter|relation)\.object$/,
  },
  {
    feature: 'takes a deal back',
    act: /^(?:name|text):(?:destroy|remove|clear|change)$/,
    with: /^says:trades$/,
    and: /^name\.act\+deal\.object$/,
    without: /^says:moves no money$/,
  },
  {
    feature: 'opens a checkout',
    act: /^(?:name|text):(?:make|change|send|generate)$/,
    with: /^(?:name|text)\.act\+checkout\./,
    without: /\+(?:document|caption|matter)\.object$/,
  },
  {
    feature: 'prompts an agent',
    act: /^(?:name|text)\.(?:act|none|read)\+agent\./,
    with: /^arg:prompt$/,
    without: /^name:(?:look|judge|render)$/,
  },
]
