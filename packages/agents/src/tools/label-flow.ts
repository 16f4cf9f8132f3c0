// Which way labels go with each tool: what a caller has seen goes into the agent, the new agent or the
// gallery that it tells something, and what these have seen goes to the caller who reads from them. An
// agent that acts through another one is so judged by both sessions, and nothing is washed off by a
// copy, a child or a template. Used by all-tools.ts around every call; docs/concepts/agents.md has this table.

import { processClock } from '@sluice/ledger/store/process-clock'
import { AgentError } from '../shared/errors.ts'
import type { ToolSetting } from './tool-table.ts'

export interface LabelFlow {
  /** Who has seen what the caller has seen, from before the call on. `made` is the agent it makes;
   * `removed` is the rest of the agent's family, and every caller that finds out that the agent is gone. */
  readonly into: 'agent' | 'made' | 'removed' | 'gallery' | 'nothing'
  /** Whose labels the caller has with the answer, refusals included. `owner` is all agents of the owner
   * and those that are gone; `gone` the latter alone. */
  readonly from: 'agent' | 'owner' | 'gone' | 'gallery' | 'template' | 'nothing'
}

const BOTH: LabelFlow = { into: 'agent', from: 'agent' }
const READ: LabelFlow = { into: 'nothing', from: 'agent' }
const GALLERY_READ: LabelFlow = { into: 'nothing', from: 'gallery' }
const GALLERY_WRITE: LabelFlow = { into: 'gallery', from: 'gallery' }

export const LABEL_FLOWS: Readonly<Record<string, LabelFlow>> = {
  wasm_agent_create: { into: 'made', from: 'template' },
  wasm_agent_prompt: BOTH,
  wasm_agent_wait: READ,
  wasm_agent_tool: BOTH,
  // Also what a filter or a page leaves out: that it is not listed says something about it.
  wasm_agent_list: { into: 'nothing', from: 'owner' },
  wasm_agent_files: READ,
  wasm_agent_todos: READ,
  wasm_agent_is_stopped: READ,
  wasm_agent_state: READ,
  wasm_agent_tools: READ,
  wasm_agent_turn_count: READ,
  // How many forks there are is something that the family can count.
  wasm_agent_fork: BOTH,
  // The reason is a text that its readers get.
  wasm_agent_stop: BOTH,
  // The prompts to come are texts that the agent gets.
  wasm_agent_schedule: BOTH,
  wasm_agent_schedules: { into: 'nothing', from: 'owner' },
  wasm_agent_unschedule: BOTH,
  wasm_agent_pause: BOTH,
  wasm_agent_resume: BOTH,
  wasm_agent_history: READ,
  wasm_agent_replay: READ,
  wasm_agent_reset: BOTH,
  // Which agents are left is something that others can ask.
  wasm_agent_terminate: { into: 'removed', from: 'agent' },
  wasm_agent_export: READ,
  // The export carries what its agent had seen; the new agent has that too. What it is granted depends
  // on whether the agent that it was is still there.
  wasm_agent_import: { into: 'made', from: 'gone' },
  // A function of its arguments.
  wasm_agent_compose: { into: 'nothing', from: 'nothing' },
  wasm_gallery_list: GALLERY_READ,
  wasm_gallery_categories: GALLERY_READ,
  wasm_gallery_active: GALLERY_READ,
  wasm_gallery_config: GALLERY_READ,
  wasm_gallery_export: GALLERY_READ,
  wasm_gallery_search: GALLERY_READ,
  wasm_gallery_list_by_category: GALLERY_READ,
  wasm_gallery_create: { into: 'made', from: 'template' },
  wasm_gallery_load_rvf: GALLERY_READ,
  wasm_gallery_activate: GALLERY_WRITE,
  wasm_gallery_configure: GALLERY_WRITE,
  wasm_gallery_add_custom: GALLERY_WRITE,
  wasm_gallery_remove_custom: GALLERY_WRITE,
  wasm_gallery_import: GALLERY_WRITE,
}

type Input = { readonly agentId?: string; readonly template?: unknown }

