import { text } from 'node:stream/consumers'
import { TooldexError } from '../../../../base/errors.ts'
import { toOneLine } from '../../../../base/invisible-characters.ts'
import { writeYaml } from '../../../../documents/write-yaml.ts'
import * as categories from '../../../../operations/registry/categories.ts'
import * as keys from '../../../../operations/registry/keys.ts'
import * as policies from '../../../../operations/registry/policies.ts'
import * as secrets from '../../../../operations/registry/secrets.ts'
import * as environments from '../../../../operations/server/python-environments.ts'
import type { RegistryClient } from '../../host.ts'
import type { AddCommand } from '../command.ts'
import { operationCommands, tableText } from '../operation-command.ts'
import { findingText } from './registry-command.ts'
import { addSimulate } from './simulate.ts'

/** `tooldex categories ...`: the tree of categories. */
export const addCategories: AddCommand = (program, host) => {
  const add = operationCommands(program.command('categories'), host)
  const { categoryTree, createCategory, changeCategory, deleteCategory } = categories
  const isDone = (step: string) => (category: { readonly name: string }) => `${toOneLine(category.name)} is ${step}.\n`
  add({
    line: 'tree',
    operation: categoryTree,
    text: ({ items }) =>
      items.length === 0
        ? 'There are no categories. Create one with: tooldex categories create NAME\n'
        : treeText(items, ''),
  })
  add({
    line: 'create <name>',
    operation: createCategory,
    options: ['--description <text>', '--parent <name>'],
    resolve: async (input, registry) => ({
      ...input,
      ...(input.parentId !== undefined && (await parentOf(input, registry))),
    }),
    text: isDone('created'),
  })
  add({
    line: 'move <name> [parent]',
    about: 'move a category below another, or to the top',
    operation: changeCategory,
    fields: ['idOrName', 'parentId'],
    resolve: async (input, registry) => ({ ...input, ...(await parentOf(input, registry)) }),
    text: isDone('moved'),
  })
  add({
    line: 'edit <name>',
    about: 'change the name or the description of a category',
    operation: changeCategory,
    fields: ['idOrName'],
    options: ['--name <name>', '--description <text>'],
    prepare: (input) => {
      if (Object.keys(input).length > 1) return input
      throw new TooldexError('USAGE', 'Nothing to change.', { hint: 'Use --name or --description.' })
    },
    text: isDone('changed'),
  })
  add({
    line: 'delete <name>',
    operation: deleteCategory,
    fields: ['idOrName'],
    options: ['--reparent'],
    text: isDone('deleted'),
  })
}

/** The id of the parent that is named; null for the top. */
async function parentOf({ parentId }: { readonly parentId?: unknown }, registry: RegistryClient) {
  if (parentId === undefined) return { parentId: null }
  return { parentId: (await registry.invoke(categories.getCategory, { idOrName: parentId })).id }
}

const treeText = (nodes: readonly categories.CategoryNode[], indent: string): string =>
  nodes
    .map(({ name, tools, toolsBelow, children }) => {
      const count = children.length === 0 ? `${tools}` : `${tools}, ${toolsBelow} including subcategories`
      return `${indent}${toOneLine(name)} (${count})\n${treeText(children, `${indent}  `)}`
    })
    .join('')

/** `tooldex tags ...`: the tags of registered tools. */
export const addTags: AddCommand = (program, host) => {
  const add = operationCommands(program.command('tags'), host)
  add({
    line: 'list',
    operation: categories.listTags,
    text: tableText(
      { Tag: ({ tag }) => tag, Tools: ({ tools }) => tools },
      'No tool has a tag. Add some with: tooldex tools edit TOOL --set tags=[a,b]',
    ),
  })
  add({
    line: 'rename <from> <to>',
    operation: categories.renameTag,
    text: ({ tools }) => `${tools} tool(s) changed.\n`,
  })
}

/** `tooldex keys ...`: API keys. */
export const addKeys: AddCommand = (program, host) => {
  const add = operationCommands(program.command('keys'), host)
  add({
    line: 'list',
    operation: keys.listKeys,
    text: tableText(
      {
        Name: (key) => key.name,
        Prefix: (key) => key.prefix,
        Scopes: (key) => [...key.scopes, ...(key.codeMode ? ['(code mode)'] : [])].join(' '),
        Toolsets: (key) => key.toolsets?.join(' ') ?? 'all',
        State: (key) => keyState(key),
        'Last used': (key) => key.lastUsedAt ?? 'never',
      },
      'There are no keys. Create one with: tooldex keys create NAME --scope admin',
    ),
  })
  add({
    line: 'current',
    operation: keys.currentKey,
    text: ({ name, workspace, scopes }) => `${toOneLine(name)} in the workspace ${workspace}: ${scopes.join(', ')}\n`,
  })
  add({
    line: 'create <name>',
    operation: keys.createKey,
    options: ['--scope <scope>', '--code-mode', '--expires <time>', '--toolset <name>', '--workspace <name>'],
    text: ({ secret }) => `${secret}\n`,
  })
  add({
    line: 'revoke <name>',
    operation: keys.revokeKey,
    fields: ['idOrName'],
    text: ({ name }) => `${toOneLine(name)} is revoked.\n`,
  })
}

