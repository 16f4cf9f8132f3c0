// The fuzzing loop: runs a target on mutated inputs, keeps those that reach a new edge (or an edge a new
// number of times), and reports the first input that breaks the target's promise or takes too long.
// `npm run fuzz` runs it for minutes, test/fuzz/fuzz.test.ts for a thousand executions.

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../support/modules.ts'
import { instrument, type PlantedFault } from './instrument.ts'
import { mutate, Random } from './mutate.ts'

/** What a file in targets/ exports. */
export interface FuzzTarget {
  readonly seeds: readonly (string | Uint8Array)[]
  readonly tokens?: readonly string[]
  /** Throws, or rejects, if the promise of the code under test is broken. */
  readonly run: (input: Buffer) => void | Promise<void>
  /** How many executions `npm run fuzz` makes if no time is given. */
  readonly executions?: number
  /** Throws what was found over all inputs. */
  readonly finish?: () => void
  /** What the target counted itself. */
  readonly summarize?: () => string
}

export interface FuzzOptions {
  readonly target: string
  readonly executions: number
  /** Without it the target's own number of executions, or a minute. */
  readonly seconds?: number
  readonly seed?: number
  readonly fault?: PlantedFault
}

export interface FuzzReport {
  readonly target: string
  readonly executions: number
  readonly seconds: number
  readonly edges: number
  readonly edgesReached: number
  readonly corpus: number
  readonly summary?: string
  readonly finding?: { readonly message: string; readonly input: string }
}

declare global {
  var fuzzEdges: Uint8Array
}

const TARGETS = join(ROOT, 'test/fuzz/targets')
export const FUZZ_TARGETS: readonly string[] = readdirSync(TARGETS).map((file) =>
  basename(file, '.ts'),
)

const LENGTH_MAX = 4_096
/** CPU of one execution, the least of three; far above what 4 KiB may cost. */
const SLOW_MS = 50
const TRIES_TO_SHORTEN = 2_000

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const file = join(TARGETS, `${options.target}.ts`)
  const { code, edges, dictionary } = await instrument(file, options.fault)
  // In the repository, where the packages are found.
  const folder = mkdtempSync(join(ROOT, '.fuzz-'))
  try {
    const module = join(folder, 'target.mjs')
    writeFileSync(module, code)
    const target = (await import(pathToFileURL(module).href)) as FuzzTarget
    return await new Fuzzer(target, globalThis.fuzzEdges, dictionary, options).run(edges)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

class Fuzzer {
  readonly #target: FuzzTarget
  readonly #counters: Uint8Array
  readonly #options: FuzzOptions
  readonly #dictionary: readonly Buffer[]
  readonly #random: Random
  /** For each edge the numbers of hits that were seen, as a set of eight ranges. */
  readonly #seen: Uint8Array
  readonly #corpus: Buffer[] = []

  constructor(
    target: FuzzTarget,
    counters: Uint8Array,
    dictionary: readonly string[],
    options: FuzzOptions,
  ) {
    this.#target = target
    this.#counters = counters
    this.#options = options
    this.#dictionary = [...dictionary, ...(target.tokens ?? [])].map((token) => Buffer.from(token))
    this.#random = new Random(options.seed ?? 20_261_115)
    this.#seen = new Uint8Array(counters.length)
  }

  async run(edges: number): Promise<FuzzReport> {
    const began = performance.now()
    const { target } = this.#options
    const own = this.#options.seconds === undefined ? this.#target.executions : undefined
    const executions = own ?? this.#options.executions
    const seconds = this.#options.seconds ?? (own === undefined ? 60 : Number.POSITIVE_INFINITY)
    const seeds = this.#target.seeds.map((seed) => Buffer.from(seed as string))
    let count = 0
    let failure: Failure | undefined
    for (; failure === undefined && count < executions; count += 1) {
      if (performance.now() - began > seconds * 1_000) break
      const input = seeds[count] ?? this.#mutated()
      failure = await this.#execute(input)
      // One planted fault is enough; without one, all differences of a run are wanted.
      if (this.#options.fault !== undefined && count % 500 === 0) failure ??= this.#finish()
    }
    failure ??= this.#finish()
    const summary = this.#target.summarize?.()
    const finding = failure && (failure.input.length > 0 ? await this.#shorten(failure) : failure)
    return {
      target,
      executions: count,
      seconds: Math.round((performance.now() - began) / 100) / 10,
      edges,
      edgesReached: this.#seen.reduce((sum, hits) => sum + (hits === 0 ? 0 : 1), 0),
      corpus: this.#corpus.length,
      ...(summary === undefined ? {} : { summary }),
      ...(finding === undefined
        ? {}
        : {
            finding: {
              message: finding.message,
              input: JSON.stringify(finding.input.toString('latin1')),
            },
          }),
    }
  }

  #finish(): Failure | undefined {
    try {
      this.#target.finish?.()
      return undefined
    } catch (error) {
      return { message: (error as Error).message, input: Buffer.alloc(0) }
    }
  }

  #mutated(): Buffer {
    // New inputs first: they reach what no other does.
    const recent = this.#corpus.slice(-16)
    const pool = this.#random.next(2) === 0 ? recent : this.#corpus
    return mutate(this.#random.pick(pool), {
      random: this.#random,
      dictionary: this.#dictionary,
      corpus: this.#corpus,
      lengthMax: LENGTH_MAX,
    })
  }

  async #execute(input: Buffer): Promise<Failure | undefined> {
    this.#counters.fill(0)
    const began = performance.now()
    const message = await this.#attempt(input)
    if (message !== undefined) return { message, input }
    if (performance.now() - began > SLOW_MS && (await this.#isSlow(input)))
      return { message: `takes more than ${SLOW_MS} ms of CPU`, input }
    if (this.#isNew() || this.#corpus.length === 0) this.#corpus.push(input)
    return undefined
  }

  async #attempt(input: Buffer): Promise<string | undefined> {
    try {
      const running = this.#target.run(input)
      if (running instanceof Promise) await running
      return undefined
    } catch (error) {
      return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    }
  }

  async #isSlow(input: Buffer): Promise<boolean> {
    for (let round = 0; round < 3; round += 1) {
      const before = process.threadCpuUsage()
      await this.#attempt(input)
      const { user, system } = process.threadCpuUsage(before)
      if ((user + system) / 1_000 <= SLOW_MS) return false
    }
    return true
  }

  #isNew(): boolean {
    let isNew = false
    const [counters, seen] = [this.#counters, this.#seen]
    for (let edge = 0; edge < counters.length; edge += 1) {
      const hits = counters[edge] as number
      if (hits === 0) continue
      const range = 1 << (31 - Math.clz32(hits))
      const before = seen[edge] as number
      if ((before & range) !== 0) continue
      seen[edge] = before | range
      isNew = true
    }
    return isNew
  }

  /** The same failure from a shorter input, as far as a few tries go. */
  async #shorten(failure: Failure): Promise<Failure> {
    let best = failure
    for (let tries = 0, span = best.input.length >> 1; span > 0 && tries < TRIES_TO_SHORTEN; ) {
      let isShorter = false
      for (let at = 0; at < best.input.length && tries < TRIES_TO_SHORTEN; at += span) {
        tries += 1
        const input = Buffer.concat([best.input.subarray(0, at), best.input.subarray(at + span)])
        if ((await this.#attempt(input)) !== best.message) continue
        best = { message: best.message, input }
        isShorter = true
      }
      if (!isShorter) span >>= 1
    }
    return best
  }
}

interface Failure {
  readonly message: string
  readonly input: Buffer
}
