// Generated texts for the bypass tests: duplicate, recased and escaped members, of other types, in
// any order; white space of every kind; batches; byte order marks.

import fc from 'fast-check'

export const DENIED = '{"name":"delete_all","arguments":{"all":true}}'
export const DENIED_CALL = `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":${DENIED}}`

/** At most 256 of them, capitalised, in upper case, and with letters that fold into ASCII. */
export function allCases(key: string): Set<string> {
  const found = new Set<string>()
  const letters = [...key]
  for (let bits = 0; bits < 2 ** Math.min(key.length, 8); bits++)
    found.add(
      letters.map((letter, at) => (bits & (1 << at) ? letter.toUpperCase() : letter)).join(''),
    )
  found.add(key.toUpperCase())
  found.add(key.replaceAll('s', 'ſ'))
  found.add(key.replaceAll('k', '\u212a'))
  found.add(key.replaceAll('i', 'ı'))
  found.add(key.replaceAll('i', 'İ'))
  found.delete(key)
  return found
}

/** About one in six is accepted. */
export function forms(): fc.Arbitrary<string> {
  const space = fc.oneof(
    { weight: 20, arbitrary: fc.constant('') },
    { weight: 5, arbitrary: fc.constantFrom(' ', '\n', '\r', '\t', '\r\n') },
    {
      weight: 1,
      arbitrary: fc.constantFrom('\u2028', '\u0085', '\v', '\f', '\ufeff', '\0', '\u00a0'),
    },
  )
  const spelt = (key: string): fc.Arbitrary<string> =>
    fc.oneof(
      { weight: 30, arbitrary: fc.constant(key) },
      {
        weight: 3,
        arbitrary: fc.constant(`\\u00${key.charCodeAt(0).toString(16)}${key.slice(1)}`),
      },
      { weight: 1, arbitrary: fc.constantFrom(...allCases(key)) },
    )
  const rarely = (odd: string[], ...usual: string[]): fc.Arbitrary<string> =>
    fc.oneof(
      { weight: 30, arbitrary: fc.constantFrom(...usual) },
      { weight: 1, arbitrary: fc.constantFrom(...odd) },
    )
  const odd = ['null', '[]', '1', '"x"', '{}', 'true', DENIED, `[${DENIED}]`, '1e400', '"\\ud800"']
  const args = rarely(
    odd,
    '{}',
    '{"a":1.50}',
    `\n${DENIED_CALL}\n`,
    '{"\u2028":"\u2029\u0085"}',
    DENIED,
  )
  const object = (
    members: [string, fc.Arbitrary<string>, weight: number][],
  ): fc.Arbitrary<string> =>
    fc
      .tuple(
        ...members.map(([key, value, weight]) =>
          fc.array(
            fc
              .tuple(space, spelt(key), space, space, value, space)
              .map(([a, name, b, c, text, d]) => `${a}"${name}"${b}:${c}${text}${d}`),
            weight === 1 ? { minLength: 1, maxLength: 1 } : { maxLength: 1 },
          ),
        ),
        fc.boolean(),
        fc.nat(40),
      )
      .map((parts) => {
        const double = parts.at(-1) as number
        const list = (parts.slice(0, -2) as string[][]).flat()
        if (parts.at(-2)) list.reverse()
        const again = double < list.length ? [list[double]] : []
        return `{${[...list, ...again]}}`
      })
  const params = object([
    ['name', rarely(odd, '"read"', '"delete_all"', '"re\\u0061d"'), 1],
    ['arguments', args, 0],
    ['_meta', rarely(odd, '{}', '{"progressToken":1}', '{"x":"\u2028"}'), 0],
    ['extra', args, 0],
  ])
  const message = object([
    ['jsonrpc', rarely(['2.0', '2', '"2"', '"1.0"', 'null'], '"2.0"', '"2\\u002e0"'), 1],
    ['id', rarely(odd, '1', '"a"', '"\u2028"', '1.0'), 1],
    ['method', rarely(odd, '"tools/call"', '"ping"', '"tools\\/call"', '"prompts/get"'), 1],
    [
      'params',
      fc.oneof({ weight: 20, arbitrary: params }, { weight: 1, arbitrary: rarely(odd, DENIED) }),
      1,
    ],
  ])
  const batch = fc.array(
    fc.oneof(
      { weight: 9, arbitrary: message },
      { weight: 1, arbitrary: fc.constant(`[${DENIED_CALL}]`) },
    ),
  )
  return fc
    .tuple(
      space,
      fc.oneof(
        { weight: 5, arbitrary: message },
        { weight: 1, arbitrary: batch.map((all) => `[${all}]`) },
      ),
      space,
      fc.oneof(
        { weight: 20, arbitrary: fc.constant('') },
        { weight: 1, arbitrary: fc.constantFrom(DENIED_CALL, ',', ']') },
      ),
    )
    .map((parts) => parts.join(''))
}
