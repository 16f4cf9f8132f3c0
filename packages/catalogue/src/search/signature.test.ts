import fc from 'fast-check'
import { expect, test } from 'vitest'
import { writeSignature } from './signature.ts'

const write = (inputSchema: unknown, description?: string): string =>
  writeSignature('t', {
    server: 's',
    name: 't',
    inputSchema: inputSchema as never,
    ...(description === undefined ? {} : { description }),
  })

test.each([
  [{}, 't({})'],
  [undefined, 't({})'],
  [{ type: 'object', properties: { a: { type: 'string' } } }, 't({a?:string})'],
  [
    {
      properties: { b: { type: 'integer' }, a: { enum: ['x', 'y'] } },
      required: ['a'],
    },
    't({a:"x"|"y",b?:number})',
  ],
  [
    { properties: { 'a-b': { type: 'array', items: { type: ['string', 'null'] } } } },
    't({"a-b"?:(string|null)[]})',
  ],
  [
    { properties: { m: { type: 'object', additionalProperties: { type: 'string' } } } },
    't({m?:Record<string,string>})',
  ],
  [
    {
      $defs: { P: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] } },
      properties: { p: { $ref: '#/$defs/P' }, q: { $ref: '#/nowhere' } },
    },
    't({p?:{x:number},q?:unknown})',
  ],
  [{ properties: { v: { anyOf: [{ type: 'string' }, { const: 3 }] } } }, 't({v?:string|3})'],
])('%j', (schema, written) => {
  expect(write(schema)).toBe(written)
})

test('a schema that refers to itself ends', () => {
  const tree = { type: 'object', properties: { next: { $ref: '#/$defs/T' } } }
  expect(write({ $defs: { T: tree }, ...tree })).toContain('unknown')
})

test('only the first sentence of a description is shown, on one line, bounded', () => {
  expect(write({}, 'Reads a.b\nfile. And more.')).toBe('t({}) // Reads a.b file.')
  expect(write({}, 'x'.repeat(500)).length).toBeLessThan(200)
})

test('a schema of very many members is an object, not a page', () => {
  const names = Array.from({ length: 300 }, (_, at) => [`member${at}`, { type: 'string' }])
  expect(write({ properties: Object.fromEntries(names) })).toBe('t(object)')
})

test('any JSON is a schema that can be written', () => {
  fc.assert(fc.property(fc.jsonValue(), (schema) => write(schema).startsWith('t(')))
})

test('a schema whose members refer to itself many times over is not unfolded', () => {
  const members = Array.from({ length: 60 }, (_, at) => [`m${at}`, { $ref: '#/$defs/T' }])
  const type = { type: 'object', properties: Object.fromEntries(members) }
  let reads = 0
  const counted = new Proxy(type, {
    get: (target, key) => {
      reads += 1
      return Reflect.get(target, key)
    },
  })
  write({ $defs: { T: counted }, properties: { a: { $ref: '#/$defs/T' } } })
  expect(reads).toBeLessThan(10_000)
})

test('a name that could be read as another line is quoted', () => {
  const tool = { server: 's', name: 'a' }
  expect(writeSignature('a\nb({}) // fine', tool)).toBe('"a\\nb({}) // fine"({})')
})
