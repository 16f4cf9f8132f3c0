// The gallery: templates to make agents from, the builtin ones and each owner's own, which one is
// active and with what settings. Custom ones are durable; everything that comes in is checked and
// scanned before it is kept.

import { z } from 'zod'
import { AgentError } from '../shared/errors.ts'
import { IMPORT_DEPTH_MAX, TEMPLATE_ELEMENTS_MAX, TEMPLATES_MAX } from '../shared/limits.ts'
import type { Steps } from '../step-thread/step-client.ts'
import { type CreateArguments, createShape } from '../transfer/create-config.ts'
import { checkJsonSize } from '../transfer/measure-json.ts'
import { type Container, EMPTY, instructionsOf, readRvf, writeRvf } from '../transfer/rvf.ts'
import {
  BUILTIN_TEMPLATES,
  SHORT_NAMES,
  scanTemplate,
  type Template,
  templateShape,
} from './templates.ts'

const settingsShape = z.record(z.string().max(64), z.unknown())
const SETTINGS_LENGTH_MAX = 65_536
const TEMPLATE_BOUNDS = { elements: TEMPLATE_ELEMENTS_MAX, depth: IMPORT_DEPTH_MAX }

/** A template that a search found. */
export interface FoundTemplate extends Template {
  /** How many of the words were found, and where: up to 1. */
  readonly relevance: number
}

/** What became of a list of templates. */
export interface ImportedTemplates {
  readonly importedCount: number
  /** The templates that were refused, and why. */
  readonly rejected: readonly { readonly id: string; readonly reason: string }[]
}

export class Gallery {
  readonly #steps: Steps

  constructor(steps: Steps) {
    this.#steps = steps
  }

  /** What those who wrote to it had seen. */
  labels(owner: string): Promise<readonly string[]> {
    return this.#steps.galleryLabels(owner)
  }

  async addLabels(owner: string, labels: readonly string[]): Promise<void> {
    if (labels.length > 0) await this.#steps.addGalleryLabels(owner, labels)
  }

  /** What an agent has seen that is made from a template: nothing if all of it is builtin. */
  async templateLabels(owner: string, id: string): Promise<readonly string[]> {
    const name = Object.hasOwn(SHORT_NAMES, id) ? SHORT_NAMES[id] : id
    const isConfigured = Object.keys(await this.config(owner)).length > 0
    return isBuiltin(name) && !isConfigured ? [] : this.labels(owner)
  }

