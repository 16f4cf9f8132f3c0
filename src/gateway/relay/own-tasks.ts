// The tasks that calls of this session have made. A task belongs to the call that made it, which was
// judged: what follows passes, and a task of anybody else's is one that does not exist.

import { isObject, type JsonValue } from '../../core/json.ts'
import { elementsOf, membersOf } from '../../wire/spans.ts'
import { writeMembers } from '../../wire/write-message.ts'
import { SESSION_TASKS_MAX } from '../limits.ts'

export class OwnTasks {
  readonly #ids = new Set<string>()

  /** From the result of a call. */
  learn(resultText: string): void {
    if (!resultText.includes('"task"')) return
    const task = membersOf(resultText).get('task')
    const id = task === undefined ? undefined : taskIdOf(JSON.parse(task))
    if (id === undefined) return
    this.#ids.add(id)
    const [oldest] = this.#ids
    if (this.#ids.size > SESSION_TASKS_MAX) this.#ids.delete(oldest as string)
  }

  /** `params` of a request or notification about a task. */
  isAbout(params: JsonValue | undefined): boolean {
    const id = taskIdOf(params)
    return id !== undefined && this.#ids.has(id)
  }

  /** The result of `tasks/list` without those of others. */
  filter(resultText: string): string {
    const members = membersOf(resultText)
    const own = elementsOf(members.get('tasks') ?? '[]').filter((text) =>
      this.isAbout(JSON.parse(text)),
    )
    members.set('tasks', `[${own.join(',')}]`)
    return writeMembers(members)
  }
}

function taskIdOf(value: JsonValue | undefined): string | undefined {
  const id = isObject(value) ? value.taskId : undefined
  return typeof id === 'string' ? id : undefined
}
