// The key of a limit's counter in words: which rule of which document, and whose counter it is. Pure.

/** `<rule>|<kind>|<window>|<per>` and for each value `|<length>:<value>`. */
const KEY = /^(.*?)\|(?:rate|spend|price)\|(\d+)\|([^|]*)(.*)$/s

export interface DescribedLimit {
  /** The rule: the tool, category or name of the limit. */
  readonly limit: string
  /** The values that the limit counts by; empty if it counts for everyone. */
  readonly whose: string
  /** 0 if the key does not say. */
  readonly windowMs: number
}

export function describeLimitKey(key: string): DescribedLimit {
  const { rule, windowMs, values } = splitKey(key)
  return { limit: describeRule(rule), whose: values.filter(Boolean).join(', '), windowMs }
}

/** The same without values of arguments, for messages that leave the gate. */
export function nameCounterOwner(key: string): string {
  const { per, values } = splitKey(key)
  return values.filter((value, at) => value !== '' && !/^args\b/.test(per[at] ?? '')).join(', ')
}

function splitKey(key: string) {
  const bare = key.replace(/^shadow:/, '')
  // Of a key of an unknown form the rule alone: values of arguments may follow it.
  const [unread = ''] = bare.split('|')
  const [, rule = unread, windowMs = '0', per = '', values = ''] = KEY.exec(bare) ?? []
  return {
    rule,
    windowMs: Number(windowMs),
    per: per.replace(/ of .*$/s, '').split(', '),
    values: readValues(values),
  }
}

function readValues(text: string): string[] {
  const values: string[] = []
  for (let rest = text; ; ) {
    const [, length, value = ''] = /^\|(\d+):(.*)$/s.exec(rest) ?? []
    if (length === undefined) return values
    values.push(value.slice(0, Number(length)))
    rest = value.slice(Number(length))
  }
}

/** A JSON Pointer of the document, as a person names the rule. */
function describeRule(pointer: string): string {
  const parts = pointer.split('/').map((part) => part.replace(/~1/g, '/').replace(/~0/g, '~'))
  const [, section, name] = parts
  return section === undefined || name === undefined ? pointer : name
}
