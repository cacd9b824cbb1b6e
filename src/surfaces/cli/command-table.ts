import type { AddCommand } from './commands/command.ts'

/** The help text and the loader of a command. */
interface CommandEntry {
  readonly summary: string
  readonly hidden?: boolean
  readonly load: () => Promise<AddCommand>
}

/** Each command is loaded on use, so that neither the help nor a server started by a client waits for the others. */
export const commandTable: Readonly<Record<string, CommandEntry>> = {
  run: {
    summary: 'serve registered tools and the named configs to an MCP client on stdio (the default command)',
    load: async () => (await import('./commands/run.ts')).addRun,
  },
  list: {
    summary: 'list the configs and the registered tools, or the tools of the named configs',
    load: async () => (await import('./commands/list.ts')).addList,
  },
  validate: {
    summary: 'validate config and policy files without running anything',
    load: async () => (await import('./commands/check-commands.ts')).addValidate,
  },
  search: {
    summary: 'find tools by what they do; without a query, show an overview',
    load: async () => (await import('./commands/search.ts')).addSearch,
  },
  describe: {
    summary: 'show what tools do and how to call them',
    load: async () => (await import('./commands/describe.ts')).addDescribe,
  },
  call: {
    summary: 'run a tool; its flags come from its schema (tooldex call TOOL --help)',
    load: async () => (await import('./commands/call.ts')).addCall,
  },
  import: {
    summary:
      'add the MCP servers of clients or the operations of an OpenAPI document, or draft a config from a help text',
    load: async () => (await import('./commands/import.ts')).addImport,
  },
  install: {
    summary: 'add Tooldex to an MCP client, keeping a backup of its config',
    load: async () => (await import('./commands/install.ts')).addInstall,
  },
  uninstall: {
    summary: 'remove Tooldex from an MCP client, keeping a backup of its config',
    load: async () => (await import('./commands/install.ts')).addUninstall,
  },
  export: {
    summary: 'print the config or server.json with which MCP clients reach Tooldex',
    load: async () => (await import('./commands/export.ts')).addExport,
  },
  skill: {
    summary: 'print the guide for agents that write configs, or install it for Claude Code',
    load: async () => (await import('./commands/skill.ts')).addSkill,
  },
  eval: {
    summary: 'measure search quality on queries with known correct tools',
    load: async () => (await import('./commands/eval.ts')).addEval,
  },
  lint: {
    summary: 'lint the catalog: names, descriptions, schemas, near-duplicates, token cost',
    load: async () => (await import('./commands/check-commands.ts')).addLint,
  },
  learning: {
    summary: 'show what search learned from past searches and calls (TOOLDEX_LEARNING=off turns it off)',
    load: async () => (await import('./commands/learning.ts')).addLearning,
  },
  db: {
    summary: 'manage the database (DATABASE_URL, or the embedded one in TOOLDEX_HOME)',
    load: async () => (await import('./commands/db.ts')).addDb,
  },
  doctor: {
    summary: 'check the installation',
    load: async () => (await import('./commands/check-commands.ts')).addDoctor,
  },
  completion: {
    summary: 'print a completion script for bash, zsh or fish',
    load: async () => (await import('./commands/completion.ts')).addCompletion,
  },
  serve: {
    summary: 'serve the registry and the tools of configs over HTTP',
    load: async () => (await import('./commands/serve.ts')).addServe,
  },
  worker: {
    summary: 'run queued calls of the servers that share the database in DATABASE_URL',
    load: async () => (await import('./commands/serve.ts')).addWorker,
  },
  executions: {
    summary: 'list, show, follow, cancel and approve recorded runs',
    load: async () => (await import('./commands/executions.ts')).addExecutions,
  },
  add: {
    summary: 'add an MCP server as a source of tools: add NAME -- COMMAND, or add NAME URL',
    load: async () => (await import('./commands/registry/source-commands.ts')).addAdd,
  },
  sources: {
    summary: 'list the sources of tools; approve, refresh and remove MCP servers',
    load: async () => (await import('./commands/registry/source-commands.ts')).addSources,
  },
  envs: {
    summary: 'manage the package sets of Python tools on this machine',
    load: async () => (await import('./commands/registry/registry-commands.ts')).addEnvs,
  },
  secrets: {
    summary: 'manage the secrets that tools refer to as secret:NAME',
    load: async () => (await import('./commands/registry/registry-commands.ts')).addSecrets,
  },
  tools: {
    summary: 'register, change, version and retire tools',
    load: async () => (await import('./commands/registry/tools.ts')).addTools,
  },
  apply: {
    summary: 'update the registry from a folder of tools, categories, policies, toolsets, limits and sources',
    load: async () => (await import('./commands/registry/tool-bundles.ts')).addApply,
  },
  categories: {
    summary: 'manage the tree of categories',
    load: async () => (await import('./commands/registry/registry-commands.ts')).addCategories,
  },
  tags: {
    summary: 'manage the tags of registered tools',
    load: async () => (await import('./commands/registry/registry-commands.ts')).addTags,
  },
  policies: {
    summary: 'manage the policies in the database, which bind calls on all its servers',
    load: async () => (await import('./commands/registry/registry-commands.ts')).addPolicies,
  },
  toolsets: {
    summary: 'manage toolsets: saved filters of tools with their own MCP endpoints',
    load: async () => (await import('./commands/registry/access-commands.ts')).addToolsets,
  },
  limits: {
    summary: 'manage rate limits and daily budgets, and show their use',
    load: async () => (await import('./commands/registry/access-commands.ts')).addLimits,
  },
  keys: {
    summary: 'manage the keys of the HTTP API',
    load: async () => (await import('./commands/registry/registry-commands.ts')).addKeys,
  },
  audit: {
    summary: 'list recorded changes, newest first; verify and export the audit log',
    load: async () => (await import('./commands/registry/audit.ts')).addAudit,
  },
  demo: {
    summary: 'show a short tour with the bundled configs',
    hidden: true,
    load: async () => (await import('./commands/demo.ts')).addDemo,
  },
}
