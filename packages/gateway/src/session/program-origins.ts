// Where the values of a program's call came from, once the program has received an answer: a program can decode, turn
// round and put together what a model could only copy. What stands neither in an answer, nor in the prompt, nor in
// the program itself was computed, and counts as text of a stranger. Used where calls are decided and remembered.

import { newHashSeed } from '@sluice/access/identity/sessions/answer-memory'
import type { ProvenanceLookup, ValueReading } from '@sluice/policy/calls/provenance'
import { SessionProvenance } from '@sluice/policy/provenance/session-provenance'
import type { ProgramOrigin } from '@sluice/protocol/agent-calls'

/** Of the newest program: it makes many calls. */
let last: { readonly code: string; readonly words: SessionProvenance } | undefined

/** What `memory` says of the values of a call; `program` made it. */
export function originsFor<Memory extends ProvenanceLookup | undefined>(
  memory: Memory,
  program: ProgramOrigin | undefined,
): Memory | ProvenanceLookup {
  if (memory === undefined || program?.hasReceived !== true) return memory
  const { hasPrompt, hasRead, hasProse } = memory
  const isComputed = (reading: ValueReading): boolean => {
    const words = readProgram(program.code)
    return hasRead && (words.isIncomplete || words.originOf(reading) === 'nowhere')
  }
  return {
    hasPrompt,
    hasRead,
    hasProse,
    wasAsked: (word) => memory.wasAsked(word),
    originOf: (reading) => {
      const origin = memory.originOf(reading)
      return origin === 'nowhere' && isComputed(reading) ? 'prose' : origin
    },
    sourceOf: (reading) => memory.sourceOf(reading),
  }
}

function readProgram(code: string): SessionProvenance {
  if (last?.code === code) return last.words
  const words = new SessionProvenance(newHashSeed())
  words.addText(code)
  last = { code, words }
  return words
}
