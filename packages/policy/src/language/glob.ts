// Names with `*` and `?`. A key is a server part and a name part, split at the first `/`; a star
// matches within one part only. Matching is iterative (no exponential backtracking). "Wider" is
// exact language inclusion, computed by walking both patterns together.

import { GLOB_STATES_MAX } from './limits.ts'

export interface Glob {
  readonly key: string
  readonly server: string
  readonly name: string
}

export function isGlob(key: string): boolean {
  return key.includes('*') || key.includes('?')
}

export function parseGlob(key: string): Glob {
  const slash = key.indexOf('/')
  return { key, server: key.slice(0, slash), name: key.slice(slash + 1) }
}

export function globMatches(glob: Glob, server: string, name: string): boolean {
  return wildcardMatches(glob.server, server) && wildcardMatches(glob.name, name)
}

/** Whether `wide` matches everything `narrow` does, and something more. */
export function isWider(wide: Glob, narrow: Glob): boolean {
  return covers(wide, narrow) && !covers(narrow, wide)
}

function covers(wide: Glob, narrow: Glob): boolean {
  return (
    includes(oneStar(wide.server), oneStar(narrow.server)) &&
    includes(oneStar(wide.name), oneStar(narrow.name))
  )
}

/** Consecutive stars equal one. */
function oneStar(pattern: string): string {
  return pattern.replace(/\*{2,}/g, '*')
}

/** Greedy match with one remembered star: at most pattern times text steps. */
export function wildcardMatches(pattern: string, text: string): boolean {
  let p = 0
  let t = 0
  let star = -1
  let mark = 0
  while (t < text.length) {
    const wanted = pattern[p]
    if (wanted === '*') {
      star = p++
      mark = t
    } else if (wanted !== undefined && (wanted === '?' || wanted === text[t])) {
      p++
      t++
    } else if (star !== -1) {
      p = star + 1
      t = ++mark
    } else return false
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}

/**
 * Language inclusion of two patterns: every set of positions `wide` can be in, for every position
 * of `narrow`, over the letters both mention and one that neither does.
 */
function includes(wide: string, narrow: string): boolean {
  if (wide === narrow || wide === '*') return true
  if (!isGlob(narrow)) return wildcardMatches(wide, narrow)
  const letters = new Set([...wide, ...narrow].filter((letter) => letter !== '*' && letter !== '?'))
  letters.add(FRESH)
  const start = closure(wide, [0])
  const todo: { place: number; places: readonly number[] }[] = [{ place: 0, places: start }]
  const seen = new Set([`0:${start}`])
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    for (const place of closure(narrow, [next.place])) {
      if (place === narrow.length) {
        if (!next.places.includes(wide.length)) return false
        continue
      }
      const wanted = narrow[place]
      for (const letter of letters) {
        if (wanted !== '*' && wanted !== '?' && wanted !== letter) continue
        const places = closure(wide, step(wide, next.places, letter))
        const after = wanted === '*' ? place : place + 1
        const id = `${after}:${places}`
        if (seen.has(id)) continue
        // Not known to be wider: then both globs apply and the stronger action wins.
        if (seen.size >= GLOB_STATES_MAX) return false
        seen.add(id)
        todo.push({ place: after, places })
      }
    }
  }
  return true
}

/** Represents any letter that neither pattern mentions. */
const FRESH = '\u0000'

/** The places reachable without reading a letter: past stars. */
function closure(pattern: string, places: readonly number[]): number[] {
  const all = new Set(places)
  for (const place of all) if (pattern[place] === '*') all.add(place + 1)
  return [...all].sort((a, b) => a - b)
}

function step(pattern: string, places: readonly number[], letter: string): number[] {
  const after: number[] = []
  for (const place of places) {
    const wanted = pattern[place]
    if (wanted === '*') after.push(place)
    else if (wanted === '?' || wanted === letter) after.push(place + 1)
  }
  return after
}
