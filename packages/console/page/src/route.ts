// The current route: the path names the page and what is open in it, the query the filters, so that
// every view can be linked to and the back button works.

import { attempt } from '@sluice/policy/structures/attempt'
import { SharedValue, useShared } from './shared-value.ts'

const route = new SharedValue(read())

/** The address of the page. */
export interface Route {
  readonly page: string
  /** What follows the page in the path, decoded. */
  readonly rest: readonly string[]
  readonly query: URLSearchParams
}

function read(): Route {
  const [page = '', ...rest] = location.pathname.split('/').slice(1).map(decode)
  return { page, rest: rest.filter(Boolean), query: new URLSearchParams(location.search) }
}

function decode(part: string): string {
  return attempt(() => decodeURIComponent(part), part)
}

function changed(): void {
  route.set(read())
}

window.addEventListener('popstate', changed)

export function go(path: string, replace = false): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', path)
  changed()
}

/** The same page with other filters; empty values are left out. `push`: the back button undoes it. */
export function setQuery(
  values: Readonly<Record<string, string | undefined>>,
  how: 'replace' | 'push' = 'replace',
): void {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(values))
    if (value === undefined || value === '') query.delete(name)
    else query.set(name, value)
  const text = query.toString()
  go(`${location.pathname}${text === '' ? '' : `?${text}`}`, how === 'replace')
}

export function pathTo(page: string, ...rest: string[]): string {
  return `/${[page, ...rest.map(encodeURIComponent)].join('/')}`
}

export function useRoute(): Route {
  return useShared(route)
}
