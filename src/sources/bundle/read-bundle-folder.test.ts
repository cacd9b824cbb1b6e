import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempFile, tempFolder } from '../../../tests/support/temp-folder.ts'
import { formatProblem } from '../../base/problem.ts'
import { hasErrors } from '../../diagnostics/finding.ts'
import { withDefaultHint } from '../../diagnostics/shape-problems.ts'
import { readBundleFolder } from './read-bundle-folder.ts'

const tool = (name: string, more = '') => `name: ${name}\ndisplayName: A\ndescription: B\ninputSchema: {}\n${more}`

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = tempFolder()
  for (const [name, text] of Object.entries(files)) tempFile(name, text, folder)
  return folder
}

async function errorsOf(folder: string): Promise<readonly string[]> {
  const { problems } = await readBundleFolder(folder)
  if (!hasErrors(problems)) return []
  return problems.map((problem) => formatProblem(withDefaultHint(problem)).replaceAll(`${folder}/`, ''))
}

describe('readBundleFolder', () => {
  it('joins every kind of file below a folder', async () => {
    const folder = folderOf({
      'all.yaml': 'tooldex: 1\ncategories: [{name: ops}]\ntools: []\n',
      'categories.yml': '- {name: pods, parent: ops}\n',
      'tools/a.yaml': tool('a', 'category: pods\nscriptFile: ../scripts/a.py\n'),
      'tools/list.json': '[{"name": "b", "inputSchema": {}}]',
      'git.yaml': 'name: git\ncommand: git\ncategory: ops\ntools: [{name: c, description: C}]\n',
      'strict.policy.yaml': 'default: enabled\nexecutor: {type: docker, image: x, working_dir: /w}\n',
      'scripts/a.py': 'def main():\r\n    pass\r\n',
      'notes.md': 'nothing',
      '.github/workflow.yaml': 'on: push',
    })
    const { bundle, files } = await readBundleFolder(folder)
    expect(bundle.categories.map(({ name }) => name)).toEqual(['ops', 'pods'])
    expect(bundle.tools.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    expect(bundle.tools[0]?.scriptContent).toBe('def main():\r\n    pass\r\n')
    expect(bundle.policies).toMatchObject([{ name: 'strict', policy: { executor: { workingDir: '/w' } } }])
    expect(files.map((file) => file.slice(folder.length + 1))).toEqual([
      'all.yaml',
      'categories.yml',
      'git.yaml',
      'scripts/a.py',
      'strict.policy.yaml',
      'tools/a.yaml',
      'tools/list.json',
    ])
  })

  it('reports the problems of all files, and names in two of them with both places', async () => {
    const folder = folderOf({
      'a.yaml': tool('same', 'color: red\n'),
      'b.yaml': tool('same'),
      'c.yaml': `# c\n${tool('same')}`,
      'd.yaml': 'hello: world\n',
    })
    expect(await errorsOf(folder)).toEqual([
      expect.stringMatching(/^a\.yaml:5:1: unknown key 'color'/),
      expect.stringMatching(/^d\.yaml:1:1: the file does not contain tools/),
      "b.yaml:1:7: the tool 'same' is already at a.yaml:1:7 (keep one)",
      "c.yaml:2:7: the tool 'same' is already at a.yaml:1:7 (keep one)",
    ])
  })

  it('finds parents that no file has', async () => {
    const folder = folderOf({ 'a.yaml': tool('a', 'category: opps\n'), 'b.yaml': 'categories: [{name: ops}]\n' })
    expect(await errorsOf(folder)).toEqual([
      expect.stringMatching(/^a\.yaml:5:11: there is no category 'opps'. Did you mean 'ops'/),
    ])
  })

  it.each([
    ['../out.py', 'leads out of the folder'],
    ['./link.py', 'leads out of the folder'],
    ['/etc/hostname', 'there is no file'],
    ['./none.py', 'there is no file'],
    ['./folder', 'is a folder'],
  ])('does not read the script %s', async (path, expected) => {
    const outside = folderOf({ 'out.py': 'secret', 'in/a.yaml': tool('a', `scriptFile: ${path}\n`) })
    symlinkSync(join(outside, 'out.py'), join(outside, 'in/link.py'))
    mkdirSync(join(outside, 'in/folder'))
    expect((await errorsOf(join(outside, 'in'))).join()).toContain(expected)
  })

  it('reads links that stay inside once, and refuses those that lead out', async () => {
    const outside = folderOf({ 'out.yaml': tool('out'), 'in/a.yaml': tool('a') })
    const folder = join(outside, 'in')
    symlinkSync('a.yaml', join(folder, 'b.yaml'))
    symlinkSync('..', join(folder, 'up'))
    const { bundle, problems: warnings } = await readBundleFolder(folder)
    expect(bundle.tools).toHaveLength(1)
    expect(warnings.map(({ message }) => message)).toEqual(['the link to a folder is not followed'])
    symlinkSync('../out.yaml', join(folder, 'c.yaml'))
    symlinkSync('nowhere.yaml', join(folder, 'd.yaml'))
    expect((await errorsOf(folder)).join('\n')).toMatch(
      /c\.yaml: the target of the link is outside the folder \(copy the file.*\)\nd\.yaml: the target of the link does not exist \(remove it\)/,
    )
  })

  it('reports a missing folder', async () => {
    await expect(readBundleFolder(join(tempFolder(), 'none'))).rejects.toThrow(/does not exist/)
  })
})
