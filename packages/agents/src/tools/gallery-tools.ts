// The tools of the gallery: look, search, make an agent from a template, keep templates of one's
// own. Each owner has templates, an active one and settings apart from all others.

import { countEach } from '@sluice/policy/structures/count-each'
import { z } from 'zod'
import type { Template } from './templates.ts'
import {
  agentShape,
  count,
  success,
  type ToolEntry,
  templateView,
  text,
  tool,
} from './tool-table.ts'
import { agentView } from './views.ts'

const none = z.strictObject({})
const id = z.strictObject({ id: text.min(1).max(64).describe('of a template') })
const config = z.record(text, z.unknown())
const whole = z.looseObject({ id: text, instructions: text })

function view({ instructions: _i, skills: _s, model: _m, maxTurns: _t, ...shown }: Template) {
  return shown
}

/** Adds the parts that other readers of templates look for. */
function withParts(template: Template) {
  const { name, instructions, version } = template
  const prompts = [{ name, system_prompt: instructions, version }]
  return { ...template, prompts, tools: [], mcp_tools: [], capabilities: [] }
}

export const GALLERY_TOOLS: readonly ToolEntry[] = [
  tool({
    name: 'wasm_gallery_list',
    title: 'List templates',
    description:
      'Lists the templates from which WASM agents are created: the built-in ones and your own. Use it to choose a template for wasm_gallery_create.',
    category: 'Read',
    input: none,
    output: z.strictObject({ templates: z.array(templateView), count }),
    run: async (_, { gallery, owner }) => {
      const templates = (await gallery.list(owner)).map(view)
      return { templates, count: templates.length }
    },
  }),
  tool({
    name: 'wasm_gallery_categories',
    title: 'Template categories',
    description:
      'Lists the categories of WASM agent templates and how many templates each has. Use it to choose a category for wasm_gallery_list_by_category.',
    category: 'Read',
    input: none,
    output: z.strictObject({ categories: z.record(text, count) }),
    run: async (_, { gallery, owner }) => {
      const templates = await gallery.list(owner)
      return {
        categories: Object.fromEntries(countEach(templates.map(({ category }) => category))),
      }
    },
  }),
  tool({
    name: 'wasm_gallery_active',
    title: 'Active template',
    description:
      'Tells which WASM agent template is active, if one is. Use it before wasm_gallery_configure, whose settings belong to the active template.',
    category: 'Read',
    input: none,
    output: z.strictObject({ activeId: text.nullable() }),
    run: async (_, { gallery, owner }) => ({ activeId: await gallery.active(owner) }),
  }),
  tool({
    name: 'wasm_gallery_config',
    title: 'Gallery settings',
    description:
      'Gets the settings of the active WASM agent template: model, turns and instructions. Use it to see what wasm_gallery_configure has set.',
    category: 'Read',
    input: none,
    output: z.strictObject({ config }),
    run: async (_, { gallery, owner }) => ({ config: await gallery.config(owner) }),
  }),
  tool({
    name: 'wasm_gallery_export',
    title: 'Export templates',
    description:
      'Exports your own WASM agent templates as wasm_gallery_import takes them. Use it to back templates up or to move them to another installation.',
    category: 'Write',
    input: none,
    output: z.strictObject({ exported: z.array(whole) }),
    run: async (_, { gallery, owner }) => ({
      exported: (await gallery.export(owner)).map(withParts),
    }),
  }),
  tool({
    name: 'wasm_gallery_search',
    title: 'Search templates',
    description:
      "Searches WASM agent templates by words in name, description and tags, the best match first. Use it if you know what the agent is to do but not the template's id.",
    category: 'Read',
    input: z.strictObject({ query: text.min(1).max(256).describe('words to look for') }),
    output: z.strictObject({
      results: z.array(templateView.extend({ relevance: z.number() })),
      count,
    }),
    run: async ({ query }, { gallery, owner }) => {
      const matches = await gallery.search(owner, query)
      const results = matches.map(({ relevance, ...template }) => ({
        ...view(template),
        relevance,
      }))
      return { results, count: results.length }
    },
  }),
  tool({
    name: 'wasm_gallery_list_by_category',
    title: 'Templates of a category',
    description:
      'Lists the WASM agent templates of one category. Use it after wasm_gallery_categories to choose a template of one kind.',
    category: 'Read',
    input: z.strictObject({
      category: text.min(1).max(64).describe('as wasm_gallery_categories lists it'),
    }),
    output: z.strictObject({ category: text, templates: z.array(templateView) }),
    run: async ({ category }, { gallery, owner }) => {
      const all = await gallery.list(owner)
      return { category, templates: all.filter((each) => each.category === category).map(view) }
    },
  }),
  tool({
    name: 'wasm_gallery_create',
    title: 'Create from a template',
    description:
      "Creates a WASM agent from a template, with the template's instructions, model and limits. Use it instead of wasm_agent_create if a template fits.",
    category: 'Write',
    input: z.strictObject({ template: text.min(1).max(64).describe('its id') }),
    output: z.strictObject({ success, agent: agentShape, template: text, about: templateView }),
    run: async ({ template: name }, { service, gallery, owner, parent, madeLabels }) => {
      const template = await gallery.get(owner, name)
      const by = { parent, labels: madeLabels }
      const agent = await service.create(owner, await gallery.fill(owner, name, {}), by)
      return { success: true, agent: agentView(agent), template: name, about: view(template) }
    },
  }),
  tool({
    name: 'wasm_gallery_load_rvf',
    title: 'Template as a container',
    description:
      'Gets a WASM agent template as an RVF container in base64. Use it to hand a template to a program that reads RVF, or to wasm_agent_create.',
    category: 'Read',
    input: id,
    output: z.strictObject({ id: text, rvfBase64: text, sizeBytes: count }),
    run: async ({ id: name }, { gallery, owner }) => {
      const rvf = await gallery.rvf(owner, name)
      return { id: name, rvfBase64: rvf.toString('base64'), sizeBytes: rvf.length }
    },
  }),
  tool({
    name: 'wasm_gallery_activate',
    title: 'Activate a template',
    description:
      'Makes one WASM agent template the active one. Use it before wasm_gallery_configure, so that the settings belong to this template.',
    category: 'Write',
    input: id,
    output: z.strictObject({ activeId: text }),
    run: async ({ id: name }, { gallery, owner }) => ({
      activeId: await gallery.activate(owner, name),
    }),
  }),
  tool({
    name: 'wasm_gallery_configure',
    title: 'Configure the gallery',
    description:
      'Sets what the active WASM agent template is used with: model, maxTurns, instructions. Use it to adapt a template without writing one of your own.',
    category: 'Write',
    input: z.strictObject({ config: config.describe('model, maxTurns, instructions') }),
    output: z.strictObject({ success, config }),
    run: async ({ config: input }, { gallery, owner }) => ({
      success: true,
      config: await gallery.configure(owner, input),
    }),
  }),
  tool({
    name: 'wasm_gallery_add_custom',
    title: 'Add a template',
    description:
      'Adds a WASM agent template of your own, from its fields or from an RVF container. Use it to create agents with the same instructions again. Only you see it.',
    category: 'Write',
    input: z.strictObject({
      template: z
        .record(text, z.unknown())
        .optional()
        .describe('with id, name and instructions, or with prompts as Claude Flow has them'),
      rvfBase64: text.optional().describe('an RVF container to make one from'),
    }),
    output: z.strictObject({ success }),
    run: async ({ template, rvfBase64 }, { gallery, owner }) => {
      if (rvfBase64 !== undefined) await gallery.addRvf(owner, rvfBase64)
      else await gallery.add(owner, template)
      return { success: true }
    },
  }),
  tool({
    name: 'wasm_gallery_remove_custom',
    title: 'Remove a template',
    description:
      'Removes a WASM agent template of your own. Use it for templates that are no longer needed; agents made from it stay. This cannot be undone.',
    category: 'Destructive',
    input: id,
    output: z.strictObject({ success, id: text }),
    run: async ({ id: name }, { gallery, owner }) => {
      await gallery.remove(owner, name)
      return { success: true, id: name }
    },
  }),
  tool({
    name: 'wasm_gallery_import',
    title: 'Import templates',
    description:
      'Imports WASM agent templates from JSON, as wasm_gallery_export writes them. Use it to restore or share templates; each is checked and scanned, and refused with a reason.',
    category: 'Write',
    input: z.strictObject({
      templatesJson: text
        .max(16 * 1_048_576)
        .describe('a list of templates, as wasm_gallery_export gives it'),
    }),
    output: z.strictObject({
      success,
      importedCount: count,
      warning: text.nullable(),
      rejected: z.array(z.strictObject({ id: text, reason: text })),
    }),
    run: async ({ templatesJson }, { gallery, owner }) => {
      const { importedCount, rejected } = await gallery.import(owner, templatesJson)
      const warning = rejected.length === 0 ? null : `${rejected.length} were not taken`
      return { success: true, importedCount, warning, rejected: [...rejected] }
    },
  }),
]
