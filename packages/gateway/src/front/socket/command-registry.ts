// The words that commands say to the running gate over its socket, and what does them. Every other
// command of a data directory goes through here, so that one process alone changes anything.

import { OperationError } from '@sluice/policy/structures/operation-error'
import { getOwn, type JsonObject } from '@sluice/policy/values/json'
import { enterStep } from '../../shared/current-step.ts'

export type CommandHandler = (request: JsonObject) => JsonObject | Promise<JsonObject>

export class CommandRegistry {
  readonly #words: ReadonlyMap<string, CommandHandler>
  readonly #more: () => Readonly<Record<string, CommandHandler>>

  /** `more`: commands of parts that exist only once the gate runs. */
  constructor(
    words: Readonly<Record<string, CommandHandler>>,
    more: () => Readonly<Record<string, CommandHandler>> = () => ({}),
  ) {
    this.#words = new Map(Object.entries(words))
    this.#more = more
  }

  async run(word: string, request: JsonObject): Promise<JsonObject> {
    enterStep('command')
    const command = this.#words.get(word) ?? getOwn(this.#more(), word)
    if (command === undefined)
      throw new OperationError(
        `the gate knows no command \`${word.slice(0, 40)}\``,
        'is the gate of another version than the command? start it again',
      )
    return command(request)
  }
}
