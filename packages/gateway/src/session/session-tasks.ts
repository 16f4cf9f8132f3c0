// The tasks that calls of this session have made. A task belongs to the call that made it, which was
// judged: what follows passes, and a task of anybody else's is one that does not exist.

import { LruMap } from '@sluice/policy/structures/lru-map'
import type { Steps } from '@sluice/policy/structures/steps'
import { isObject, type JsonValue } from '@sluice/policy/values/json'
import { splitElements, splitMembers } from '@sluice/protocol/json/raw-members'
import { writeMembers } from '@sluice/protocol/write-message'
import { SESSION_TASKS_MAX } from './limits.ts'

const MAY_HAVE_TASK = /"task"|\\u/

export class SessionTasks {
  readonly #ids = new LruMap<string, true>(SESSION_TASKS_MAX)
  /** Of the calls that made them: a task tells of its progress as the call would have. */
  readonly #tokens = new LruMap<JsonValue, true>(SESSION_TASKS_MAX)

  /** From the result of a call, and the progress token that came with it. */
  learn(resultText: string, progressToken: JsonValue | undefined): void {
    if (!MAY_HAVE_TASK.test(resultText)) return
    const task = splitMembers(resultText).get('task')
    const id = task === undefined ? undefined : taskIdOf(JSON.parse(task))
    if (id === undefined) return
    this.#ids.set(id, true)
    if (progressToken !== undefined) this.#tokens.set(progressToken, true)
  }

  hasToken(token: JsonValue | undefined): boolean {
    return token !== undefined && this.#tokens.has(token)
  }

  /** `params` of a request or notification about a task. */
  isAbout(params: JsonValue | undefined): boolean {
    const id = taskIdOf(params)
    return id !== undefined && this.#ids.has(id)
  }

  /** The result of `tasks/list` without those of others. */
  *filter(resultText: string): Steps<string> {
    const members = splitMembers(resultText)
    const own: string[] = []
    for (const text of splitElements(members.get('tasks') ?? '[]')) {
      if (this.isAbout(JSON.parse(text))) own.push(text)
      yield
    }
    members.set('tasks', `[${own.join(',')}]`)
    return writeMembers(members)
  }
}

function taskIdOf(value: JsonValue | undefined): string | undefined {
  const id = isObject(value) ? value.taskId : undefined
  return typeof id === 'string' ? id : undefined
}
