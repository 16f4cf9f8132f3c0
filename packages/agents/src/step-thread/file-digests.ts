// Digests of files, made from the content when somebody asks and kept by agent, path and revision:
// what has not changed is not read again. In the step thread.

import { hash } from 'node:crypto'
import { LruMap } from '@sluice/policy/structures/lru-map'
import type { AgentQuery, FileFacts } from '../guest/protocol.ts'
import type { AgentRow } from '../journal/rows.ts'
import type { GuestAnswer } from '../sandbox/instance.ts'
import { FILES_IN_ONE_PIECE, LIGHT_AGENT_BYTES } from '../shared/limits.ts'
import type { SlicedWork } from '../shared/sliced.ts'
import { type Stepper, unwrap } from '../steps/stepper.ts'

const KEPT_MAX = 20_000

export interface DigestedFile extends FileFacts {
  readonly digest: string
  /** Only if one file was asked for. */
  readonly content: Uint8Array | undefined
}

type Call = (text: string) => GuestAnswer

/** A few milliseconds: less than a copy of the agent's memory would take. */
function isLittle(files: readonly FileFacts[]): boolean {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  return files.length <= FILES_IN_ONE_PIECE && (files.length === 1 || bytes <= LIGHT_AGENT_BYTES)
}

export class FileDigests {
  readonly #digests = new LruMap<string, string>(KEPT_MAX);

  /** In slices if there is content to be read. */
  *of(
    stepper: Stepper,
    agent: AgentRow,
    question: { glob?: string; path?: string },
    nowMs: number,
  ): SlicedWork<DigestedFile[]> {
    const { value } = stepper.ask(agent, { ask: 'files', ...question }, nowMs)
    const facts = value as FileFacts[]
    const name = ({ path, revision }: FileFacts): string => `${agent.id} ${revision} ${path}`
    const unknown = facts.filter((file) => !this.#digests.has(name(file)))
    const whole = question.path !== undefined
    if (unknown.length === 0 && !whole)
      return facts.map((file) => ({
        ...file,
        digest: this.#digests.get(name(file)) ?? '',
        content: undefined,
      }))
    const read = (call: Call, file: FileFacts): DigestedFile => {
      const known = this.#digests.get(name(file))
      if (known !== undefined && !whole) return { ...file, digest: known, content: undefined }
      const { text, bytes } = call(JSON.stringify({ ask: 'read', path: file.path } as AgentQuery))
      unwrap(text)
      const content = bytes ?? new Uint8Array()
      const digest = `sha256:${hash('sha256', content)}`
      this.#digests.set(name(file), digest)
      return { ...file, digest, content: whole ? content : undefined }
    }
    const { residents } = stepper
    if (isLittle(whole ? facts : unknown))
      return residents.asking(agent, nowMs, (call) => facts.map((file) => read(call, file)))
    return yield* residents.askingInSlices(agent, nowMs, function* (call) {
      const files: DigestedFile[] = []
      for (const file of facts) {
        files.push(read(call, file))
        yield
      }
      return files
    })
  }
}
