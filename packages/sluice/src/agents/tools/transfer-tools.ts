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
  tool(
    'wasm_agent_export',
    [
      'Export an agent',
      'Everything of an agent as JSON with a digest; `bundle` adds its exact memory, signed.',
    ],
    'Write',
    z.strictObject({
      agentId,
      format: z.enum(['json', 'bundle']).optional(),
      secrets: z.enum(['redact', 'keep']).optional(),
    }),
    z.strictObject({
      agentState: anything,
      tools: z.array(text),
      todos: z.array(anything),
      files: z.array(anything),
      info: anything,
      format: text,
      version: count,
      digest: text,
      secrets: z.array(z.strictObject({ kind: text, where: text, count })),
      bundle: text.optional(),
    }),
    async ({ agentId: id, format = 'json', secrets = 'redact' }, { service, owner }) => {
      const { exported, bundle } = await service.export(owner, id, format, secrets)
      return bundle === undefined ? exported : { ...exported, bundle }
    },
  ),
  tool(
    'wasm_agent_import',
    [
      'Import an agent',
      'Takes a JSON export (object or text) or a base64 bundle; says what was restored.',
    ],
    'Write',
    z.strictObject({
      bundle: z.union([text, anything]),
      tools: z
        .array(text.max(256))
        .max(TOOLS_GRANTED_MAX)
        .optional()
        .describe('tools to give it, as at create; by default those that the same agent has here'),
    }),
    z.strictObject({
      success,
      agent: agentShape,
      restored: z.enum(['memory', 'json']),
      notGranted: z.array(text).optional(),
    }),
    async ({ bundle, tools }, { service, owner, parent, madeLabels }) => {
      const by = { parent, labels: madeLabels }
      const { agent, restored, notGranted } = await service.import(owner, bundle, tools, by)
      const missing = notGranted.length === 0 ? {} : { notGranted: [...notGranted] }
      return { success: true, agent: agentView(agent), restored, ...missing }
    },
  ),
  tool(
    'wasm_agent_compose',
    ['Compose a container', 'Puts prompts, skills and tool descriptions into one RVF container.'],
    'Write',
    z.strictObject({
      name: text.max(128).optional(),
      model: text.max(256).optional(),
      skills: z.array(anything).optional(),
      mcpTools: z.array(mcpTool).optional(),
      mcpToolsAllowDestructive: z.boolean().optional(),
      prompts: z.array(z.union([text, anything])).optional(),
      tools: z.array(anything).optional(),
      includePlugins: z.boolean().optional(),
    }),
    z.strictObject({
      success,
      rvfBase64: text,
      manifest: z.strictObject({
        skills: count,
        mcpTools: count,
        prompts: count,
        tools: count,
        rvfSizeBytes: count,
        pluginWarnings: z.array(text),
      }),
    }),
    async (given) => {
      const name = given.name ?? 'agent'
      const mcpTools = (given.mcpTools ?? []).map((each) =>
        typeof each === 'string' ? { name: each } : each,
      )
      const destructive = mcpTools.find((each) => DESTRUCTIVE.test(each.name))
      if (destructive !== undefined && given.mcpToolsAllowDestructive !== true)
        throw new AgentError(
          'AGENT_INPUT',
          `\`${destructive.name}\` destroys something: set \`mcpToolsAllowDestructive\` if it is meant`,
        )
      const container = checkContainer({
        ...EMPTY,
        tools: (given.tools ?? []).map((each) => ({ description: '', ...each })),
        prompts: (given.prompts ?? []).map((each) =>
          typeof each === 'string'
            ? { name, system_prompt: each, version: '1.0.0' }
            : { name, version: '1.0.0', ...each },
        ),
        skills: (given.skills ?? []).map((each) => ({
          description: '',
          trigger: '',
          content: '',
          ...each,
        })),
        mcp_tools: mcpTools.map((each) => ({ description: '', input_schema: {}, ...each })),
        orchestrator: null,
      })
      const rvf = writeRvf(container)
      return {
        success: true,
        rvfBase64: rvf.toString('base64'),
        manifest: {
          skills: container.skills.length,
          mcpTools: container.mcp_tools.length,
          prompts: container.prompts.length,
          tools: container.tools.length,
          rvfSizeBytes: rvf.length,
          pluginWarnings: given.includePlugins === true ? ['there are no plugins here'] : [],
        },
      }
    },
  ),
]
