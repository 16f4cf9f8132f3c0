// Todos and files as they are after a step, from what they were before it and what the step said of
// them: so the guest need not be asked. All of it is the guest's own word; where any is missing the
// answer is undefined, and it is asked. Pure.

import type { AgentQuery, Changes, FileFacts, Summary, Todo } from '../../guest/protocol.ts'

/** The lists that can be followed; a test asks the guests and compares. */
export type TrackedList = Extract<AgentQuery['ask'], 'todos' | 'files'>
export type Lists = { readonly todos: readonly Todo[]; readonly files: readonly FileFacts[] }

export const FOLLOWED: readonly TrackedList[] = ['todos', 'files']

/** Undefined where more than the whole list is asked for. */
export function followedOf(question: AgentQuery): TrackedList | undefined {
  const isWhole = Object.keys(question).length === 1
  return FOLLOWED.find((each) => isWhole && each === question.ask)
}

/** An agent that has none has an empty list. */
export function getEmptyList(
  name: TrackedList,
  { todos, fileCount }: Summary,
): readonly [] | undefined {
  if (name === 'files') return fileCount === 0 ? [] : undefined
  return Object.values(todos).every((count) => count === 0) ? [] : undefined
}

export function applyChanges<Name extends TrackedList>(
  name: Name,
  before: Lists[Name] | undefined,
  changes: Changes | null,
): Lists[Name] | undefined {
  if (name === 'todos') return (changes?.todos ?? before) as Lists[Name] | undefined
  if (before === undefined || changes === null) return before
  const { files, gone } = changes
  if (files.length === 0 && gone.length === 0) return before
  const touched = new Set([...files.map(({ path }) => path), ...gone])
  const others = (before as Lists['files']).filter(({ path }) => !touched.has(path))
  return [...others, ...files].sort((a, b) =>
    a.path < b.path ? -1 : 1,
  ) as readonly unknown[] as Lists[Name]
}
