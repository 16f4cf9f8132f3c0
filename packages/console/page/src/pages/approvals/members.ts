// The members of arguments as they were written. Pure.

import { attempt } from '@sluice/policy/structures/attempt'
import { isObject } from '@sluice/policy/values/json'

/** Numbers that no double represents keep their digits. */
export function parseMembers(json: string): [string, unknown][] | undefined {
  const exact: unknown = attempt(() => JSON.parse(json, keepDigits))
  return isObject(exact) ? Object.entries(exact) : undefined
}

/** A number that no double represents is shown as written. */
function keepDigits(_: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value
  return String(value) === context.source ? value : new Digits(context.source)
}

class Digits {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toString(): string {
    return this.text
  }
  toJSON(): unknown {
    const raw = (JSON as unknown as { rawJSON?: (text: string) => unknown }).rawJSON
    return raw === undefined ? this.text : raw(this.text)
  }
}
