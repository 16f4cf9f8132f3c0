// The tools that carry agents and their parts out and in: export, import, and containers. What comes
// in is verified whole before anything changes, and grants nothing.

import { z } from 'zod'
import { AgentError } from '../shared/errors.ts'
import { TOOLS_GRANTED_MAX } from '../shared/limits.ts'
import { checkContainer, EMPTY, writeRvf } from '../transfer/rvf.ts'
import { agentId, agentShape, count, success, type ToolEntry, text, tool } from './tool-table.ts'
import { agentView } from './views.ts'

const anything = z.record(text, z.unknown())
const DESTRUCTIVE = /(^|[_./-])(delete|remove|drop|destroy|terminate|reset|purge|wipe)([_./-]|$)/i

/** A name alone, or the whole entry. */
const mcpTool = z.union([
  text.max(128),
  z.strictObject({
    name: text.max(128),
    description: text.max(2_000).optional(),
    input_schema: z.unknown().optional(),
    group: text.max(64).optional(),
  }),
])

export const TRANSFER_TOOLS: readonly ToolEntry[] = [
  tool({
    name: 'wasm_agent_export',
    title: 'Export an agent',
    description:
      'Exports the whole state of a WASM agent: files, todos, conversation and configuration, secrets replaced unless kept. Use it to back an agent up or to move it. A bundle with secrets kept has the exact memory, and pauses a running agent.',
    category: 'Write',
    input: z.strictObject({
      agentId,
      format: z.enum(['json', 'bundle']).optional().describe('bundle: signed, in base64'),
      secrets: z
        .enum(['redact', 'keep'])
        .optional()
        .describe('redact (default) replaces secrets that are found; keep leaves them in'),
    }),
    output: z.strictObject({
      agentState: anything,
      tools: z.array(text),
      todos: z.array(anything),
      files: z.array(anything),
      info: anything,
      format: text,
      version: count,
      digest: text,
      secrets: z.array(z.strictObject({ kind: text, where: text, count })),
      work: anything.optional(),
      bundle: text.optional(),
    }),
    run: async ({ agentId: id, format = 'json', secrets = 'redact' }, { service, owner }) => {
      const { exported, bundle } = await service.export(owner, id, format, secrets)
      return bundle === undefined ? exported : { ...exported, bundle }
    },
  }),
  tool({
    name: 'wasm_agent_import',
    title: 'Import an agent',
    description:
      'Imports a WASM agent from an export: the answer of wasm_agent_export, its `bundle` text, or an export of Claude Flow. Use it to restore or move an agent; says what was restored.',
    category: 'Write',
    input: z.strictObject({
      bundle: z
        .union([text, anything])
        .describe("an export as object or text, a bundle in base64, or Claude Flow's export"),
      tools: z
        .array(text.max(256))
        .max(TOOLS_GRANTED_MAX)
        .optional()
        .describe('tools to give it, as at create; by default those that the same agent has here'),
    }),
    output: z.strictObject({
      success,
      agent: agentShape,
      restored: z.enum(['memory', 'json']),
      notGranted: z.array(text).optional(),
    }),
    run: async ({ bundle, tools }, { service, owner, parent, madeLabels }) => {
      const by = { parent, labels: madeLabels }
      const { agent, restored, notGranted } = await service.import(owner, bundle, tools, by)
      const missing = notGranted.length === 0 ? {} : { notGranted: [...notGranted] }
      return { success: true, agent: agentView(agent), restored, ...missing }
    },
  }),
  tool({
    name: 'wasm_agent_compose',
    title: 'Compose a container',
    description:
      'Builds an RVF container from prompts, skills and tool descriptions. Use it to make a reusable definition that wasm_agent_create or wasm_gallery_add_custom takes. Creates no agent.',
    category: 'Write',
    input: z.strictObject({
      name: text.max(128).optional().describe('of prompts without a name'),
      model: text.max(256).optional().describe('taken and not used: a container names none'),
      skills: z
        .array(z.union([text.max(128), anything]))
        .optional()
        .describe('skills by name, or whole'),
      mcpTools: z.array(mcpTool).optional().describe('tools of MCP servers by name, or whole'),
      mcpToolsAllowDestructive: z
        .boolean()
        .optional()
        .describe('allows tools whose names say that they destroy'),
      prompts: z
        .array(z.union([text, anything]))
        .optional()
        .describe('what an agent is told: texts, or { name, system_prompt, version }'),
      tools: z.array(anything).optional().describe('definitions of tools'),
      includePlugins: z
        .union([z.boolean(), z.array(text.max(128)).max(100)])
        .optional()
        .describe('plugins by name; there are none here, so each is a warning'),
    }),
    output: z.strictObject({
      success,
      rvfBase64: text,
      manifest: z.strictObject({
        skills: z.array(text),
        mcpTools: z.array(text),
        prompts: count,
        tools: count,
        rvfSizeBytes: count,
        pluginWarnings: z.array(text),
      }),
    }),
    run: async (input) => {
      const name = input.name ?? 'agent'
      const mcpTools = (input.mcpTools ?? []).map((each) =>
        typeof each === 'string' ? { name: each } : each,
      )
      const destructive = mcpTools.find((each) => DESTRUCTIVE.test(each.name))
      if (destructive !== undefined && input.mcpToolsAllowDestructive !== true)
        throw new AgentError(
          'AGENT_INPUT',
          `\`${destructive.name}\` destroys something: set \`mcpToolsAllowDestructive\` if it is meant`,
        )
      const container = checkContainer({
        ...EMPTY,
        tools: (input.tools ?? []).map((each) => ({ description: '', ...each })),
        prompts: (input.prompts ?? []).map((each) =>
          typeof each === 'string'
            ? { name, system_prompt: each, version: '1.0.0' }
            : { name, version: '1.0.0', ...each },
        ),
        skills: (input.skills ?? []).map((each) =>
          typeof each === 'string'
            ? { name: each, description: `Skill: ${each}`, trigger: each, content: each }
            : { description: '', trigger: '', content: '', ...each },
        ),
        mcp_tools: mcpTools.map((each) => ({ description: '', input_schema: {}, ...each })),
        orchestrator: null,
      })
      const rvf = writeRvf(container)
      return {
        success: true,
        rvfBase64: rvf.toString('base64'),
        manifest: {
          skills: container.skills.map((each) => each.name),
          mcpTools: container.mcp_tools.map((each) => each.name),
          prompts: container.prompts.length,
          tools: container.tools.length,
          rvfSizeBytes: rvf.length,
          pluginWarnings: pluginWarnings(input.includePlugins ?? []),
        },
      }
    },
  }),
]

function pluginWarnings(plugins: boolean | readonly string[]): string[] {
  if (typeof plugins === 'boolean') return plugins ? ['there are no plugins here'] : []
  return plugins.map((name) => `Plugin not found: ${name} (skipped)`)
}
