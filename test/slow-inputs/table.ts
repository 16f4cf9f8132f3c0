// What the search found, as rows of a Markdown table.

import type { SlowInput } from './search.ts'

export const TABLE_HEAD =
  '| reader | growth | worst input | at | CPU | longest piece to its limit |\n|---|---|---|---|---|---|'

export function rowOf({ reader, shape, exponent, points, atLimit }: SlowInput): string {
  const last = points.at(-1)
  const { prefix, unit, suffix, second } = shape
  const input = [
    prefix && `${quote(prefix)} +`,
    quote(unit),
    second && `then ${quote(second)}`,
    suffix && `+ ${quote(suffix)}`,
  ]
  const limit = `${atLimit.isMeasured ? '' : '~ '}${millis(atLimit.micros)}`
  return `| ${reader} | ${exponent.toFixed(2)} | ${input.filter((part) => part).join(' ')} | ${last?.chars} | ${millis(last?.micros ?? 0)} | ${limit} |`
}

function millis(micros: number): string {
  return `${micros < 10_000 ? (micros / 1_000).toFixed(1) : Math.round(micros / 1_000)} ms`
}

const SHOWN_CHARS_MAX = 48

/** ASCII only: a page must not carry what the texts are made of. */
function quote(text: string): string {
  const escaped = JSON.stringify(text.slice(0, SHOWN_CHARS_MAX)).replace(
    /[^ -~]|\|/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `\`${escaped}${text.length > SHOWN_CHARS_MAX ? '…' : ''}\``
}
