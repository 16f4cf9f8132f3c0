// Moves a piece of the board from one column to another: dragged with the pointer, or picked up by
// its grip (Enter, or a tap), after which every column offers to take it. One set of listeners for
// the whole board, for any number of pieces. Called by board.tsx.

import { useEffect, useRef, useState } from 'react'

const TYPE = 'application/x-sluice-rule'

/** `taken`: the piece that was picked up by its grip. */
export function useRuleDrag(
  board: HTMLElement | null,
  onDrop: (id: string, column: string) => void,
) {
  const [taken, setTaken] = useState<string>()
  const latest = useRef({ onDrop, taken })
  latest.current = { onDrop, taken }
  useEffect(() => {
    if (board === null) return
    const over = (column: HTMLElement | undefined) => {
      for (const one of board.querySelectorAll('[data-over]')) one.removeAttribute('data-over')
      column?.setAttribute('data-over', '')
    }
    const handlers = {
      dragstart: (event: DragEvent) => {
        const piece = findAncestor(event, '.piece')
        const id = piece?.dataset.id
        if (piece === undefined || id === undefined || event.dataTransfer === null) return
        event.dataTransfer.setData(TYPE, id)
        event.dataTransfer.setData('text/plain', id)
        event.dataTransfer.effectAllowed = 'move'
        piece.setAttribute('data-dragging', '')
      },
      dragend: (event: DragEvent) => {
        findAncestor(event, '.piece')?.removeAttribute('data-dragging')
        over(undefined)
      },
      dragover: (event: DragEvent) => {
        const column = findAncestor(event, '.column')
        if (column === undefined || !event.dataTransfer?.types.includes(TYPE)) return
        event.preventDefault()
        event.dataTransfer.dropEffect = 'move'
        if (!column.hasAttribute('data-over')) over(column)
      },
      drop: (event: DragEvent) => {
        const column = findAncestor(event, '.column')?.dataset.column
        const id = event.dataTransfer?.getData(TYPE) ?? ''
        over(undefined)
        if (column === undefined || id === '') return
        event.preventDefault()
        latest.current.onDrop(id, column)
      },
      click: (event: MouseEvent) => {
        const id = findAncestor(event, '.grip')?.closest<HTMLElement>('.piece')?.dataset.id
        const column = findAncestor(event, '.drop-here') && findAncestor(event, '.column')
        if (id !== undefined) return setTaken(id)
        if (column === undefined || latest.current.taken === undefined) return
        setTaken(undefined)
        column.querySelector<HTMLElement>('.column-list')?.focus()
        latest.current.onDrop(latest.current.taken, column.dataset.column ?? '')
      },
      keydown: (event: KeyboardEvent) => {
        const { taken: id } = latest.current
        if (event.key !== 'Escape' || id === undefined) return
        event.preventDefault()
        setTaken(undefined)
        // It can be focused again once the lists are no longer inert.
        requestAnimationFrame(() => findGrip(board, id)?.focus())
      },
    }
    for (const [name, handler] of Object.entries(handlers))
      board.addEventListener(name, handler as EventListener)
    return () => {
      for (const [name, handler] of Object.entries(handlers))
        board.removeEventListener(name, handler as EventListener)
    }
  }, [board])
  useEffect(() => {
    if (board === null || taken === undefined) return
    const piece = findGrip(board, taken)?.closest('.piece')
    piece?.setAttribute('data-taken', '')
    board.querySelector<HTMLElement>('.drop-here')?.focus()
    return () => piece?.removeAttribute('data-taken')
  }, [board, taken])
  return { taken }
}

function findAncestor(event: Event, selector: string): HTMLElement | undefined {
  const { target } = event
  return target instanceof Element
    ? (target.closest<HTMLElement>(selector) ?? undefined)
    : undefined
}

function findGrip(board: HTMLElement, id: string): HTMLElement | null {
  return board.querySelector(`.piece[data-id="${CSS.escape(id)}"] .grip`)
}
