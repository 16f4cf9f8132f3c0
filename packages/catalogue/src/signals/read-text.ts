// The grammar of descriptions. The act is the head verb of the first sentence that says what the
// tool does ("Deletes a bucket", "Use this to retrieve …"); verbs joined to it make a list of acts,
// of which the worst counts; verbs that head later sentences count less. What is denied ("does not
// delete", "instead of …") does not count. Pure; called by gather-signals.

import type { Category } from '@sluice/policy/calls/tools'
import { alternatives, group, sequence } from '@sluice/policy/readers/join-patterns'
import { toWordSet, toWords } from '@sluice/policy/structures/word-set'
import { classOf, isVerbOf, verbAt } from './lexicon.ts'
import { TEXT_CHARS_MAX } from './limits.ts'
import { meantFamily } from './meant-family.ts'
import { familyFeatures, nounFeatures, wordFeatures } from './memo-feature.ts'
import { DEALS, nounsAt, OTHER_DEALS } from './nouns.ts'
import { OTHER_LETTER } from './other-languages.ts'
import { readOtherScript } from './read-other-script.ts'
import { readPhrases } from './read-phrases.ts'
import type { EmitSignal } from './signal.ts'
import { splitText, type WordSpan } from './split-words.ts'
import type { Family } from './verbs.ts'
import { worstActOf } from './worst-act.ts'

/** What stands before a sentence and is none: `[API]`, `🎯 Purpose: 1.`, `DANGER:`. */
const LABEL =
  /(?:\s*(?:\[[^\]\n]{1,160}\]|[^\p{L}\p{N}\s[]{1,6}|[A-Z]{4,12}\b:?(?= [A-Z])|\d+\.|Purpose:|Designer Tool -))+\s*/uy
/** Sentences that set the scene and say nothing of the act. */
const SCENE = new RegExp(
  sequence(
    /(?:\W*)/,
    group([
      ...toWords('when if always important note only'),
      /do not/,
      ...toWords(`
        don't never requires? prerequisite before after once
      `),
      /for best/,
      /best for/,
      ...toWords('examples? warning caution mandatory deprecated critical'),
      /call this/,
      /must/,
      /you must/,
      ...toWords('please parameters? args arguments returns?: usage'),
      /start (?:here|with)/,
      /use (?:when|this when|it|only|before|after|if|with|the)/,
      /see/,
      /this method has been deprecated/,
      /decommissioned/,
      /internal use/,
      /terminology/,
      /not for/,
      /next steps?/,
      /this tool requires/,
      /this is a sub/,
      /guardrails/,
      /data modification/,
    ]),
    /\b/,
  ),
  'iy',
)
/** Where the sentence of the act ends although no full stop does. */
const CUT = new RegExp(
  alternatives([
    /[.!?;](?=\s|$)/,
    /\n/,
    /\s[-–—]\s(?=(?:use|ideal|useful|perfect|great)\b)/,
    sequence(
      /\s/,
      '(?=',
      group([
        /use (?:this )?(?:tool )?(?:when|for|if|before|after|it)/,
        /best for/,
        /returns? (?:a|an|the|only|json|results?|data|list|all|its)/,
        /required/,
        /not for/,
        /→/,
        /⚡/,
        /⚠/,
        /\*\*/,
        /e\.g\./,
        /examples?:/,
        /parameters?:/,
        /args:/,
        /note:/,
        /instead of/,
        /rather than/,
        /without/,
        /so that/,
        /because/,
        /which/,
        /when/,
        /where/,
        /if/,
        /before/,
        /after/,
        /while/,
        /such as/,
        /based on/,
        /that/,
      ]),
      /\b/,
      ')',
    ),
  ]),
  'gi',
)
const SENTENCES_MAX = 6
/** Where a text begins: its script is that of the sentence. */
const HEAD_CHARS = 12
const LATER_WORDS_MAX = 6
const NEGATIONS = toWordSet('not never no without cannot instead avoid neither nor rather dont')
/** What makes the next word a noun. */
const DETERMINERS = toWordSet(`
  a an the of for this that these those your my its their any some each every all existing new
  specific specified given single multiple current previous next first last no in on at with from
  by as per via is are was be been has have using up
`)
const LEAD_INS = toWordSet('use used allows allow let lets helps help enables enable')
/** A prepositional phrase is not the object of the act. */
const PREPOSITIONS = toWordSet(
  'in for to of from with using by at on into through via as over under and or',
)

