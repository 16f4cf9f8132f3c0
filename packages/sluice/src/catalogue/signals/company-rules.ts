// What signals mean together, rule by rule: an act, what must be told beside it and what must not. The
// nouns are those of nouns.ts, the acts families and verbs of lexicon.ts; the rules of money are in
// money-rules.ts.

import type { Noun } from './nouns.ts'

interface RuleCase {
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

export interface Rule extends RuleCase {
  readonly feature: string
}

/** By feature: its rule, or several of which one is enough. */
export function toRules(
  cases: Readonly<Record<string, RuleCase | readonly RuleCase[]>>,
): readonly Rule[] {
  return Object.entries(cases).flatMap(([feature, some]) =>
    [some].flat().map((each) => ({ feature, ...each })),
  )
}

/** What a reading verb hides. */
export const OVER_READS: readonly Rule[] = toRules({
  'saves what it reads': {
    act: /^(?:name|text)[:=](?:look|judge|render|audit)$|^name:answer$/,
    with: /^says:saves it$/,
  },
  'writes out what it reads': [
    { act: /^(?:name|text)=(?:dump|download|capture|screenshot|export)$/, with: /^arg:saves$/ },
    { act: /^name=screenshot$/, with: /^arg:file$/ },
    { act: /^(?:name|text):(?:look|judge|render)$/, with: /^arg:output$/ },
  ],
  'may act on what it reads': {
    act: /^(?:name|text):(?:look|judge|render)$|^name:answer$/,
    with: /^arg:acts$/,
  },
  'makes what it does not find': {
    act: /^(?:name|text):look$/,
    with: /^says:makes what is missing$/,
  },
  'prompts an agent': { act: /^name=ask$/, with: /^arg:prompt$/ },
  'shows and checks out': {
    act: /^text:(?:look|judge|render)$/,
    with: /^says:money moves$/,
    and: /^name\.none\+(?:checkout|purchase|deal)\./,
  },
  'puts it up for sale': {
    act: /^(?:name|text)=list$/,
    with: /^says:puts it up for sale$/,
    and: /^arg:money$/,
  },
  'settles a matter': {
    act: /^(?:name|text)=(?:un)?resolve$/,
    with: /^(?:name|text)\.act\+matter\.object$/,
  },
  'runs any query': [
    {
      act: /^(?:name|text)=(?:run|execute)$/,
      with: /\+database\./,
      and: /^arg:(?:query|sql)$/,
      without: /^says:only reads$|^name=read$|\+kept\./,
    },
    // What writes is a query too in these languages; with variables it is one of GraphQL.
    {
      act: /^(?:name|text)=(?:query|search|select)$/,
      with: /^(?:arg:variables|says:query language)$/,
      and: /^arg:query$/,
      without: /^says:only reads$|^name=read$|\+kept\./,
    },
    {
      act: /^(?:name|text)=(?:query|search|select)$/,
      with: /^arg:sql$/,
      without: /^says:only reads$|^name=read$|\+kept\./,
    },
  ],
  'sends what it is given': {
    act: /^(?:name|text):look$/,
    with: /^arg:method$/,
    and: /^arg:payload$/,
    without: /^says:only reads$/,
  },
  'triggers something': { act: /^(?:name|text)=trigger$/ },
  'verifies whose it is': { act: /^name=verify$/, with: /^name\.read\+ownership\./ },
})

export const RULES: readonly Rule[] = toRules({
  'takes a tie away': {
    act: /^(?:name|text)=(?:remove|kick|strip|exclude)$/,
    with: /^(?:name|text)\.act\+relation\.object$|^out of a holder$/,
    without: /\+access\.|^says:(?:access is lost|gone for good)|\+secret\.|^name:clear$/,
    notIn: 'store',
  },
  'takes access away': [
    { act: /^(?:name|text)(?::remove|=detach)$/, with: /\+access\.|^says:access is lost$/ },
    { act: /^name=logout$/, with: /^name\.act\+record\.object$/ },
  ],
  'hands it over': {
    act: /^name=transfer$/,
    with: /^name\.act\+(?:document|ownership|data|access|machine|copy)\.object$/,
    without: /\+sold\./,
  },
  'stops a job': {
    act: /^(?:name|text)=(?:cancel|terminate|kill|abort|end|stop|unblock)$/,
    with: /\+(?:job|terminal)\.|^says:runs now$/,
    without: /\+(?:agent|deal)\./,
  },
  'starts by making': { act: /^(?:name|text):make$/, with: /^(?:name|text)\.act\+live\.object$/ },
  'drives a device': {
    act: /^(?:name|text)[:=](?:change|power|drive|run|activate|play|mute)$/,
    with: /^(?:name|text)\.act\+device\.object$/,
    server: 'device',
  },
  'merges records': { act: /^(?:name|text)=merge$/, with: /^(?:name|text)\.act\+record\.object$/ },
  'runs a question': {
    act: /^(?:name|text)=(?:run|execute|invoke|perform)$/,
    with: /^(?:name|text)\.act\+kept\./,
    without: /^arg:(?:sql|program)$|^says:(?:runs anything|changes data)/,
  },
  'runs what only reads': {
    act: /^(?:name|text)=(?:run|execute)$/,
    with: /^says:only reads$/,
    and: /\+(?:program|database)\./,
    without: /^arg:program$|^says:(?:runs anything|changes data)$|^name:(?:change|make|destroy)$/,
  },
  'keeps time': {
    act: /^(?:name|text):(?:power|run)$/,
    with: /^(?:name|text)\.act\+clock\.object$/,
  },
  'drives an agent': {
    act: /^(?:name|text)[:=](?:run|send|make|assign|chat|ask|power|prompt|delegate)$/,
    with: /^name\.act\+agent\.|^text\.act\+agent\.object$/,
    notIn: 'desk',
  },
  'places a call': {
    act: /^(?:name|text)=(?:make|create|place|start|initiate|call|dial)$/,
    with: /^call:/,
    without: /^text=(?:log|record)$/,
  },
  'acts on a screen': {
    act: /^(?:name|text):(?:make|change|send|settle|link|drive|power|manage)$/,
    without: /^name:(?:destroy|remove|clear|keep)$/,
    in: 'browser',
  },
  'writes on what runs': {
    act: /^(?:name|text):(?:make|change|link|keep|remove)$/,
    with: /^(?:name|text)\.act\+caption\.object$/,
    in: 'device',
  },
  'restores over what is there': {
    act: /^(?:name|text)=restore$/,
    with: /\+copy\.|^says:restores over$/,
  },
  'applies it for real': { act: /^(?:name|text)=apply$/, with: /\+infra\./, server: 'infra' },
  'renews a token': {
    act: /^(?:name|text)=(?:refresh|exchange|set)$/,
    with: /^(?:name|text)\.act\+secret\.object$/,
  },
  'generates the answer': [
    {
      act: /^(?:name|text)=(?:generate|synthesize)$/,
      with: /^(?:name|text)\.act\+media\.object$/,
      without: /^arg:(?:saves|file)$|^says:saves it$/,
    },
    {
      act: /^name=generate$/,
      with: /^text\.later:look$/,
      without:
        /^arg:(?:saves|file)$|^says:(?:saves it|shares it|acts on it)$|^text\.also:|\+(?:secret|money|data)\./,
    },
  ],
  'drives a machine': {
    act: /^(?:name|text)=(?:suspend|unsuspend|resize|scale|upgrade|pause|resume|activate|deactivate)$/,
    with: /^(?:name|text)\.act\+machine\.object$/,
  },
  'pushes a button': { act: /^(?:name|text)=(?:push|press|hit)$/, with: /\+screen\./ },
  'answers with an address': {
    act: /^(?:name|text)=export$/,
    with: /\+passing\./,
    without: /^arg:saves$|^says:(?:saves it|shares it)$/,
  },
  'drops data': { act: /^(?:name|text)=drop$/, with: /^(?:name|text)\.act\+data\./ },
  'makes a secret void': {
    act: /^(?:name|text)=(?:rotate|reset|regenerate|revoke|expire|unset)$/,
    with: /^(?:name|text)\.act\+secret\.object$/,
  },
  'pushes by force': { act: /^(?:name|text)=push$/, with: /^arg:worst$/ },
  'empties first': { act: /^(?:name|text):(?:change|keep|make|send)$/, with: /^arg:empties$/ },
  'replaces the whole': {
    act: /^(?:name|text)(?::change|:settle|=replace|=set|:keep|:make)$/,
    with: /^says:replaces the whole$/,
  },
  'may be undone': {
    act: /^(?:name|text):(?:destroy|remove|clear|revoke|settle|change|power)$/,
    with: /^says:can be undone$/,
  },
  'loses what was there': {
    act: /^(?:name|text):(?:change|keep|link|settle|deploy)$/,
    with: /^says:gone for good$/,
    without: /^says:can be undone$/,
  },
  'submits a job': {
    act: /^(?:name|text)=(?:submit|approve|enqueue)$/,
    with: /^(?:name|text)\.act\+job\.object$/,
  },
  'signs in by hand': {
    act: /^(?:name|text)[:=](?:link|make|power|run)$/,
    with: /^says:signs in by hand$/,
  },
  'sets it going': {
    act: /^(?:name|text):(?:change|settle|make|send)$/,
    with: /^says:sets it going$/,
  },
  'sends any command': {
    act: /^(?:name|text):(?:send|make|change|link|manage)$/,
    with: /^says:runs anything$/,
    without: /:(?:destroy|remove)$/,
  },
  'works the answer out': {
    act: /^(?:name|text)=(?:generate|export|format|convert|scale|draft|compose|write|produce)$/,
    with: /^says:(?:in the answer|only reads)$/,
    without: /^arg:saves$|^says:saves it$/,
  },
  'locks a document': {
    act: /^(?:name|text)=(?:lock|unlock|mute|unmute)$/,
    with: /^(?:name|text)\.act\+document\.object$/,
  },
  'types into a terminal': {
    act: /^(?:name|text)(?::send|=write|=put|=type|=input)$/,
    with: /^(?:name|text)\.act\+terminal\./,
    without: /\+message\./,
  },
  'starts it over': {
    act: /^(?:name|text)=(?:create|make|install|build|reset|set|format|provision)$/,
    with: /^says:starts over$/,
    and: /\+machine\./,
  },
  'prompts an agent': {
    act: /^(?:name|text)\.(?:act|none|read)\+agent\./,
    with: /^arg:prompt$/,
    without: /^name:(?:look|judge|render)$/,
  },
  'forgets a login': {
    act: /^(?:name|text)(?:=logout|:clear|:remove)$/,
    with: /^says:forgets a login$/,
  },
})
