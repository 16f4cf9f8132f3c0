// Asks a client behind a pipe for its environment, after it has shown who it is: everything, or only the
// variables that the configuration lists. What comes is checked for what no process can be started with.

import type { Socket } from 'node:net'
import { isObject, type JsonValue } from '@sluice/policy/core/json'
import { OperationError } from '../../../core/operation-error.ts'
import { CLIENT_ENVIRONMENT_BYTES_MAX } from '../../shared/limits.ts'
import { readHello } from './socket-handshake.ts'

/** `names`: undefined for everything. */
export async function askEnvironment(
  socket: Socket,
  names: readonly string[] | undefined,
): Promise<Readonly<Record<string, string>>> {
  if (names?.length === 0) return {}
  const question = names === undefined ? { want: 'env' } : { want: 'env', names }
  socket.write(`${JSON.stringify(question)}\n`)
  const answer = readHello(socket, CLIENT_ENVIRONMENT_BYTES_MAX)
  socket.resume()
  const { request } = await answer.catch((error: Error) => {
    throw new OperationError(
      `the environment was not accepted: ${error.message}`,
      'unset large variables of the client, or use a gate that was started with `sluice up`',
    )
  })
  const variables = readVariables(request.variables)
  if (names === undefined) return variables
  return Object.fromEntries(Object.entries(variables).filter(([name]) => names.includes(name)))
}

function readVariables(value: JsonValue | undefined): Record<string, string> {
  const variables: Record<string, string> = {}
  for (const [name, text] of Object.entries(isObject(value) ? value : {})) {
    if (typeof text !== 'string' || !/^[^=\0]+$/.test(name) || text.includes('\0'))
      throw new OperationError(
        'the environment has an entry that is no variable',
        'is the command of another version than the gate? install both again',
      )
    variables[name] = text
  }
  return variables
}
