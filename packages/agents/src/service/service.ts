// Agents as their owners meet them: create, prompt, wait, stop and all the rest, each for a
// principal. Runs are durable: what a crash cut off goes on when the service starts again, and a lost
// connection ends nothing. Model and tool I/O is here, guests and journal in their threads.

import { hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { readTrustedKeys } from '@sluice/ledger/store/files/trusted-keys'
import type { SharedAgents } from '@sluice/ledger/store/postgres/shared-agents'
import { processClock } from '@sluice/ledger/store/process-clock'
import type { AgentQuery, JournalEvent, Price } from '../guest/protocol.ts'
import type { CreateEvent } from '../journal/new-rows.ts'
import { toRetention } from '../journal/retention.ts'
import type { AgentRow } from '../journal/rows.ts'
import { nextTime, readPlan } from '../journal/schedule-plan.ts'
import { checkModel, checkModelName, type ModelSettings } from '../models/models.ts'
import { EffectPerformer } from '../runs/perform-effect.ts'
import { recoverEffects, runTurn, type TurnContext } from '../runs/run-turn.ts'
import {
  type ProgressListener,
  RunWatch,
  type ToolResult,
  type WaitOptions,
} from '../runs/run-watch.ts'
import { RunningEffects } from '../runs/running-effects.ts'
import { loadImage } from '../sandbox/load-image.ts'
import { Programs } from '../sandbox/programs.ts'
import { sha256 } from '../sandbox/quickjs.ts'
import { AgentError } from '../shared/errors.ts'
import {
  CODE_THREADS,
  DEPTH_MAX,
  PROMPT_LENGTH_MAX,
  WAIT_MS_DEFAULT,
  WAIT_MS_MAX,
} from '../shared/limits.ts'
import type { PromptWriter } from '../shared/prompt-writer.ts'
import { type GateTool, NO_GATE } from '../shared/tool-gate.ts'
import type { ForkModel, ForkOptions } from '../step-thread/fork-and-upgrade.ts'
import type { AgentAnswer } from '../step-thread/operation-results.ts'
import { type Steps, type StepThread, startStepThread } from '../step-thread/step-client.ts'
import { WakeTimer } from '../step-thread/wake-timer.ts'
import type { ApplyOptions } from '../steps/stepper.ts'
import { type BundleKey, loadBundleKey } from '../transfer/bundle-key.ts'
import {
  type CreateArguments,
  checkPrice,
  checkResumeFromInside,
  DEFAULT_MODEL,
  grantTools,
  type LimitArguments,
  toConfig,
  toFiles,
  toLimits,
} from '../transfer/create-config.ts'
import type { AgentImportResult } from '../transfer/import-agent.ts'
import { packFiles } from '../transfer/pack-files.ts'
import { Transfers } from '../transfer/transfer-client.ts'
import { AgentCluster } from './agent-cluster.ts'
import { type ExportedAgent, exportAgent, importForOwner } from './import-request.ts'
import { moveForOwner } from './move-request.ts'
import { notePrompt } from './note-prompt.ts'
import { type Delivery, type DeliveryResult, ScheduledPrompts } from './schedules.ts'
import type {
  AskedBy,
  MadeSchedule,
  PromptAnswer,
  PromptArguments,
  ScheduleArguments,
  ServiceOptions,
} from './service-types.ts'

const { nowMs } = processClock
/** How long the secret of a webhook is. */
const SECRET_BYTES = 32

/** All agents of one directory. @example `await Service.start({ directory: './agents', models })` */
export class Service {
  readonly watch = new RunWatch()
  readonly #options: ServiceOptions
  readonly #thread: StepThread
  readonly #programs: Programs
  readonly #turns: TurnContext
  readonly #transfers: Transfers
  readonly #image: string
  readonly #key: BundleKey
  readonly #cluster: AgentCluster | undefined
  readonly #schedules: ScheduledPrompts
  /** The last prompt of each request that is being begun. */
  readonly #beginning = new Map<string, Promise<unknown>>()
  #runs = 0
  #isClosed = false

  static async start(options: ServiceOptions): Promise<Service> {
    const [core, program] = await Promise.all([loadImage('main'), loadImage('program')])
    const service = new Service(options, core, program)
    if (service.#cluster !== undefined) return service.#cluster.start()
    if (options.resume !== 'ask') await recoverEffects(service.#turns, () => true)
    await service.#turns.timer.arm()
    return service
  }

  private constructor(
    options: ServiceOptions,
    core: Uint8Array<ArrayBuffer>,
    program: Uint8Array<ArrayBuffer>,
  ) {
    const { directory, models, gate = NO_GATE, shared } = options
    this.#options = options
    const keySource = shared?.bundleSeed ?? directory
    this.#key = loadBundleKey(keySource)
    const lease = randomUUID()
    const place =
      shared === undefined ? directory : { address: shared.address, gate: shared.gate, lease }
    this.#image = sha256(core)
    const history = toRetention(options.history)
    this.#thread = startStepThread({ place, image: core, history }, nowMs())
    this.#programs = new Programs(program, CODE_THREADS)
    this.#transfers = new Transfers({ keySource, core })
    const { steps } = this
    this.#turns = {
      steps,
      running: new RunningEffects(),
      performer: new EffectPerformer({ steps, programs: this.#programs, gate, models, now: nowMs }),
      watch: this.watch,
      timer: new WakeTimer(
        steps,
        (id) => this.#run(null, id, { kind: 'tick', at: nowMs() }),
        (atMs) => this.#schedules.fireDue(atMs),
      ),
      nonce: () => this.#thread.nonce(),
      now: nowMs,
      warn: options.warn ?? (() => undefined),
    }
    const { server } = options
    this.#schedules = new ScheduledPrompts({
      steps,
      way: options.gate && { gate, server: server ?? '' },
      prompt: (...prompt) => this.prompt(...prompt),
      wake: (atMs) => this.#turns.timer.note(atMs),
      now: nowMs,
    })
    this.#cluster = shared && this.#join(shared, lease)
  }

  /** Makes the agents of this gate a part of those of all gates. */
  #join(shared: SharedAgents, lease: string): AgentCluster {
    const { running, timer, warn } = this.#turns
    return new AgentCluster({
      shared,
      lease,
      service: this,
      warn,
      onTaken: async (agents) => {
        const taken = agents && new Set(agents)
        if (this.#options.resume !== 'ask')
          await recoverEffects(this.#turns, (id) => taken === undefined || taken.has(id))
        await timer.arm()
      },
      onFenced: () => running.cancelEverything(),
    })
  }

  get steps(): Steps {
    return this.#thread.steps
  }

  get models(): ModelSettings {
    return this.#options.models
  }

  /** Ends what is under way and begins nothing more: another gate, if there is one, goes on. What is out is waited
   * for until the time is `over`. */
  async handOver(over: Promise<void>): Promise<void> {
    if (this.#cluster === undefined) return
    this.#turns.timer.close()
    this.#schedules.close()
    this.#turns.watch.endAll()
    await this.#turns.running.finish(over)
    await this.close()
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cluster?.close()
    this.#turns.timer.close()
    this.#schedules.close()
    await this.#turns.running.close()
    await this.#programs.close()
    await this.#transfers.close()
    await this.#thread.close()
  }

  async create(owner: string, input: CreateArguments, by: AskedBy = {}): Promise<AgentRow> {
    const model = input.model ?? DEFAULT_MODEL
    const price = this.priceOf(model)
    const parent = by.parent === undefined ? undefined : await this.#parent(owner, by.parent)
    if (parent !== undefined && input.sees === 'owner' && parent.asked.sees !== 'owner')
      throw new AgentError('AGENT_INPUT', '`sees`: an agent gives no other agent more than its own')
    const tools = input.tools?.length
      ? grantTools(input.tools, await this.#available(owner, parent))
      : []
    const config = toConfig({ ...input, model }, tools, price)
    if (parent !== undefined) {
      const { family } = await this.steps.standing(owner, parent.id, nowMs())
      checkPrice(family.limits, price, model)
    }
    checkModelName(model, this.#options.models)
    const id = `agent_${randomUUID()}`
    const { files, bytes } = packFiles(toFiles(input.files))
    const at = nowMs()
    // Names are drawn in advance, a hundred at a time; bytes are not.
    const seed = input.seed ?? randomUUID()
    const event: CreateEvent = { kind: 'create', at, id, seed, config, files }
    const { files: _files, rvfBase64: _rvf, ...configured } = input
    const { agent } = await this.steps.create(
      {
        owner,
        ...(parent === undefined ? {} : { family: parent.family }),
        depth: parent === undefined ? 0 : parent.depth + 1,
        image: this.#image,
        asked: by.session === undefined ? configured : { ...configured, session: by.session },
        grants: tools.map(({ server, tool }) => `${server}/${tool}`),
        ...(by.labels === undefined ? {} : { labels: by.labels }),
      },
      event,
      bytes,
    )
    this.#turns.timer.note(agent.summary.wakeAt)
    return agent
  }

  async #parent(owner: string, id: string): Promise<AgentRow> {
    const { agent } = await this.steps.standing(owner, id, nowMs())
    if (agent.depth >= DEPTH_MAX)
      throw new AgentError('AGENT_LIMIT', `agents make agents at most ${DEPTH_MAX} deep`)
    return agent
  }

  /** What may be granted: what the owner may see, and from inside no more than the parent was given. */
  async #available(owner: string, parent: AgentRow | undefined): Promise<readonly GateTool[]> {
    const tools = await (this.#options.gate ?? NO_GATE).list(owner)
    if (parent === undefined) return tools
    return tools.filter(({ server, name }) => parent.grants.includes(`${server}/${name}`))
  }

  /** What may be granted to an agent of this owner. */
  listTools(owner: string): Promise<readonly GateTool[]> {
    return this.#available(owner, undefined)
  }

  priceOf(model: string): Price | null {
    const { prices } = this.#options.models
    return Object.hasOwn(prices, model) ? (prices[model] ?? null) : null
  }

  /** Begins a run, or finds the one that the same request began, and waits for it a while. */
  async prompt(
    owner: string,
    id: string,
    prompt: PromptArguments,
    onProgress?: ProgressListener,
    signal?: AbortSignal,
  ): Promise<PromptAnswer> {
    const { input, waitMs, requestId } = prompt
    if (input.length > PROMPT_LENGTH_MAX)
      throw new AgentError('AGENT_LIMIT', `a prompt has at most ${PROMPT_LENGTH_MAX} characters`)
    const how = { waitMs, onProgress, signal }
    const waiting =
      requestId === undefined
        ? await this.#begin(owner, id, prompt, how)
        : await this.#inTurn(JSON.stringify([id, requestId]), async () => {
            const known = await this.steps.runOf(owner, id, requestId)
            if (known === undefined) return this.#begin(owner, id, prompt, how)
            return this.#wait(id, known.runId, how)
          })
    return waiting()
  }

  /** Prompts of one request that arrive at once: the first begins the run, the others find it. */
  async #inTurn<Value>(request: string, begin: () => Promise<Value>): Promise<Value> {
    const before = this.#beginning.get(request)
    const begun = before === undefined ? begin() : before.then(begin, begin)
    this.#beginning.set(request, begun)
    try {
      return await begun
    } finally {
      if (this.#beginning.get(request) === begun) this.#beginning.delete(request)
    }
  }

  /** Begins a run; what is returned waits for it. */
  async #begin(
    owner: string,
    id: string,
    prompt: PromptArguments,
    how: WaitOptions,
  ): Promise<() => Promise<PromptAnswer>> {
    const { form = '', maxTurns = null, requestId } = prompt
    const input = prompt.input + form
    const { agent } = await this.steps.standing(owner, id, nowMs())
    checkModel(agent.model, this.#options.models)
    // A run that is under way ends on the core that it began on.
    if (agent.image !== this.#image && agent.summary.runId === null)
      await this.move(owner, id).catch(unlessBusy)
    const fresh = this.#schedules.findFresh(id, requestId)
    // To begin with a clean conversation would end a run that somebody else has begun.
    if (fresh !== undefined && agent.summary.runId !== null)
      throw new AgentError('AGENT_BUSY', 'skipped: still running')
    if (fresh !== undefined) await this.reset(owner, id, true, fresh)
    await notePrompt(agent, prompt, this.steps, this.#options.gate)
    const at = nowMs()
    const runId = this.#runId(at)
    // Before the run can end.
    const waiting = this.#wait(id, runId, how)
    try {
      const event = { kind: 'prompt', at, runId, input, maxTurns } as const
      await this.#run(owner, id, event, { request: requestId })
    } catch (error) {
      this.#turns.watch.forget(runId)
      throw error
    }
    return waiting
  }

  /** Moves an agent to the core of this version; one that runs is left where it is. */
  async move(owner: string, id: string): Promise<AgentRow> {
    const { agent } = await this.steps.standing(owner, id, nowMs())
    if (agent.image === this.#image) return agent
    if (agent.summary.runId !== null)
      throw new AgentError('AGENT_BUSY', `\`${id}\` is running: it can be moved when it is idle`)
    const setting = { steps: this.steps, transfers: this.#transfers, owner: agent.owner }
    return moveForOwner(id, nowMs(), setting)
  }

  async wait(
    owner: string,
    id: string,
    runId: string | undefined,
    waitMs?: number,
    onProgress?: ProgressListener,
    signal?: AbortSignal,
  ): Promise<PromptAnswer> {
    const run = await this.steps.run(owner, id, runId ?? null)
    if (run === undefined)
      throw new AgentError('AGENT_RUN_MISSING', `\`${id}\` has no run \`${runId ?? ''}\``)
    return this.#wait(id, run.runId, { waitMs, onProgress, signal })()
  }

  /** Listens at once; the answer is asked for when the run is known to be in the journal. */
  #wait(
    id: string,
    runId: string,
    { waitMs, onProgress, signal }: WaitOptions,
  ): () => Promise<PromptAnswer> {
    const ms = Math.min(waitMs ?? WAIT_MS_DEFAULT, WAIT_MS_MAX)
    const ended = this.#turns.watch.until(id, runId, { waitMs: ms, onProgress, signal })
    return async () => {
      const already = await this.steps.run(null, id, runId)
      const result = already?.result ?? (await ended)
      if (already?.result) this.#turns.watch.forget(runId)
      if (signal?.aborted) await this.cancel(null, id, runId)
      const { agent } = await this.steps.standing(null, id, nowMs())
      const final = result ?? (await this.steps.run(null, id, runId))?.result
      return final ? { state: 'ended', agent, ...final } : { state: 'running', runId, agent }
    }
  }

  async cancel(owner: string | null, id: string, runId: string): Promise<void> {
    await this.#run(owner, id, { kind: 'cancel', at: nowMs(), runId })
  }

  /** A tool of the agent's, called by a person; one outside goes through the gate like any other. */
  async callTool(owner: string, id: string, name: string, input: unknown): Promise<ToolResult> {
    const { step } = await this.#run(owner, id, { kind: 'direct', at: nowMs(), name, input })
    if (step.output !== null) return step.output
    const [effect] = step.effects
    if (effect === undefined) throw new AgentError('AGENT_STOPPED', 'the agent is stopped')
    return this.#turns.watch.outcome(id, effect.id)
  }

  async stop(owner: string, id: string, reason: string): Promise<AgentRow> {
    const event: JournalEvent = { kind: 'stop', at: nowMs(), reason: 'stopped', detail: reason }
    return (await this.#run(owner, id, event)).agent
  }

  /** Between two steps: what was sent ends, nothing new is sent until a resume. */
  async pause(owner: string, id: string, reason: string): Promise<AgentRow> {
    const { agent, held } = await this.steps.standing(owner, id, nowMs())
    const stop = agent.summary.stop ?? held
    if (stop !== null)
      throw new AgentError('AGENT_STOPPED', `\`${id}\` is stopped (${stop.detail})`)
    return (await this.#run(owner, id, { kind: 'pause', at: nowMs(), reason })).agent
  }

  /** Goes on where it stood, after a pause or a limit that is raised. */
  async resume(
    owner: string,
    id: string,
    limits: LimitArguments,
    by: AskedBy = {},
  ): Promise<AgentRow> {
    const changes = toLimits(limits)
    const { agent, family, held } = await this.steps.standing(owner, id, nowMs())
    const isIdle = agent.state === 'idle' && agent.summary.stop === null && held === null
    if (isIdle && Object.keys(changes).length === 0)
      throw new AgentError(
        'AGENT_INPUT',
        `\`${id}\` is idle, neither paused nor stopped: there is nothing to resume`,
      )
    if (by.parent !== undefined) checkResumeFromInside(agent, changes, family.limits)
    checkPrice(changes, this.priceOf(agent.model), agent.model)
    const at = nowMs()
    const event: JournalEvent = { kind: 'resume', at, limits: changes, runId: this.#runId(at) }
    const applied = await this.#run(owner, id, event)
    await recoverEffects(this.#turns, (each) => each === id)
    return applied.agent
  }

  async reset(owner: string, id: string, keepFiles: boolean, by: AskedBy = {}): Promise<void> {
    const event: JournalEvent = { kind: 'reset', at: nowMs(), keepFiles }
    await this.#run(owner, id, event, { keepsCounts: by.parent !== undefined })
    this.#forget(id)
  }

  async terminate(owner: string, id: string): Promise<void> {
    const { agent } = await this.steps.standing(owner, id, nowMs())
    if (agent.summary.runId !== null || agent.summary.queued > 0)
      await this.stop(owner, id, 'it is being removed')
    await this.steps.remove(owner, id)
    this.#forget(id)
  }

  /** The agent is prompted at its times, or when a webhook comes; a schedule of the same name is replaced. */
  async schedule(
    owner: string,
    id: string,
    { name, input, ...plan }: ScheduleArguments,
    writer: PromptWriter,
  ): Promise<MadeSchedule> {
    if (input.length > PROMPT_LENGTH_MAX)
      throw new AgentError('AGENT_LIMIT', `a prompt has at most ${PROMPT_LENGTH_MAX} characters`)
    const { server } = this.#options
    if (plan.webhook === true && server === undefined)
      throw new AgentError('AGENT_INPUT', '`webhook`: webhooks come to a gate, and none runs here')
    const made = readPlan(plan, nowMs())
    const nextMs = nextTime(made, nowMs())
    this.#schedules.drop(id, name)
    await this.steps.putSchedule(owner, id, { name, plan: made, input, writer, nextMs })
    this.#turns.timer.note(nextMs)
    const { agent, family } = await this.steps.standing(owner, id, nowMs())
    const secret =
      'webhookMadeMs' in made ? this.#secretOf(id, name, made.webhookMadeMs) : undefined
    const status = {
      agent: id,
      owner,
      name,
      plan: made,
      input,
      writer,
      nextMs,
      last: null,
      run: null,
    }
    return { status, secret, publicUrl: this.#options.publicUrl, agent, family }
  }

  async unschedule(owner: string, id: string, name: string): Promise<void> {
    this.#schedules.drop(id, name)
    if (await this.steps.removeSchedule(owner, id, name)) return
    throw new AgentError('AGENT_INPUT', `\`${id}\` has no schedule \`${name}\``)
  }

  /** The secret of a webhook, whether or not there is such a schedule: nothing tells which there are. */
  async webhookSecret({ agent: id, name }: WebhookPlace): Promise<Buffer> {
    const found = await this.steps.findSchedule(id, name)
    const isWebhook = found !== undefined && 'webhookMadeMs' in found.plan
    if (isWebhook) return this.#secretOf(id, name, found.plan.webhookMadeMs)
    return randomBytes(SECRET_BYTES)
  }

  #secretOf(id: string, name: string, madeMs: number): Buffer {
    const seed = this.#key.key.export({ format: 'der', type: 'pkcs8' })
    const about = JSON.stringify(['trigger', id, name, madeMs])
    return Buffer.from(hkdfSync('sha256', seed, '', about, SECRET_BYTES))
  }

  /** A webhook has come, and its signature is right. */
  async deliver(_owner: null, id: string, delivery: Delivery): Promise<DeliveryResult> {
    const row = await this.steps.findSchedule(id, delivery.name)
    if (row === undefined || !('webhookMadeMs' in row.plan))
      throw new AgentError('AGENT_NOT_FOUND', 'the schedule was removed')
    return this.#schedules.deliver(row, delivery)
  }

  async fork(owner: string, id: string, how: ForkRequest = {}): Promise<AgentRow[]> {
    const { count = 1, turn = null, name } = how
    const ids = Array.from({ length: count }, () => `agent_${randomUUID()}`)
    const model = how.model === undefined ? undefined : await this.#forkModel(owner, id, how.model)
    await this.steps.prepareTurn(owner, id, turn)
    return this.steps.fork(owner, id, { ids, turn, nowMs: nowMs(), name, model })
  }

  /** Another model for a fork, with its price: the limit on cost of the family holds for it too. */
  async #forkModel(owner: string, id: string, name: string): Promise<ForkModel> {
    checkModelName(name, this.#options.models)
    const price = this.priceOf(name)
    const { family } = await this.steps.standing(owner, id, nowMs())
    checkPrice(family.limits, price, name)
    return { name, price }
  }

  async ask<Value>(
    owner: string,
    id: string,
    question: AgentQuery,
  ): Promise<AgentAnswer & { readonly value: Value }> {
    const { value, content, agent } = await this.steps.ask(owner, id, question, nowMs())
    return { value: value as Value, content, agent }
  }

  /** Exports an agent. If its memory is wanted, a running agent is paused: the copy goes on with the run once it is
   * resumed. */
  async export(
    owner: string,
    id: string,
    format: 'json' | 'bundle',
    secrets: 'redact' | 'keep',
  ): Promise<ExportedAgent> {
    if (format === 'bundle' && secrets === 'keep') await this.#pauseRun(owner, id)
    const options = { secrets, nowMs: nowMs(), installation: this.#key.name }
    const setting = { steps: this.steps, transfers: this.#transfers, owner }
    return exportAgent(id, format, options, setting)
  }

  async #pauseRun(owner: string, id: string): Promise<void> {
    const { agent, held } = await this.steps.standing(owner, id, nowMs())
    if (agent.summary.runId === null || agent.summary.stop !== null || held !== null) return
    if (agent.pausedAt === null) await this.pause(owner, id, 'it is exported with its memory')
    await this.#turns.running.settle(id)
  }

  /** `tools` are chosen as at create; without them it has those of the agent it was, if that is here. */
  async import(
    owner: string,
    input: unknown,
    tools?: readonly string[],
    by: AskedBy = {},
  ): Promise<AgentImportResult> {
    const parent = by.parent === undefined ? undefined : await this.#parent(owner, by.parent)
    const { directory } = this.#options
    const trustedHere = readTrustedKeys(directory).map(({ key }) => key)
    const imported = await importForOwner(input, {
      steps: this.steps,
      transfers: this.#transfers,
      owner,
      id: `agent_${randomUUID()}`,
      nowMs: nowMs(),
      installation: this.#key.name,
      trusted: [this.#key.publicKey, ...trustedHere],
      available: await this.#available(owner, parent),
      tools,
      prices: this.#options.models.prices,
      parent: parent?.id,
      labels: by.labels,
    })
    this.#turns.timer.note(imported.agent.summary.wakeAt)
    return imported
  }

  #run(owner: string | null, id: string, event: JournalEvent, how: ApplyOptions = {}) {
    return runTurn(this.#turns, { owner, id, event, ...how })
  }

  #forget(id: string): void {
    this.#turns.performer.forget(id)
    this.#turns.running.cancelAll(id)
  }

  /** Sorts by time, so that the newest run is the last. */
  #runId(at: number): string {
    this.#runs += 1
    const order = `${at.toString(36).padStart(9, '0')}${(this.#runs % 46_656).toString(36).padStart(3, '0')}`
    return `run_${order}_${randomBytes(4).toString('hex')}`
  }
}

export interface ForkRequest extends Partial<Pick<ForkOptions, 'turn' | 'name'>> {
  readonly count?: number
  /** Another model than that of the agent. */
  readonly model?: string | undefined
}

interface WebhookPlace {
  readonly agent: string
  readonly name: string
}

/** It began to run meanwhile, and moves another time. */
function unlessBusy(error: AgentError): void {
  if (error.code !== 'AGENT_BUSY') throw error
}
