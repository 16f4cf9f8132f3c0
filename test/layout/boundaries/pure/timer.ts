// error: TS2304
export const later = (what: () => void): unknown => setTimeout(what, 1000)
