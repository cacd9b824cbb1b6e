import type { Command } from 'commander'
import { TooldexError } from '../../../../base/errors.ts'
import { toOneLine } from '../../../../base/visible-text.ts'
import * as categories from '../../../../operations/registry/categories.ts'
import { formatTable } from '../../format-table.ts'
import type { AddCommand } from '../command.ts'
import { toJson } from '../command.ts'
import {
  definedOptions,
  printOperation,
  type RegistryFlags,
  withRegistry,
  withRegistryOptions,
} from './registry-command.ts'

/** `tooldex categories ...`: the tree of categories. */
export const addCategories: AddCommand = (program, host) => {
  const group = program.command('categories')
  const make = (line: string, text: string): Command => withRegistryOptions(group.command(line).description(text))
  make('tree', 'show the tree').action((flags: RegistryFlags) =>
    printOperation(host, flags, {
      operation: categories.categoryTree,
      input: {},
      text: ({ items }) => (items.length === 0 ? 'There are no categories.\n' : treeText(items, '')),
    }),
  )
  make('create <name>', 'create a category')
    .option('--description <text>', 'description of the category')
    .option('--parent <name>', 'parent category')
    .action((name: string, flags: RegistryFlags & { description?: string; parent?: string }) =>
      withRegistry(host, flags, async (registry) => {
        const { description, parent } = flags
        const above =
          parent === undefined ? undefined : await registry.invoke(categories.getCategory, { idOrName: parent })
        const input = {
          name,
          ...(description === undefined ? {} : { description }),
          ...(above === undefined ? {} : { parentId: above.id }),
        }
        const answer = await registry.invoke(categories.createCategory, input)
        host.out(flags.json ? toJson(answer) : `${toOneLine(answer.name)} is created.\n`)
      }),
    )
  make('move <name> [parent]', 'move a category below another, or to the top').action(
    (idOrName: string, parent: string | undefined, flags: RegistryFlags) =>
      withRegistry(host, flags, async (registry) => {
        const above =
          parent === undefined ? null : (await registry.invoke(categories.getCategory, { idOrName: parent })).id
        const answer = await registry.invoke(categories.changeCategory, { idOrName, parentId: above })
        host.out(flags.json ? toJson(answer) : `${toOneLine(answer.name)} is moved.\n`)
      }),
  )
  make('edit <name>', 'change the name or the description of a category')
    .option('--name <name>', 'new name')
    .option('--description <text>', 'description of the category')
    .action((idOrName: string, flags: RegistryFlags & { name?: string; description?: string }) => {
      const { name, description } = flags
      if (name === undefined && description === undefined)
        throw new TooldexError('USAGE', 'Nothing to change.', {
          hint: 'Use --name or --description.',
        })
      return printOperation(host, flags, {
        operation: categories.changeCategory,
        input: { idOrName, ...definedOptions({ name, description }) },
        text: (changed) => `${toOneLine(changed.name)} is changed.\n`,
      })
    })
  make('delete <name>', 'delete an empty category')
    .option('--reparent', 'move its content to the parent category first')
    .action((idOrName: string, flags: RegistryFlags & { reparent?: boolean }) =>
      printOperation(host, flags, {
        operation: categories.deleteCategory,
        input: { idOrName, reparent: flags.reparent === true },
        text: ({ name }) => `${toOneLine(name)} is deleted.\n`,
      }),
    )
}

/** `tooldex tags ...`: the tags of registered tools. */
export const addTags: AddCommand = (program, host) => {
  const group = program.command('tags')
  withRegistryOptions(group.command('list').description('list tags with the number of tools')).action(
    (flags: RegistryFlags) =>
      printOperation(host, flags, {
        operation: categories.listTags,
        input: {},
        text: ({ items }) =>
          `${formatTable(
            ['Tag', 'Tools'],
            items.map(({ tag, tools }) => [tag, String(tools)]),
            host.columns,
          )}\n`,
      }),
  )
  withRegistryOptions(group.command('rename <from> <to>').description('rename a tag on every tool')).action(
    (from: string, to: string, flags: RegistryFlags) =>
      printOperation(host, flags, {
        operation: categories.renameTag,
        input: { from, to },
        text: ({ tools }) => `${tools} tool(s) changed.\n`,
      }),
  )
}

const treeText = (nodes: readonly categories.CategoryNode[], indent: string): string =>
  nodes
    .map(({ name, tools, toolsBelow, children }) => {
      const count = children.length === 0 ? `${tools}` : `${tools}, ${toolsBelow} including subcategories`
      return `${indent}${toOneLine(name)} (${count})\n${treeText(children, `${indent}  `)}`
    })
    .join('')
