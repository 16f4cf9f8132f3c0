// The tree compared with the definition of RFC 6962, and its published values.

import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { auditPath, hashLeaf, Peaks, peakCount, rootByPath } from './merkle.ts'

const sha = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
const hashes = Array.from({ length: 300 }, (_, n) => sha(Buffer.from(`record ${n}`)))

/** MTH of RFC 6962, 2.1. */
function defined(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return sha()
  if (leaves.length === 1) return sha(Buffer.from([0]), leaves[0]!)
  let k = 1
  while (k * 2 < leaves.length) k *= 2
  return sha(Buffer.from([1]), defined(leaves.slice(0, k)), defined(leaves.slice(k)))
}

const rangeRoot = (from: number, to: number) => defined(hashes.slice(from, to)).toString('latin1')

function grown(size: number): Peaks {
  const peaks = new Peaks()
  for (const leaf of hashes.slice(0, size)) peaks.add(hashLeaf(leaf.toString('latin1')))
  return peaks
}

test('grown leaf by leaf it has the root of the definition, at every size', () => {
  const peaks = new Peaks()
  for (let size = 0; size <= 130; size++) {
    expect(peaks.root).toBe(rangeRoot(0, size))
    expect(peaks.list).toHaveLength(peakCount(size))
    peaks.add(hashLeaf(hashes[size]!.toString('latin1')))
  }
  const gone = new Peaks(77, grown(77).list)
  for (const leaf of hashes.slice(77, 200)) gone.add(hashLeaf(leaf.toString('latin1')))
  expect(gone.root).toBe(rangeRoot(0, 200))
})

test('an empty tree has the root of RFC 6962', () => {
  expect(Buffer.from(new Peaks().root, 'latin1').toString('hex')).toBe(
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  )
})

test('every leaf of every small tree is proved, and only at its own index', () => {
  for (let size = 1; size <= 20; size++)
    for (let leaf = 0; leaf < size; leaf++) {
      const path = auditPath(leaf, size, rangeRoot)
      const own = hashLeaf(hashes[leaf]!.toString('latin1'))
      const root = rangeRoot(0, size)
      expect(rootByPath(own, leaf, size, path)).toBe(root)
      for (const other of [leaf - 1, leaf + 1])
        expect(rootByPath(own, other, size, path)).not.toBe(root)
      expect(rootByPath(own, leaf, size, [...path, own])).not.toBe(root)
      if (path.length > 0) expect(rootByPath(own, leaf, size, path.slice(1))).not.toBe(root)
    }
})

test('a path with any change leads to another root', () => {
  const property = fc.property(
    fc.integer({ min: 2, max: 300 }),
    fc.nat(),
    fc.nat(),
    fc.nat(255),
    (size, leafSeed, where, bit) => {
      const leaf = leafSeed % size
      const path = auditPath(leaf, size, rangeRoot)
      const at = where % path.length
      const wrong = Buffer.from(path[at]!, 'latin1')
      wrong[bit % 32] = wrong[bit % 32]! ^ (1 << (bit % 8))
      const changed = path.with(at, wrong.toString('latin1'))
      const own = hashLeaf(hashes[leaf]!.toString('latin1'))
      expect(rootByPath(own, leaf, size, path)).toBe(rangeRoot(0, size))
      expect(rootByPath(own, leaf, size, changed)).not.toBe(rangeRoot(0, size))
    },
  )
  fc.assert(property, runs(30))
})
