// Which way labels go with each tool: what a caller has seen goes into the agent, the new agent or the
// gallery that it tells something, and what these have seen goes to the caller who reads from them. An
// agent that acts through another one is so judged by both sessions, and nothing is washed off by a
// copy, a child or a template. Used by all-tools.ts around every call; docs/agents.md has this table.

import type { ToolSetting } from './tool-table.ts'

export interface LabelFlow {
  /** Who has seen what the caller has seen, from before the call on. `made` is the agent it makes. */
  readonly into: 'agent' | 'made' | 'gallery' | 'nothing'
  /** Whose labels the caller has with the answer, refusals included. */
  readonly from: 'agent' | 'listed' | 'gallery' | 'template' | 'nothing'
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
  wasm_agent_list: { into: 'nothing', from: 'listed' },
  wasm_agent_files: READ,
  wasm_agent_todos: READ,
  wasm_agent_is_stopped: READ,
  wasm_agent_state: READ,
  wasm_agent_tools: READ,
  wasm_agent_turn_count: READ,
  wasm_agent_fork: READ,
  // The reason is a text that its readers get.
  wasm_agent_stop: BOTH,
  wasm_agent_resume: BOTH,
  wasm_agent_history: READ,
  wasm_agent_reset: BOTH,
  // Nothing is told and nothing is left to read.
  wasm_agent_terminate: { into: 'nothing', from: 'nothing' },
  wasm_agent_export: READ,
  // The export carries what its agent had seen; the new agent has that too.
  wasm_agent_import: { into: 'made', from: 'nothing' },
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
  if (flow === undefined) throw new Error(`nobody has said which way labels go with \`${name}\``)
  const { labels } = setting
  if (labels === undefined) return run(setting)
  const seen = labels.saw()
  if (flow.into === 'agent' && seen.length > 0) await tellAgent(input, setting, seen)
  if (flow.into === 'gallery') await setting.gallery.addLabels(setting.owner, seen)
  // What it says while it goes on is said to the caller, too.
  if (flow.from === 'agent') labels.see(await labelsFrom(flow.from, input, setting, undefined))
  let result: Result | undefined
  try {
    const filled = flow.from === 'template' ? await templateLabels(input, setting) : []
    const madeLabels = flow.into === 'made' ? [...new Set([...seen, ...filled])] : []
    result = await run({ ...setting, madeLabels })
    return result
  } finally {
    // Before the caller has the answer; what it says of an error counts too.
    labels.see(await labelsFrom(flow.from, input, setting, result))
  }
}

async function tellAgent(
  { agentId = '' }: Input,
  { service, owner }: ToolSetting,
  seen: readonly string[],
): Promise<void> {
  const { family } = await service.steps.standing(owner, agentId, Date.now())
  if (seen.every((label) => family.labels.includes(label))) return
  await service.steps.addLabels(owner, agentId, seen, Date.now())
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
  result: object | undefined,
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
    case 'listed': {
      const { agents = [] } = (result ?? {}) as { agents?: readonly { readonly id: string }[] }
      return service.steps.labelsOf(
        owner,
        agents.map(({ id }) => id),
      )
    }
  }
}