export function readText(text: string, at: string, emit: EmitSignal): void {
  const end = Math.min(text.length, TEXT_CHARS_MAX)
  readPhrases(text, at, end, emit)
  // Words of ours in a sentence of another script are names: `email`, `list_products`.
  if (OTHER_LETTER.test(text.slice(0, HEAD_CHARS)) && readOtherScript(text, at, end, emit)) return
  let isFound = false
  let start = 0
  for (let count = 0; count < SENTENCES_MAX && start < end; count++) {
    LABEL.lastIndex = start
    if (LABEL.test(text)) start = LABEL.lastIndex
    const stop = cutAt(text, start, end)
    SCENE.lastIndex = start
    if (!SCENE.test(text)) {
      const words = splitText(text, start, stop)
      if (isFound) readLater(words, text, at, emit)
      else isFound = readAct(words, text, at, emit) || (count === 0 && isUnlistedAct(words))
    }
    start = stop + 1
  }
  if (!isFound && !readOtherScript(text, at, end, emit)) readThing(text, at, end, emit)
}

/**
 * `Expose a port`: an act by a verb that no list has. The sentence after it ("Returns the address") must
 * not pass for the act, or a tool that changes something is one that reads.
 */
function isUnlistedAct(words: readonly WordSpan[]): boolean {
  const first = words[0]?.text ?? ''
  return (
    /^(?:an?|the|this|your|all)$/.test(words[1]?.text ?? '') &&
    /^[a-z]{4,}$/.test(first) &&
    !DETERMINERS.has(first) &&
    !PREPOSITIONS.has(first) &&
    !LEAD_INS.has(first) &&
    !ASKS.test(first) &&
    verbAt(first) === undefined &&
    nounsAt(first).length === 0
  )
}

/** A text without an act names what is answered: `Latest price of a symbol`, `How each member voted`. */
function readThing(text: string, at: string, end: number, emit: EmitSignal): void {
  const words = splitText(text, 0, cutAt(text, 0, end))
  const [first] = words
  if (first === undefined || words.length < THING_WORDS_MIN) return
  const agent = words.find(({ text: word }) => nounsAt(word).includes('agent'))
  if (agent !== undefined) emit('text.none+agent.near', toSignalSpan(at, agent))
  const acts = words.filter(({ text: word }) => ACT_NOUNS.has(word))
  for (const act of acts) emit(`text.noun:${ACT_NOUNS.get(act.text)}`, toSignalSpan(at, act))
  if (acts.length > 0) return
  // `Reconciles a statement`, `Rest to regain health`: a verb that nobody knows, and no answer.
  if (AFTER_A_VERB.test(words[1]?.text ?? '') && !ASKS.test(first.text)) return
  // A noun that nobody knows says nothing.
  const answer = ASKS.test(first.text)
    ? first
    : words.find(({ text: word }) => nounsAt(word).includes('answer'))
  if (answer !== undefined) emit('text:answer', toSignalSpan(at, answer))
}

/** Acts as nouns, in a text that has no verb: `path editing`, `account deletion`. */
const ACT_NOUNS: ReadonlyMap<string, Family> = new Map(
  Object.entries({
    make: 'creation creating construction drawing',
    change: 'editing modification modifications configuration updates updating renaming',
    keep: 'saving exports exporting backups import imports',
    send: 'upload uploads uploading posting sending publishing',
    destroy: 'deletion deleting erasure',
    remove: 'removal',
    run: 'execution executing automation',
    power: 'control restarts shutdown',
    deploy: 'deployment deployments installation provisioning',
    manage: 'management administration handling operations',
    settle: 'cancellation approval scheduling',
    pay: 'payment payments payout payouts refunds billing',
    trade: 'trading purchase purchases',
  }).flatMap(([family, list]) => list.split(' ').map((word) => [word, family as Family] as const)),
)
const THING_WORDS_MIN = 2
const AFTER_A_VERB =
  /^(?:an?|the|this|that|these|those|your|my|its|their|all|any|every|each|up|out|off|down|away|back|into|onto|to|it|them)$/
