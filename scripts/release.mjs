// Makes what a release consists of: release.mjs [FOLDER]. The package, its bill of materials (CycloneDX) and the checksums of both.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const folder = resolve(process.argv[2] ?? 'release')
mkdirSync(folder, { recursive: true })
const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'))
const npm = (...words) => execFileSync('npm', words, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
const sha256 = (file) => createHash('sha256').update(readFileSync(file)).digest('hex')

npm('pack', '--silent', '--pack-destination', folder)

const bom = JSON.parse(npm('sbom', '--sbom-format=cyclonedx', '--package-lock-only'))
// npm calls the package after the folder it is in.
bom.metadata.component = { ...bom.metadata.component, type: 'application', name }
// With --omit=dev npm would leave out packages that are needed both for use and for development.
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const used = new Set([bom.metadata.component['bom-ref']])
for (const [path, entry] of Object.entries(packages)) {
  if (path !== '' && !entry.dev) used.add(`${path.slice(path.lastIndexOf('node_modules/') + 13)}@${entry.version}`)
}
// The libraries of the console and bundled packages are needed for the build only, but their code is in the package.
for (const file of ['dist/web/licenses.md', 'dist/packages/licenses.md'])
  for (const [, library, version] of readFileSync(file, 'utf8').matchAll(/^## (\S+) - (\S+) \(/gm))
    used.add(`${library}@${version}`)
bom.components = bom.components.filter((component) => used.has(component['bom-ref']))
bom.dependencies = bom.dependencies
  .filter(({ ref }) => used.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => used.has(other)) }))
const model = `${name}-encoder@${version}`
bom.components.push({
  'bom-ref': model,
  type: 'machine-learning-model',
  name: `${name}-encoder`,
  version,
  description: 'Word vectors for search by meaning; model/NOTICE.md lists the works they were derived from.',
  hashes: [{ alg: 'SHA-256', content: sha256('model/encoder.bin') }],
  licenses: [{ license: { id: 'MIT' } }],
})
const root = bom.dependencies.find(({ ref }) => ref === bom.metadata.component['bom-ref'])
root?.dependsOn.push(model)
bom.dependencies.push({ ref: model, dependsOn: [] })

const files = [`${name}-${version}.tgz`, `${name}-${version}.cdx.json`]
writeFileSync(join(folder, files[1]), `${JSON.stringify(bom, null, 2)}\n`)
writeFileSync(join(folder, 'SHA256SUMS'), files.map((file) => `${sha256(join(folder, file))}  ${file}\n`).join(''))
console.log(`${folder}: ${files.join(', ')}, SHA256SUMS; ${bom.components.length} components`)
