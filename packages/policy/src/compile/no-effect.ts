// What would silently have no effect is an error at its key: a mistake that looks like a rule is
// worse than no rule.

import type { Problems } from '../document/problem.ts'
import { findEntry, type LocatedMap } from '../document/read-document.ts'

interface NoEffectText {
  readonly message: string
  readonly help: string
  readonly problems: Problems
}

export function noEffect(
  map: LocatedMap,
  field: string,
  { message, help, problems }: NoEffectText,
): void {
  const key = map.entries.find((candidate) => candidate.key.value === field)?.key
  problems.error('POLICY_NO_EFFECT', key?.at ?? map.at, message, help)
}

export function hideByArgs(map: LocatedMap, problems: Problems): void {
  const word = [findEntry(map, 'action'), findEntry(map, 'otherwise')].find(
    (node) => node?.kind === 'scalar' && node.value === 'hide',
  )
  problems.error(
    'POLICY_HIDE_BY_ARGS',
    (word ?? map).at,
    '`hide` depends on the call, which is not known when tools are listed',
    'write `deny`, or let `when` read something other than `args` and `call`',
  )
}