const ASKS = /^(?:how|what|which|who|whether|where)$/

function cutAt(text: string, start: number, end: number): number {
  CUT.lastIndex = start
  for (;;) {
    const found = CUT.exec(text)
    if (found === null || found.index >= end) return end
    if (found.index - start > 2) return found.index
  }
}

/** The sentence of the act; false where no verb heads it. */
function readAct(words: readonly WordSpan[], text: string, at: string, emit: EmitSignal): boolean {
  // `What happened: prompts, turns, calls` lists things, although each of them may be a verb.
  const lists = ASKS.test(words[0]?.text ?? '')
  const verbs = verbsOf(words, text).filter(({ text: word }) => !(lists && verbAt(word)?.nounish))
  const [head, ...others] = verbs
  if (head === undefined || isListed(words, head)) return false
  const works = meantFamily(words, head)
  if (works !== undefined) emit(`text:${works}`, toSignalSpan(at, head))
  else emitVerb('text', head, at, emit)
  const joined: WordSpan[] = [head]
  for (const other of others) {
    const how = joinOf(text, words, joined.at(-1) as WordSpan, other)
    if (how === 'and') joined.push(other)
    const index = words.indexOf(other)
    if (how === 'beside' && text[other.start - 1] === '(' && isDone(words, index))
      emitVerb('text.also', other, at, emit)
    // `Review a request and post the findings`: what reads acts as well.
    if (isVerbOf('Read', head.text) && !isVerbOf('Read', other.text) && isThen(words, index))
      emitVerb('text.also', other, at, emit)
    emitVerb(
      how === 'means' ? 'text.means' : how === 'and' ? 'text.and' : 'text.too',
      other,
      at,
      emit,
    )
  }
  const acts = works === undefined ? joined : joined.slice(1)
  if (joined.length > 1) emitWorst(acts, text, at, emit)
  readObject(
    words,
    head,
    verbs.some((verb) => !(verb === head && works !== undefined) && !isVerbOf('Read', verb.text)),
    at,
    emit,
  )
  return true
}

/** `path editing, queries, previews`: a list of nouns, although some may be verbs. */
function isListed(words: readonly WordSpan[], head: WordSpan): boolean {
  if (verbAt(head.text)?.nounish !== true) return false
  return words.slice(0, words.indexOf(head)).some(({ text }) => ACT_NOUNS.has(text))
}

/** The worst of several acts: `list, create, delete or rename` deletes. */
function emitWorst(acts: readonly WordSpan[], text: string, at: string, emit: EmitSignal): void {
  let worst: { act: WordSpan; category: Category } | undefined
  for (const act of acts) {
    const category = isStatement(text, act) ? 'Execute' : worstActOf(act.text, worst?.category)
    if (category !== undefined) worst = { act, category }
  }
  if (worst === undefined) return
  // `add or remove` takes back what it did.
  const pair =
    acts.some((act) => PUTS.test(act.text)) && /^(?:removes?|un\w+)$/.test(worst.act.text)
  emit(`acts:${pair ? 'Write' : worst.category}`, toSignalSpan(at, worst.act))
}

const PUTS = /^(?:add|save|attach|assign|like|star|follow|pin|bookmark)s?$/

/** `INSERT, UPDATE or DELETE`: words of a query language, which is run. */
function isStatement(text: string, { start, end }: WordSpan): boolean {
  return /^(?:INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|MERGE|TRUNCATE)$/.test(text.slice(start, end))
}

