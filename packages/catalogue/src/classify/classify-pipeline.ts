// The class of what the stages of an aggregation pipeline write. MongoDB's `$out` replaces a collection and `$merge` changes
// one, and the tool that runs them is a Read by its definition. A stage counts at any depth, also inside of JSON text:
// servers take pipelines as text, and in parts. Where a text is no JSON, its words count. Pure, linear.

import type { Category } from '@sluice/policy/calls/tools'
import { isObject, type JsonValue } from '@sluice/policy/values/json'

/** Returns the class of what a pipeline writes; undefined if nothing in it is seen to write. */
export function classifyPipeline(argument: JsonValue): Category | undefined {
  let isMerging = false
  const open: JsonValue[] = [typeof argument === 'string' ? readText(argument) : argument]
  while (open.length > 0) {
    const value = open.pop() as JsonValue
    if (typeof value === 'string') {
      // A field may be called `$out` in a value: what is looked through is what reads as a pipeline.
      if (LOOKS_LIKE_JSON.test(value)) open.push(readText(value))
    } else if (Array.isArray(value)) for (const each of value) open.push(each)
    else if (isObject(value)) {
      if (Object.hasOwn(value, '$out')) return 'Destructive'
      isMerging ||= Object.hasOwn(value, '$merge')
      for (const each of Object.values(value)) open.push(each)
    }
  }
  return isMerging ? 'Write' : undefined
}

const LOOKS_LIKE_JSON = /^\s*["[{]/
/** The stages that write, with the dollar as JSON and JavaScript may write it. */
const STAGE = /(?:\$|\\u0024|\\u\{24\}|\\x24)(out|merge)(?!\w)/g

/** The value of a JSON text, or the stages whose names stand in it. */
function readText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return Array.from(text.matchAll(STAGE), ([, stage]) => ({ [`$${stage}`]: true }))
  }
}
