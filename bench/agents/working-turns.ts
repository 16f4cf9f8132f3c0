// A script of the model: turns that each write a file or two and the list of todos, and then end.

export function workingTurns(turns: number): object[] {
  const work = Array.from({ length: turns }, (_, at) => ({
    text: `thinking about step ${at}`,
    toolCalls: [
      // Twenty files in fifteen turns.
      ...(at < 5 ? [at, at + 15] : [at]).map((file) => ({
        name: 'write_file',
        input: {
          path: `src/f${file % 20}.ts`,
          content: `export const v${at} = ${at}\n`.repeat(80),
        },
      })),
      {
        name: 'write_todos',
        input: { todos: [`step ${at}`, { content: 'done', status: 'completed' }] },
      },
    ],
  }))
  return [...work, { text: 'finished' }]
}
