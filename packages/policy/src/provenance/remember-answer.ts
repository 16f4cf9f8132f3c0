// Remembers the answer to a call: what of it a session may believe follows from what the call was given, and from where
// that came.

import type { AnswerTrust, ProvenanceLookup, ValueReading } from '../calls/provenance.ts'
import type { CheckedCall } from './collect-values.ts'
import { isDestinationKind, readValue } from './read-value.ts'
import type { SessionProvenance } from './session-provenance.ts'
import { getToolWords } from './tool-words.ts'
import { visitLeaves } from './visit-arguments.ts'
import type { Answer } from './write-answer.ts'

/** What was called, and what the policy says of its answers. */
export interface AnsweredCall extends Pick<CheckedCall, 'args' | 'inputSchema'> {
  /** The tool; undefined for a notification, a resource and a prompt. */
  readonly name?: string | undefined
  readonly server?: string | undefined
  readonly trust?: AnswerTrust | undefined
  /** A coding client carried it out itself: what a file or a command says is text, whatever its form. */
  readonly isClientTool?: boolean
  /** A server of the gate itself was called. */
  readonly isGates?: boolean
}

/** Remembers the answer to a call. */
export function rememberAnswer(
  call: AnsweredCall,
  answer: Answer,
  memory: SessionProvenance,
  /** Where its arguments came from. */
  origins: ProvenanceLookup = memory,
): void {
  const known: string[] = []
  const echoes: string[] = []
  const own: ValueReading[] = []
  let { texts } = answer
  let isSteered = false
  visitLeaves(call.args, call.inputSchema, ({ text, role, isEnum: isWord }) => {
    if (isWord || text === '' || role === 'date') return
    const reading = readValue(text, role === 'address')
    const origin = origins.originOf(reading)
    if (origin === 'user' || origin === 'trusted') return
    if (!memory.hasRead && origin === 'nowhere') {
      if (role !== 'free text') known.push(text)
      return
    }
    echoes.push(text)
    if ((origin === 'prose' || origin === 'steered') && role !== 'free text') isSteered = true
    const canBeOwn = (role === 'id' || role === 'name') && !isDestinationKind(reading.kind)
    if (origin !== 'nowhere' || !canBeOwn) return
    if (answer.isError !== true) own.push(reading)
    // That a call failed makes nothing its own, and repeating the value makes it nobody else's.
    else texts = texts.map((one) => one.replaceAll(text, ' '))
  })
  const { name, server, trust = [], isClientTool = false, isGates = false } = call
  const words = name === undefined ? undefined : getToolWords(name)
  // What a tool makes of values that nobody named is no better than they are.
  if (echoes.length > 0 && words?.transformsInput === true) isSteered = true
  memory.addKnown(known)
  memory.addOwn(own)
  memory.remember(
    { ...answer, texts },
    {
      tool: name === undefined || server === undefined ? undefined : `${server}/${name}`,
      isSteered,
      trust,
      echoes,
      handsOverContent: isClientTool || words?.handsOverContent !== false,
      isGates,
    },
  )
}
