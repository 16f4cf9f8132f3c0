// Values for the differential test of the import: they print alike in Go although their types differ.

import type { JsonValue } from '@sluice/policy/values/json'

export const ALIKE: readonly JsonValue[] = [
  5,
  '5',
  6,
  '6',
  2.5,
  '2.5',
  1_000_000,
  '1000000',
  '1e+06',
  true,
  'true',
  false,
  'false',
  null,
  '<nil>',
  '',
  'x',
  ['x'],
  '[x]',
  [5],
  ['5'],
  '[5]',
  { text: 5 },
  'map[text:5]',
  'text',
]
