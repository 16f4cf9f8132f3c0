// A skill of `--skill DIR` as what an agent gets of it: the folder's files below `skills/NAME/`, and a line of its
// instructions that says when to read them. The agent's own `read_file` loads the skill, so it is in the journal, in
// forks, exports and replays. `allowed-tools` of a skill grants nothing.

import { isUtf8 } from 'node:buffer'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { FILES_BYTES_MAX, FILES_MAX } from '@sluice/agents/shared/limits'
import { scanTexts } from '@sluice/agents/tools/templates'
import { attempt } from '@sluice/policy/structures/attempt'
import { isObject } from '@sluice/policy/values/json'
import { parse } from 'yaml'
import { CliError } from '../terminal/errors.ts'
import { readText } from '../terminal/read-input.ts'

/** The content of a file as `wasm_agent_create` takes it. */
export interface FileContent {
  readonly base64: string
}

export interface AgentSkill {
  /** One line of the agent's instructions. */
  readonly line: string
  /** By path in the agent. */
  readonly files: Readonly<Record<string, FileContent>>
}

/** What stands between the first two lines `---` of a SKILL.md. */
const FRONT_MATTER = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/
const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/
const DESCRIPTION_LENGTH_MAX = 1_024

/** Throws CliError with the file if the folder is no skill, or its words look like an attack on the model. */
export function readSkill(directory: string): AgentSkill {
  const folder = resolve(directory)
  const manifest = join(folder, 'SKILL.md')
  const { name, description } = readManifest(manifest, basename(folder))
  const files: Record<string, FileContent> = {}
  const texts: string[] = []
  let bytes = 0
  for (const file of listFiles(folder)) {
    const content = readFileSync(file)
    bytes += content.length
    if (Object.keys(files).length >= FILES_MAX || bytes > FILES_BYTES_MAX)
      throw refuse(folder, `more than ${FILES_MAX} files or ${FILES_BYTES_MAX} bytes`)
    files[join('skills', name, relative(folder, file))] = { base64: content.toString('base64') }
    if (isUtf8(content)) texts.push(content.toString('utf8'))
  }
  const found = scanTexts(texts)
  if (found !== undefined) throw refuse(folder, found)
  const line = `Skill \`${name}\`: ${description} Read skills/${name}/SKILL.md first.`
  return { line, files }
}

interface SkillManifest {
  readonly name: string
  /** When the skill is of use, on one line. */
  readonly description: string
}

function readManifest(file: string, folderName: string): SkillManifest {
  const text = readText(file)
  const [, head = ''] = FRONT_MATTER.exec(text) ?? []
  const about: unknown = attempt(() => parse(head))
  const { name, description } = isObject(about) ? about : {}
  if (typeof name !== 'string' || typeof description !== 'string' || description.trim() === '')
    throw refuse(file, 'it does not begin with `---`, a `name`, a `description` and `---`')
  if (!NAME.test(name) || name !== folderName)
    throw refuse(
      file,
      `its name is \`${name}\`, the folder is \`${folderName}\`: both are the same, in a-z, 0-9 and -`,
    )
  const line = description.trim().replace(/\s+/g, ' ')
  if (line.length > DESCRIPTION_LENGTH_MAX)
    throw refuse(file, `its description has more than ${DESCRIPTION_LENGTH_MAX} characters`)
  return { name, description: /[.!?]$/.test(line) ? line : `${line}.` }
}

/** Regular files only: a link may lead out of the folder. */
function listFiles(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  return paths.sort()
}

function refuse(file: string, why: string): CliError {
  return new CliError('CLI_FILE', `\`${file}\` is no skill: ${why}`, 'see docs/concepts/agents.md')
}
