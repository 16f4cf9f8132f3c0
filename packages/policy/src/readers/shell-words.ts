// Words of a command line as a program receives them, as far as the text says it. An unquoted expansion
// may become several words, and any word that begins with an expansion may become an option. Pure.

import type { Word, WordPart } from 'unbash'

export interface ShellWord {
  /** The word without quotes. Expansions and patterns are as they are written; `$HOME` is `~`. */
  text: string
  /** The program receives exactly `text`. */
  isExact: boolean
  /** It may become an option. */
  isOpen: boolean
  /** It may become several words. */
  splits: boolean
}

export function toExactWord(text: string): ShellWord {
  return { text, isExact: true, isOpen: false, splits: false }
}

export function toShellWord({ value, parts }: Word): ShellWord {
  const word = toExactWord(parts === undefined ? value : '')
  for (const part of parts ?? []) addPart(part, false, word)
  return word
}

const HOME = /^\$(?:HOME|\{HOME\})$/
const WORKING_DIRECTORY = /^\$(?:PWD|\{PWD\})$/
/** `"$@"` and `"${list[@]}"` are several words although they are quoted. */
const ALL_WORDS = /^\$(?:@|\{@|\{[^}]*\[@\])/
/** A choice of names that may lead out of the directory it stands in. */
const CLIMBS = /\.\.|[/~]/

function addPart(part: WordPart, isQuoted: boolean, word: ShellWord): void {
  if (part.type === 'DoubleQuoted') {
    for (const inner of part.parts) addPart(inner, true, word)
    return
  }
  if (part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted') {
    word.text += part.value
    return
  }
  const isFirst = word.text === ''
  const isFile = part.type === 'ProcessSubstitution'
  const isName = isFile || part.type === 'Glob' || part.type === 'BraceExpansion'
  word.isExact = false
  if (isFirst && HOME.test(part.text)) word.text = '~'
  else if (isFirst && WORKING_DIRECTORY.test(part.text)) word.text = '.'
  else {
    word.splits ||= !isName && (!isQuoted || ALL_WORDS.test(part.text))
    word.isOpen ||= word.splits || (isFirst && !isFile)
    // Such a choice counts as an expansion.
    if (part.type === 'BraceExpansion' && CLIMBS.test(part.text)) word.text += '$'
    word.text += part.text
  }
}
