// The class of one call where its arguments decide it: an action, an HTTP method, a statement of
// SQL, a command line of Bash, a pipeline that writes. Certain or nothing: a call is only ever read as milder than its tool where
// no reading of the argument says otherwise. Pure; called by classify (which arguments) and by the gate (which class).

import {
  CATEGORIES,
  type Category,
  type KnownTool,
  type ToolDefinition,
} from '@sluice/policy/calls/tools'
import { readShell } from '@sluice/policy/readers/shell-command'
import { readsOnly } from '@sluice/policy/readers/sql-reads'
import { memoizeFor } from '@sluice/policy/structures/memoize'
import { getOwn, isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { choicesOf } from '../signals/read-schema.ts'
import { propertiesOf } from '../signals/schema-properties.ts'
import { classOfAct, HTTP_METHODS } from '../signals/worst-act.ts'
import { classifyPipeline } from './classify-pipeline.ts'

/**
 * An argument that decides the category of a call.
 *
 * @example
 * ```ts
 * const [argument]: readonly CategoryArgument[] = assessTool(definition).depends
 * ```
 */
export interface CategoryArgument {
  readonly argument: string
  readonly kind: 'action' | 'method' | 'sql' | 'program' | 'pipeline'
  /** The class of each value that is known, if the argument is an action or a method. */
  readonly values?: Readonly<Record<string, Category>>
}

const ACTION = /^(?:action|operation|op|verb|subcommand|command)$/i
/** Most modes are none (`fast`): it decides only if each of its words is an act. */
const MODE = /^mode$/i
const METHOD = /^(?:http_?method|method)$/i
const SQL = /^(?:sql|sql_?query|sql_?statement|statement)$/i
const QUERY = /^(?:query|q)$/i
const PIPELINE = /^(?:agg(?:regation)?_?)?(?:pipeline|stages)$/i
const PROGRAM = /^(?:command|cmd|shell|script|code|javascript|python|program)$/i
/** Every name above: most arguments decide nothing, and their choices need no reading. */
const DECIDES = [ACTION, MODE, METHOD, SQL, QUERY, PROGRAM]

export function findCategoryArguments(definition: ToolDefinition): CategoryArgument[] {
  const depends: CategoryArgument[] = []
  const isAggregating = aggregates(definition)
  for (const [argument, property] of Object.entries(propertiesOf(definition.inputSchema))) {
    if (isAggregating && (PIPELINE.test(argument) || holdsPipeline(property)))
      depends.push({ argument, kind: 'pipeline' })
    if (!isObject(property) || !DECIDES.some((name) => name.test(argument))) continue
    const choices = choicesOf(property, '').map(({ value }) => value)
    const methods = choices.filter((value) => HTTP_METHODS[value] !== undefined)
    if (METHOD.test(argument) && methods.length > 1)
      depends.push({ argument, kind: 'method', values: valuesOf(methods) })
    else if (choices.length > 1 && (ACTION.test(argument) || isModeOfActs(argument, choices)))
      depends.push({ argument, kind: 'action', values: valuesOf(choices) })
    else if (SQL.test(argument) || (QUERY.test(argument) && speaksSql(definition)))
      depends.push({ argument, kind: 'sql' })
    else if (PROGRAM.test(argument) && choices.length === 0)
      depends.push({ argument, kind: 'program' })
  }
  return depends
}

/**
 * The category of this very call; undefined if the arguments do not settle it. Worse than the tool's it is for a pipeline
 * that writes. Several arguments that decide are settled together, by the worst. Other than a read it is certain only where the
 * choice is what makes the tool's class: `place` on a tool that trades is no plain Write.
 *
 * @example
 * ```ts
 * classifyCall(tool, { sql: 'SELECT 1' }) // 'Read'
 * ```
 */
export function classifyCall(tool: KnownTool, args: JsonObject): Category | undefined {
  const depends = rememberedDepends(tool.definition)
  const settled = settleCategory(
    tool,
    args,
    depends.filter(({ kind }) => kind !== 'pipeline'),
  )
  const written = findWritten(args, depends)
  return written !== undefined && isWorse(written, settled ?? tool.category) ? written : settled
}

/** What the pipelines of the call write, at their worst. */
function findWritten(args: JsonObject, depends: readonly CategoryArgument[]): Category | undefined {
  let worst: Category | undefined
  for (const { argument, kind } of depends) {
    if (kind !== 'pipeline' || !Object.hasOwn(args, argument)) continue
    const category = classifyPipeline(args[argument] as JsonValue)
    if (category !== undefined && (worst === undefined || isWorse(category, worst)))
      worst = category
  }
  return worst
}

function settleCategory(
  { definition, category }: KnownTool,
  args: JsonObject,
  depends: readonly CategoryArgument[],
): Category | undefined {
  let worst: Category | undefined
  for (const one of depends) {
    const category =
      one.kind === 'program'
        ? getCommandCategory(definition, args, one.argument)
        : getArgumentCategory(
            one,
            Object.hasOwn(args, one.argument) ? args[one.argument] : undefined,
          )
    if (category === undefined) return undefined
    if (worst === undefined || isWorse(category, worst)) worst = category
  }
  if (worst === undefined || worst === 'Read') return worst
  // Any method on any path makes a tool one of requests at will; its method settles the call.
  if (category === 'Execute' && depends.every(({ kind }) => kind === 'method')) return worst
  const choices = depends.flatMap(({ values }) => Object.values(values ?? {}))
  return choices.includes(category) && !choices.some((one) => isWorse(one, category))
    ? worst
    : undefined
}

/** One object for each accepted definition, so what is read from it once is kept with it. */
const rememberedDepends = memoizeFor(findCategoryArguments)

function isWorse(one: Category, other: Category): boolean {
  return CATEGORIES.indexOf(one) > CATEGORIES.indexOf(other)
}

function getArgumentCategory(
  { kind, values }: CategoryArgument,
  value: unknown,
): Category | undefined {
  if (typeof value !== 'string') return undefined
  if (kind === 'sql') return readsOnly(value) ? 'Read' : undefined
  return values === undefined ? undefined : getOwn(values, value)
}

const COMMAND = /^(?:command|cmd)$/i
/** Arguments beside a command line that do not change what it does. */
const BESIDE_COMMAND =
  /^(?:cwd|work_?dir|working_?directory|timeout\w*|description|run_in_background)$/i
const OTHER_SHELL = /powershell|pwsh|cmd\.exe|windows|zsh/i

/** A command line that only reads, if nothing says that another shell runs it or that words are added. */
function getCommandCategory(
  { name, description }: ToolDefinition,
  args: JsonObject,
  argument: string,
): Category | undefined {
  const others = Object.keys(args).filter((key) => key !== argument)
  const isBash = !OTHER_SHELL.test(`${name} ${String(description ?? '').slice(0, SQL_CHARS_MAX)}`)
  const isAlone = others.every((key) => BESIDE_COMMAND.test(key))
  if (!COMMAND.test(argument) || !isBash || !isAlone) return undefined
  const text = Object.hasOwn(args, argument) ? args[argument] : undefined
  return typeof text === 'string' && readShell(text).reads ? 'Read' : undefined
}

function isModeOfActs(argument: string, choices: readonly string[]): boolean {
  return MODE.test(argument) && choices.every((choice) => classOfAct(choice) !== undefined)
}

function valuesOf(choices: readonly string[]): Record<string, Category> {
  const values: Record<string, Category> = {}
  for (const choice of choices) {
    const category = classOfAct(choice)
    if (category !== undefined) values[choice] = category
  }
  return values
}

/** Other pipelines build and deploy. */
function aggregates({ server, name, description }: ToolDefinition): boolean {
  return /aggregat|mongo|\bcollection/i.test(`${server} ${name} ${String(description ?? '')}`)
}

/** An argument that has a pipeline as a member. */
function holdsPipeline(schema: unknown, depth = 0): boolean {
  if (typeof schema !== 'object' || schema === null || depth > PIPELINE_DEPTH_MAX) return false
  return (
    Object.keys(schema).some((name) => PIPELINE.test(name)) ||
    Object.values(schema).some((each) => holdsPipeline(each, depth + 1))
  )
}

function speaksSql({ name, description }: ToolDefinition): boolean {
  return /\bsql\b|\bselect\b|\bquer(?:y|ies)\b.*\bdatabase|postgres|mysql/i.test(
    `${name} ${String(description ?? '').slice(0, SQL_CHARS_MAX)}`,
  )
}

const SQL_CHARS_MAX = 400
/** Levels of a schema that are looked through for a pipeline. */
const PIPELINE_DEPTH_MAX = 12