/** The nouns of the act: its object (the noun before a preposition), and what else is spoken of. */
function readObject(
  words: readonly WordSpan[],
  head: WordSpan,
  acts: boolean,
  at: string,
  emit: EmitSignal,
): void {
  const from = words.indexOf(head) + 1
  let object = words.length - 1
  for (let index = from; index < words.length; index++)
    if (PREPOSITIONS.has((words[index] as WordSpan).text) && index > from) {
      object = index - 1
      break
    }
  const nounFeature = acts ? NOUNS_OF_ACT : NOUNS_OF_READ
  words.forEach((word, index) => {
    if (word === head) return
    for (const noun of nounsAt(word.text)) {
      if (noun === 'lore' && !acts) emit('text.read+lore', toSignalSpan(at, word))
      if (noun === 'answer' || noun === 'lore' || (!acts && noun !== 'secret')) continue
      if (DEALS.has(noun) && OTHER_DEALS.has(words[index - 1]?.text ?? '')) continue
      emit(nounFeature(noun, index === object), toSignalSpan(at, word))
    }
  })
}

function readLater(words: readonly WordSpan[], text: string, at: string, emit: EmitSignal): void {
  const verbs = verbsOf(words.slice(0, LATER_WORDS_MAX), text)
  const head = verbs[0]
  if (head === undefined) return
  emitVerb('text.later', head, at, emit)
  // `Sets the default store.`: what it does as well; `Set …` may be advice to the model.
  const also = words.find(
    (_, index) => (index === 0 || words[index - 1]?.text === 'and') && isDone(words, index),
  )
  if (also !== undefined) emitVerb('text.also', also, at, emit)
}

/** `and book the hotels`, `then move them`: a further act, and not one more thing. */
function isThen(words: readonly WordSpan[], index: number): boolean {
  const after = words[index + 1]?.text ?? ''
  return joins(words[index - 1]?.text ?? '') && (VERBS_PRECEDE.test(after) || IT.test(after))
}

const IT = /^(?:it|them)$/

/** `updates`, `(reboots the motors)`: an act, told of the tool and not to the reader. */
function isDone(words: readonly WordSpan[], index: number): boolean {
  const { text } = words[index] as WordSpan
  const verb = verbAt(text)
  if (verb?.form !== 'third' || isVerbOf('Read', text)) return false
  return !verb.nounish || VERBS_PRECEDE.test(words[index + 1]?.text ?? '')
}

/** The verbs of a sentence, the head first: neither denied, nor nouns by what stands before them. */
function verbsOf(words: readonly WordSpan[], text: string): WordSpan[] {
  const verbs: WordSpan[] = []
  words.forEach((word, index) => {
    const verb = verbAt(word.text)
    // `del` is to delete in a name, and `of the` in a Spanish or Italian text.
    if (verb === undefined || word.text === 'del') return
    const before = words[index - 1]
    const previous = before?.text ?? ''
    if (verb.form === 'participle') return
    if (verb.form === 'gerund' && !/^(for|by|of|and|or|to)$/.test(previous)) return
    if (LEAD_INS.has(word.text) && isLeadIn(words, index)) return
    // `sites/stores`, `codes, names, groups`: before the first verb a list is one of things.
    const list =
      before !== undefined &&
      (verbs.length > 0 || verbAt(previous) !== undefined) &&
      isJoint(text.slice(before.end, word.start))
    if (verb.form !== 'gerund' && DETERMINERS.has(previous) && !list) return
    if (verb.nounish && !list && isNoun(words, index)) return
    // A second verb that may be a noun is one, unless it is joined to the first.
    if (verb.nounish && verbs.length > 0 && previous !== 'to' && !joins(previous) && !list) return
    if (words.slice(Math.max(0, index - 3), index).some(({ text: near }) => isDenial(near))) return
    verbs.push(word)
  })
  return verbs
}

