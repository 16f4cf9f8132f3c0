// error: TS2591
export const directory: string = process.cwd()
