// Runs the first event of an agent in the core of this version, in the transfer thread: of a large agent it
// takes longer than another owner's agent should wait. For an import, and for an agent that moves here from
// an older core. The step thread only stores what it led to.

import type { JournalEvent } from '../guest/protocol.ts'
import { packMemory } from '../journal/checkpoint-store.ts'
import type { Image } from '../sandbox/image.ts'
import type { Instance } from '../sandbox/instance.ts'
import { InstancePool } from '../sandbox/pool.ts'
import { AgentError } from '../shared/errors.ts'
import { BEGIN_TIMEOUT_MS } from '../shared/limits.ts'
import { runWhole } from '../shared/sliced.ts'
import { LIMITS } from '../steps/residents.ts'
import { type BegunAgent, unwrap } from '../steps/stepper.ts'
import { type ExportPieces, takePieces } from './export-agent.ts'
import { packFiles, unpackExported } from './pack-files.ts'
import { type AgentExport, digestJson, toPortable } from './portable.ts'
import { sealExport } from './seal-export.ts'

/** Nobody's agent waits in this thread: a busy machine may take its time. */
const PATIENT = { ...LIMITS, timeoutMs: BEGIN_TIMEOUT_MS }

export interface FirstEvent {
  readonly text: string
  readonly bytes: Uint8Array | undefined
  readonly atMs: number
}

export interface MovedAgent extends BegunAgent {
  /** The event that brings it here, in UTF-8, and the files that are no text. */
  readonly text: Uint8Array
  readonly bytes: Uint8Array | undefined
  /** The memory in the older core, as it is stored. */
  readonly before: Uint8Array
}

export class AgentBeginner {
  readonly #open: () => Image
  #pool: InstancePool | undefined

  /** `open`: the image of this version's core, when it is first needed. */
  constructor(open: () => Image) {
    this.#open = open
  }

  begin(first: FirstEvent): BegunAgent {
    return this.#run(first, ({ begun }) => begun)
  }

  /** Moves an agent by the portable form; throws if anything is not the same on this side. `memory`: in the older core. */
  move(pieces: ExportPieces, memory: Uint8Array, atMs: number): MovedAgent {
    const options = { secrets: 'keep', nowMs: atMs, installation: '' } as const
    const before = sealExport(pieces, options)
    const { agent, labels } = pieces.taken
    const from = toPortable(before)
    const { files, bytes } = packFiles(unpackExported(before.files))
    const { id } = agent
    const { config } = from
    const event: JournalEvent = { kind: 'create', at: atMs, id, seed: id, config, files, from }
    const text = JSON.stringify(event)
    return this.#run({ text, bytes, atMs }, ({ instance, begun }) => {
      // A refusal has no agent to ask.
      unwrap(begun.answer)
      const ask = (question: string) =>
        instance.call({ operation: 'ask', text: question, nowMs: atMs }, PATIENT)
      const after = sealExport(runWhole(takePieces(ask, { agent, labels })), options)
      if (digestJson(essence(before)) !== digestJson(essence(after)))
        throw new AgentError('AGENT_DAMAGED', `\`${id}\` did not come through the move unchanged`)
      return { ...begun, text: Buffer.from(text), bytes, before: packMemory(memory) }
    })
  }

  #run<Result>(
    { text, bytes, atMs }: FirstEvent,
    work: (run: { readonly instance: Instance; readonly begun: BegunAgent }) => Result,
  ): Result {
    this.#pool ??= new InstancePool(this.#open())
    const instance = this.#pool.take()
    try {
      const call = { operation: 'step', text, bytes, nowMs: atMs }
      const { text: answer } = instance.call(call, PATIENT)
      return work({ instance, begun: { answer, memory: packMemory(instance.save()) } })
    } finally {
      this.#pool.give(instance)
    }
  }
}

/** What must be the same on both sides of a move. */
function essence({ agentState, todos, files }: AgentExport): unknown {
  return { agentState, todos, files }
}
