// Compiles in every module: the language itself is there.
export const sorted: number[] = [...new Map([['a', 1]]).values()].toSorted()
export const parsed: unknown = JSON.parse(`{"largest": ${Math.max(1, 2)}}`)
