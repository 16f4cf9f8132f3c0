// Where on a command line a variable certainly has what the line gave it, and not what the environment holds. What is
// assigned on a condition, to an element, or by another program counts as nowhere. Pure.

import { type Command, type CompoundList, forEachChild, type Script, type SyntaxNode } from 'unbash'

/** A part of the text in which a variable is the line's own. */
export interface OwnVariable {
  readonly name: string
  /** Offsets in the text, the second one behind the part. */
  readonly from: number
  readonly to: number
}

/** The variables that a script itself sets, without those of scripts in it, such as `$(…)`. */
export function listOwnVariables(script: Script): OwnVariable[] {
  return listOfNode(script)
}

function listOfNode(node: SyntaxNode): OwnVariable[] {
  const found = node.type === 'Script' || node.type === 'CompoundList' ? listOfList(node) : []
  if (node.type === 'For') found.push(within(node.body, node.name.text))
  if (node.type === 'While' && node.kind === 'while')
    found.push(...listRead(node.clause).map((name) => within(node.body, name)))
  forEachChild(node, (child) => {
    if (child.type !== 'Script') found.push(...listOfNode(child))
  })
  return found
}

function within({ pos, end }: CompoundList, name: string): OwnVariable {
  return { name, from: pos, to: end }
}

/** What a command of a list assigns holds for those behind it. */
function listOfList(list: Script | CompoundList): OwnVariable[] {
  return list.commands.flatMap(({ command, background, end }) =>
    command.type === 'Command' && background !== true
      ? listAssigned(command).map((name) => ({ name, from: end, to: list.end }))
      : [],
  )
}

function listAssigned({ name, prefix, suffix }: Command): string[] {
  const parts = name === undefined ? [...prefix, ...suffix] : suffix
  if (name !== undefined && !/^(?:export|declare|typeset)$/.test(name.text)) return []
  const names = parts.map((part) =>
    part.type === 'Assignment' && part.append !== true && part.index === undefined ? part.name : '',
  )
  return names.includes('') ? [] : names
}

/** The names of `while read -r a b`. */
function listRead({ commands: [statement, ...others] }: CompoundList): string[] {
  const command = statement?.command
  const isRead = command?.type === 'Command' && command.name?.text === 'read'
  if (!isRead || others.length > 0 || statement?.background === true) return []
  const texts = command.suffix.map((part) => (part.type === 'Word' ? part.text : ''))
  const names = texts.filter((text) => text !== '-r')
  return names.every((name) => /^[A-Za-z_]\w*$/.test(name)) ? names : []
}