/** A tool without a flow is an error: what nobody decided for does not run. */
export async function withLabelFlow<Result extends object>(
  name: string,
  input: Input,
  setting: ToolSetting,
  run: (setting: ToolSetting) => Promise<Result>,
): Promise<Result> {
  const flow = LABEL_FLOWS[name]
  if (flow === undefined) throw new Error(`it is not declared how labels flow with \`${name}\``)
  const { labels, service, owner } = setting
  if (labels === undefined) {
    await checkVisible(input, setting)
    return run(setting)
  }
  const seen = labels.saw()
  const see = async () => labels.see(await labelsFrom(flow.from, input, setting))
  let hasRemoved = false
  try {
    await checkVisible(input, setting)
    if (seen.length > 0) await addSeenLabels(flow.into, input, setting, seen)
    // Its progress messages reach the caller, too.
    if (flow.from === 'agent') await see()
    const filled = flow.from === 'template' ? await templateLabels(input, setting) : []
    const madeLabels = flow.into === 'made' ? [...new Set([...seen, ...filled])] : []
    const result = await run({ ...setting, madeLabels })
    hasRemoved = flow.into === 'removed'
    return result
  } catch (error) {
    // That there is no room says how many agents the owner has.
    if (error instanceof AgentError && error.code === 'AGENT_LIMIT')
      labels.see(await service.steps.ownerLabels(owner))
    throw error
  } finally {
    // Before the caller has the answer; what it says of an error counts too. Of an agent that this call
    // removed, its labels were read before.
    if (!hasRemoved) await see()
  }
}

/** The family that an agent may name and list; undefined if it sees all agents of its owner. */
export async function visibleFamily({
  parent,
  service,
  owner,
}: ToolSetting): Promise<number | undefined> {
  if (parent === undefined) return undefined
  const { agent } = await service.steps.standing(owner, parent, processClock.nowMs())
  return agent.asked.sees === 'owner' ? undefined : agent.family
}

/** Throws if the caller is an agent and the one it names is not of its family, as if that one did not exist. */
async function checkVisible({ agentId }: Input, setting: ToolSetting): Promise<void> {
  if (agentId === undefined || setting.parent === undefined) return
  const family = await visibleFamily(setting)
  if (family === undefined) return
  const { agent } = await setting.service.steps.standing(
    setting.owner,
    agentId,
    processClock.nowMs(),
  )
  if (agent.family !== family)
    throw new AgentError('AGENT_NOT_FOUND', `there is no agent \`${agentId}\``)
}

async function addSeenLabels(
  into: LabelFlow['into'],
  input: Input,
  setting: ToolSetting,
  seen: readonly string[],
): Promise<void> {
  const { service, gallery, owner } = setting
  if (into === 'gallery') await gallery.addLabels(owner, seen)
  if (into !== 'agent' && into !== 'removed') return
  await addFamilyLabels(input, setting, seen)
  if (into === 'removed') await service.steps.addGoneLabels(owner, seen)
}

async function addFamilyLabels(
  { agentId = '' }: Input,
  { service, owner }: ToolSetting,
  seen: readonly string[],
): Promise<void> {
  const { family } = await service.steps.standing(owner, agentId, processClock.nowMs())
  if (seen.every((label) => family.labels.includes(label))) return
  await service.steps.addLabels(owner, agentId, seen, processClock.nowMs())
}

function templateLabels(
  { template }: Input,
  { gallery, owner }: Pick<ToolSetting, 'gallery' | 'owner'>,
) {
  return typeof template === 'string' ? gallery.templateLabels(owner, template) : []
}

/** What the caller has seen with an answer that `from` names. */
async function labelsFrom(
  from: LabelFlow['from'],
  input: Input,
  setting: ToolSetting,
): Promise<readonly string[]> {
  const { service, gallery, owner } = setting
  switch (from) {
    case 'nothing':
      return []
    case 'gallery':
      return gallery.labels(owner)
    case 'template':
      return templateLabels(input, setting)
    case 'agent':
      return service.steps.labelsOf(owner, [input.agentId ?? ''])
    case 'owner':
      return service.steps.ownerLabels(owner)
    case 'gone':
      return service.steps.goneLabels(owner)
  }
}
