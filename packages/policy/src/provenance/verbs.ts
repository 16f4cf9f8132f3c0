// What a tool does to the world, by the verb of its name, and whether a user asked for it in other
// words. Used where a value alone does not tell: deleting what really exists has a good origin.

import { memoize } from '../structures/memoize.ts'
import { toWordSet } from '../structures/word-set.ts'
import { NAMES_MAX, splitName } from './names.ts'

/** Words that ask for the same destruction: "change" does not ask to reset. */
const DESTRUCTIVE_SYNONYMS = toGroups([
  `delete remove erase drop purge wipe clear destroy trash discard uninstall unlink rid clean cleanup prune`,
  `cancel abort revoke terminate stop end close withdraw unsubscribe kill shut disable deactivate`,
  `remove kick exclude ban expel uninvite`,
  `reset revert restore undo roll rollback discard`,
  `overwrite replace`,
  `archive store clear clean`,
])

/** Words that ask for the same. A verb may be in several groups. */
const SYNONYMS = toGroups([
  `send email mail message forward reply respond answer write notify tell inform contact dm text post
   deliver share submit invite let ask remind say greet welcome thank congratulate`,
  `send pay transfer refund wire remit reimburse settle owe money donate return`,
  `pay buy purchase order checkout charge spend`,
  `create make add new set schedule book write generate start open plan put organise organize arrange
   draft compose prepare register save insert build`,
  `create schedule set remind`,
  `schedule plan set recurring standing book arrange pay transfer`,
  `reserve book reservation booking rent hire order`,
  `add append include insert put attach extend invite join write`,
  `update change modify edit adjust set correct fix rename replace move amend revise refresh
   increase decrease raise lower alter`,
  `reschedule move postpone shift change delay bring`,
  `share give grant invite send allow access permission`,
  `post publish upload tweet announce write share put send`,
  `invite add bring include join onboard`,
  `move rename transfer relocate copy`,
  `write save store create append put edit overwrite update fix implement change`,
  `execute run launch start call invoke perform test build compile install`,
  `merge commit push pull rebase checkout branch tag release deploy`,
  `get fetch open visit read download browse look see check summarize summarise find show view access`,
])

function toGroups(lines: readonly string[]): readonly ReadonlySet<string>[] {
  return lines.map((line) => new Set(line.split(/\s+/)))
}

const DESTRUCTIVE =
  toWordSet(`delete remove erase drop purge wipe clear destroy trash discard uninstall unlink cancel abort revoke
   terminate kill kick ban expel close disable deactivate reset truncate prune unsubscribe overwrite
   archive merge force`)

/** What is bought or booked exists before: it is not made up, as the name of a new file is. */
const BUYING = toWordSet('reserve book rent hire order buy purchase checkout subscribe')
const ORDERED = toWordSet('reservation booking rental order purchase subscription')
const MAKING = toWordSet('create make add new place submit')

/** What the name of a tool says that it does. */
export interface ToolVerb {
  /** The first word of the name that is a known verb, else its first word. */
  readonly verb: string
  /** A word of the name destroys something. */
  readonly isDestructive: boolean
  /** It buys or books something. */
  readonly isPurchase: boolean
  /** The verb and every word that asks for the same. */
  readonly words: ReadonlySet<string>
  /** The other words of the name: what it acts on. */
  readonly objects: ReadonlySet<string>
}

/** Remembered by the name, since it is asked for with every call. */
export const getToolVerb = memoize((name): ToolVerb => {
  const words = splitName(name)
  const verb =
    words.find((word) => DESTRUCTIVE.has(word) || SYNONYMS.some((group) => group.has(word))) ??
    words[0] ??
    ''
  const known = DESTRUCTIVE.has(verb) ? DESTRUCTIVE_SYNONYMS : SYNONYMS
  const groups = known.filter((group) => group.has(verb))
  return {
    verb,
    isDestructive: words.some((word) => DESTRUCTIVE.has(word)),
    isPurchase: BUYING.has(verb) || (MAKING.has(verb) && words.some((word) => ORDERED.has(word))),
    words: new Set([verb, ...groups.flatMap((group) => [...group])]),
    objects: new Set(words.filter((word) => word !== verb && word.length > 2)),
  }
}, NAMES_MAX)

const ENDINGS = ['s', 'es', 'd', 'ed', 'ing', 'er', 'ment', 'ation', 'al']

/** The word, and what it may be a form of: `deleted`, `deletes`, `deleting` of `delete`, `cancelled` of `cancel`. */
export function listWordForms(word: string): string[] {
  const forms = [word]
  for (const ending of ENDINGS) {
    if (!word.endsWith(ending) || word.length - ending.length < 3) continue
    const stem = word.slice(0, -ending.length)
    forms.push(stem, `${stem}e`, stem.slice(0, -1))
  }
  return forms
}
