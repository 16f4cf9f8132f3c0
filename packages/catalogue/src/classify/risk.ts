// How much is at stake: it starts with the class, is lowered if one small item is affected or the
// call can be undone, and raised if many items, other people or secrets are. The reason is given.
// Pure; called by classify.

import { type Category, RISKS, type Risk, type ToolDefinition } from '@sluice/policy/calls/tools'
import { toWordSet } from '@sluice/policy/structures/word-set'
import { argumentsOf, splitDefinitionWords } from './flows.ts'

const START: Readonly<Record<Category, number>> = {
  Read: 0,
  Write: 1,
  Execute: 2,
  Destructive: 3,
  Financial: 3,
}

const MANY = toWordSet('all batch bulk multiple many every everything wildcard mass')
const SECRETS = toWordSet(
  'secret secrets password passwords credential credentials cookie cookies apikey env envs envvars',
)
const MORE_SECRETS =
  /secret|password|credential|cookie|token|api_?key|(?:^|[_-])envs?(?=$|[_-])|[a-z]Envs?(?![a-z])|environment.?variables?/i

/** A name, or a first sentence, that speaks of secrets; the environment of a process is full of them. */
export function readsSecrets({ name, description }: ToolDefinition): boolean {
  const text = typeof description === 'string' ? description.slice(0, RISK_CHARS_MAX) : ''
  return MORE_SECRETS.test(name) || /environment variables?/i.test(text)
}
const PEOPLE =
  toWordSet(`broadcast invite share grant unsubscribe contest permission permissions role roles
  member members everyone public ban`)
/** What others stand on: gone with it, they are gone too. */
const LARGE =
  toWordSet(`database databases cluster clusters namespace namespaces project projects bucket
  buckets volume volumes organization org workspace tenant disk filesystem repository repo schema
  instance vm droplet fleet environment team tables table collection`)
const SMALL =
  toWordSet(`event events comment comments label labels tag tags filter filters reaction draft
  drafts rule rules policy policies role bookmark reminder reminders webhook alias alert card item
  row message messages link links cache log logs memory note notes entry index indexes config
  configuration configurations subscription todo todos task tasks cookie account accounts view
  workflow session sessions field annotation attachment cell cells range checklist`)
/** Runs what it is given. */
const PROGRAMS = toWordSet(
  'command commands shell script code javascript sql query python bash terminal exec',
)
const GENTLE =
  toWordSet(`navigate click scroll hover back forward go wait press type select tab tabs page
  browser screenshot focus drop drag fill forward stop abort pause on start dispatch build compile
  resize`)

/** How much is at stake with a tool. */
export interface RatedRisk {
  readonly risk: Risk
  /** The steps from the class to the risk, for people. */
  readonly because: string
}

/** The risk of a tool of this class. */
export function rate(definition: ToolDefinition, category: Category): RatedRisk {
  const words = splitDefinitionWords(definition, { until: /[.\n]/, charsMax: RISK_CHARS_MAX })
  const names = argumentsOf(definition)
  const has = (of: ReadonlySet<string>) => words.find((word) => of.has(word))
  let level = START[category]
  const reasons: string[] = [`${category} tools start at ${RISKS[level]}`]
  const step = (by: number, why: string) => {
    level += by
    reasons.push(`${by > 0 ? 'raised' : 'lowered'} because ${why}`)
  }
  const many =
    has(MANY) ?? names.find((name) => /^(?:items|inputs|orders|requests|all)$/i.test(name))
  if (category === 'Read') {
    const environment =
      words.includes('environment') && ENVIRONMENT.test(words.join(' '))
        ? 'environment variables'
        : undefined
    const secret = has(SECRETS) ?? environment
    if (secret !== undefined) step(1, `it reads secrets (\`${secret}\`)`)
  } else if (category === 'Write') {
    const people = has(PEOPLE)
    if (people !== undefined && many !== undefined)
      step(1, `it affects other people (\`${people}\`)`)
    else if (words.includes('export'))
      reasons.push('not lowered because an exported copy is no longer protected by its source')
    else if (many === undefined && people === undefined) step(-1, 'it affects a single item')
  } else if (category === 'Execute') {
    const program = has(PROGRAMS)
    const gentle = has(GENTLE)
    if (
      program !== undefined &&
      names.some((name) => /^(?:command|cmd|sql|script|code)$/i.test(name))
    )
      step(1, `it runs the code or command it is given (\`${program}\`)`)
    else if (program === undefined && gentle !== undefined && many === undefined)
      step(-1, `it takes one step at a time (\`${gentle}\`), or another call can undo it`)
  } else if (category === 'Destructive') {
    const large = has(LARGE)
    const small = has(SMALL)
    if (many === undefined && small !== undefined && large === undefined)
      step(-2, `it affects a single, small item (\`${small}\`)`)
    else if (many === undefined && large === undefined) step(-1, 'it affects a single item')
  } else if (has(CHANGES_DEAL) !== undefined && many === undefined)
    step(-1, 'what it changes or cancels can be set up again')
  const bounded = Math.max(0, Math.min(RISKS.length - 1, level))
  return { risk: RISKS[bounded] as Risk, because: reasons.join('; ') }
}

const ENVIRONMENT = /\benvironment variables?\b/
const CHANGES_DEAL = toWordSet('cancel amend update subscription subscriptions price prices')

const RISK_CHARS_MAX = 120
