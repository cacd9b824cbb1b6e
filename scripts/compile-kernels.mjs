// Compiles kernels/*.ts (AssemblyScript) into src/search/kernels.ts, or with --check says whether that is up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

const folder = fileURLToPath(new URL('../kernels/', import.meta.url))
const target = new URL('../src/search/kernels.ts', import.meta.url)
const kernels = { textIndex: 'text-index.ts', vectors: 'vectors.ts', scan: 'scan.ts' }
const options = ['-O3', '--runtime', 'stub', '--noAssert', '--enable', 'simd']

async function compile(file) {
  let binary
  const { error, stderr } = await asc.main([file, ...options, '--outFile', 'out.wasm', '--baseDir', folder], {
    readFile: undefined,
    writeFile: (name, contents) => {
      if (name === 'out.wasm') binary = Buffer.from(contents)
    },
  })
  if (error) throw new Error(`${file}: ${stderr.toString()}`)
  return binary.toString('base64')
}

let text = '// Made by `npm run kernels` from the sources in kernels/; a test compiles them again and compares.\n'
for (const [name, file] of Object.entries(kernels))
  text += `\nexport const ${name}Binary =\n  '${await compile(file)}'\n`
if (process.argv.includes('--check')) process.exitCode = readFileSync(target, 'utf8') === text ? 0 : 1
else writeFileSync(target, text)
