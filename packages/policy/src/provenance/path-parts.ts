// The directories of a path and its ends, by which a path is known that is made of parts which are.

import { PATH_PARTS_MAX } from './limits.ts'

/** `a/b/c`: `a/b` and `a`. */
export function listParents(path: string): string[] {
  return listCuts(path).map((at) => path.slice(0, at))
}

/** `a/b/c`: `c` and `b/c`. */
export function listEnds(path: string): string[] {
  return listCuts(path).map((at) => path.slice(at + 1))
}

/** Where the last parts of a path begin. */
function listCuts(path: string): number[] {
  const cuts: number[] = []
  let at = path.lastIndexOf('/')
  for (; at > 0 && cuts.length < PATH_PARTS_MAX; at = path.lastIndexOf('/', at - 1)) cuts.push(at)
  return cuts
}
