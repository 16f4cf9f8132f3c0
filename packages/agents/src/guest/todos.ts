// The todo list: written whole, or one item at a time by its id. Ids and times are kept where an
// item stays, so that whoever watches sees the same item change.

import { GuestError } from './guest-error.ts'
import type { Todo, TodoStatus } from './protocol.ts'
import { wellFormed } from './text.ts'

const TODOS_MAX = 200
const CONTENT_LENGTH_MAX = 2_000
const STATUSES: readonly TodoStatus[] = ['pending', 'in_progress', 'completed', 'cancelled']

export class Todos {
  #list: Todo[] = []
  #next = 1
  #isWritten = false

  get list(): readonly Todo[] {
    return this.#list
  }

  get counts(): Record<TodoStatus, number> {
    const counts = { pending: 0, in_progress: 0, completed: 0, cancelled: 0 }
    for (const { status } of this.#list) counts[status] += 1
    return counts
  }

  get areOpen(): boolean {
    return this.#list.some(({ status }) => status === 'pending' || status === 'in_progress')
  }

  /** The whole list in its new order. An item with a known id, or the same content, stays itself. */
  write(items: unknown, at: number): void {
    if (!Array.isArray(items)) throw wrong('`todos` is a list')
    if (items.length > TODOS_MAX)
      throw new GuestError(
        'AGENT_LIMIT',
        `a list has at most ${TODOS_MAX} todos, not ${items.length}`,
      )
    const left = [...this.#list]
    const ids = new Set<string>()
    const list = items.map((item: unknown) => {
      const { id, content, status = 'pending' } = fields(item)
      const text = checkContent(content)
      const known = checkStatus(status)
      const found = left.findIndex((old) =>
        id === undefined ? old.content === text : old.id === id,
      )
      if (id !== undefined && found < 0)
        throw wrong(`there is no todo with the id \`${String(id)}\``)
      const old = found < 0 ? undefined : left.splice(found, 1)[0]
      const changed = old === undefined || old.content !== text || old.status !== known
      const todo: Todo = {
        id: old?.id ?? `t${this.#next++}`,
        content: text,
        status: known,
        createdAt: old?.createdAt ?? at,
        updatedAt: changed ? at : old.updatedAt,
      }
      ids.add(todo.id)
      return todo
    })
    if (ids.size !== list.length) throw wrong('an id is in the list twice')
    this.#set(list)
  }

  #set(list: Todo[]): void {
    this.#list = list
    this.#isWritten = true
  }

  /** The list, where it was written since this was asked last. */
  takeChanges(): readonly Todo[] | null {
    const isWritten = this.#isWritten
    this.#isWritten = false
    return isWritten ? this.#list : null
  }

  update(input: Record<string, unknown>, at: number): void {
    const { id, status, content } = input
    const index = this.#list.findIndex((todo) => todo.id === id)
    const old = this.#list[index]
    if (old === undefined) throw wrong(`there is no todo with the id \`${String(id)}\``)
    const todo: Todo = {
      ...old,
      status: status === undefined ? old.status : checkStatus(status),
      content: content === undefined ? old.content : checkContent(content),
      updatedAt: at,
    }
    this.#set(this.#list.with(index, todo))
  }

  /** From an export: the ids stay, and new ones do not meet them. */
  restore(list: readonly Todo[]): void {
    if (list.length > TODOS_MAX) throw new GuestError('AGENT_LIMIT', 'there are too many todos')
    const seen = new Set(list.map(({ id }) => id))
    if (seen.size !== list.length) throw wrong('two todos have the same id')
    const restored = list.map(({ id, content, status, createdAt, updatedAt }) => ({
      id: checkId(id),
      content: checkContent(content),
      status: checkStatus(status),
      createdAt,
      updatedAt,
    }))
    this.#set(restored)
    for (const { id } of list) {
      const number = Number(/^t(\d{1,9})$/.exec(id)?.[1] ?? 0)
      this.#next = Math.max(this.#next, number + 1)
    }
  }

  clear(): void {
    this.#set([])
  }
}

function fields(item: unknown): Record<string, unknown> {
  if (typeof item === 'string') return { content: item }
  if (typeof item !== 'object' || item === null) throw wrong('a todo is an object with `content`')
  return item as Record<string, unknown>
}

function checkId(id: unknown): string {
  if (typeof id !== 'string' || !/^[\w.-]{1,64}$/.test(id)) throw wrong('a todo has a bad id')
  return id
}

function checkContent(content: unknown): string {
  if (typeof content !== 'string' || content.trim() === '') throw wrong('a todo needs `content`')
  if (content.length > CONTENT_LENGTH_MAX)
    throw new GuestError('AGENT_LIMIT', `a todo has at most ${CONTENT_LENGTH_MAX} characters`)
  return wellFormed(content)
}

function checkStatus(status: unknown): TodoStatus {
  const known = STATUSES.find((each) => each === status)
  if (known === undefined)
    throw wrong(`\`${String(status)}\` is no status: one of ${STATUSES.join(', ')}`)
  return known
}

function wrong(message: string): GuestError {
  return new GuestError('AGENT_INPUT', message)
}
