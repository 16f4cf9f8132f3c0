import { runSteps } from '@sluice/policy/structures/steps'
import { describe, expect, test } from 'vitest'
import { findExternalLinksSteps } from './external-links.ts'

function shown(text: string): string {
  const links = runSteps(findExternalLinksSteps(text, (host) => host === 'ok.example'))
  let result = ''
  let next = 0
  for (const { start, end, replacement } of links) {
    result += text.slice(next, start) + replacement
    next = end
  }
  return result + text.slice(next)
}

const long = (letter: string) => letter.repeat(3_000)

describe('an address of another host is removed', () => {
  test.each([
    '![x](https:/\\evil.example/p)',
    '![x](/\\evil.example/p)',
    '![x](https:evil.example/p)',
    '![x](https:/evil.example/p)',
    '![x](\nhttps://evil.example/p)',
    '![x](          https://evil.example/p)',
    '![a\nb](https://evil.example/p)',
    '![a [b] c](https://evil.example/p)',
    '![a\\]b](https://evil.example/p)',
    `![${long('a')}](https://evil.example/p)`,
    '![x](https://evil.example/p "a\nb")',
    `![x](https://evil.example/p "${long('t')}")`,
    `![x](https://evil.example/${long('q')})`,
    `![x](${long('\x01')}https://evil.example/)`,
    '![x](https&#58;//evil.example/p)',
    '![x](&#104;ttps://evil.example/p)',
    '![x](https:&#47;&#47;evil.example/p)',
    '![x](https&colon;&sol;&bsol;evil.example/p)',
    '![x](https:\\/\\/evil.example/p)',
    '![x](https://ok.example@evil.example/p)',
    '[![a](https://ok.example/i)](https://evil.example/p)',
    '![a][x]\n\n[x]:\nhttps://evil.example/p',
    '![a][x]\n\n> [x]: https://evil.example/p',
    '![a][x]\n\n- [x]: <https://evil.example/p a>',
    `![a][x]\n\n[${long('l')}]: https://evil.example/p`,
    '![a][x]\n\n[x\ny]: https:evil.example/p',
    '<img src="https://ok.example/x" srcset="https://evil.example/p">',
    '<img srcset="a.png 1x, https://evil.example/p 2x">',
    '<img data-src="https://ok.example/" src="https://evil.example/p">',
    '<img alt=">" src="https://evil.example/p">',
    '<x "" y="<img alt=">" src=https://evil.example/p>',
    `<img alt="${long('a')}" src="https://evil.example/p">`,
    '<img src="https:evil.example/p">',
    '<img src="/\\evil.example/p">',
    '<img src="ht&#116;ps://evil.example/p">',
    '<img src="          https://evil.example/p">',
    '<img src="https://ok.example\t.evil.example/p">',
    '<img\nsrc          =\n"ht\ntps://evil.example/p">',
    '<svg><image a:href="https://evil.example/p"/></svg>',
    '<rect fill="url(https://evil.example/p)">',
    '<rect fill="ur&#108;(https://evil.example/p)">',
    '<div style="background:url(//evil.example/p)">',
    '<div style="background:url(\\68ttps://evil.example/p)">',
    '<body background="https://evil.example/p">',
    '<meta http-equiv="refresh" content="0;url=https://evil.example/p">',
    '<a ping="https://evil.example/p" href="#">',
    '<iframe srcdoc="&lt;img src=https://evil.example/p&gt;">',
    '<style>/* </ */ @import "https://evil.example/p";</style>',
    `<b style="${'a '.repeat(10)}" ${'<b/style='.repeat(100)}https://evil.example/p>`,
  ])('%j', (text) => {
    expect(shown(text).replace(/\[(?:link|image) removed: [^\]]*\]/g, '')).not.toContain('evil')
  })
})

test.each([
  'https://evil.example/ alone, (https://evil.example) and list[0] https://evil.example',
  '[a](/x) [b](#y) [c](mailto:ann@c.example) [d](https://ok.example/?u=https://evil.example)',
  '[x]: ./relative "title"\n[info]: done',
  '<p class="a">if a <b then x = "https://evil.example"</p>',
  '<img src="data:image/png;base64,AAAA"> <a href="https://ok.example">x</a> <svg xmlns="http://www.w3.org/2000/svg">',
  'const image = new Image(); image.src = "https://evil.example/"',
  'a < b && c > d; url(https://evil.example)',
])('%j stays as it is', (text) => expect(shown(text)).toBe(text))

test('what stands around a link stays', () => {
  expect(shown('a [b [c] d](https://evil.example "t") e')).toBe(
    'a [b [c] d] [link removed: evil.example] e',
  )
  expect(shown('<b>x</b><img alt="a" src=//evil.example/p><i>y</i>')).toBe(
    '<b>x</b>[link removed: evil.example]<i>y</i>',
  )
})
