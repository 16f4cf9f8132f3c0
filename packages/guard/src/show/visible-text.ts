// Makes foreign text visible: controls, direction marks, line separators and invisible characters
// are written as their code points. Otherwise a name or an argument could control a terminal,
// reorder a line or hide a part of itself. Pure; for all output to people.

import { SHOWN_AS_CODE_CLASS } from './hidden-characters.ts'

export const UNSEEN = new RegExp(`[${SHOWN_AS_CODE_CLASS}]`, 'gu')

export function visibleText(text: string): string {
  return text.replace(
    UNSEEN,
    (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`,
  )
}

/** Shows a text of several lines in the same way: breaks and tabs stay. */
export function visibleLines(text: string): string {
  return text.replace(UNSEEN, (character) =>
    LAYOUT.has(character) ? character : visibleText(character),
  )
}

const LAYOUT: ReadonlySet<string> = new Set(['\n', '\r', '\t'])

/** JSON with such characters escaped: it parses to the same value. */
export function escapeUnseenJson(json: string): string {
  // Outside of texts JSON has line breaks only.
  return json.replace(UNSEEN, (character) =>
    character === '\n' ? character : character.split('').map(escapeUnit).join(''),
  )
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