const keyState = ({ revokedAt, expiresAt }: { revokedAt: string | null; expiresAt: string | null }): string => {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt === null) return 'valid'
  return Date.parse(expiresAt) < Date.now() ? 'expired' : `until ${expiresAt}`
}

/** `tooldex secrets`: secrets that tools refer to as secret:NAME. */
export const addSecrets: AddCommand = (program, host) => {
  const add = operationCommands(program.command('secrets'), host)
  add({
    line: 'list',
    operation: secrets.listSecrets,
    text: tableText(
      { name: ({ name }) => name, changed: ({ updatedAt }) => updatedAt, by: ({ createdBy }) => createdBy },
      'No secrets. Store one with: tooldex secrets set NAME < FILE',
    ),
  })
  add({
    line: 'set <name>',
    about: 'store a secret; its value is read from standard input',
    operation: secrets.putSecret,
    prepare: async (input) => ({ ...input, value: await readValue(host.interactive) }),
    text: ({ name }) => `${name} is stored.\n`,
  })
  add({ line: 'remove <name>', operation: secrets.removeSecret, text: ({ name }) => `${name} is deleted.\n` })
}

/** Values are not accepted as arguments: every user who can list processes would see them. */
async function readValue(interactive: boolean): Promise<string> {
  if (interactive)
    throw new TooldexError('USAGE', 'The value of a secret is read from standard input.', {
      hint: 'Run: tooldex secrets set NAME < FILE',
    })
  const value = (await text(process.stdin)).replace(/\r?\n$/, '')
  if (value !== '') return value
  throw new TooldexError('USAGE', 'Standard input is empty, so there is no value to store.', {
    hint: 'Run: tooldex secrets set NAME < FILE, or pipe the value to it.',
  })
}

/** `tooldex policies ...`: the policies in the database. */
export const addPolicies: AddCommand = (program, host, exit) => {
  const group = program.command('policies')
  const add = operationCommands(group, host)
  add({
    line: 'list',
    operation: policies.listPolicies,
    text: tableText(
      {
        Name: ({ name }) => name,
        Default: ({ policy }) => policy.default,
        Rules: ({ policy }) => Object.keys(policy.tools).length,
        Callers: ({ policy }) => policy.callers?.join(' ') ?? 'all',
      },
      'No policies. Store one with: tooldex policies set NAME FILE',
    ),
  })
  add({ line: 'get <name>', operation: policies.getPolicy, text: ({ policy }) => writeYaml(policy) })
  add({
    line: 'set <name> <file>',
    about: 'store the policy in a YAML file under a name, or replace the stored one',
    operation: policies.putPolicy,
    prepare: async ({ name, file }) => {
      const { loadPolicy } = await import('../../../../policy/index.ts')
      const { value, warnings } = loadPolicy(String(file))
      for (const warning of warnings) host.err(findingText(warning))
      return { name, ...value }
    },
    text: ({ name }) => `${name} is stored.\n`,
  })
  add({ line: 'delete <name>', operation: policies.deletePolicy, text: ({ name }) => `${name} is deleted.\n` })
  addSimulate(group, host, exit)
}

/** `tooldex envs`: the package environments for Python tools on this machine. */
export const addEnvs: AddCommand = (program, host) => {
  const add = operationCommands(program.command('envs'), host)
  add({
    line: 'list',
    operation: environments.listEnvironments,
    isLocal: true,
    text: tableText(
      {
        name: ({ name }) => name,
        state: ({ fingerprint }) => fingerprint,
        'folder or packages': ({ dependencies, folder }) => dependencies?.join(' ') ?? folder,
      },
      'No environments. Install packages with: tooldex envs build PACKAGE, or name a folder with: tooldex envs add NAME PATH',
    ),
  })
  add({
    line: 'add <name> <path>',
    about: 'register a package folder or a virtual environment under a name',
    operation: environments.addEnvironment,
    isLocal: true,
    text: ({ name, folder, fingerprint }) => `${name} is ${folder} (${fingerprint}).\n`,
  })
  add({
    line: 'build <packages...>',
    about: 'install the packages that Python tools list as dependencies',
    operation: environments.buildEnvironment,
    fields: ['dependencies'],
    isLocal: true,
    text: ({ name, dependencies, fingerprint }) => `${name} has ${dependencies?.join(', ')} (${fingerprint}).\n`,
  })
  add({
    line: 'remove <name>',
    operation: environments.removeEnvironment,
    isLocal: true,
    text: ({ name }) => `${name} is removed.\n`,
  })
}
