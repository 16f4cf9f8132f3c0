// VitePress's own theme, with the playground below the text of its page.

import type { Theme } from 'vitepress'
import { defineClientComponent, useData } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import { defineComponent, h } from 'vue'
import './pictures.css'
import './playground.css'
import './tables.css'

/** Not part of the built page: what is shown there is computed in the browser. */
const Playground = defineClientComponent(
  async () => (await import('../../playground/playground.ts')).Playground,
)

const theme: Theme = {
  extends: DefaultTheme,
  Layout: defineComponent({
    setup() {
      const { page } = useData()
      const below = () =>
        page.value.relativePath === 'how-to/playground.md' ? h(Playground) : undefined
      return () => h(DefaultTheme.Layout, null, { 'doc-footer-before': below })
    },
  }),
}

export default theme
