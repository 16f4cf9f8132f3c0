// Results as the stateless generation wants them: each says that it is complete, and what a rule may change
// for a caller at any time is not to be kept, least of all for others.

import { toWordSet } from '@sluice/policy/structures/word-set'
import { splitMembers } from '@sluice/protocol/json/raw-members'
import { STATELESS_REVISION } from '@sluice/protocol/protocol-generation'
import { writeMembers } from '@sluice/protocol/write-message'

const CACHEABLE = toWordSet(`
  server/discover tools/list prompts/list resources/list resources/templates/list resources/read
  resources/directory/read skills/list skills/get
`)

/** At the beginning or at the end, if it cannot be somebody else's. */
const SAYS_SO = /^\{"resultType":|[^\\],"resultType":"\w+"\}$/

export function toStatelessResult(method: string, resultText: string): string {
  const isCacheable = CACHEABLE.has(method)
  if (!isCacheable && SAYS_SO.test(resultText)) return resultText
  const members = splitMembers(resultText)
  if (!members.has('resultType')) members.set('resultType', '"complete"')
  if (isCacheable) members.set('ttlMs', '0').set('cacheScope', '"private"')
  if (method === 'server/discover')
    members.set('supportedVersions', JSON.stringify([STATELESS_REVISION]))
  return writeMembers(members)
}