  async list(owner: string): Promise<Template[]> {
    const own = (await this.#steps.templates(owner)).map((text) => ({
      ...templateShape.parse(JSON.parse(text)),
      builtin: false,
    }))
    return [...BUILTIN_TEMPLATES, ...own]
  }

  async get(owner: string, id: string): Promise<Template> {
    const name = Object.hasOwn(SHORT_NAMES, id) ? SHORT_NAMES[id] : id
    const all = await this.list(owner)
    const found = all.find((template) => template.id === name)
    if (found !== undefined) return found
    const known = all.map((template) => template.id).join(', ')
    throw new AgentError('TEMPLATE_UNKNOWN', `there is no template \`${id}\`: there are ${known}`)
  }

  /** The arguments of create with what the template says if the caller says nothing. */
  async fill(owner: string, name: string, input: CreateArguments): Promise<CreateArguments> {
    const template = await this.get(owner, name)
    const isActive = (await this.active(owner)) === template.id
    const config = isActive ? usable(await this.config(owner)) : {}
    const { model, maxTurns, instructions, skills } = template
    const lines = [
      instructions,
      ...skills.map((skill) => `Skill ${skill.name}: ${skill.description}\n${skill.content ?? ''}`),
      config.instructions ?? '',
      input.instructions ?? '',
    ]
    return {
      ...(model === undefined ? {} : { model }),
      ...(maxTurns === undefined ? {} : { maxTurns }),
      ...config,
      ...input,
      template: template.id,
      instructions: lines.filter(Boolean).join('\n\n'),
    }
  }

  /** The best first: a word in the id or name counts most, one in the description least. */
  async search(owner: string, query: string): Promise<FoundTemplate[]> {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean)
    const score = ({ id, name, tags, category, description }: Template): number => {
      const places: [string, number][] = [
        [`${id} ${name}`, 1],
        [tags.join(' '), 0.6],
        [category, 0.5],
        [description, 0.3],
      ]
      const best = words.map((word) =>
        Math.max(
          0,
          ...places.map(([text, worth]) => (text.toLowerCase().includes(word) ? worth : 0)),
        ),
      )
      return best.reduce((sum, each) => sum + each, 0) / Math.max(1, words.length)
    }
    return (await this.list(owner))
      .map((template) => ({ ...template, relevance: score(template) }))
      .filter(({ relevance }) => relevance > 0)
      .sort((a, b) => b.relevance - a.relevance || (a.id < b.id ? -1 : 1))
  }

  async add(owner: string, input: unknown): Promise<Template> {
    const template = check(input)
    if (isBuiltin(template.id) || Object.hasOwn(SHORT_NAMES, template.id))
      throw createTemplateError(`\`${template.id}\` is a builtin template: take another id`)
    await this.#steps.putTemplate(owner, template.id, JSON.stringify(template))
    return { ...template, builtin: false }
  }

  /** A container as a template: its instructions for an agent, under an id of its own. */
  async addRvf(owner: string, base64: string): Promise<Template> {
    const container = readRvf(Buffer.from(base64, 'base64'))
    const name = container.prompts[0]?.name ?? 'container'
    const id =
      name
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-|-$/g, '') || 'container'
    const instructions = instructionsOf(container)
    return this.add(owner, { id: id.slice(0, 64), name: name.slice(0, 128), instructions })
  }

  async remove(owner: string, id: string): Promise<void> {
    if (isBuiltin(id)) throw createTemplateError(`\`${id}\` is a builtin template and stays`)
    if (!(await this.#steps.removeTemplate(owner, id)))
      throw new AgentError('TEMPLATE_UNKNOWN', `there is no template \`${id}\` of yours`)
    if ((await this.active(owner)) === id) await this.#steps.setSetting(owner, 'active', '')
  }

  /** Each by itself: one that is refused does not keep the others out, and says why. */
  async import(owner: string, json: string): Promise<ImportedTemplates> {
    let input: unknown
    checkJsonSize(Buffer.from(json), TEMPLATE_BOUNDS, 'TEMPLATE_REFUSED')
    try {
      input = JSON.parse(json)
    } catch {
      throw createTemplateError('`templatesJson` is not JSON')
    }
    if (!Array.isArray(input) || input.length > TEMPLATES_MAX)
      throw createTemplateError(`\`templatesJson\` is a list of at most ${TEMPLATES_MAX} templates`)
    const rejected: { id: string; reason: string }[] = []
    let importedCount = 0
    for (const each of input as unknown[]) {
      try {
        await this.add(owner, each)
        importedCount += 1
      } catch (error) {
        const { id } = (each ?? {}) as { id?: unknown }
        rejected.push({ id: String(id ?? '').slice(0, 64), reason: (error as Error).message })
      }
    }
    return { importedCount, rejected }
  }

  async export(owner: string): Promise<Template[]> {
    return (await this.list(owner)).filter(({ builtin }) => !builtin)
  }

  async active(owner: string): Promise<string | null> {
    return (await this.#steps.setting(owner, 'active')) || null
  }

  async activate(owner: string, id: string): Promise<string> {
    const template = await this.get(owner, id)
    await this.#steps.setSetting(owner, 'active', template.id)
    return template.id
  }

  async config(owner: string): Promise<Record<string, unknown>> {
    return JSON.parse((await this.#steps.setting(owner, 'config')) ?? '{}')
  }

  async configure(owner: string, input: unknown): Promise<Record<string, unknown>> {
    const config = settingsShape.safeParse(input)
    const text = config.success ? JSON.stringify(config.data) : ''
    if (!config.success || text.length > SETTINGS_LENGTH_MAX)
      throw new AgentError(
        'AGENT_INPUT',
        `\`config\` is an object of at most ${SETTINGS_LENGTH_MAX} characters`,
      )
    await this.#steps.setSetting(owner, 'config', text)
    return config.data
  }

  async rvf(owner: string, id: string): Promise<Buffer> {
    const { name, instructions, version, skills } = await this.get(owner, id)
    const prompts = [{ name, system_prompt: instructions, version }]
    const container: Container = {
      ...EMPTY,
      prompts,
      skills: skills.map(({ trigger = '', content = '', ...skill }) => ({
        ...skill,
        trigger,
        content,
      })),
    }
    return writeRvf(container)
  }
}

function isBuiltin(id: string | undefined): boolean {
  return BUILTIN_TEMPLATES.some((template) => template.id === id)
}

/** The settings that mean something at create. */
function usable(config: Record<string, unknown>): Partial<CreateArguments> {
  const { model, maxTurns, instructions } = config
  const read = createShape.pick({ model: true, maxTurns: true, instructions: true })
  const result = read.safeParse({ model, maxTurns, instructions })
  return result.success ? result.data : {}
}

/** Reads a template that an export of ours or of Claude Flow wrote, which says more than a template may: the prompts are
 * what an agent is told, and the tools that it names would grant nothing. */
function strip(input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input
  const { builtin, prompts, tools, mcp_tools, capabilities, orchestrator, ...rest } =
    input as Record<string, unknown>
  if (rest.instructions !== undefined || !Array.isArray(prompts)) return rest
  const systemPrompts = prompts.map(
    (each: { system_prompt?: unknown } | null) => each?.system_prompt,
  )
  return {
    ...rest,
    instructions: systemPrompts.filter((each) => typeof each === 'string').join('\n\n'),
  }
}

function check(input: unknown): z.infer<typeof templateShape> {
  const read = templateShape.safeParse(strip(input))
  if (!read.success) {
    const [issue] = read.error.issues
    throw createTemplateError(`${issue?.path.join('.') || 'the template'}: ${issue?.message}`)
  }
  const finding = scanTemplate(read.data)
  if (finding !== undefined) throw createTemplateError(`\`${read.data.id}\`: ${finding}`)
  return read.data
}

function createTemplateError(why: string): AgentError {
  return new AgentError('TEMPLATE_REFUSED', why)
}
