import { join } from 'node:path'
import type { SourceFile } from 'typescript/unstable/ast'
import { createVirtualFileSystem } from 'typescript/unstable/fs'
import { API } from 'typescript/unstable/sync'
import { projectRoot } from './run-cli.ts'

/** Runs a function on the syntax trees of all files of src that are shipped, by their path below src. */
export function withSources<Result>(use: (files: ReadonlyMap<string, SourceFile>) => Result): Result {
  const src = join(projectRoot, 'src/')
  const isShipped = (path: string) => path.startsWith(src) && !/\.(test|suite)\.ts$/.test(path)
  const config = join(projectRoot, 'tsconfig.build.json')
  return parse(
    new API({ cwd: projectRoot }),
    config,
    (path) => (isShipped(path) ? path.slice(src.length) : undefined),
    use,
  )
}

/** Runs a function on the syntax trees of some texts, by the text. */
export function withTexts<Result>(
  texts: readonly string[],
  use: (files: ReadonlyMap<string, SourceFile>) => Result,
): Result {
  const paths = new Map(texts.map((text, index) => [`/${index}.ts`, text]))
  const config = JSON.stringify({ files: [...paths.keys()] })
  const fs = createVirtualFileSystem({ '/tsconfig.json': config, ...Object.fromEntries(paths) })
  return parse(new API({ cwd: '/', fs }), '/tsconfig.json', (path) => paths.get(path), use)
}

function parse<Result>(
  api: API,
  config: string,
  nameOf: (path: string) => string | undefined,
  use: (files: ReadonlyMap<string, SourceFile>) => Result,
): Result {
  try {
    const project = api.updateSnapshot({ openProject: config }).getProject(config)
    const files = new Map<string, SourceFile>()
    for (const path of project?.rootFiles ?? []) {
      const name = nameOf(path)
      const file = name === undefined ? undefined : project?.program.getSourceFile(path)
      if (name !== undefined && file !== undefined) files.set(name, file)
    }
    return use(files)
  } finally {
    api.close()
  }
}
