// Numbers that options of the agents' commands carry, or an error that says what was given.

import { ArgumentError } from '../terminal/errors.ts'

export function readWhole(option: string, text: string, least: number): number {
  const number = Number(text)
  if (text.trim() !== '' && Number.isSafeInteger(number) && number >= least) return number
  throw new ArgumentError(`${option} is \`${text}\``, `a whole number from ${least} on`)
}

export function readAmount(option: string, text: string): number {
  const number = Number(text)
  if (text.trim() !== '' && Number.isFinite(number) && number > 0) return number
  throw new ArgumentError(`${option} is \`${text}\``, 'a number above 0, such as 0.50')
}