/** `comments in Todoist`, `a direct message to …` are things; `Comment on …`, `Records the …` acts. */
function isNoun(words: readonly WordSpan[], index: number): boolean {
  const word = words[index] as WordSpan
  const verb = verbAt(word.text)
  if (verb === undefined || verb.families.some((family) => classOf(family) === 'Read')) return false
  const before = words[index - 1]?.text
  const after = words[index + 1]?.text ?? ''
  const placed = before === undefined || VERBS_FOLLOW.test(before)
  if (!placed) return true
  if (verb.form === 'third') return !VERBS_PRECEDE.test(after)
  return (PREPOSITIONS.has(after) || after === '') && !/^(?:on|to|back|up|in|and|or)$/.test(after)
}

/** What comes after an act; `Contacts by name`, `Messages in a box` are things. */
export const VERBS_PRECEDE = new RegExp(
  sequence(
    /^/,
    group(
      toWords(`
        an? the this that these those your my its their any some each every all existing new
        specific specified given single multiple one to on up out back off into whether
      `),
    ),
    /$/,
  ),
)
const VERBS_FOLLOW = /^(?:to|will|can|may|and|or|then|also|please|you|tool|batch|bulk)$|ly$/

/** `Use this tool to …`, `Allows you to …`: the act comes after. */
function isLeadIn(words: readonly WordSpan[], index: number): boolean {
  return words.slice(index + 1, index + 7).some(({ text }) => text === 'to' || text === 'for')
}

/** Between two acts of one list. */
function isJoint(gap: string): boolean {
  return /^\s*(?:[,/|&]|\s(?:and|or|und|oder|et|ou|y|e)\s)\s*(?:(?:and|or|und|oder|et|ou|y|e)\s)?["'`]?$/.test(
    gap,
  )
}

function joins(word: string): boolean {
  return word === 'and' || word === 'or' || word === 'then'
}

/** `Archive (delete)` means it; `create or delete` are two acts; all else is beside the act. */
function joinOf(
  text: string,
  words: readonly WordSpan[],
  last: WordSpan,
  word: WordSpan,
): 'means' | 'and' | 'beside' {
  const gap = text.slice(last.end, word.start)
  if (/^\s*\($/.test(gap)) return 'means'
  if (isJoint(gap)) return 'and'
  const index = words.indexOf(word)
  const verb = verbAt(word.text)
  const object = words[index + 1]?.text ?? ''
  if (!joins(words[index - 1]?.text ?? '') || verb === undefined) return 'beside'
  if (verb.nounish && !/^(?:set|update|start|stop)$/.test(word.text)) return 'beside'
  // `orders, history, or archive` is a list of things.
  const then = words[index - 1]?.text === 'then'
  if (!then && text.slice(words[index - 2]?.end ?? last.end, words[index - 1]?.start).includes(','))
    return 'beside'
  // `and transform of …` is a noun; `find by name and deletes it` changes the mood, and is a verb.
  return object === '' || OF_A_NOUN.has(object) || word.start - last.end > 80 ? 'beside' : 'and'
}

/** `and start time`, `and transform of` are things. */
const OF_A_NOUN = toWordSet('of time date point position')

function isDenial(text: string): boolean {
  return NEGATIONS.has(text) || text.endsWith("n't") || text.endsWith('n’t')
}

function emitVerb(zone: keyof typeof OF_TEXT, word: WordSpan, at: string, emit: EmitSignal): void {
  const verb = verbAt(word.text)
  if (verb === undefined) return
  const place = toSignalSpan(at, word)
  for (const family of verb.families)
    emit(OF_TEXT[zone].get(family) as string, place, 1 / verb.families.length)
  if (zone === 'text') emit(wordOfText(verb.base), place)
}

const OF_TEXT = {
  text: familyFeatures('text'),
  'text.means': familyFeatures('text.means'),
  'text.and': familyFeatures('text.and'),
  'text.too': familyFeatures('text.too'),
  'text.later': familyFeatures('text.later'),
  'text.also': familyFeatures('text.also'),
}
const wordOfText = wordFeatures('text')
const NOUNS_OF_ACT = nounFeatures('text.act')
const NOUNS_OF_READ = nounFeatures('text.read')

function toSignalSpan(at: string, { start, end }: WordSpan) {
  return { at, start, end }
}
